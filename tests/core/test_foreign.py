"""Third-party code: reported when it runs long, kept off standard output while it loads."""

from __future__ import annotations

import threading

import pytest

from lean_dojo_core import foreign
from lean_dojo_core.foreign import OutOfTimeError, loading, reported_when_slow, watched


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Reports come at once; set when there was one."""
    heard = threading.Event()
    say = foreign.say
    monkeypatch.setattr(foreign, "SAY_AFTER", 0.01)
    monkeypatch.setattr(foreign, "say", lambda text: (say(text), heard.set()))
    return heard


def test_a_slow_call_is_reported_once(
    said: threading.Event, capsys: pytest.CaptureFixture[str]
) -> None:
    with reported_when_slow("reward 'slow' of somebody 1.0"):
        assert said.wait(60)
    assert capsys.readouterr().err == "reward 'slow' of somebody 1.0 has run for 0.01 s\n"


def test_a_quick_call_is_not_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert watched(lambda: 7, "somebody") == 7
    assert capsys.readouterr().err == ""


def test_output_while_loading_goes_to_stderr(
    said: threading.Event, capsys: pytest.CaptureFixture[str]
) -> None:
    with loading("plugin chatty"):
        print("hello")
        assert said.wait(60)
    out, err = capsys.readouterr()
    assert out == ""
    # On a busy machine the clock may strike before the print.
    assert sorted(err.splitlines()) == ["hello", "loading plugin chatty has run for 0.01 s"]


def test_without_a_limit_the_code_runs_in_the_calling_thread() -> None:
    assert watched(threading.current_thread, "somebody") is threading.current_thread()


def test_a_limit_ends_the_wait() -> None:
    ended = threading.Event()
    with pytest.raises(OutOfTimeError, match=r"has run for more than 0\.01 s"):
        watched(ended.wait, "somebody", 0.01)
    ended.set()


@pytest.mark.parametrize("error", [TimeoutError("theirs"), SystemExit(3), KeyboardInterrupt()])
def test_exceptions_of_the_code_are_raised(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        watched(fail, "somebody", 60)
    assert caught.value is error
