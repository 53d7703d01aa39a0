"""The demo's folder and its ladder; `tests/test_demo.py` runs it whole."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.demo.run import Demo, DemoSettings, DemoStage, draw
from lean_dojo_v2.benchmarks.attempts import Attempt, AttemptFolder
from lean_dojo_v2.benchmarks.statistics import Comparison, Share


def test_the_folder_of_another_demo_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, quick = tmp_path / "demo", DemoSettings.quick()
    Demo(folder, quick)._claim_folder()
    with monkeypatch.context() as patch:  # the same folder, spelt differently
        patch.chdir(tmp_path)
        Demo(Path("demo"), quick)._claim_folder()
    with pytest.raises(UsageError, match="other settings"):
        Demo(folder, DemoSettings()).run()
    moved = folder.rename(tmp_path / "moved")
    with pytest.raises(UsageError, match="from another place"):
        Demo(moved, quick).run()
    older = tmp_path / "older"
    older.mkdir()
    (older / "database.json").write_text("{}")
    with pytest.raises(UsageError, match="--output-dir"):
        Demo(older, quick).run()
    assert [file.name for file in older.iterdir()] == ["database.json"]


def test_without_a_model_it_says_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lean_dojo_plugins.demo.run.shipped_model", lambda: None)
    with pytest.raises(UsageError, match="make base-model"):
        Demo(tmp_path / "demo", DemoSettings()).run()
    assert not (tmp_path / "demo").exists()


def test_the_largest_trees_of_proofs_are_kept(tmp_path: Path) -> None:
    demo = Demo(tmp_path, DemoSettings.quick())
    run = AttemptFolder(tmp_path / "bench" / "expert-iteration")
    run.begin({"prover": {"label": "expert-iteration"}})
    for number in range(6):
        name = f"t{number}"
        nothing = dict.fromkeys([field.name for field in attrs.fields(Attempt)], 0)
        attempt = nothing | {"name": name, "success": number != 5, "reason": None, "detail": ""}
        run.append("prover", Attempt(**attempt))
        for suffix in (".json", ".svg"):
            file = run.path / "trees" / f"{name}{suffix}"
            file.parent.mkdir(exist_ok=True)
            file.write_text("n" * number)
    demo._keep_largest_trees()
    kept = sorted(file.name for file in (run.path / "trees").iterdir())
    assert kept == [f"t{n}{suffix}" for n in (2, 3, 4) for suffix in (".json", ".svg")]


def test_the_ladder_shows_each_share_with_its_interval() -> None:
    gain = Comparison.of(
        [(True, False)] * 4 + [(False, True)] + [(True, True)] * 2 + [(False, False)] * 5
    )
    stages = [
        DemoStage("automation", Share.of(3, 12), 1.0),
        DemoStage("sft", Share.of(6, 12), 2.0, gain),
    ]
    assert stages[1].row()["proved"] == {"held-out": 6}
    assert stages[1].headline == (
        "sft adds to automation: 4 theorems gained, 1 lost "
        "(+25.0 points, 95 % interval -12.5..+54.4; p = 0.375)"
    )
    figure = draw(stages, 32)
    [axes] = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["automation", "with sft"]
    assert "+4 −1, p = 0.38" in [text.get_text() for text in axes.texts]
    assert [bar.get_width() for bar in axes.patches] == [3, 6]
    [ends] = axes.containers[3].lines[2]
    assert ends.get_segments()[0][:, 0] == pytest.approx([12 * 0.2538, 12 * 0.7462], abs=0.01)
