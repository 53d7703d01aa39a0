"""Check further trainer settings against the configuration class that takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lean_dojo_core.errors import ConfigError
from lean_dojo_v2.structuring import structure

_OURS = "it is the trainer's own parameter"
FIXED = {
    "output_dir": f"{_OURS} output_dir",
    "num_train_epochs": f"{_OURS} epochs_per_repo",
    "per_device_train_batch_size": f"{_OURS} batch_size",
    "learning_rate": f"{_OURS} lr",
    "max_length": f"{_OURS} max_length",
    "seed": f"{_OURS} seed",
    "report_to": f"{_OURS} report_to",
    "use_cpu": f"{_OURS} device",
    "resume_from_checkpoint": "a run resumes by itself; see the parameter resume",
    "remove_unused_columns": "the trainer depends on it",
}
"""Settings that no causal trainer accepts in ``trainer_args``, each with the reason."""
_NO_EVALUATION = "nothing is evaluated during training; see evaluate() after it"
_REFUSED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "eval_strategy": (lambda value: value != "no", _NO_EVALUATION),
    "eval_on_start": (bool, _NO_EVALUATION),
    "load_best_model_at_end": (bool, _NO_EVALUATION),
    "save_strategy": (lambda value: value == "best", _NO_EVALUATION),
    "lr_scheduler_type": (lambda value: value == "reduce_lr_on_plateau", _NO_EVALUATION),
    "save_only_model": (
        bool,
        "a checkpoint without its optimiser cannot be resumed; save_strategy='no' saves none",
    ),
}
"""Unsupported values of a setting, and why."""


def check_trainer_args(
    config_class: type[Any], args: Mapping[str, Any], fixed: Mapping[str, str], hint: str = ""
) -> None:
    """Refuse settings that a configuration's dataclass lacks, or has with another type.

    Settings in ``fixed`` must not be set, each with a reason. ``hint`` is added for settings that
    the dataclass lacks.

    Raises:
        ConfigError: Names each wrong key, and suggests similar ones.
    """
    if not isinstance(args, Mapping):
        raise ConfigError(f"trainer_args must be settings by name, not {args!r}")
    for key in args:
        if key in fixed:
            raise ConfigError(f"trainer_args.{key} cannot be set: {fixed[key]}")
    name = config_class.__name__
    lines = []
    for path, text in structure(args, config_class, owner=name, how="in trainer_args")[1]:
        if path[0] not in args:
            continue  # the trainer sets it itself
        is_unknown = text.startswith(f"{name} ")
        line = f"{path[0]}: {text} {hint}".rstrip() if is_unknown else text
        lines.append(f"trainer_args.{line}")
    if lines:
        raise ConfigError("\n".join(lines))


_RENAMED = {
    f"gradient_checkpointing{rest}": f"activation_checkpointing{rest}" for rest in ("", "_kwargs")
}


def under_new_names(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings under transformers' current names; it warns about old ones.

    >>> under_new_names({"gradient_checkpointing": True, "optim": "sgd"})
    {'activation_checkpointing': True, 'optim': 'sgd'}
    """
    return {_RENAMED.get(name, name): value for name, value in args.items()}


def check_values(args: Mapping[str, Any], *, on_cpu: bool) -> None:
    """Refuse values with which training or resuming is impossible.

    Raises:
        ConfigError: Names the key and says why.
    """
    for key, (refused, reason) in _REFUSED.items():
        if key in args and refused(args[key]):
            raise ConfigError(f"trainer_args.{key} cannot be {args[key]!r}: {reason}")
    if args.get("fp16") and args.get("bf16"):
        raise ConfigError("trainer_args: only one of fp16 and bf16 can be true")
    if args.get("fp16") and on_cpu:
        raise ConfigError("trainer_args.fp16 needs a GPU, and this training runs on the CPU")
