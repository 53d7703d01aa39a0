"""Requests about goals: ``goal.*``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from lean_dojo_v2.lean.client.connection import Connection
from lean_dojo_v2.lean.client.records import (
    Expr,
    Goal,
    GoalState,
    Site,
    Subsumption,
    Tactic,
    parse_expr,
    serial_tactic,
)
from lean_dojo_v2.lean.errors import TacticError, TacticParseError
from lean_dojo_v2.lean.messages import Message


class GoalCommands(Connection):
    """Goals: start them, run tactics on them, put them together again."""

    def goal_start(
        self, expr: Expr, *, levels: Sequence[str] = (), timeout: float | None = None
    ) -> GoalState:
        """Open a goal whose target is ``expr``.

        Args:
            expr: The target.
            levels: Names of the universe levels that occur in it.
            timeout: Seconds it may take, in place of the server's.

        Raises:
            RequestParseError: It is not an expression.
            RequestError: It has no type.
        """
        with self._lock:
            fields = {"expr": str(expr), **({"levels": list(levels)} if levels else {})}
            answer = self.ask("goal.start", fields, timeout)
            # Pantograph gives the name of the goal alone.
            only = {"name": answer.get("root"), "target": {"pp": str(expr)}}
            return self._read(answer, lambda a: self._state(a["stateId"], {"goals": [only], **a}))

    def goal_tactic(
        self,
        state: GoalState,
        tactic: Tactic,
        site: Site = Site(),  # noqa: B008 - immutable, and PyPantograph's signature
        *,
        options: Mapping[str, int] | None = None,
        axioms: Collection[str] | None = None,
        timeout: float | None = None,
    ) -> GoalState:
        """Run a tactic.

        Args:
            state: The goals.
            tactic: The tactic: text, or a ``Tactic…`` record.
            site: The goal it acts on; the first one if not given.
            options: Limits of Lean for this call, for example ``{"maxHeartbeats": 50000}``
                (embedded engine; a native engine has those of its ``core_options``).
            axioms: Axioms that it may rest on, through whatever theorems it cites (embedded
                engine; a native engine cannot tell). Any are allowed if not given. The state
                then tells also what it hides (``owed``).
            timeout: Seconds it may take, in place of the server's.

        Returns:
            The goals after it. All goals count: it is solved only when none is open.

        Raises:
            TacticParseError: The text is not a tactic.
            TacticError: Lean refused the tactic, or it used ``sorry`` or something unsafe.
            StaleStateError: The state belongs to an engine that is gone.
            EngineLostError: The engine died, timed out or outgrew its memory.
        """
        with self._lock:
            fields: dict[str, Any] = {
                "stateId": self._id_of(state),
                **site.serial(),
                **serial_tactic(tactic),
                **({"options": dict(options)} if options else {}),
                **({} if axioms is None else {"axioms": True}),
            }
            answer = self.ask("goal.tactic", fields, timeout)
            if "parseError" in answer:
                raise TacticParseError(str(answer["parseError"]))
            messages = self._read(answer, _messages)
            if answer.get("goals") is None:
                text = "\n".join(message.data for message in messages)
                raise TacticError(text or _old_errors(answer), messages)
            after = self._read(answer, lambda a: self._state(a["nextStateId"], a, messages))
            for flag, what in (("hasSorry", "sorry"), ("hasUnsafe", "something unsafe")):
                if answer.get(flag):
                    raise TacticError(f"The tactic used {what}.", messages)
            if axioms is not None and (other := set(answer.get("axioms", ())) - set(axioms)):
                raise TacticError(f"The tactic rests on {', '.join(sorted(other))}.", messages)
            return after

    def parse_tactic(
        self, tactic: str, state: GoalState | None = None, *, timeout: float | None = None
    ) -> dict[str, Any]:
        """Parse a text as exactly one tactic and run nothing (embedded engine).

        Args:
            tactic: The text.
            state: The state it is for; its environment may know more syntax than the server's.
            timeout: Seconds it may take, in place of the server's.

        Returns:
            ``kinds`` of syntax, ``identifiers`` and ``atoms``; or ``parseError``.

        Raises:
            StaleStateError: The state belongs to an engine that is gone.
            RequestError: The engine has no such command.
            EngineLostError: The engine is gone.
        """
        with self._lock:
            at = {} if state is None else {"stateId": self._id_of(state)}
            return self.ask("dojo.parse_tactic", {"tactic": tactic, **at}, timeout)

    def request_state(
        self, cmd: str, payload: Mapping[str, Any], *, timeout: float | None = None
    ) -> tuple[GoalState, dict[str, Any]]:
        """Send a command of the protocol that opens a goal state.

        Returns:
            The state, and the answer that it was read from.

        Raises:
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone, or its answer holds no state.
        """
        with self._lock:
            answer = self.ask(cmd, payload, timeout)
            return self._read(answer, lambda a: self._state(a["stateId"], a)), answer

    def goal_continue(
        self, target: GoalState, branch: GoalState, *, timeout: float | None = None
    ) -> GoalState:
        """After ``target`` is solved, go on with the goals of ``branch`` that are still open.

        Raises:
            StaleStateError: A state belongs to an engine that is gone.
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone.
        """
        with self._lock:
            fields = {"target": self._id_of(target), "branch": self._id_of(branch)}
            return self._next_state(fields, timeout)

    def goal_resume(
        self, state: GoalState, goals: Sequence[Goal], *, timeout: float | None = None
    ) -> GoalState:
        """Bring ``goals`` back into the scope of ``state``.

        Raises:
            StaleStateError: A state belongs to an engine that is gone.
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone.
        """
        with self._lock:
            fields = {"target": self._id_of(state), "goals": [goal.id for goal in goals]}
            return self._next_state(fields, timeout)

    def goal_root(self, state: GoalState, *, timeout: float | None = None) -> Expr | None:
        """Give the proof term of the whole goal, or ``None`` while goals are open.

        Raises:
            StaleStateError: A state belongs to an engine that is gone.
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone.
        """
        root = self.goal_print(state, root=True, timeout=timeout).get("root")
        return None if root is None else self._read(root, parse_expr)

    def goal_print(
        self, state: GoalState, *, root: bool = False, timeout: float | None = None
    ) -> dict[str, Any]:
        """Give Pantograph's description of a state: its goals and, if asked for, the root term.

        Raises:
            StaleStateError: A state belongs to an engine that is gone.
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone.
        """
        with self._lock:
            fields = {"stateId": self._id_of(state), "goals": True, "rootExpr": root}
            return self.ask("goal.print", fields, timeout)

    def goal_subsume(
        self,
        state: GoalState,
        goal: Goal,
        candidates: Sequence[Goal],
        src_state: GoalState | None = None,
        *,
        timeout: float | None = None,
    ) -> tuple[Subsumption, GoalState | None, Goal | None]:
        """Find out whether one of ``candidates`` proves ``goal`` (native engine).

        Returns:
            What was found; the state without the goal, unless that would be a cycle; the candidate.

        Raises:
            StaleStateError: A state belongs to an engine that is gone.
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone.
        """
        with self._lock:
            fields: dict[str, Any] = {
                "stateId": self._id_of(state),
                "goal": goal.id,
                "candidates": [candidate.id for candidate in candidates],
            }
            if src_state is not None:
                fields["srcStateId"] = self._id_of(src_state)
            answer = self.ask("goal.subsume", fields, timeout)
            rest: GoalState | None = None
            if answer.get("stateId") is not None:
                rest = GoalState.parse(answer["stateId"], [], self._session)
                rest.goals.extend(g for g in state.goals if g.id != goal.id)
            by = next((c for c in candidates if c.id == answer.get("subsumptor")), None)
            return self._read(answer, lambda a: Subsumption(a["result"])), rest, by

    def goal_save(
        self, goal_state: GoalState, path: str | Path, *, timeout: float | None = None
    ) -> None:
        """Save a goal state to a file (native engine: the embedded one writes no files).

        Raises:
            StaleStateError: A state belongs to an engine that is gone.
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone.
        """
        with self._lock:
            fields = {"id": self._id_of(goal_state), "path": str(Path(path).absolute())}
            self.ask("goal.save", fields, timeout)

    def goal_load(self, path: str | Path, *, timeout: float | None = None) -> GoalState:
        """Take a goal state from a file; the environment must be the same (native engine).

        Raises:
            RequestError: The engine refused the request.
            EngineLostError: The engine is gone.
        """
        with self._lock:
            answer = self.ask("goal.load", {"path": str(Path(path).absolute())}, timeout)
            state_id = self._read(answer, lambda a: int(a["id"]))
            shown = self.ask("goal.print", {"stateId": state_id, "goals": True}, timeout)
            return self._read(shown, lambda a: self._state(state_id, a))

    def _next_state(self, fields: Mapping[str, Any], timeout: float | None) -> GoalState:
        answer = self.ask("goal.continue", fields, timeout)
        return self._read(answer, lambda a: self._state(a["nextStateId"], a))

    def _state(
        self, state_id: int, answer: Mapping[str, Any], messages: Sequence[Message] = ()
    ) -> GoalState:
        owed = str(answer.get("owed", ""))
        goals, pp = answer["goals"], answer.get("pp")
        return GoalState.parse(state_id, goals, self._session, messages, pp, owed=owed)


def _messages(answer: Mapping[str, Any]) -> list[Message]:
    return [Message.parse(message) for message in answer.get("messages") or ()]


def _old_errors(answer: Mapping[str, Any]) -> str:
    """Before version 0.3, Pantograph gave a failed tactic's errors as plain strings."""
    return "\n".join(map(str, answer.get("tacticErrors") or ["the tactic failed without a reason"]))
