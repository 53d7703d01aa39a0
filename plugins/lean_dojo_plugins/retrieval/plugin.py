"""Manifest of premise retrieval."""

from collections.abc import Iterator

from lean_dojo_core import DatasetFormatterSpec, TrainerSpec, hookimpl
from lean_dojo_v2.kinds import CommandSpec, ProverSpec


@hookimpl
def lean_dojo_trainers() -> Iterator[TrainerSpec]:
    """Offer ``retrieval``."""
    yield TrainerSpec(
        name="retrieval",
        target="lean_dojo_plugins.retrieval.trainer:RetrievalTrainer",
        summary="Dense premise retrieval with lifelong learning (T5 encoder, EWC, Lightning).",
        required_columns=("state", "premises"),
        default_formatter="premise-pairs",
        prover="retrieval",
    )


@hookimpl
def lean_dojo_dataset_formatters() -> Iterator[DatasetFormatterSpec]:
    """Offer ``premise-pairs``."""
    yield DatasetFormatterSpec(
        name="premise-pairs",
        target="lean_dojo_plugins.retrieval.data.examples:PremisePairs",
        summary="Rows for retrieval: a goal state and the premises that its tactic uses.",
        columns=("state", "tactic", "premises"),
    )


@hookimpl
def lean_dojo_provers() -> Iterator[ProverSpec]:
    """Offer ``retrieval``."""
    yield ProverSpec(
        name="retrieval",
        target="lean_dojo_plugins.retrieval.search.prover:RetrievalProver",
        summary="A generator that reads the premises retrieved for each goal.",
        model_setting="gen_ckpt_path",
    )


@hookimpl
def lean_dojo_commands() -> Iterator[CommandSpec]:
    """Offer ``retrieve`` and ``index``."""
    yield CommandSpec(
        name="retrieve",
        target="lean_dojo_plugins.retrieval.commands:retrieve",
        summary="Find the premises of a corpus that fit a proof state.",
    )
    yield CommandSpec(
        name="index",
        target="lean_dojo_plugins.retrieval.commands:index",
        summary="Encode a corpus for retrieval, and save the index.",
    )
