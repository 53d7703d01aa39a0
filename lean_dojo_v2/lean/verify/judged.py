"""Trusted descriptions of elaborated texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineProtocolError
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.screening import Reason, Refusal

Record = Mapping[str, Any]
"""An engine's description of a declaration: ``kind``, ``axioms``, ``statement``, ``kernel``, …"""


def elaborated(server: Server, fields: Mapping[str, Any], timeout: float) -> dict[str, Any]:
    """Elaborate a text (``dojo.check``).

    Returns:
        The answer. If a program of a text has run in the engine, it has the data to judge as
        ``export``, and its own ``declarations`` must not be trusted.

    Raises:
        EngineProtocolError: It has run such a program without an export, so there is no verdict.
        RequestError, EngineLostError: See ``Server.ask``.
    """
    answer = server.ask("dojo.check", {**fields, "export": True}, timeout)
    if not server.tainted:
        return {key: value for key, value in answer.items() if key != "export"}
    if not isinstance(answer.get("export"), Mapping):
        raise EngineProtocolError(
            "The engine has run a program of the text, and did not hand over what it elaborated: "
            "there is no verdict."
        )
    return answer


def judged(server: Server, answer: Record, timeout: float) -> dict[str, Record] | Refusal:
    """Return descriptions of a text's theorems by an engine that has run no program of it.

    That is the engine itself, unless a program of the text has run in it: then a judge reads the
    export, and any error in it is a reason to refuse.

    Args:
        server: The engine that elaborated the text.
        answer: Its answer; see :func:`elaborated`.
        timeout: Time limit of the judge, in seconds.

    Raises:
        EngineLostError: There is no judge, or it was lost, so there is no verdict.
    """
    if "export" not in answer:
        return dict(answer["declarations"])
    found = server.judge.judge(answer["export"], timeout)
    return found if isinstance(found, dict) else Refusal(Reason.UNCHECKED, found)


def owner_of(server: Server, source: SourceTheorem) -> str:
    """Return the owner of a theorem's text: its repository, its file, or the session."""
    alone = source.header and server.project_path is None
    return f"after {hash(source.before)}" if alone else server.home


@contextmanager
def reader_of(server: Server, answer: Record, owner: str) -> Iterator[Server]:
    """Yield an engine for a reference, which has run no program of the judged text.

    Args:
        server: The engine that elaborated that text.
        answer: Its answer; see :func:`elaborated`.
        owner: The owner of the reference; see ``Server.begin``.

    Raises:
        EngineLostError: It did not become ready.
    """
    if "export" not in answer:
        yield server
        return
    with server.judge.reader(owner, server) as reader:
        yield reader
