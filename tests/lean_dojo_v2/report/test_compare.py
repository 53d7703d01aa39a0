"""Several runs on one page, the numbers as JSON, and baselines beside what was proved."""

from __future__ import annotations

import json
import shutil

import pytest

from lean_dojo_v2.cli import main
from lean_dojo_v2.report.collect import collect
from lean_dojo_v2.report.page import summary, write_report


@pytest.mark.slow
def test_two_runs_side_by_side(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    other = tmp_path / "other"
    shutil.copytree(run, other)
    state = json.loads((other / "sft" / "training_state.json").read_text())
    state["settings"]["lr"] = 2e-3
    (other / "sft" / "training_state.json").write_text(json.dumps(state))
    assert main(["report", "out", "other"]) == 0
    assert capsys.readouterr().out == "compare.html\n"
    page = (tmp_path / "compare.html").read_text()
    assert "out · other" in page
    assert "0.001" in page
    assert main(["report", "out", "other", "--json", "-o", "x.html"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["names"] == ["out", "other"]
    assert [row[:2] for row in data["settings"]] == [["sft: lr", ["0.001", "0.002"]]]
    assert ["SFT", ["1 of 2", "1 of 2"]] in [row[:2] for row in data["proved"]]
    assert all(row[2] for row in data["metrics"])


def test_a_folder_twice_is_a_mistake(run, monkeypatch, capsys):
    monkeypatch.chdir(run.parent)
    assert main(["report", "out", "./out"]) == 2
    assert "named twice" in capsys.readouterr().err


def test_the_numbers_as_json(run, capsys):
    assert main(["report", str(run), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["page"] == str(run / "report.html")
    assert data["proved"] == {"SFT": {"proved": 1, "tried": 2}}
    assert data["runs"]["grpo"]["metrics"]["reward"] == 1.0
    assert all(tile["help"] for tile in data["tiles"])


def test_a_benchmark_run_shows_automation_beside_what_was_proved(benched):
    contents = collect(benched)
    assert contents.best_stage == "outputs-sft"
    [tile] = summary(contents)["tiles"]
    assert (tile["value"], tile["note"]) == (
        "1 of 2",
        "theorems, with outputs-sft; automation: 0 of 2",
    )
    page = write_report(benched).read_text()
    assert '<span class="warn">cannot-open</span>' in page
    assert '<span class="no">no-states-left</span>' in page
