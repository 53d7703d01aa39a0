from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from ruamel.yaml import YAML

from lean_dojo_core import registry

Run = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("toy", "workplace")

FILE = """\
# A comment, so that lines differ from keys.
model_name: some/model
steps: 5
lr: 2e-5
inner:
  r: 16
run:
  data_path: exported
  repositories: [lean-dojo/lean-dojo-sample]
"""


def write(text: str, name: str = "toy.yaml") -> Path:
    path = Path(name)
    path.write_text(text)
    return path


def said(folder: str = "out") -> dict[str, Any]:
    return json.loads((Path(folder) / "said.json").read_text())


def test_trains_what_the_file_says(lean_dojo: Run) -> None:
    ran = lean_dojo("train", "toy", "-c", write(FILE))
    assert ran.code == 0
    assert said() == {
        "repos": ["lean-dojo/lean-dojo-sample"],
        "data_path": "exported",
        "steps": 5,
        "resume": True,
    }
    assert ran.out == ""
    assert "The result is in out." in ran.err


def test_options_win_over_set_and_set_wins_over_files(lean_dojo: Run) -> None:
    more = write("steps: 6\n", "more.yaml")
    ran = lean_dojo(
        "train", "toy", "-c", write(FILE), "-c", more, "--set", "run.data_path=set",
        "--data-path", "option", "--repo", "lean-dojo/lean-dojo-sample-extra", "--no-resume",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert said() == {
        "repos": ["lean-dojo/lean-dojo-sample-extra"],
        "data_path": "option",
        "steps": 6,
        "resume": False,
    }


def test_every_repository_by_default_in_the_raid_folder(lean_dojo: Run) -> None:
    assert lean_dojo("train", "toy", "--set", "model_name=m").code == 0
    assert len(said()["repos"]) == 2
    assert said()["data_path"] == "raid/data/merged"


@attrs.define(slots=False, eq=False)
class SelfFed:
    """Reads a file, or a database."""

    data_path: Path | None = None
    output_dir: str = "out"

    def train(self, repos: Any = None, database: Any = None, data_path: Any = None) -> None:
        Path("said").write_text("nothing" if database is None else str(len(repos)))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--set", "data_path=mine.jsonl"], "nothing"),
        (["--set", "data_path=mine.jsonl", "--database", "dynamic_database.json"], "2"),
        ([], "2"),
    ],
)
def test_a_trainer_with_data_of_its_own_needs_no_database(
    lean_dojo: Run, arguments: list[str], said: str
) -> None:
    with registry.trainers.override("self-fed", SelfFed):
        ran = lean_dojo("train", "self-fed", *arguments)
        dry = lean_dojo("train", "self-fed", *arguments, "--dry-run")
    assert ran.code == dry.code == 0, ran.err
    assert Path("said").read_text() == said
    assert ("run" in YAML(typ="safe").load(dry.out)) == (said == "2")


class Buggy(SelfFed):
    """A trainer with a bug in each of its methods."""

    def preflight(self) -> None:
        if self.output_dir == "early":
            json.loads("{")

    def train(self, *_: Any, **__: Any) -> None:
        raise KeyError("loss")


@pytest.mark.parametrize(
    ("folder", "words"), [("early", "JSONDecodeError: Expecting"), ("late", "KeyError: 'loss'")]
)
def test_a_bug_of_a_plugin_is_one_message_that_names_it(
    lean_dojo: Run, folder: str, words: str
) -> None:
    with registry.trainers.override("buggy", Buggy):
        ran = lean_dojo("train", "buggy", "--set", f"output_dir={folder}")
    assert (ran.code, ran.out) == (1, "")
    assert f"Error: trainer 'buggy' of override 0 raised {words}" in ran.err
    assert f"({__file__}:" in ran.err  # the plugin's own line, not one of json's
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/lean-dojo/lean-dojo-sample",
        "https://github.com/lean-dojo/lean-dojo-sample.git",
        "LEAN-DOJO/lean-dojo-sample@{commit:.7}",
    ],
)
def test_a_repository_is_found_by_address_and_commit(lean_dojo: Run, text: str) -> None:
    first, _ = json.loads(Path("dynamic_database.json").read_text())["repositories"]
    text = text.format(commit=first["commit"])
    assert lean_dojo("train", "toy", "--set", "model_name=m", "--repo", text).code == 0
    assert said()["repos"] == ["lean-dojo/lean-dojo-sample"]


def test_dry_run_prints_a_file_that_means_the_same_and_does_nothing(lean_dojo: Run) -> None:
    before = set(Path().iterdir())
    ran = lean_dojo("train", "toy", "-c", write(FILE), "--set", "inner.r=4", "--dry-run")
    assert ran.code == 0, ran.err
    assert set(Path().iterdir()) - before == {Path("toy.yaml")}
    assert "steps: 5  # toy.yaml, line 3" in ran.out
    assert "resume: true  # default" in ran.out
    resolved = YAML(typ="safe").load(ran.out)
    assert resolved["inner"] == {"r": 4}
    assert resolved["lr"] == 2e-5
    assert resolved["run"]["database"] == "dynamic_database.json"
    assert len(resolved["run"]["repositories"]) == 1
    again = lean_dojo("train", "toy", "-c", write(ran.out, "again.yaml"), "--dry-run")
    assert YAML(typ="safe").load(again.out) == resolved


