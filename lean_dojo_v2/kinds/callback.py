"""Callbacks: objects whose methods ``on_…`` a trainer calls while it trains."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

from lean_dojo_core import ClassSpec, Registry, hookspec


class Callback(Protocol):
    """Methods ``on_…`` that a trainer calls; all are optional, and every setting has a default.

    They are methods of ``transformers.TrainerCallback``, or for ``retrieval`` of
    ``pytorch_lightning.Callback``; deriving from either is optional. ``grpo`` adds the one of
    :class:`SeesRewards`.
    """


@runtime_checkable
class SeesRewards(Protocol):
    """A callback that ``grpo`` tells of the rewards of each batch."""

    def on_rewards_scored(
        self,
        args: Any,
        state: Any,
        control: Any,
        *,
        inputs: Sequence[dict[str, Any]],
        completions: Sequence[str],
        rewards: Any,
        reward_names: Sequence[str],
    ) -> None:
        """Look at a batch after its rewards.

        Args:
            args: The trainer's settings.
            state: Where the trainer is; ``state.global_step`` is the number of the step.
            control: Set ``control.should_training_stop`` to end the training.
            inputs: The dataset's row of each completion.
            completions: The completions, as the rewards got them.
            rewards: A tensor of shape ``(completions, rewards)``.
            reward_names: The rewards' names, in the order of the columns.
        """


class CallbackSpec(ClassSpec):
    """Describes a callback: a class whose instances receive a trainer's events."""

    kind: ClassVar = "callback"
    protocol: ClassVar = Callback
    suite: ClassVar = "lean_dojo_v2.kinds.testing:CallbackSuite"


@hookspec
def lean_dojo_callbacks() -> Iterable[CallbackSpec]:
    """Offer callbacks: classes whose methods ``on_…`` a trainer calls while it trains.

    A trainer's setting ``callbacks`` names them. See :class:`Callback`.

    >>> from lean_dojo_core import hookimpl
    >>> from lean_dojo_v2.kinds import CallbackSpec
    >>> @hookimpl
    ... def lean_dojo_callbacks():
    ...     yield CallbackSpec(
    ...         name="notify",
    ...         target="my_plugin.notify:Notify",
    ...         summary="Sends a message when training ends.",
    ...     )
    """
    yield from ()


callbacks: Registry[CallbackSpec, Callback] = Registry(CallbackSpec)
"""The registry of callbacks."""
