"""The adapter between a reward function and TRL.

TRL hands message lists to the reward of a conversational prompt and expects a list of numbers back.
The documented rewards take texts and return tensors; TRL's own take message lists. The adapter
supports both forms, checks the results, and names the reward and plugin in errors.
"""

import asyncio
import inspect
import math
import os
import threading
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from functools import cache
from typing import Any

import attrs

from lean_dojo_core import Closes, Locates, Span, WarmsUp
from lean_dojo_core.errors import UsageError
from lean_dojo_core.foreign import OutOfTimeError, watched
from lean_dojo_v2.errors import RewardError

GIVEN = frozenset(
    ("completions", "prompts", "completion_ids", "trainer_state", "log_extra", "log_metric")
)
"""Arguments that TRL passes to every reward besides the columns of the dataset."""

Scores = list[float | None]
"""One number per completion; ``None`` where the reward does not apply."""


def completion_texts(completions: Sequence[Any]) -> list[str]:
    """Return completions as texts, whether TRL passes texts or, for a conversation, messages.

    Of several messages, the assistant's are joined by line ends. ``TypeError`` for anything else.

    >>> completion_texts(["simp", [{"role": "assistant", "content": "rfl"}]])
    ['simp', 'rfl']
    """
    return [_text(completion) for completion in completions]


def _text(completion: Any) -> str:
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Sequence) and all(isinstance(m, Mapping) for m in completion):
        spoken = [m for m in completion if m.get("role", "assistant") == "assistant"]
        return "\n".join(_content(message.get("content")) for message in spoken)
    raise TypeError(
        f"a completion is a text or a list of messages, not {type(completion).__name__}"
    )


def _content(content: Any) -> str:
    """Return the text of a message, whose content may be a list of typed parts."""
    if isinstance(content, Sequence) and not isinstance(content, str):
        return "".join(str(one.get("text", "")) for one in content if isinstance(one, Mapping))
    return str(content or "")


