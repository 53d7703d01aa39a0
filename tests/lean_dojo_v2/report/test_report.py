"""The HTML report: everything a run left, nothing from elsewhere, nothing unescaped."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lean_dojo_core.errors import DataError, UsageError
from lean_dojo_v2.cli import main
from lean_dojo_v2.prover.search_tree import NodeStatus, SearchTree
from lean_dojo_v2.report.page import write_report

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'


class Balanced(HTMLParser):
    """Fails on a tag that is closed without having been opened, or left open."""

    VOID = frozenset({"meta", "img", "br", "link", "hr", "input"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def tree() -> SearchTree:
    grown = SearchTree("Sample.thing")
    root = grown.add(None, "", "⊢ a < b ∧ c", 0.0, 0.0)
    left = grown.add(root, "constructor", "⊢ a < b\n\n⊢ c", -0.5, 0.5)
    root.failures["failed"] = 3
    done = grown.add(left, "simp <;> omega", "no goals", -1.5, 1.5)
    done.status = NodeStatus.SOLVED
    for index in range(200):
        grown.add(root, f"tactic_{index}", f"⊢ {index}", -3.0, 3.0)
    return grown


@pytest.fixture
def run(tmp_path: Path, tree: SearchTree) -> Path:
    folder = tmp_path / "out"
    sft = folder / "sft"
    sft.mkdir(parents=True)
    (sft / "training_state.json").write_text(
        json.dumps({
            "version": 1, "trainer": "SFTTrainer", "settings": {"lr": 1e-3, "lora_config": None},
            "finished": [{"url": "https://x/<b>", "commit": "c" * 40, "rows": 7,
                          "optimizer_steps": 3, "data": ""}],
            "pending": None, "pending_files": [],
        })
    )  # fmt: skip
    (sft / "metrics.jsonl").write_text('{"step": 1, "loss": 2.5}\n{"step": 2, "loss": 1.5}\n{"st')
    (sft / "loss.svg").write_text(SVG)
    proofs = folder / "proofs"
    proofs.mkdir()
    rows = [
        {"name": "Sample.a", "success": True, "proof": "simp <;> omega", "expansions": 2,
         "seconds": 0.5, "file": "Sample/A.lean"},
        {"name": "Sample.b", "success": False, "reason": "no-states-left", "expansions": 9,
         "seconds": 1.5, "file": "Sample/B.lean"},
    ]  # fmt: skip
    (proofs / "SFT.json").write_text(json.dumps(rows))
    tree.save(proofs / "trees" / "SFT" / "Sample.thing.json")
    stages = [{"stage": "SFT", "proved": {"held-out": 1}, "tried": {"held-out": 2}, "seconds": 2.0}]
    (folder / "summary.json").write_text(json.dumps({"stages": stages, "seconds": {"SFT": 12.5}}))
    return folder


def test_the_page_shows_what_the_run_left_and_is_self_contained(run):
    page = write_report(run).read_text()
    for text in ("1 of 2", "SFTTrainer", "optimiser steps", "simp &lt;;&gt; omega", "no-states-left",
                 "SFT: Sample.thing", "lean-dojo-v2", "https://x/&lt;b&gt;", "1.5"):  # fmt: skip
        assert text in page, text
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert "<script" not in page
    checker = Balanced()
    checker.feed(page)
    assert checker.open == []


def test_the_command_prints_where_the_page_is(run, tmp_path, capsys):
    target = tmp_path / "elsewhere.html"
    assert main(["report", str(run), "-o", str(target)]) == 0
    assert capsys.readouterr().out.strip() == str(target)
    assert target.exists()


def test_a_folder_without_a_run_is_a_usage_error(tmp_path, capsys):
    with pytest.raises(UsageError, match="no run is there"):
        write_report(tmp_path)
    assert main(["report", str(tmp_path)]) == 2
    assert "output_dir" in capsys.readouterr().err


def test_a_damaged_file_is_named(run):
    (run / "proofs" / "SFT.json").write_text("[{")
    with pytest.raises(DataError, match=r"SFT\.json"):
        write_report(run)
