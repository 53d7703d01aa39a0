"""Checks of loggers, optimisers and DeepSpeed before a run spends time."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

from transformers import Trainer
from transformers.integrations.integration_utils import (
    INTEGRATION_TO_CALLBACK,
    get_available_reporting_integrations,
)

from lean_dojo_core.errors import ConfigError

_EXTRAS = ("trackio", "wandb")
"""Loggers installed by an extra of this distribution."""


def check_loggers(names: Sequence[str]) -> None:
    """Refuse a logger that does not exist, or is not installed."""
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
