"""The shipped sample database is what tracing the shipped sample projects gives."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.tracing import LeanGitRepo, trace_repository

SAMPLE = Path(str(resources.files("lean_dojo_v2"))) / "sample"
ADDRESS = "https://github.com/lean-dojo/lean-dojo-sample"


@pytest.mark.slow
@pytest.mark.usefixtures("one_engine")
@pytest.mark.parametrize(
    ("folder", "url"),
    [
        pytest.param("lean_project", ADDRESS, marks=pytest.mark.slow),
        ("lean_project_2", f"{ADDRESS}-extra"),
    ],
)
def test_the_sample_is_traced_again(folder: str, url: str, tmp_path: Path) -> None:
    """Theorem for theorem, tactic for tactic; the date alone may differ."""
    copy = tmp_path / "sample.json"
    copy.write_bytes((SAMPLE / "traced" / "sample.json").read_bytes())
    repo = LeanGitRepo.from_path(SAMPLE / folder, url=url)
    traced = trace_repository(repo, engine="embedded").to_dict()
    with DynamicDatabase(copy) as database:
        shipped = next(r for r in database.repositories if r.url == url).to_dict()
    for data in (traced, shipped):
        data["metadata"].pop("date_processed")
    assert traced["commit"] == shipped["commit"], "the sample changed: trace it again"
    assert traced == shipped
