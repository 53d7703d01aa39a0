"""The prover for a trained model."""

from lean_dojo_core import Proves, Trainer, registry
from lean_dojo_core.errors import UsageError
from lean_dojo_v2.kinds import provers
from lean_dojo_v2.lean_agent import ProverConfig
from lean_dojo_v2.prover.base import AnyProver

LANGUAGE_MODEL = "hf"
"""Default prover for a trainer whose plugin names none."""


def prover_of(
    trainer: Trainer, config: ProverConfig | None = None, **settings: object
) -> AnyProver:
    """Make the prover that a trainer's descriptor names, with the trained model.

    It gets the trainer's ``prover_settings()``, or else its ``output_dir`` as model; ``settings``
    take precedence. ``UsageError`` if the prover has no setting for a model, or there is none yet.
    """
    named = {entry.spec.target: entry.spec.prover for entry in registry.trainers.entries()}
    # That of its class, or of a base class.
    targets = (f"{base.__module__}:{base.__qualname__}" for base in type(trainer).__mro__)
    found = (named[target] for target in targets if target in named)
    name = next(found, None) or LANGUAGE_MODEL
    prover = provers[name]
    if isinstance(trainer, Proves):
        given = dict(trainer.prover_settings())
    elif prover.spec.model_setting is not None:
        given = {prover.spec.model_setting: str(trainer.output_dir)}
    else:
        raise UsageError(
            f"{type(trainer).__name__} names the prover {name!r}, which has no setting for a "
            "model; give the trainer a method prover_settings()"
        )
    return prover.create(**{**given, **settings}, config=config)