@attrs.define(eq=False)
class AdaptedReward:
    """A reward function for TRL, wrapped around a plugin's or user's function.

    Attributes:
        function: The reward itself, ``async`` or not.
        name: Its name in metrics and messages.
        provenance: Its origin for error messages, for example ``"my-plugin 1.2"``.
        weight: Its share in the sum of rewards.
        messages: Hand over TRL's message lists (for TRL's own rewards) instead of texts.
        columns: Columns that it declares.
        timeout: Seconds that it may take for a batch; ``None`` for no limit. A call that does not
            return is reported after ten seconds. With a limit, a plain function runs in a thread
            of its own.
    """

    function: Callable[..., Any]
    name: str
    provenance: str = ""
    weight: float = 1.0
    messages: bool = False
    columns: tuple[str, ...] = ()
    timeout: float | None = None

    @property
    def __name__(self) -> str:
        # TRL names its metrics by it.
        return self.name

    def __call__(self, completions: Sequence[Any], **kwargs: Any) -> Scores:
        """Score a batch: one number or ``None`` per completion, a text or a message list.

        Dataset columns, as lists, and what TRL adds are passed on unchanged. ``RewardError`` if the
        function raises, or gives anything but one number each.
        """
        items: list[Any]
        if self.messages:
            items = [
                [{"role": "assistant", "content": one}] if isinstance(one, str) else one
                for one in completions
            ]
        else:
            items = completion_texts(completions)

        result = self._run(
            lambda: self._call(items, kwargs), items, lambda: self._first_raising(items, kwargs)
        )
        return self.check(result, items)

    def columns_needed(self, given: Collection[str] = GIVEN) -> tuple[str, ...]:
        """Return the columns that it needs, besides those that it gets in any case (``given``).

        They are those that it declares, and those of its parameters.
        """
        signature = _signature(self.function)
        own = [
            one.name
            for one in (signature.parameters.values() if signature else ())
            if one.default is one.empty
            and one.kind in {one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY}
            and one.name not in given
        ]
        return tuple(dict.fromkeys((*self.columns, *own)))

    def warm_up(self, **columns: Any) -> None:
        """Have the reward prepare for the next rows, if it can (:class:`.protocols.WarmsUp`).

        The columns are those of the batch whose completions are yet to be written. ``RewardError``
        if that method raises.
        """
        reward: object = self.function
        if isinstance(reward, WarmsUp):
            self._run(lambda: reward.warm_up(**columns), (), lambda: "in warm_up")

    @property
    def locates(self) -> bool:
        """Whether it says where a completion is right or wrong (:class:`.protocols.Locates`)."""
        return isinstance(self.function, Locates)

    def spans(self, completions: Sequence[Any], **columns: Any) -> list[tuple[Span, ...] | None]:
        """Return what the reward says of parts of completions; call the reward itself before.

        Each text or message list has its spans; ``None`` where nothing is known, or the reward has
        no spans. The columns are the dataset's, as lists. ``RewardError`` if its method raises, or
        gives anything but spans inside each text.
        """
        texts = completion_texts(completions)
        if not isinstance(self.function, Locates):
            return [None] * len(texts)
        locate = self.function.spans
        found = self._run(lambda: locate(texts, **columns), texts, lambda: "in spans")
        if not isinstance(found, Sequence) or len(found) != len(texts):
            raise RewardError(
                f"{self.who}: spans must return a list with one item for each of the "
                f"{len(texts)} completions, not {found!r:.80}"
            )
        return [
            None if own is None else tuple(self._span(one, text) for one in own)
            for own, text in zip(found, texts, strict=True)
        ]

    def _span(self, value: Any, text: str) -> Span:
        if (
            isinstance(value, Span)
            and 0 <= value.start <= value.end <= len(text)
            and math.isfinite(value.value)
        ):
            return value
        raise RewardError(
            f"{self.who}: {value!r:.120} is not a Span with a finite value inside a completion of "
            f"{len(text)} characters ({text!r:.80})"
        )

    def close(self) -> None:
        """Close the reward, if it can be closed (:class:`.protocols.Closes`)."""
        reward: object = self.function
        if isinstance(reward, Closes):
            reward.close()

    def check(self, result: Any, completions: Sequence[Any]) -> Scores:
        """Convert a tensor, array or list to numbers; ``RewardError`` if it lacks one for each."""
        # Tensors and arrays both have tolist(); asking for it needs no import of either library.
        values = result.tolist() if hasattr(result, "tolist") else result
        if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Sequence):
            kind = type(result).__name__
            raise RewardError(
                f"{self.who} returned {kind}; it must return one number per completion "
                "(a list, an array or a 1-D tensor)"
            )
        if len(values) != len(completions):
            raise RewardError(
                f"{self.who} returned {len(values)} rewards for {len(completions)} completions; "
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
            f"{self.who}: reward {index} is {value!r:.60}, not a finite number "
            f"(completion: {completions[index]!r:.120})"
        )

    @property
    def who(self) -> str:
        """The reward and who provides it, for messages."""
        by = f" of {self.provenance}" if self.provenance else ""
        return f"reward {self.name!r}{by}"

    def _call(self, items: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        result = self.function(completions=items, **kwargs)
        if not inspect.iscoroutine(result):
            return result
        future = asyncio.run_coroutine_threadsafe(_outcome(result), _event_loop(os.getpid()))
        try:
            value, left = future.result(self.timeout)
        except TimeoutError:
            if future.done():  # the reward's own
                raise
            raise OutOfTimeError(f"has run for more than {self.timeout:g} s") from None
        finally:
            if not future.done():  # perhaps it blocks the loop
                future.cancel()
                _event_loop.cache_clear()
        if left is not None:
            raise left
        return value

    def _run(self, call: Callable[[], Any], items: Sequence[Any], where: Callable[[], str]) -> Any:
        """Call the reward within its time limit; ``where`` locates what it raises."""
        try:
            return watched(call, self.who, self.timeout)
        except OutOfTimeError as error:
            batch = f"(on a batch of {len(items)}, the first: {items[0] if items else None!r:.120})"
            raise RewardError(
                f"{self.who} {error} {batch}; its option timeout sets another limit"
            ) from error
        except RewardError:
            raise
        except (Exception, SystemExit) as error:
            what = f"{type(error).__name__}: {error} ({where()})"
            raise RewardError(f"{self.who} raised {what}") from error

    def _first_raising(self, items: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """Find the first completion on which the function raises by itself.

        An ``async`` function is not called again, since it may wait for a paid service.
        """
        called = (self.function, type(self.function).__call__)
        again = () if any(map(inspect.iscoroutinefunction, called)) else items
        for index, item in enumerate(again):
            one = {
                key: [value[index]]
                if isinstance(value, (list, tuple)) and len(value) == len(items)
                else value
                for key, value in kwargs.items()
            }
            try:
                self._call([item], one)
            except (Exception, SystemExit):  # plugin code; the original error is reported
                return f"on completion {index}: {item!r:.120}"
        return f"on a batch of {len(items)}"


async def _outcome(reward: Coroutine[Any, Any, Any]) -> tuple[Any, SystemExit | None]:
    """Await a reward; an exit, which would end the loop of all rewards, is part of its outcome."""
    try:
        return await reward, None
    except SystemExit as error:
        return None, error


@cache
def _event_loop(_process: int) -> asyncio.AbstractEventLoop:
    """Return this process's loop for ``async`` rewards, whose connections may outlive a batch."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # written in C
        return None


def adapt(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    provenance: str = "",
    weight: float = 1.0,
    messages: bool = False,
    columns: tuple[str, ...] = (),
    timeout: float | None = None,
) -> AdaptedReward:
    """Wrap a reward function for TRL; the arguments are attributes of :class:`AdaptedReward`.

    The name is the function's own if not given. ``UsageError`` if it does not take completions.
    """
    own = getattr(function, "__name__", None) or type(function).__name__
    adapted = AdaptedReward(function, name or own, provenance, weight, messages, columns, timeout)
    if (signature := _signature(function)) is not None:
        try:
            signature.bind_partial(completions=[])
        except TypeError as error:
            raise UsageError(
                f"{adapted.who}: its signature is {signature}, but its first parameter must be "
                "called 'completions', which is passed by keyword, and **kwargs must take the "
                "columns: def reward(completions, **kwargs)"
            ) from error
    return adapted
