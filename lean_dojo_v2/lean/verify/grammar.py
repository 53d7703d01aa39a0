"""The second wall: Lean's own parser.

The engine gives the syntax tree of a text that is exactly one tactic, without running it. Anything
spelt in ways that a text search misses is refused by its kind of syntax.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from lean_dojo_v2.lean.client.records import GoalState
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import TacticParseError
from lean_dojo_v2.lean.verify.screening import Reason, Refusal, screen

_FORBIDDEN: tuple[tuple[Reason, re.Pattern[str]], ...] = tuple(
    (reason, re.compile(pattern))
    for reason, pattern in (
        (Reason.SORRY, r"Lean\.Parser\.(Tactic\.tactic(Sorry|Admit|Stop_)|Term\.sorry)"),
        (Reason.NATIVE, r"Lean\.Parser\.Tactic\.(nativeDecide|bvDecide|bvCheck|bvTrace)"),
        (Reason.OPTION, r"Lean\.Parser\.(Tactic|Term|Command|Tactic\.Conv)\.set_option"),
        (Reason.SCOPE, r"Lean\.Parser\.(Tactic|Term|Command|Tactic\.Conv)\.open\w*"),
        (Reason.UNSAFE, r"Lean\.Parser\.Term\.(unsafe|dbgTrace|panic|attributes)"),
        (
            Reason.METAPROGRAM,
            r"Lean\.(byElab|includeStr|Parser\.(Tactic|Term)\.(runTac|quot\w*))|.*\.(dynamicQ|q)uot",
        ),
        (Reason.SEARCH, r"Lean\.Parser\.Tactic\.(exact\?|apply\?|rewrites\?)"),
        (Reason.COMMAND, r"Lean\.Parser\.(Command|Termination)\..*"),
    )
)

_LET_REC = "Lean.Parser.Termination.suffix"
"""Syntax kinds of a `let rec`. Only a whole proof may contain one, since the goal after a single
tactic does not show whether the recursion terminates."""


def parse(
    server: Server,
    tactic: str,
    *,
    state: GoalState | None = None,
    whole_proof: bool = False,
    own_names: Collection[str] = (),
    timeout: float | None = None,
) -> Refusal | None:
    """Let Lean parse a text as exactly one tactic, and judge its syntax.

    Args:
        server: The engine.
        tactic: The text.
        state: The state it is for; its environment may know more syntax.
        whole_proof: Allow `let rec`, as the whole theorem is elaborated afterwards.
        own_names: Names of the theorem that is being proved.
        timeout: Seconds that it may take.

    Returns:
        The refusal, or ``None``.

    Raises:
        TacticParseError: If it is not exactly one tactic.
        StaleStateError: If the state belongs to an engine that is gone.
    """
    answer = server.parse_tactic(tactic, state, timeout=timeout)
    if "parseError" in answer:
        raise TacticParseError(str(answer["parseError"]))
    allowed = {_LET_REC} if whole_proof else set()
    for kind in answer["kinds"]:
        for reason, pattern in _FORBIDDEN:
            if kind not in allowed and pattern.fullmatch(kind):
                return Refusal(reason, f"contains the syntax {kind}")
    if answer.get("evaluates"):
        return Refusal(Reason.METAPROGRAM, "a setting that is more than plain values")
    # Names as Lean reads them, without escapes.
    names = " ".join(name for name in answer["identifiers"] if name)
    # `exact`, because none of them is the name of a tactic.
    return screen(f"exact {names}", whole_proof=True, own_names=own_names) if names else None
