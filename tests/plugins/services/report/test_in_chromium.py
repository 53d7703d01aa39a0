"""The page as a browser shows it."""

from __future__ import annotations

import pytest
from chromium import Chromium, find_chromium, look_at

from lean_dojo_plugins.services.report.page import write_report

PARTS = [
    "out", "What the models prove", "Data", "Curriculum", "Training curves", "Verified rate",
    "Refusals by reason", "Forgetting", "Evaluation", "Proofs", "Search trees",
    "Where the time went", "Environment",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_part_is_seen_and_nothing_sticks_out(run, browser, width, scheme):
    seen = look_at(browser, write_report(run), width, scheme)
    assert seen.problems == []
    assert seen.headings == PARTS
    assert seen.empty == []
    assert seen.dead_links == []
    assert seen.overflow <= 0
    assert seen.background == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(15, 20, 25)")


@pytest.fixture
def page(run, browser):
    """The report in a browser, as on a phone in the dark."""
    opened = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    opened.goto(write_report(run).as_uri())
    yield opened
    opened.close()


def test_every_number_says_what_it_means(page):
    silent = page.locator("td.number:not([title]), .tiles > div:not([title])")
    assert silent.count() == 0
    assert page.locator("td.number[title]").count() > 25


def test_charts_follow_the_colours_and_the_width_of_the_page(page):
    charts = page.locator("figure.chart svg")
    assert charts.count() >= 4
    for index in range(charts.count()):
        box = charts.nth(index).bounding_box()
        assert 250 < box["width"] <= 390
    colours = "one => [getComputedStyle(one).fill, getComputedStyle(one).color]"
    assert charts.first.evaluate(colours) == ["rgb(230, 237, 243)"] * 2
    drawn = "one => getComputedStyle(one.querySelector('[id^=patch_1] path')).fill"
    assert charts.first.evaluate(drawn) in {"none", "rgba(0, 0, 0, 0)"}
    # A search tree's style is the whole page's; it must not take the letters off the charts.
    assert page.locator("figure.tree svg").count() >= 1
    letters = page.locator("figure.chart svg [id^=text_] defs path")
    fills = letters.evaluate_all("all => all.map(one => getComputedStyle(one).fill)")
    lines = letters.evaluate_all("all => all.map(one => getComputedStyle(one).stroke)")
    assert "rgb(230, 237, 243)" in fills
    assert "none" not in fills
    assert set(lines) == {"none"}
    caption = page.locator("figure.tree svg > text").first
    assert caption.evaluate("one => getComputedStyle(one).fill") == "rgb(230, 237, 243)"


def test_the_look_finds_what_is_wrong(browser, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        "<h1>Bad</h1><a href='#nowhere'>x</a><div style='width: 3000px'>wide</div>"
        "<img src='data:image/svg+xml,<svg' width='50' height='50'><svg width='0' height='0'></svg>"
        "<img src='https://example.invalid/picture.png' width='50' height='50'>"
        "<script>console.error('broken'); missing()</script>"
    )
    seen = look_at(browser, page)
    assert seen.overflow > 1000
    assert seen.dead_links == ["nowhere"]
    assert len(seen.empty) == 3
    said = "\n".join(seen.problems)
    for text in ("broken", "missing is not defined", "https://example.invalid/picture.png"):
        assert text in said


def test_the_program_named_by_the_environment_comes_first(monkeypatch, tmp_path):
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "chrome"))
    assert find_chromium(tmp_path) == Chromium(tmp_path / "chrome")
    monkeypatch.delenv("CHROMIUM")
    program = tmp_path / "google-chrome"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_chromium(tmp_path) == Chromium(program)
