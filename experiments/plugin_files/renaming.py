"""Data augmentation: the same proof steps with their variables renamed.

A proof step does not depend on whether a proposition is called ``p`` or ``q``. A model that has
seen few theorems memorises names instead of learning where to copy them from; renamed copies teach
the copying. A model that copies already proves less with them (``docs/benchmarks.md``), so this is
a plugin of the experiments only: ``stages.command`` names its folder in ``LEAN_DOJO_PLUGINS_DIR``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from typing import ClassVar, TypeAlias

from lean_dojo_core import DatasetFormatterSpec, Row, Theorem, hookimpl
from lean_dojo_plugins.causal_lm.text.formatters import TacticChat, ask, goal_of, label_of


@hookimpl
def lean_dojo_dataset_formatters() -> Iterator[DatasetFormatterSpec]:
    """Offer ``tactic-chat-renamed``."""
    yield DatasetFormatterSpec(
        name="tactic-chat-renamed",
        target=f"{__name__}:RenamedTacticChat",
        summary="Rows of tactic-chat, also with renamed variables, for small data.",
        columns=("prompt", "completion"),
    )


StateAndTactic: TypeAlias = tuple[str, str]
"""A state as Lean prints it, and a tactic."""

# A variable of one letter, or a hypothesis that is named after variables: `hpq` is about p and q.
_NAME = re.compile(r"(?<![\w.'])(h?)([a-z]{1,3})(?![\w'✝])")
_HYPOTHESIS = re.compile(r"^([^\s:⊢][^:⊢\n]*?) : (.*)$", re.MULTILINE)
_PROPOSITIONS = "pqrs"


def renamed(step: StateAndTactic, copies: int, rng: random.Random) -> Iterator[StateAndTactic]:
    r"""Yield a step with renamed variables.

    Variables of one letter change places with others of the same type; propositions may also take
    a name that the step does not use. Hypotheses follow the variables that they are named after.
    There are at most ``copies``, fewer if there are not so many spellings.

    >>> step = ("p q : Prop\nhp : p\nhq : q\n⊢ q ∧ p", "exact ⟨hq, hp⟩")
    >>> for state, tactic in renamed(step, 1, random.Random(3)):
    ...     print(state.replace("\n", "; "), "=>", tactic)
    q r : Prop; hq : q; hr : r; ⊢ r ∧ q => exact ⟨hr, hq⟩
    """
    types = _variables(step[0])
    words = set(re.findall(r"[\w']+", " ".join(step)))
    seen = {step}
    for _ in range(3 * copies):
        if len(seen) > copies:
            return
        names = _other_names(types, words, rng)
        if len({_spelt(word, names) for word in words}) < len(words):
            continue  # two names would become one: `hs` was there, and `hp` is about `s` now
        new = _spelt(step[0], names), _spelt(step[1], names)
        if new not in seen:
            seen.add(new)
            yield new


def _variables(state: str) -> dict[str, list[str]]:
    """Return the variables of one letter, by their types; not those with another type elsewhere."""
    types: dict[str, set[str]] = {}
    for match in _HYPOTHESIS.finditer(state):
        for name in match[1].split():
            if re.fullmatch("[a-z]", name):
                types.setdefault(name, set()).add(match[2])
    found: dict[str, list[str]] = {}
    for name, kinds in types.items():
        if len(kinds) == 1:
            found.setdefault(kinds.pop(), []).append(name)
    return found


def _other_names(
    types: Mapping[str, list[str]], words: set[str], rng: random.Random
) -> dict[str, str]:
    names: dict[str, str] = {}
    for kind, variables in types.items():
        free = [name for name in _PROPOSITIONS if kind == "Prop" and name not in words]
        chosen = rng.sample([*variables, *free], len(variables))
        names.update(zip(variables, chosen, strict=True))
    return names


def _spelt(text: str, names: Mapping[str, str]) -> str:
    def other(match: re.Match[str]) -> str:
        prefix, letters = match.groups()
        is_name = prefix or len(letters) == 1
        is_keyword = match[0] == "have"
        # `n` in `foo (n := m)` is an argument of `foo`.
        is_argument = text.endswith("(", 0, match.start()) and text.startswith(" :=", match.end())
        if not is_name or is_keyword or is_argument or not names.keys() >= set(letters):
            return match[0]
        return prefix + "".join(names[letter] for letter in letters)

    return _NAME.sub(other, text)


class RenamedTacticChat(TacticChat):
    r"""The rows of ``tactic-chat``, each also with renamed variables.

    For small data and models trained from scratch; a pretrained model copies names already. The
    names depend on the theorem alone, so rows are reproducible.

    >>> from lean_dojo_core import TracedTactic
    >>> step = TracedTactic("exact hq", "p q : Prop\nhp : p\nhq : q\n⊢ q", "no goals")
    >>> theorem = Theorem("one", "A.lean", (1, 1), (1, 20), "u", "c", traced_tactics=(step,))
    >>> [row["completion"][0]["content"] for row in RenamedTacticChat().rows(theorem)]
    ['exact hq', 'exact hs', 'exact hq', 'exact hq']
    """

    copies: ClassVar[int] = 3
    """Maximum number of renamed copies per row."""

    def rows(self, theorem: Theorem) -> Iterator[Row]:
        """Yield each learnable tactic as written, then renamed."""
        rng = random.Random(f"{theorem.file_path}\n{theorem.full_name}")
        for tactic in theorem.traced_tactics:
            label = label_of(tactic)
            if label is None:
                continue
            step = goal_of(tactic), label
            for goal, text in [step, *renamed(step, self.copies, rng)]:
                completion = [{"role": "assistant", "content": text}]
                yield {"prompt": ask(goal), "completion": completion}
