"""A scoreboard of tricks: who accepts a proof that proves nothing?

    python experiments/tricks.py [--json] [--all]

Each trick of ``tricks.txt`` makes Lean say nothing bad about a statement that is false, or that the
text does not prove: as a tactic, as a proof (a block of tactics), or as a file. Beside this
library's checks stand those that others use, in their simplest form:

- *exit code*: Lean reports no error;
- *no sorry*: neither does it, nor does it or the text mention the word;
- *#print axioms*: Lean reports no error, and ``#print axioms`` at the end of the text names the
  three usual axioms at most.

It prints who accepts what. This library accepts none; each of the others accepts some.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import LeanError
from lean_dojo_v2.lean.verify.advance import judge_step
from lean_dojo_v2.lean.verify.files import check_file
from lean_dojo_v2.lean.verify.points import expression_point
from lean_dojo_v2.lean.verify.proofs import ALLOWED_AXIOMS, check_goal_proof

GOAL = "2 + 2 = 5"
REFERENCE = f"theorem target : {GOAL} := sorry\n"
_HEADING = re.compile(r"^--- (tactic|proof|file): (.+)\n", re.MULTILINE)
_AXIOMS = re.compile(r"depends on axioms: \[(.*?)\]", re.DOTALL)


@attrs.frozen
class Trick:
    """One way to make Lean say nothing bad.

    Attributes:
        kind: ``tactic``, ``proof`` or ``file``.
        name: What it does, in a few words.
        text: The tactic, the block of tactics, or the file; its theorem is called ``target``.
    """

    kind: str
    name: str
    text: str

    @property
    def file(self) -> str:
        """The same as a file, for the other checks."""
        if self.kind == "file":
            return self.text
        block = "\n".join(f"  {line}" for line in self.text.split("\n"))
        return f"theorem target : {GOAL} := by\n{block}\n"


def read_tricks() -> list[Trick]:
    """Read ``tricks.txt``."""
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    _, *parts = _HEADING.split(text)
    return [
        Trick(kind, name, body.strip("\n"))
        for kind, name, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


def by_exit_code(server: Server, trick: Trick) -> bool:
    """Lean reports no error."""
    return _messages(server, trick.file) is not None


def by_the_word(server: Server, trick: Trick) -> bool:
    """Lean reports no error, and neither it nor the text mentions ``sorry``."""
    said = _messages(server, trick.file)
    return said is not None and not any("sorry" in text for text in [trick.text, *said])


def by_print_axioms(server: Server, trick: Trick) -> bool:
    """Lean reports no error, and what it prints names no other axiom than the usual ones."""
    said = _messages(server, f"{trick.file}\n#print axioms target\n")
    if said is None:
        return False
    lists = [found for message in said for found in _AXIOMS.findall(message)]
    return {name.strip() for found in lists for name in found.split(",")} <= ALLOWED_AXIOMS


def by_this_library(server: Server, trick: Trick) -> bool:
    """A tactic, a proof and a file are checked as users' are."""
    try:
        if trick.kind == "file":
            return check_file(server, trick.text, reference=REFERENCE, timeout=60).valid
        if check_goal_proof(server, GOAL, trick.text, timeout=60).valid:
            return True
        if trick.kind == "proof":
            return False
        return judge_step(server, expression_point(server, GOAL), trick.text, timeout=20).advances
    except LeanError:  # the engine was lost over it, or the file cannot be opened
        return False


CHECKS: dict[str, Callable[[Server, Trick], bool]] = {
    "exit code": by_exit_code,
    "no sorry": by_the_word,
    "#print axioms": by_print_axioms,
    "lean-dojo": by_this_library,
}


def _messages(server: Server, text: str) -> list[str] | None:
    """Give what Lean says about a text; ``None`` where there is an error."""
    try:
        units = server.process(text, read_header=True, timeout=20)
    except LeanError:
        return None
    if any(unit.errors for unit in units):
        return None
    return [message.data for unit in units for message in unit.messages]


def scoreboard(server: Server, tricks: Sequence[Trick]) -> list[dict[str, Any]]:
    """Ask every check about every trick.

    Returns:
        For each trick its ``kind`` and ``name``, and whether each check accepts it.
    """
    rows: list[dict[str, Any]] = []
    said = time.monotonic()
    for trick in tricks:
        # A program of a trick may last as long as its engine.
        with server.alone(trick.name):
            accepted = {name: check(server, trick) for name, check in CHECKS.items()}
        rows.append({"kind": trick.kind, "name": trick.name, **accepted})
        if time.monotonic() - said > 20:
            said = time.monotonic()
            print(f"{len(rows)} of {len(tricks)} tricks", file=sys.stderr, flush=True)
    return rows


def main() -> None:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--all", action="store_true", help="also the tricks that nobody accepts")
    options = parser.parse_args()
    with Server(engine="embedded") as server:
        rows = scoreboard(server, read_tricks())
    if options.json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    print(f"{'trick':58}" + "".join(f"{name:>15}" for name in CHECKS))
    for row in rows:
        if options.all or any(row[name] for name in CHECKS):
            accepted = "".join(f"{'accepts' if row[name] else '·':>15}" for name in CHECKS)
            print(f"{row['kind'] + ': ' + row['name']:58}{accepted}")
    counts = "".join(f"{sum(row[name] for row in rows):>15}" for name in CHECKS)
    print(f"{f'accepted of {len(rows)}':58}{counts}")


if __name__ == "__main__":
    main()
