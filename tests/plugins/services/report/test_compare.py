"""Several runs on one page, the numbers as JSON, and baselines beside what was proved."""

from __future__ import annotations

import json
import shutil

import pytest

from lean_dojo_plugins.services.report.collect import collect
from lean_dojo_plugins.services.report.compare import compare, write_comparison
from lean_dojo_plugins.services.report.page import summary, write_report
from lean_dojo_v2.cli import main


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


def test_a_run_of_one_training_stands_beside_the_same_training_of_a_longer_run(run, tmp_path):
    shorter = tmp_path / "shorter"
    shutil.copytree(run / "sft", shorter / "sft")
    contents = [collect(run), collect(shorter)]
    assert len(contents[0].runs) > len(contents[1].runs) == 1
    rows = {name: values for name, values, _ in compare(contents)["metrics"]}
    first, second = rows["sft: loss"]
    assert first == second is not None
    assert not any(name.startswith("sft: ") for name, *_ in compare(contents)["settings"])


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


def contents(folder, *, rewards, numbers, steps=4):
    folder.mkdir()
    state = {
        "version": 1, "trainer": "GRPOTrainer", "finished": [], "pending": None, "pending_files": [],
        "settings": {"reward_func": rewards, "model_name": "owner/" + 200 * "m"},
    }  # fmt: skip
    (folder / "training_state.json").write_text(json.dumps(state))
    rates = [0.0, 1.0, 0.5, 0.0] + [0.25] * (steps - 4)
    rows = [{"step": n, "lean/verified": rate, **numbers} for n, rate in enumerate(rates, 1)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return collect(folder)


def test_a_comparison_shows_settings_as_they_were_written_and_folds_zeros(tmp_path):
    one = [["constant", 1.0, {"lean_dojo_plugins.rewards.constant.Constant": {"value": 2.0}}]]
    two = [["judge", 0.5, "my_rewards.judge"]]
    zeros = {f"lean/refused/{n}": 0.0 for n in range(35)}
    runs = [
        contents(tmp_path / "a", rewards=one, numbers={"reward": 1.0, **zeros}),
        contents(tmp_path / "b", rewards=two, numbers={"reward": 0.5, **zeros}),
    ]
    page = write_comparison(runs, tmp_path / "compare.html").read_text()
    assert "[[&#34;constant&#34;, 1.0, {&#34;value&#34;: 2.0}]]" in page
    assert "[[&#34;judge&#34;, 0.5]]" in page
    assert "rewards.constant" not in page
    assert "36 more, 0 in every run" in page  # with the verified rate, which ends at 0
    before, _, after = page.partition("<details>")
    assert "lean/refused/3" not in before
    assert after.count("lean/refused/") >= 35
    assert 'class="text"' in page  # wraps, which a number does not


def test_a_card_of_few_steps_says_no_trend(tmp_path):
    [tile] = summary(contents(tmp_path / "few", rewards=[], numbers={}))["tiles"]
    assert tile["value"] == "37.5%"
    assert tile["note"] == "few, mean of 4 steps between 0.0% and 100.0%"
    assert "too few for a trend" in write_report(tmp_path / "few").read_text()
    [tile] = summary(contents(tmp_path / "more", rewards=[], numbers={}, steps=20))["tiles"]
    assert (tile["value"], tile["note"]) == ("25.0%", "more; it began at 37.5%")
