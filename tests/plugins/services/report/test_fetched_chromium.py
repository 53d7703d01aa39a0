"""Where a machine has no browser, one is fetched."""

from __future__ import annotations

import pytest
from chromium import VARIABLE, find_chromium, launch, look_at

from lean_dojo_plugins.services.report.page import write_report


@pytest.mark.slow
def test_the_fetched_browser_shows_the_page(run, monkeypatch, tmp_path):
    from playwright.sync_api import sync_playwright

    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    fetched = find_chromium(tmp_path / "cache")
    assert fetched.program.is_relative_to(tmp_path)
    assert find_chromium(tmp_path / "cache") == fetched
    with sync_playwright() as driver, launch(driver, fetched) as browser:
        seen = look_at(browser, write_report(run), width=400)
    assert "Verified rate" in seen.headings
    assert seen.problems == seen.empty == []
    assert seen.overflow <= 0
