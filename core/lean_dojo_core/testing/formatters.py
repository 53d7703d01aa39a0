"""The conformance suite of dataset formatters."""

import inspect
import json
import pickle
from typing import Any

from lean_dojo_core import registry
from lean_dojo_core.protocols import DatasetFormatter, Row, formats_whole_proofs
from lean_dojo_core.records import MARK_OPEN, Theorem
from lean_dojo_core.testing.samples import ODD_THEOREMS, SAMPLE_THEOREMS
from lean_dojo_core.testing.suite import DescribedSuite, explained

GOAL = "a b : Nat\nh : a = b\n⊢ b = a"
ROLES = {"system", "user", "assistant", "developer", "tool"}


class DatasetFormatterSuite(DescribedSuite):
    """Checks of a dataset formatter.

    Set ``name``; override ``make`` if it needs options, and ``theorems`` if it cannot learn
    from the sample theorems.
    """

    entries = registry.dataset_formatters

    def theorems(self) -> tuple[Theorem, ...]:
        """Return theorems that yield rows."""
        return SAMPLE_THEOREMS

    def rows(
        self, theorems: tuple[Theorem, ...] | None = None, formatter: DatasetFormatter | None = None
    ) -> list[Row]:
        """Format theorems with the formatter under test, or with another one."""
        chosen = self.theorems() if theorems is None else theorems
        used = self.subject if formatter is None else formatter
        return [row for theorem in chosen for row in used.rows(theorem)]

    def test_gives_rows(self) -> None:
        """Ordinary theorems yield rows."""
        assert self.rows(), (
            "it yields no row for ordinary theorems; override `theorems` with some that do"
        )

    def test_columns_are_declared(self) -> None:
        """Every row has exactly the declared columns."""
        columns = getattr(self.subject, "columns", None)
        assert isinstance(columns, tuple), "give it an attribute `columns`, a tuple of names"
        for row in self.rows((*self.theorems(), *ODD_THEOREMS)):
            assert set(row) == set(columns), (
                f"a row has the columns {sorted(row)}, but `columns` says {sorted(columns)}; make "
                "them agree"
            )
        if self.name:
            stated = self.entry.spec.columns
            assert set(stated) == set(columns), (
                f"its descriptor says columns={stated}, the object {columns}; make them agree, "
                "because trainers choose by the descriptor"
            )

    def test_rows_are_plain_data(self) -> None:
        """Rows go into Arrow tables: text, numbers, lists and mappings, of one type a column."""
        types: dict[str, set[str]] = {}
        for row in self.rows((*self.theorems(), *ODD_THEOREMS)):
            with explained("a row is not plain data", "use text, numbers, lists and dicts"):
                json.dumps(row)
            for column, value in row.items():
                if value is not None:
                    types.setdefault(column, set()).add(type(value).__name__)
        for column, names in types.items():
            assert len(names) == 1, (
                f"column {column!r} holds {sorted(names)}; keep one type per column"
            )

    def test_takes_odd_theorems(self) -> None:
        """Theorems without proof, with ``sorry`` or with empty states raise nothing."""
        for theorem in ODD_THEOREMS:
            odd = f"{theorem.full_name!r} of lean_dojo_core.testing.ODD_THEOREMS"
            advice = "yield no row where there is nothing to learn from"
            with explained(f"it raises on the theorem {odd}", advice):
                list(self.subject.rows(theorem))

    def test_rows_have_no_marks(self) -> None:
        """Rows have no ``<a>…</a>`` marks, since goals at proof time have none."""
        for row in self.rows((*self.theorems(), *ODD_THEOREMS)):
            for column in ("prompt", "completion", "messages", "problem", "goal", "text"):
                assert MARK_OPEN not in json.dumps(row.get(column)), (
                    f"column {column!r} has the mark {MARK_OPEN}; use lean_dojo_core.remove_marks"
                )

    def test_is_deterministic(self) -> None:
        """The same theorem yields the same rows, also from a fresh formatter."""
        assert self.rows() == self.rows() == self.rows(formatter=self.make()), (
            "the same theorems yielded different rows the second time, or with a fresh one; seed "
            "randomness by the theorem, and keep no state between theorems"
        )

    def test_pickles(self) -> None:
        """It can be pickled, for worker processes."""
        with explained("it cannot be pickled", "define it at module level"):
            copied = pickle.loads(pickle.dumps(self.subject))  # noqa: S301 - our own bytes
        assert self.rows(formatter=copied) == self.rows(), (
            "its unpickled copy yields different rows"
        )

    def test_prompt_is_a_conversation(self) -> None:
        """``prompt`` returns messages that end with the user's and contain the goal."""
        signature = inspect.signature(self.subject.prompt)
        assert "premises" in signature.parameters, (
            f"prompt{signature} does not take premises; write prompt(self, goal, *, premises=()) "
            "and ignore them if there is no place for them"
        )
        for messages in (self.subject.prompt(GOAL), self.subject.prompt(GOAL, premises=["x : y"])):
            problem = _conversation_problem(messages)
            assert problem is None, problem
            assert GOAL in "".join(message["content"] for message in messages), (
                "the prompt does not contain the goal as Lean prints it"
            )
            assert messages[-1]["role"] != "assistant", (
                "the last message of a prompt is the assistant's; leave the answer to the model"
            )

    def test_prompt_is_the_text_of_training(self) -> None:
        """Rows use exactly the conversation that ``prompt`` returns at proof time.

        A formatter of whole proofs prompts with the statement.
        """
        for theorem in self.theorems():
            states = [tactic.state_before for tactic in theorem.traced_tactics]
            whole = formats_whole_proofs(self.subject)
            goals = [theorem.theorem_statement or ""] if whole else states
            asked = [self.subject.prompt(goal) for goal in goals]
            for row in self.subject.rows(theorem):
                messages = row.get("messages")  # neither: a row of another shape (a pair, a number)
                trained = row.get("prompt", messages and messages[:-1])
                assert trained is None or trained in asked, (
                    f"a row asks with {trained!r:.300}, but prompt() of its goal returns "
                    f"{(asked or [None])[0]!r:.300}; build rows by calling prompt()"
                )


def _conversation_problem(messages: Any) -> str | None:
    if not isinstance(messages, list) or not messages:
        return f"prompt() returned {messages!r:.80}; return a list of messages"
    for message in messages:
        if not isinstance(message, dict) or set(message) != {"role", "content"}:
            return f"{message!r:.80} is not a message; use {{'role': …, 'content': …}}"
        if message["role"] not in ROLES or not isinstance(message["content"], str):
            return f"{message!r:.80}: the role is one of {sorted(ROLES)} and the content a text"
    return None
