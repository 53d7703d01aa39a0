"""The adapter between a reward function and TRL.

TRL hands message lists to the reward of a conversational prompt and expects a list of numbers back.
The documented rewards take texts and return tensors; TRL's own take message lists. The adapter
supports both forms, checks the results, and names the reward and plugin in errors.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import attrs

from lean_dojo_core.errors import PluginError, UsageError
from lean_dojo_core.foreign import OutOfTimeError, contained, report_when_slow, watched
from lean_dojo_v2.errors import RewardError

GIVEN = frozenset(
    ("completions", "prompts", "completion_ids", "trainer_state", "log_extra", "log_metric")
)
"""Arguments that TRL passes to every reward besides the columns of the dataset."""

TIMEOUT = 1800.0
"""Default time limit of a reward for a batch, in seconds: transformers' ``ddp_timeout``, the time
that processes wait for each other."""

Scores = list[float | None]
"""One number per completion; ``None`` where the reward does not apply."""


def completion_texts(completions: Sequence[Any]) -> list[str]:
    """Return completions as texts, whether TRL passes texts or messages.

    Args:
        completions: Each a text, or a list of messages as TRL makes for conversational prompts.

    Returns:
        The text of each; of several messages, the assistant's, joined by line ends.

    Raises:
        TypeError: If an item is neither.

    >>> completion_texts(["simp", [{"role": "assistant", "content": "rfl"}]])
    ['simp', 'rfl']
    """
    return [_text(completion) for completion in completions]


def as_messages(completions: Sequence[Any]) -> list[Any]:
    """Return completions as message lists, whether they come as texts or as messages.

    >>> as_messages(["simp"])
    [[{'role': 'assistant', 'content': 'simp'}]]
    """
    return [
        [{"role": "assistant", "content": one}] if isinstance(one, str) else one
        for one in completions
    ]


def _text(completion: Any) -> str:
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Mapping):
        completion = [completion]
    if isinstance(completion, Sequence) and all(isinstance(m, Mapping) for m in completion):
        spoken = [m for m in completion if m.get("role", "assistant") == "assistant"]
        return "\n".join(_content(message.get("content")) for message in spoken)
    raise TypeError(
        f"a completion is a text or a list of messages, not {type(completion).__name__}"
    )


def _content(content: Any) -> str:
    """Return the text of a message; content may be a list of typed parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))


