"""What is said while a command works."""

from __future__ import annotations

import time

import pytest

from lean_dojo_v2.cli.waiting import SILENCE, said_now_and_then


def test_a_line_is_printed_now_and_then_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Also while the work leaves no room to print: another thread does."""
    tried = 0
    with said_now_and_then(lambda: f"bench: {tried} of 3 tried", every=0.2):
        for tried in (1, 2, 3):  # noqa: B007 - the line says it
            time.sleep(0.5)
    said = capsys.readouterr().err.splitlines()
    assert len(said) >= 3
    assert said[0] == "bench: 1 of 3 tried, 0 s"
    assert said[-1].startswith("bench: 3 of 3 tried")
    assert SILENCE <= 30
