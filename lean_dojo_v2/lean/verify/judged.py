"""What may be believed of a text that has been elaborated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineProtocolError
from lean_dojo_v2.lean.text.source import SourceTheorem
from lean_dojo_v2.lean.verify.screening import Reason, Refusal

Record = Mapping[str, Any]
"""How an engine describes a declaration: ``kind``, ``axioms``, ``statement``, ``kernel``, …"""


def elaborated(server: Server, fields: Mapping[str, Any], timeout: float) -> dict[str, Any]:
    """Have a text elaborated (``dojo.check``).

    Returns:
        The answer. If a program of a text has run in the engine, ``declarations`` is what it says
        itself, and ``export`` what it hands over to be judged; it has no ``export`` otherwise.

    Raises:
        EngineProtocolError: It has run such a program, and hands nothing over: no verdict.
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
    """Describe the theorems of a text by what somebody says who has run no program of it.

    That is the engine itself, unless a program of the text has run in it: then a judge reads what
    the engine hands over, and anything that is wrong with that is a reason to refuse.

    Args:
        server: The engine that elaborated the text.
        answer: What it said; see :func:`elaborated`.
        timeout: Seconds that the judge may take.

    Raises:
        EngineLostError: There is no judge, or it was lost: there is no verdict.
    """
    if "export" not in answer:
        return dict(answer["declarations"])
    found = server.judge.judge(answer["export"], timeout)
    return found if isinstance(found, dict) else Refusal(Reason.UNCHECKED, found)


def owner_of(server: Server, source: SourceTheorem) -> str:
    """Say whose text a theorem stands in: its repository's, its file's, or the session's own."""
    alone = source.header and server.project_path is None
    return f"after {hash(source.before)}" if alone else server.home


@contextmanager
def reader_of(server: Server, answer: Record, owner: str) -> Iterator[Server]:
    """Give an engine for a reference: it has run no program of the text that is judged.

    Args:
        server: The engine that elaborated that text.
        answer: What it said; see :func:`elaborated`.
        owner: Whose reference it is; see ``Server.begin``.

    Raises:
        EngineLostError: It did not become ready.
    """
    if "export" not in answer:
        yield server
        return
    with server.judge.reader(owner, server) as reader:
        yield reader
