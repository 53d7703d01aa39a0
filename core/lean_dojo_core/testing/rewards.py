"""The conformance suite of reward functions."""

import asyncio
import copy
import inspect
import math
import pickle
from typing import Any

from lean_dojo_core import registry
from lean_dojo_core.protocols import Closes
from lean_dojo_core.settings import settings_of
from lean_dojo_core.testing.samples import ODD_COMPLETIONS, SAMPLE_THEOREMS
from lean_dojo_core.testing.suite import DescribedSuite, close, explained

OF_THE_THEOREM = ("theorem_statement", "full_name", "file_path", "url", "commit")
COMPLETIONS = ("rfl", "simp", "rw [Nat.add_comm a b]", "exact sorry")


class RewardFunctionSuite(DescribedSuite):
    """Checks of a reward function.

    Set ``name``; override ``make`` if it needs options, and ``columns`` if it reads columns of its
    own. A reward may keep state (a novelty bonus), but two fresh ones must agree.
    """

    entries = registry.reward_functions

    def columns(self, count: int) -> dict[str, list[Any]]:
        """Return the dataset columns for ``count`` completions; override to add yours."""
        theorem = SAMPLE_THEOREMS[0]
        step = theorem.traced_tactics[0]
        asked = [{"role": "user", "content": step.state_before}]
        known: dict[str, Any] = {
            **dict.fromkeys(self.entry.spec.required_columns if self.name else (), ""),
            **dict.fromkeys(("problem", "goal"), step.state_before),
            **dict.fromkeys(("prompt", "prompts"), asked),
            "tactic": step.tactic,
            "tactics_before": [],
            "tactic_index": 0,
            **{column: getattr(theorem, column) for column in OF_THE_THEOREM},
        }
        return {column: [value] * count for column, value in known.items()}

    def score(self, completions: list[str], function: Any = None) -> list[Any]:
        """Call the function as TRL does and return its result as a list."""
        result = _call(
            self.subject if function is None else function,
            completions,
            completion_ids=[[1]] * len(completions),
            trainer_state=None,
            **self.columns(len(completions)),
        )
        if hasattr(result, "tolist"):  # a tensor or an array
            result = result.tolist()
        assert isinstance(result, (list, tuple)), (
            f"it returned a {type(result).__name__}; return a list (or a 1-D tensor) with one "
            "number per completion"
        )
        return list(result)

    def test_leaves_the_word_weight_free(self) -> None:
        """In a settings file, ``weight`` is a reward's share in the sum, not its setting."""
        names = [setting.name for setting in settings_of(type(self.subject))]
        assert "weight" not in names, (
            "it has a setting 'weight', which a file cannot set, because there 'weight' is the "
            "reward's share in the sum; give the setting another name"
        )

    def test_closes_its_engines(self) -> None:
        """A reward that uses Lean has ``close()``, since an engine takes a gigabyte."""
        if not self.name or not self.entry.spec.needs_lean:
            return
        fresh = self.make()
        assert isinstance(fresh, Closes), (
            "its descriptor says needs_lean, and it has no close(); stop its engines there, or "
            "close those of lean_dojo_v2.lean.shared_engines()"
        )
        fresh.close()  # nothing has started yet
        fresh.close()

    def test_takes_columns_by_keyword(self) -> None:
        """TRL passes every dataset column, and more with each version."""
        signature = inspect.signature(self.subject)
        kinds = [parameter.kind for parameter in signature.parameters.values()]
        assert "completions" in signature.parameters, (
            f"its signature is {signature}; call the first parameter 'completions', because it is "
            "passed by keyword"
        )
        assert inspect.Parameter.VAR_KEYWORD in kinds, (
            f"its signature is {signature}; add **kwargs: every column of the dataset is passed by "
            "keyword, and TRL adds more"
        )

    def test_gives_one_number_per_completion(self) -> None:
        """It returns one finite number per completion; ``None`` or NaN where it does not apply."""
        _check_numbers(self.score(list(COMPLETIONS)), COMPLETIONS)

    def test_takes_an_empty_batch(self) -> None:
        """It returns an empty list for an empty batch."""
        scores = self.score([])
        assert scores == [], f"for an empty batch it returned {scores!r}; return an empty list"

    def test_takes_odd_completions(self) -> None:
        """Empty, long, multi-line, hostile and non-ASCII completions raise nothing."""
        with explained(
            "it raises on completions such as an empty text or a broken tactic",
            "score them (low, or None), because models write such things",
        ):
            scores = self.score(list(ODD_COMPLETIONS))
        _check_numbers(scores, ODD_COMPLETIONS)

    def test_two_fresh_ones_agree(self) -> None:
        """Two fresh objects score the same completions alike."""
        self._check_agreement(
            (self.make(), self.make()), "two fresh ones", "seed what is random, or drop it"
        )

    def test_pickles(self) -> None:
        """It can be pickled, for data-parallel runs."""
        fresh = self.make()
        advice = (
            "define it at module level and open files, servers and processes lazily, leaving them "
            "out of __getstate__"
        )
        with explained("it cannot be pickled", advice):
            copied = pickle.loads(pickle.dumps(fresh))  # noqa: S301 - our own bytes
        self._check_agreement((fresh, copied), "it and its unpickled copy", advice)

    def _check_agreement(self, rewards: tuple[Any, Any], called: str, advice: str) -> None:
        try:
            first, second = (self.score(list(COMPLETIONS), reward) for reward in rewards)
        finally:
            for reward in rewards:
                close(reward)
        # NaN means the same as None, but does not equal itself.
        same = [[None if one != one else one for one in scores] for scores in (first, second)]  # noqa: PLR0124
        assert same[0] == same[1], (
            f"{called} returned {first} and {second} for the same completions; {advice}"
        )

    def test_leaves_its_input_alone(self) -> None:
        """It does not change its input, since other rewards get the same lists."""
        completions = list(COMPLETIONS)
        columns = self.columns(len(completions))
        before = copy.deepcopy((completions, columns))
        _call(self.subject, completions, **columns)
        assert (completions, columns) == before, (
            "it changed its input lists; copy what you want to change"
        )


def _call(function: Any, completions: list[str], **columns: Any) -> Any:
    """Call a reward, and wait for one that is asynchronous."""
    result = function(completions=completions, **columns)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


def _check_numbers(scores: list[Any], completions: tuple[str, ...]) -> None:
    assert len(scores) == len(completions), (
        f"it returned {len(scores)} numbers for {len(completions)} completions; return one each, "
        "None where the reward does not apply"
    )
    for score, completion in zip(scores, completions, strict=True):
        result = f"for {completion[:40]!r} it returned {score!r:.80}"
        with explained(
            f"{result}, which is not a number",
            "return a float, or None where the reward does not apply",
        ):
            number = math.nan if score is None else float(score)
        assert not math.isinf(number), (
            f"{result}; an infinite reward makes every advantage NaN, so bound it"
        )
