"""Errors between a caller and an engine.

The three names of PyPantograph (:class:`TacticFailure`, :class:`ParseError`, :class:`ServerError`)
are the roots, so code written for its ``Server`` catches the same things here::

    TacticFailure     TacticError        Lean ran the tactic and refused it
                      TacticParseError   the tactic is not Lean (also a ParseError)
    ServerError       RequestError       the engine refused the request and lives on
                      RequestParseError  an expression or a file is not Lean (also a ParseError)
                      StaleStateError    the goal state belongs to an engine that is gone
                      EngineLostError    the engine is gone; the next call starts another
                        EngineTimeoutError, EngineDiedError, EngineMemoryError, EngineProtocolError
                      EngineKilledError  a pool's request that killed two engines
"""

from collections.abc import Sequence

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_v2.lean.messages import LeanMessage, Position


class LeanError(LeanDojoError):
    """Something is wrong with a Lean engine."""


class EngineUnavailableError(LeanError):
    """No engine can serve this project here; the message says what to install."""


class TacticFailure(LeanError):  # noqa: N818 - PyPantograph's name
    """Lean ran the tactic and refused it."""


class ParseError(LeanError):
    """Lean could not parse the text it was given."""


class ServerError(LeanError):
    """The engine died, timed out, or gave an answer outside its protocol."""


class TacticError(TacticFailure):
    """Lean ran the tactic and refused it, or it closed a goal with ``sorry``.

    Lean's messages are the text, and in ``messages`` as records, if available.
    """

    def __init__(self, text: str, messages: Sequence[LeanMessage] = ()) -> None:
        super().__init__(text)
        self.messages = tuple(messages)


class TacticParseError(ParseError, TacticFailure):
    """The text is not a tactic; the parser's message says why."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.messages = (LeanMessage(text, Position(1, 0)),)


class RequestError(ServerError):
    """The engine refused the request and lives on.

    The text is the reason, ``code`` is Pantograph's kind of error, for example ``"index"``.
    """

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code


class RequestParseError(ParseError, RequestError):
    """The expression or file in the request is not Lean."""


class StaleStateError(ServerError):
    """The goal state belongs to an engine process that is gone, or to another server."""


class EngineLostError(ServerError):
    """The engine process is gone and its goal states with it; the next call starts a new one."""


class EngineTimeoutError(EngineLostError):
    """The engine did not answer within the time limit and was stopped."""


class EngineDiedError(EngineLostError):
    """The engine process ended or was killed."""


class EngineMemoryError(EngineLostError):
    """The engine outgrew its memory limit and was stopped."""


class EngineProtocolError(EngineLostError):
    """The engine answered something that is not Pantograph's protocol and was stopped."""


class EngineKilledError(ServerError):
    """A request of a pool failed because it killed every engine that ran it; it is named."""
