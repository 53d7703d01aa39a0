"""The sample projects and their traced database belong together."""

from __future__ import annotations

import ast
import json
import math
from typing import Any

import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.sample import SAMPLE_PROJECTS, sample_database_path, sample_project_path


@pytest.fixture(scope="module")
def repositories() -> list[dict[str, Any]]:
    data: dict[str, list[dict[str, Any]]] = json.loads(
        sample_database_path().read_text(encoding="utf-8")
    )
    return data["repositories"]


@pytest.mark.parametrize("name", sorted(SAMPLE_PROJECTS))
def test_a_sample_is_a_lake_project(name: str) -> None:
    project = sample_project_path(name)
    assert (project / "lakefile.toml").is_file()
    assert (project / "lean-toolchain").read_text() == "leanprover/lean4:v4.28.0\n"
    (root,) = project.glob("*.lean")
    imported = {
        line.removeprefix("import ").strip().replace(".", "/") + ".lean"
        for line in root.read_text(encoding="utf-8").splitlines()
        if line.startswith("import ")
    }
    parts = {file.relative_to(project).as_posix() for file in project.glob("*/*.lean")}
    assert imported == parts


def test_an_unknown_sample_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="'mathlib'; there are: extra, sample"):
        sample_project_path("mathlib")


def test_the_database_fits_the_sources(repositories: list[dict[str, Any]]) -> None:
    for repository, name in zip(repositories, ("sample", "extra"), strict=True):
        project = sample_project_path(name)
        assert all((project / path).is_file() for path in repository["files_traced"])
        for theorem in repository["proven_theorems"] + repository["sorry_theorems_unproved"]:
            lines = (project / theorem["file_path"]).read_text(encoding="utf-8").splitlines()
            first, _ = _position(theorem["start"])
            last, _ = _position(theorem["end"])
            short = theorem["full_name"].rsplit(".", 1)[-1]
            text = " ".join(" ".join(lines[first - 1 : last]).split())
            assert f"theorem {short}" in text, theorem["full_name"]
            for tactic in theorem["traced_tactics"]:
                assert " ".join(tactic["tactic"].split()) in text, theorem["full_name"]


def test_there_is_something_to_learn_and_something_to_prove(
    repositories: list[dict[str, Any]],
) -> None:
    sample, extra = repositories
    assert len(sample["proven_theorems"]) >= 150
    assert len(extra["proven_theorems"]) >= 25
    assert len(sample["sorry_theorems_unproved"]) >= 12
    # The second repository is the harder one.
    assert _mean_difficulty(extra) > _mean_difficulty(sample)


def test_only_theorems_left_open_say_sorry(repositories: list[dict[str, Any]]) -> None:
    for repository in repositories:
        for theorem in repository["proven_theorems"]:
            assert all("sorry" not in t["tactic"] for t in theorem["traced_tactics"])
        for theorem in repository["sorry_theorems_unproved"]:
            assert {t["tactic"] for t in theorem["traced_tactics"]} <= {"sorry"}


def _position(value: str | list[int]) -> tuple[int, int]:
    line, column = ast.literal_eval(value) if isinstance(value, str) else value
    return line, column


def _mean_difficulty(repository: dict[str, Any]) -> float:
    steps = [len(theorem["traced_tactics"]) for theorem in repository["proven_theorems"]]
    return math.fsum(steps) / len(steps)
