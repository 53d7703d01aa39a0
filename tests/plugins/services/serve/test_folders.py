"""Clients name only folders and repositories that the server was started with."""

from __future__ import annotations

import pytest

from lean_dojo_core import registry
from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.services.folders import NotGivenError, ServedFolders
from lean_dojo_v2.cli import main

URL = "https://example.com/few"
SECRET = 'def s : String := include_str "secret.txt"\n'
DEFINED = "theorem two : Given.two = 2 := by\n  rfl\n"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A given project, one beside it, and links and dots that lead from the one to the other."""
    root = tmp_path_factory.mktemp("folders")
    for name in ("given", "other"):
        (root / name).mkdir()
        (root / name / "secret.txt").write_text("secret")
    (root / "given" / "out").symlink_to(root / "other")
    (root / "given" / "Given.lean").write_text(f"def Given.two := 2\n\n{DEFINED}")
    (root / "other" / "Other.lean").write_text(DEFINED)
    (root / "way").symlink_to(root / "given")
    return root


@pytest.fixture(scope="module")
def served(folders):
    from serving import running

    given = ServedFolders.of([f"{URL}={folders / 'given'}"])
    with running(folders=given) as server:
        yield server


def asked(served, **columns):
    named = {"problem": "theorem t : s = s :=", "full_name": "t", **columns}
    question = {"reward": "proof-verified", "completions": ["rfl"]}
    return served.post(
        "/v1/reward", {**question, "columns": {key: [value] for key, value in named.items()}}
    )


def in_repository(served, **columns):
    place = {"url": URL, "commit": "0" * 40, "file_path": "Given.lean", "start": [3, 1]}
    statement = {"problem": "theorem two : Given.two = 2 :=", "full_name": "two", "end": [4, 6]}
    return asked(served, **{**place, **statement, **columns})


@pytest.mark.parametrize("none", [None, ""])
def test_no_project_is_lean_alone(served, none):
    assert asked(served, project=none, problem="theorem t : 1 = 1 :=").json() == {"scores": [1.0]}


@pytest.mark.parametrize("name", ["given", "way", "other/../given"])
def test_a_given_project_is_opened(served, folders, name):
    assert asked(served, project=str(folders / name), header=SECRET).json() == {"scores": [1.0]}


@pytest.mark.parametrize(
    "name", ["/etc", "/", ".", "other", "given/..", "given/../other", "given/out", "\0", "no"]
)
@pytest.mark.parametrize("reward", ["proof-verified", "length-penalised"])
def test_any_other_project_is_not(served, folders, name, reward):
    path = name if name[:1] in {"/", "."} else str(folders / name)
    columns = {"project": [None, path], "problem": ["theorem t : True :="] * 2}
    question = {"reward": reward, "completions": ["trivial"] * 2}
    answer = served.post("/v1/reward", {**question, "columns": {**columns, "full_name": ["t"] * 2}})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (403, "not-served")
    assert "--folder" in error["message"]


def test_a_repository_is_the_given_folder_and_nothing_is_cloned(served, folders):
    assert in_repository(served).json() == {"scores": [1.0]}
    for url in (
        "https://example.com/other",
        "None",
        f"file://{folders / 'other'}",
        "ext::sh -c ls",
    ):
        answer = in_repository(served, url=url)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "not-served")


@pytest.mark.parametrize("path", ["../other/Other.lean", "out/Other.lean", "/etc/hostname"])
def test_a_file_of_a_repository_is_in_its_folder(served, path):
    answer = in_repository(served, file_path=path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "not-served")


def test_a_file_needs_its_repository_and_a_place_is_a_text(served):
    for columns in ({"file_path": "Given.lean"}, {"project": 3}, {"url": ["a"]}):
        assert asked(served, **columns).status_code == 400


def test_the_wall_is_before_every_reward(served):
    seen = []

    def reward(completions, **columns):
        seen.append(columns)
        return [0.0] * len(completions)

    with registry.reward_functions.override("curious", reward):
        question = {"reward": "curious", "completions": ["a"]}
        answer = served.post("/v1/reward", {**question, "columns": {"project": ["/etc"]}})
        assert answer.status_code == 403
        assert not seen
        for name in ("completions", "log_metric"):
            answer = served.post("/v1/reward", {**question, "columns": {name: ["x"]}})
            assert answer.status_code == 400
            assert name in answer.json()["error"]["message"]


def test_what_is_given_at_the_start(folders, capsys):
    assert ServedFolders.of((), None).folders == ()
    with pytest.raises(NotGivenError):
        ServedFolders.of((), None).admitted(".", "the file")
    given = ServedFolders.of([str(folders / "way"), f"a=b={folders / 'other'}"], folders / "given")
    assert given.folders == (folders / "given", folders / "other")
    assert given.repositories == {"a=b": folders / "other"}
    assert main(["serve", "--folder", "url=nowhere"]) == 2
    assert "there is no folder 'nowhere'" in capsys.readouterr().err
    with pytest.raises(UsageError, match="there is no folder"):
        ServedFolders.of(["nowhere"])