# Arguments after `train toy -c FILE`, and what the message must hold.
REFUSED = {
    "unknown key": (FILE + "stpes: 4\n", [], ["toy.yaml, line 10", "'stpes'", "'steps'"]),
    "wrong case": (FILE + "LR: 1\n", [], ["toy.yaml, line 10", "Did you mean 'lr'?"]),
    "text for a number": (
        FILE.replace("5\n", "five\n", 1), [], ["toy.yaml, line 3", "steps", "integer", "'five' (str)"],
    ),
    "quoted number": (FILE.replace("steps: 5", "steps: '5'"), [], ["line 3", "'5' (str)"]),
    "truth for a number": (FILE.replace("steps: 5", "steps: true"), [], ["True (bool)"]),
    "nothing": (FILE.replace("steps: 5", "steps:"), [], ["steps: expected a valid integer, got null"]),
    "inner key": (FILE.replace("  r:", "  rr:"), [], ["toy.yaml, line 6", "inner has no setting 'rr'", "'r'"]),
    "inner type": (
        FILE.replace("  r: 16", "  modules: [q, 3]"), [],
        ["toy.yaml, line 6", "inner.modules[1]: expected a valid string"],
    ),
    "run key": (FILE.replace("data_path", "datapath"), [], ["line 8", "section 'run'", "data_path"]),
    "run is a text": ("model_name: m\nrun: yes\n", [], ["toy.yaml, line 2", "mapping"]),
    "twice": (FILE + "steps: 6\n", [], ["toy.yaml, line 10", 'duplicate key "steps"']),
    "not yaml": ("model_name: [m\n", [], ["toy.yaml, line 2", "not valid YAML"]),
    "a list": ("- model_name\n", [], ["toy.yaml", "mapping"]),
    "required": ("steps: 1\n", [], ["trainer 'toy' needs model_name"]),
    "value refused": (FILE, ["--set", "lr=-1.0"], ["'lr' must be > 0.0", "--set"]),
    "set without value": (FILE, ["--set", "lr"], ["--set lr", "key=value"]),
    "set of bad yaml": (FILE, ["--set", "lr=[1"], ["--set lr", "quote"]),
    "set unknown": (FILE, ["--set", "stpes=1"], ["--set: ", "'stpes'", "'steps'"]),
    "unknown formatter": (FILE, ["--formatter", "tactic-cht"], ["tactic-cht", "'tactic-chat'"]),
    "unknown repository": (FILE, ["--repo", "a/b"], ["'a/b'", "lean-dojo/lean-dojo-sample@"]),
    "wrong commit": (FILE, ["--repo", "lean-dojo/lean-dojo-sample@ffff"], ["ffff"]),
    "missing database": (FILE, ["--database", "no.json"], ["no.json", "no such database"]),
    "missing file": (FILE, ["-c", "none.yaml"], ["none.yaml"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "arguments", "expected"), REFUSED.values(), ids=REFUSED)
def test_a_bad_request_exits_with_2_and_says_where(
    lean_dojo: Run, text: str, arguments: list[str], expected: list[str]
) -> None:
    ran = lean_dojo("train", "toy", "-c", write(text), *arguments)
    assert ran.code == 2
    assert ran.out == ""
    for part in expected:
        assert part in ran.err
    assert not Path("out").exists()


def test_all_problems_of_a_file_are_told_at_once(lean_dojo: Run) -> None:
    ran = lean_dojo("train", "toy", "-c", write("stpes: 1\nlr: high\n"))
    assert ran.code == 2
    assert "line 1" in ran.err
    assert "line 2" in ran.err
    assert "needs model_name" in ran.err


def test_an_unknown_trainer_suggests(lean_dojo: Run) -> None:
    ran = lean_dojo("train", "tyo")
    assert ran.code == 2
    assert "Did you mean 'toy'?" in ran.err


def test_a_formatter_without_the_columns_is_refused(lean_dojo: Run) -> None:
    ran = lean_dojo("train", "sft", "--set", "model_name=m", "--formatter", "progress-text")
    assert ran.code == 2
    assert "also needs prompt, completion" in ran.err


def test_ctrl_c_exits_with_130_without_traceback(lean_dojo: Run) -> None:
    ran = lean_dojo("train", "toy", "--set", "model_name=interrupted")
    assert ran.code == 130
    assert ran.err.splitlines()[-1] == "Interrupted. The same command resumes where it stopped."
    assert "Traceback" not in ran.err
    anew = lean_dojo("train", "toy", "--set", "model_name=interrupted", "--no-resume")
    assert "The same command without --no-resume resumes where it stopped." in anew.err


def test_a_traceback_is_there_for_who_asks(lean_dojo: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAN_DOJO_TRACEBACK", "0")
    ran = lean_dojo("--traceback", "train", "tyo")
    assert ran.code == 2
    assert "Traceback" in ran.err


def test_train_says_as_json_what_came_out(lean_dojo, workplace, toy):
    command = ("train", "toy", "--set", "model_name=m", "--json")
    dry = lean_dojo(*command, "--dry-run")
    assert dry.code == 0, dry.err
    assert dry.json["trainer"] == "override:toy"
    assert dry.json["settings"]["model_name"] == "m"
    assert dry.json["settings"]["output_dir"] == "out"
    assert len(dry.json["repositories"]) == 2
    ran = lean_dojo(*command)
    assert ran.code == 0, ran.err
    assert (ran.json["output_dir"], ran.json["metrics"]) == ("out", {})
