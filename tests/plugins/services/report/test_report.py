"""The HTML report: everything a run left, nothing from elsewhere, nothing unescaped."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.services.report.collect import collect
from lean_dojo_plugins.services.report.page import write_report
from lean_dojo_v2.cli import main
from lean_dojo_v2.files import read_lines


class Page(HTMLParser):
    """Fails on a tag that is closed without having been opened; keeps text by part."""

    VOID = frozenset({"meta", "img", "br", "link", "hr", "input"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.part = ""
        self.text: dict[str, str] = {}
        self.pictures: dict[str, list[str]] = {}

    def handle_starttag(self, tag, attrs):
        if tag == "h2":
            self.part = dict(attrs)["id"]
        said = dict(attrs).get("alt" if tag == "img" else "aria-label")
        if tag in {"img", "figure"} and said:
            self.pictures.setdefault(self.part, []).append(said)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text[self.part] = " ".join((self.text.get(self.part, "") + data).split()) + " "


def read(file) -> Page:
    page = Page()
    page.feed(file.read_text())
    assert page.open == []
    return page


def test_the_page_has_a_part_for_everything_that_the_run_left(drawn):
    page = read(drawn)
    assert list(page.text)[1:] == [
        "result", "data", "curriculum", "curves", "verified", "refusals", "forgetting",
        "evaluation", "proofs", "trees", "time", "environment",
    ]  # fmt: skip
    for part, *texts in (
        ("", "Proved 1 of 2", "Verified rate 91.0%", "it began at 11.0%", "14", "Forgotten 0.25"),
        (
            "result",
            "automation 1 of 12",
            "SFT 7 of 12",
            "6 0 +50.0 (+12.2 to +73.4) 0.0312",
            "95 % interval automation, for comparison",
            "p: exact paired test",
        ),
        ("data", "14 theorems, 1,234 premises", "<one>", "embedded"),
        ("curriculum", "1 https://example.org/lean/<one>", "SFTTrainer", "2 https"),
        ("curves", "sft (SFTTrainer)", "grpo", "progress"),
        ("verified", "From 11.0 % over the first fifth of the steps to 91.0 % over the last"),
        ("refusals", "several-lines unparsed 10.", "sorry refused 5.0 %"),
        ("forgetting", "lower is better", "earlier repository lost 0.25 on average"),
        ("evaluation", "R@10", "41.5", "–"),
        ("proofs", "SFT : 1 of 2 proved, 1 no-states-left", "simp <;> omega"),
        ("trees", "SFT: Sample.thing", "163 are not drawn"),
        ("environment", "of sft", "trl 1.16.0"),
    ):
        for text in texts:
            assert text in page.text[part], (part, text, page.text[part])
    assert "axiom" not in page.text["refusals"], "reasons that did not occur are left out"
    assert page.pictures == {
        "curves": [
            "training loss of sft", "training loss of grpo", "reward of grpo",
            "training loss of progress",
        ],
        "verified": ["verified rate of grpo over the steps"],
        "refusals": ["refusals of grpo by reason over the steps"],
        "forgetting": ["loss (nats per token) on each repository after each step of sft"],
    }  # fmt: skip


def test_the_page_is_self_contained_and_escaped(drawn):
    page = drawn.read_text()
    assert page.startswith("<!doctype html>")
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert "<script" not in page
    assert not re.search(r"url\((?!#)", page)
    assert "lean/&lt;one&gt;" in page
    assert "lean/<one>" not in page


def test_the_command_prints_where_the_page_is_and_the_same_run_gives_the_same_page(
    drawn, tmp_path, capsys
):
    target = tmp_path / "elsewhere.html"
    assert main(["report", str(drawn.with_name("out")), "-o", str(target)]) == 0
    assert capsys.readouterr().out.strip() == str(target)
    assert target.read_bytes() == drawn.read_bytes()


def test_a_run_under_way_has_its_curves_and_no_empty_parts(run):
    """What a plain training leaves before its first repository is finished."""
    state = json.loads((run / "sft" / "training_state.json").read_text())
    (run / "sft" / "training_state.json").write_text(json.dumps({**state, "finished": []}))
    (run / "sft" / "forgetting.json").unlink()
    page = read(write_report(run / "sft"))
    assert list(page.text)[1:] == ["curves", "environment"]
    assert page.pictures == {"curves": ["training loss of sft"]}


def test_what_a_trainer_learned_from_is_known_from_its_copy(run):
    metadata = (run / "merged" / "metadata.json").read_text()
    (run / "sft" / "data.json").write_text(metadata)
    assert [data.name for data in collect(run).datasets] == ["merged"], "shown once"
    assert "1,234 premises" in read(write_report(run / "sft")).text["data"]


def test_the_curriculum_of_a_retriever_comes_from_its_matrix(run):
    (run / "sft" / "training_state.json").unlink()
    page = read(write_report(run))
    assert (
        "sft step repository commit rows optimiser steps 1 one ccccccc – – 2 two"
        in (page.text["curriculum"])
    )


def test_runs_come_in_the_order_in_which_they_began(run):
    assert [one.name for one in collect(run).runs] == ["sft", "grpo", "progress"]


def test_a_run_that_refused_nothing_says_so_and_one_that_did_not_count_says_nothing(run):
    file = run / "grpo" / "metrics.jsonl"
    row = {"step": 1, "repository": "r", "lean/verified": 1.0}
    file.write_text(json.dumps({**row, "lean/refused/sorry": 0.0}))
    assert "None was refused" in read(write_report(run)).text["refusals"]
    file.write_text(json.dumps(row))
    assert "refusals" not in read(write_report(run)).text


def test_a_folder_without_a_run_is_a_usage_error(tmp_path, capsys):
    with pytest.raises(UsageError, match="it contains no run"):
        write_report(tmp_path)
    assert main(["report", str(tmp_path)]) == 2
    assert "output_dir" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("proofs/run.json", "[{"),
        pytest.param("sft/forgetting.json", '{"metric": "x"}', marks=pytest.mark.slow),
        pytest.param("evaluation.json", "[]", marks=pytest.mark.slow),
        pytest.param("proofs/trees/SFT/Sample.thing.json", "{}", marks=pytest.mark.slow),
    ],
)
def test_a_damaged_file_is_named(run, name, text, capsys):
    (run / name).write_text(text)
    assert main(["report", str(run)]) != 0
    said = " ".join(capsys.readouterr().err.split())
    assert name.rpartition("/")[2] in said
    assert "Traceback" not in said


def test_foreign_and_half_written_files_are_passed_over(tmp_path):
    (tmp_path / "cloned").mkdir()
    (tmp_path / "cloned" / "data.json").write_text("[1, 2]")
    (tmp_path / "cloned" / "environment.json").write_text('["x"]')
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "loss": 1.0}\n')
    line = '{"full_name": "A\u2028b", "file_path": "A.lean", "proof": "⟨h⟩"}'.encode()
    (tmp_path / "proofs.jsonl").write_bytes(line + b"\n" + line[:-4])  # cut inside a character
    assert len(list(read_lines(tmp_path / "proofs.jsonl"))) == 1
    assert write_report(tmp_path).is_file()