@attrs.define(eq=False)
class AdaptedReward:
    """A reward function for TRL, wrapped around a plugin's or user's function.

    Attributes:
        function: The reward itself.
        name: Its name in metrics and messages.
        provenance: Its origin for error messages, for example ``"my-plugin 1.2"``.
        weight: Its share in the sum of rewards.
        messages: Hand over TRL's message lists (for TRL's own rewards) instead of texts.
        columns: Columns that it declares.
        timeout: Seconds that it may take for a batch; ``None`` for no limit. A call that does not
            return is reported after ten seconds, and then every minute.
    """

    function: Callable[..., Any]
    name: str
    provenance: str = ""
    weight: float = 1.0
    messages: bool = False
    columns: tuple[str, ...] = ()
    timeout: float | None = TIMEOUT

    @property
    def __name__(self) -> str:
        # TRL names its metrics by it.
        return self.name

    def __call__(self, completions: Sequence[Any], **kwargs: Any) -> Scores:
        """Score a batch.

        Args:
            completions: Texts or message lists.
            **kwargs: Dataset columns as lists, and what TRL adds; passed on unchanged.

        Returns:
            One number or ``None`` per completion.

        Raises:
            RewardError: If the function raises, or gives anything but one number each.
        """
        items = self._items(completions)
        try:
            result = self._run(lambda: self.function(completions=items, **kwargs), items)
        except RewardError:
            raise
        except (Exception, SystemExit) as error:
            raise self._raised(error, items, kwargs) from error
        return self.check(result, items)

    def columns_needed(self, given: Collection[str] = GIVEN) -> tuple[str, ...]:
        """Return the columns that it needs: those it declares, and those of its parameters.

        Args:
            given: Columns that it gets in any case.
        """
        own = [name for name in required_parameters(self.function) if name not in given]
        return tuple(dict.fromkeys((*self.columns, *own)))

    def warm_up(self, **columns: Any) -> None:
        """Have the reward prepare for the next rows, if it can (:class:`.protocols.WarmsUp`).

        Args:
            **columns: The dataset columns of the batch whose completions are yet to be written.

        Raises:
            RewardError: If that method raises.
        """
        prepare = getattr(self.function, "warm_up", None)
        if not callable(prepare):
            return
        try:
            self._run(lambda: prepare(**columns), ())
        except RewardError:
            raise
        except (Exception, SystemExit) as error:
            raise RewardError(
                f"{self._who()} raised {type(error).__name__} in warm_up: {error}"
            ) from error

    def close(self) -> None:
        """Close the reward, if it can be closed (:class:`.protocols.Closes`)."""
        if callable(end := getattr(self.function, "close", None)):
            end()

    def _run(self, call: Callable[[], Any], items: Sequence[Any]) -> Any:
        """Call the reward within its time limit, contained."""
        try:
            with contained(self._who()):
                return watched(call, self._who(), self.timeout)
        except OutOfTimeError as error:
            raise RewardError(
                f"{self._who()} {error} {_on(items)}; its option timeout sets another limit"
            ) from error
        except PluginError as error:
            raise RewardError(str(error)) from error

    def _items(self, completions: Sequence[Any]) -> list[Any]:
        return as_messages(completions) if self.messages else completion_texts(completions)

    def check(self, result: Any, completions: Sequence[Any]) -> Scores:
        """Convert a tensor, an array or a list to numbers, and check them.

        Args:
            result: What the function returned.
            completions: The completions it scored.

        Raises:
            RewardError: For a wrong shape or length, or an item that is not a number.
        """
        # Tensors and arrays both have tolist(); asking for it needs no import of either library.
        values = result.tolist() if hasattr(result, "tolist") else result
        if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Sequence):
            kind = type(result).__name__
            raise RewardError(
                f"{self._who()} returned {kind}; it must return one number per completion "
                "(a list, an array or a 1-D tensor)"
            )
        if len(values) != len(completions):
            raise RewardError(
                f"{self._who()} returned {len(values)} rewards for {len(completions)} completions; "
                "it must return one each, in their order"
            )
        return [self._number(v, i, completions) for i, v in enumerate(values)]

    def _number(self, value: Any, index: int, completions: Sequence[Any]) -> float | None:
        if value is None:
            return None
        if hasattr(value, "tolist"):
            value = value.tolist()
        if isinstance(value, (bool, int, float)):
            number = float(value)
            if math.isnan(number):
                return None
            if math.isfinite(number):
                return number
        raise RewardError(
            f"{self._who()}: reward {index} is {value!r:.60}, not a finite number "
            f"(completion: {completions[index]!r:.120})"
        )

    def _raised(
        self, error: BaseException, completions: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> RewardError:
        """Find the first completion that makes the function raise on its own."""
        where = f"on a batch of {len(completions)}"
        for index, completion in enumerate(completions):
            one = {
                key: [value[index]]
                if isinstance(value, (list, tuple)) and len(value) == len(completions)
                else value
                for key, value in kwargs.items()
            }
            try:
                self.function(completions=[completion], **one)
            except (Exception, SystemExit):  # plugin code; the original error is reported
                where = f"on completion {index}: {completion!r:.120}"
                break
        return RewardError(f"{self._who()} raised {type(error).__name__}: {error} ({where})")

    def _who(self) -> str:
        by = f" of {self.provenance}" if self.provenance else ""
        return f"reward {self.name!r}{by}"


def _on(items: Sequence[Any]) -> str:
    return f"(on a batch of {len(items)}, the first: {items[0] if items else None!r:.120})"


class AsyncAdaptedReward(AdaptedReward):
    """An :class:`AdaptedReward` for an ``async`` function; TRL runs these concurrently."""

    async def __call__(  # type: ignore[override]  # TRL awaits what is a coroutine function
        self, completions: Sequence[Any], **kwargs: Any
    ) -> Scores:
        """Score a batch; see :meth:`AdaptedReward.__call__`."""
        items = self._items(completions)
        try:
            with contained(self._who()), report_when_slow(self._who()):
                async with asyncio.timeout(self.timeout):
                    result = await self.function(completions=items, **kwargs)
        except TimeoutError as error:
            late = f"has run for more than {self.timeout:g} s" if self.timeout else str(error)
            raise RewardError(f"{self._who()} {late} {_on(items)}") from error
        except (Exception, SystemExit) as error:
            raise RewardError(
                f"{self._who()} raised {type(error).__name__}: {error} {_on(items)}"
            ) from error
        return self.check(result, items)


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling the function gives a coroutine."""
    call = getattr(function, "__call__", None)  # noqa: B004 - its signature, not callability
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def required_parameters(function: Callable[..., Any]) -> list[str]:
    """Name the parameters that a call must give."""
    signature = _signature(function)
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [
        one.name
        for one in (signature.parameters.values() if signature else ())
        if one.default is inspect.Parameter.empty and one.kind in kinds
    ]


def why_not_called(function: Callable[..., Any]) -> str:
    """Return why TRL cannot call a reward with ``completions`` by keyword; empty if it can.

    >>> why_not_called(lambda c: 1)
    "its signature is (c), but its first parameter must be called 'completions', ..."
    >>> why_not_called(lambda problem, **kwargs: 1), why_not_called(lambda completions: 1)
    ('', '')
    """
    signature = _signature(function)
    if signature is None or "completions" in signature.parameters or _is_variadic(signature):
        return ""
    return (
        f"its signature is {signature}, but its first parameter must be called 'completions', "
        "which is passed by keyword, and **kwargs must take the columns: "
        "def reward(completions, **kwargs)"
    )


def makes_a_reward(function: Callable[..., Any]) -> bool:
    """Whether it is a factory, such as TRL's ``get_…``, which takes none of a reward's arguments.

    >>> makes_a_reward(lambda scale=1: None), makes_a_reward(lambda completions, **kwargs: [])
    (True, False)
    """
    signature = _signature(function)
    if signature is None or _is_variadic(signature):
        return False
    return not signature.parameters.keys() & GIVEN


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # written in C
        return None


def _is_variadic(signature: inspect.Signature) -> bool:
    kinds = {one.kind for one in signature.parameters.values()}
    return inspect.Parameter.VAR_KEYWORD in kinds


def adapt(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    provenance: str = "",
    weight: float = 1.0,
    messages: bool = False,
    columns: tuple[str, ...] = (),
    timeout: float | None = TIMEOUT,
) -> AdaptedReward:
    """Wrap a reward function for TRL.

    Args:
        function: A sync or async reward.
        name: Name in metrics; the function's own name if not given.
        provenance: Who provides it.
        weight: Its share in the sum.
        messages: Pass TRL's message lists instead of texts.
        columns: Columns that it declares.
        timeout: Seconds that it may take for a batch; ``None`` for no limit.

    Raises:
        UsageError: If it does not take completions.
    """
    own = getattr(function, "__name__", None) or type(function).__name__
    if why := why_not_called(function):
        by = f" of {provenance}" if provenance else ""
        raise UsageError(f"reward {name or own!r}{by}: {why}")
    kind = AsyncAdaptedReward if is_async(function) else AdaptedReward
    return kind(function, name or own, provenance, weight, messages, columns, timeout)
