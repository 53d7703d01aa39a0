"""A trainer's settings: their checks, and their plain form for a run's identity."""

from __future__ import annotations

import enum
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from lean_dojo_core.discovery import import_target
from lean_dojo_core.errors import ConfigError
from lean_dojo_v2.settings import about, record_of, structure

if TYPE_CHECKING:
    from peft import LoraConfig
    from transformers import Trainer

__all__ = ["about"]  # which the public API takes from here

ARGUMENTS = "transformers:TrainingArguments"
"""The base class of configurations, which is imported when it is needed."""
LORA = {"LoraConfig": "peft:LoraConfig"}
"""Classes of the libraries, which are imported when they are needed."""

_OURS = "it is the trainer's own parameter"
FIXED_ARGUMENTS = {
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


def opened(kind: type[Any] | str) -> type[Any]:
    """Import a class that is named as ``module:attribute``."""
    found: type[Any] = import_target(kind) if isinstance(kind, str) else kind
    return found


def check_trainer_args(
    config_class: type[Any] | str, args: Mapping[str, Any], fixed: Mapping[str, str], hint: str = ""
) -> None:
    """Refuse settings that a configuration's dataclass lacks or types otherwise, and fixed ones.

    ``fixed`` gives the reasons; ``hint`` is added for settings that the dataclass lacks.
    """
    if not isinstance(args, Mapping):
        raise ConfigError(f"trainer_args must be settings by name, not {args!r}")
    for key in args:
        if key in fixed:
            raise ConfigError(f"trainer_args.{key} cannot be set: {fixed[key]}")
    kind = opened(config_class)
    name, lines = kind.__name__, []
    for path, text in structure(args, kind, owner=name, how="in trainer_args")[1]:
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
    """Refuse values with which training or resuming is impossible."""
    for key, (refused, reason) in _REFUSED.items():
        if key in args and refused(args[key]):
            raise ConfigError(f"trainer_args.{key} cannot be {args[key]!r}: {reason}")
    if args.get("fp16") and args.get("bf16"):
        raise ConfigError("trainer_args: only one of fp16 and bf16 can be true")
    if args.get("fp16") and on_cpu:
        raise ConfigError("trainer_args.fp16 needs a GPU, and this training runs on the CPU")


def lora_of(value: LoraConfig | Mapping[str, Any] | None) -> LoraConfig | None:
    """Convert the setting ``lora_config``."""
    from peft import LoraConfig

    return None if value is None else record_of(LoraConfig, value, "lora_config")


_EXTRAS = ("trackio", "wandb")
"""Loggers installed by an extra of this distribution."""


def check_loggers(names: Sequence[str]) -> None:
    """Refuse a logger that does not exist, or is not installed."""
    from transformers.integrations.integration_utils import (
        INTEGRATION_TO_CALLBACK,
        get_available_reporting_integrations,
    )

    for name in names:
        if name in {"none", "tensorboard"}:  # always installed
            continue
        if name not in INTEGRATION_TO_CALLBACK:
            known = ", ".join(sorted(INTEGRATION_TO_CALLBACK))
            raise ConfigError(f"report_to: there is no logger {name!r}; choose from none, {known}")
        there = name in get_available_reporting_integrations()  # type: ignore[no-untyped-call]
        if not there and importlib.util.find_spec(name) is None:
            what = f'"lean-dojo-v2[{name}]>=2"' if name in _EXTRAS else name
            raise ConfigError(
                f"report_to: the logger {name!r} is not installed; pip install {what}, or choose "
                "another"
            )


def check_optimizer(config: Any) -> None:
    """Refuse an optimiser whose library is not installed."""
    from transformers import Trainer

    try:
        Trainer.get_optimizer_cls_and_kwargs(config)
    except (ImportError, ValueError, RuntimeError) as error:
        if "model" in str(error):  # it needs the model, which is not loaded yet
            return
        optim = getattr(config.optim, "value", config.optim)
        raise ConfigError(f"trainer_args.optim: {optim!r} cannot be used here: {error}") from error


def check_gathering(trainer: Trainer) -> None:
    """Refuse DeepSpeed's stage 3 if its weights would not be gathered to be saved."""
    if not trainer.is_deepspeed_enabled:
        return
    found = trainer.accelerator.state.deepspeed_plugin.deepspeed_config.get("zero_optimization", {})
    if found.get("stage") == 3 and not found.get("stage3_gather_16bit_weights_on_model_save"):
        raise ConfigError(
            "with DeepSpeed's stage 3 no model would be saved; set zero3_save_16bit_model: true in "
            "accelerate's configuration"
        )


# Settings of the library that change output, not what is learned.
_ARGS_WITHOUT_EFFECT = {
    "dataloader_num_workers",
    "disable_tqdm",
    "logging_first_step",
    "logging_steps",
    "logging_strategy",
    "save_steps",
    "save_strategy",
    "save_total_limit",
}


def plain_settings(trainer: Any) -> dict[str, Any]:
    """Return every field of a trainer (an attrs object) that shapes its result, JSON-ready."""
    settings = {
        one.name: to_json_value(getattr(trainer, one.name)) for one in _shaping(type(trainer))
    }
    if isinstance(args := settings.get("trainer_args"), dict):
        settings["trainer_args"] = {
            key: value for key, value in args.items() if key not in _ARGS_WITHOUT_EFFECT
        }
    return settings


def default_settings(kind: type) -> dict[str, Any]:
    """Return the same for a class's defaults, the values in runs older than a setting."""
    found = {}
    for one in _shaping(kind):
        default: Any = one.default
        if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
            default = default.factory()
        if default is not attrs.NOTHING:
            found[one.name] = to_json_value(default)
    return found


def _shaping(kind: type) -> list[attrs.Attribute[Any]]:
    fields = attrs.fields(kind) if attrs.has(kind) else ()
    return [one for one in fields if one.init and one.metadata.get("shapes_result", True)]


def to_json_value(value: Any) -> Any:
    """Convert a value to JSON types; other objects become their qualified names.

    >>> to_json_value({"b": {2, 1}, "a": (Path("x"), None)})
    {'a': ['x', None], 'b': [1, 2]}
    >>> to_json_value(len)
    'builtins.len'
    """
    if isinstance(value, enum.Enum):
        return to_json_value(value.value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): to_json_value(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, set | frozenset):
        return sorted((to_json_value(item) for item in value), key=str)
    if isinstance(value, list | tuple):
        return [to_json_value(item) for item in value]
    if hasattr(value, "peft_type"):  # a LoraConfig: only what differs from the defaults
        default = type(value)()
        return {
            key: to_json_value(item)
            for key, item in sorted(vars(value).items())
            if item is not None
            and to_json_value(item) != to_json_value(getattr(default, key, None))
        }
    if attrs.has(type(value)):
        return {_name_of(type(value)): to_json_value(attrs.asdict(value, recurse=False))}
    return _name_of(value if hasattr(value, "__qualname__") else type(value))


def _name_of(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"
