"""Fit group size, batch and accumulation to each other.

TRL scores completions in groups of ``num_generations`` for one prompt, and a generation batch
(per-device batch x processes x steps per generation) must be a whole number of groups. The
documented defaults (``batch_size=1``, groups of 8) do not fit as they are; accumulation makes them.
"""

import math
from collections.abc import Mapping
from typing import Any

import attrs

from lean_dojo_core.errors import ConfigError
from lean_dojo_core.wording import counted

DEFAULT_GROUP = 8
"""TRL's default ``num_generations``."""


@attrs.frozen
class GroupPlan:
    """Grouping and batching of completions."""

    num_generations: int  # completions of one prompt
    batch_size: int  # completions per device and backward pass
    accumulation: int  # backward passes per optimiser step
    processes: int  # one for each device

    @property
    def prompts_per_step(self) -> int:
        """Prompts whose completions one optimiser step learns from."""
        return self.batch_size * self.accumulation * self.processes // self.num_generations

    def describe(self, member: str = "completion", task: str = "prompt") -> str:
        """Describe the plan for groups of ``member`` for each ``task``.

        >>> GroupPlan(8, 16, 1, 1).describe("episode", "theorem")
        'groups of 8 episodes, 2 theorems per optimiser step (16 episodes x 1 pass x 1 process)'
        """
        return (
            f"groups of {self.num_generations} {member}s, "
            f"{counted(self.prompts_per_step, task, f'{task}s')} per optimiser step "
            f"({counted(self.batch_size, member, f'{member}s')} x "
            f"{counted(self.accumulation, 'pass', 'passes')} x "
            f"{counted(self.processes, 'process', 'processes')})"
        )


def plan_groups(batch_size: int, processes: int, trainer_args: Mapping[str, Any]) -> GroupPlan:
    """Choose what the user left open so that everything fits.

    Without further settings, groups have 8 completions and gradients are accumulated over as few
    batches as make whole groups. A given accumulation shrinks the group to the largest size up to
    8 that fits. Settings that cannot fit are a ``ConfigError``, which says what would.

    >>> plan_groups(1, 1, {}).describe()
    'groups of 8 completions, 1 prompt per optimiser step (1 completion x 8 passes x 1 process)'
    """
    per_pass = batch_size * processes
    wanted = trainer_args.get("num_generations")
    if wanted is not None and wanted < 2:
        raise ConfigError(
            f"trainer_args.num_generations is {wanted}, but completions are compared within a "
            "group: use at least 2"
        )
    accumulation = trainer_args.get("gradient_accumulation_steps")
    passes = _passes_per_generation(per_pass, trainer_args)
    if passes is None:
        group = wanted or DEFAULT_GROUP
        passes = group // math.gcd(group, per_pass)
        return GroupPlan(group, batch_size, accumulation or passes, processes)
    total = per_pass * passes
    if wanted is None:
        fitting = [size for size in range(2, DEFAULT_GROUP + 1) if total % size == 0]
        wanted = fitting[-1] if fitting else total
    if total % wanted or wanted < 2:
        least = wanted // math.gcd(wanted, per_pass) if wanted >= 2 else 2
        raise ConfigError(
            f"{total} completions (batch_size {batch_size} x {counted(passes, 'pass', 'passes')} x "
            f"{counted(processes, 'process', 'processes')}) are not whole groups of "
            f"{max(wanted, 2)}; set trainer_args.gradient_accumulation_steps to a multiple of "
            f"{least}, or change num_generations or batch_size"
        )
    return GroupPlan(wanted, batch_size, accumulation or passes, processes)


def _passes_per_generation(per_pass: int, trainer_args: Mapping[str, Any]) -> int | None:
    """Return the backward passes per generation, if the user's settings give it."""
    settings = ("steps_per_generation", "generation_batch_size")
    given = [name for name in settings if trainer_args.get(name) is not None]
    if len(given) > 1:
        raise ConfigError(f"trainer_args: give only one of {' and '.join(given)}")
    if given == ["generation_batch_size"]:
        size = int(trainer_args["generation_batch_size"])
        if size % per_pass:
            raise ConfigError(
                f"trainer_args.generation_batch_size is {size}, which is not a multiple of the "
                f"{per_pass} completions of one pass (batch_size x processes)"
            )
        return size // per_pass
    passes = trainer_args.get("steps_per_generation")
    value = passes or trainer_args.get("gradient_accumulation_steps")
    return None if value is None else int(value)
