"""The settings of expert iteration, and the searches of its rounds."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import attrs

from lean_dojo_core import DatasetFormatter, registry
from lean_dojo_plugins.causal_lm import HFProver
from lean_dojo_plugins.expert_iteration.problems import SORRY, TRAINING
from lean_dojo_plugins.sft import SFTSettings
from lean_dojo_plugins.training import CurriculumTrainer, TrainsOnStatements, trained_settings
from lean_dojo_v2.benchmarks import local_server
from lean_dojo_v2.lean import Server
from lean_dojo_v2.lean_agent import ProverConfig
from lean_dojo_v2.settings import about, fields, setting

BASE, LAST = "base", "last"
TACTICS, WHOLE_PROOFS = "tactic-chat", "whole-proof"
BATCH = 12
"""Number of problems searched together."""
OF_SEARCH = ("samples", "expansions", "visits", "heartbeats", "automation")
"""Settings without a meaning for whole proofs."""


def _texts(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


@attrs.define(slots=False, eq=False, kw_only=True)
class SearchingTrainer(TrainsOnStatements, SFTSettings, CurriculumTrainer):
    """A trainer that searches with its model, as :class:`.Rounds` asks it to."""

    problems: tuple[str, ...] = attrs.field(
        default=(TRAINING, SORRY),
        converter=_texts,
        metadata=about(
            "Sources of problems: 'training' (the training split, without its proofs), 'hidden' "
            "(those of it whose human proofs human_share leaves out), 'sorry', or JSONL files in "
            "miniF2F's format."
        ),
    )
    whole_proof: bool = setting(
        False,
        "Let the model write whole proofs instead of searching, one per attempt, and learn them "
        "whole.",
    )
    max_proof_tokens: int = setting(
        512, "Longest proof written in one go, in tokens.", fields.positive_int
    )
    rounds: int = setting(
        3,
        "Rounds of search and training; raise it to continue a finished run.",
        fields.positive_int,
        shapes_result=False,
    )
    start_from: str = setting(
        BASE,
        "Each round trains the start model anew on all proofs found ('base'), or continues from "
        "the model of the last round ('last').",
        fields.must_be(f"{BASE!r} or {LAST!r}", lambda value: value in {BASE, LAST}),
    )
    search_model: str | None = attrs.field(
        default=None,
        converter=attrs.converters.optional(fields.text_of_path),
        metadata=about("Model that searches in the first round, if not the start model."),
    )
    proofs_per_theorem: int | None = setting(
        4,
        "Distinct proofs to learn per theorem, shortest first; null: all.",
        fields.positive_int_or_none,
    )
    attempts: int = setting(
        1,
        "Searches, or proofs written, per problem and round, each with its own seed.",
        fields.positive_int,
    )
    samples: int = setting(16, "Tactics sampled per state.", fields.positive_int)
    expansions: int = setting(
        32, "Maximum number of states expanded per search.", fields.positive_int
    )
    visits: int = setting(
        1,
        "How often a state may be expanded, each time with new samples.",
        fields.positive_int,
    )
    heartbeats: int | None = setting(
        20_000,
        "Lean heartbeats that one tactic may use; null: Lean's own limit.",
        fields.positive_int_or_none,
    )
    temperature: float = setting(1.0, "Sampling temperature.", fields.positive)
    automation: bool = setting(
        False,
        "Also try, at every state, the tactics with which Lean's own automation closes goals, and "
        "learn its proofs.",
    )
    skip_after: int = setting(
        2,
        "A problem is dropped when every attempt proved it in this many consecutive rounds; 0: "
        "never.",
        fields.not_negative_int,
    )
    problems_per_round: int | None = setting(
        None,
        "Maximum number of problems per round; those tried least go first, then unproved ones.",
        fields.positive_int_or_none,
    )
    keep_trees: bool = setting(
        False, "Keep the search trees of first attempts, in rounds/N/trees.", shapes_result=False
    )
    server_command: str | None = setting(
        None,
        "Command that serves the model while a round searches, with {model} and {port} in it, such "
        "as 'vllm serve {model} --port {port}'; it ends before the training. null: search with the "
        "model in the process.",
        attrs.validators.optional(fields.non_empty_text),
        shapes_result=False,
    )
    server_timeout: float = setting(
        1800.0,
        "Seconds that the server may take until it answers.",
        fields.positive,
        shapes_result=False,
    )
    engines: int = setting(
        4,
        "Number of Lean engines of each process, at most one per core of its machine in all.",
        fields.positive_int,
        shapes_result=False,
    )
    projects: Mapping[str, Path] = attrs.field(
        factory=dict,
        converter=fields.folders,
        metadata=about("Folder of each repository, by address.", shapes_result=False),
    )

    def make_formatter(self) -> DatasetFormatter:
        """Load the dataset formatter."""
        return registry.dataset_formatters[self.formatter].create()

    def searching_model(self) -> str:
        """Return the model to search with now: the last round's, or the first one's."""
        return self._trained() or self.search_model or self.model_name

    def _trained(self) -> str | None:
        """Return the folder of the model trained so far, if there is one."""
        return self.output_dir if trained_settings(Path(self.output_dir)) else None

    def make_prover(self, endpoint: str | None = None) -> HFProver:
        """Load the prover to search with now, whose model a server at ``endpoint`` may hold."""
        return HFProver(
            self.searching_model(),
            device=self.device,
            config=self.search_limits(),
            # The first model may have been trained on tactics; that deserves no warning.
            formatter=None if self.formatter == WHOLE_PROOFS else self.formatter,
            max_length=self.max_length,
            automation=self.automation,
            max_proof_tokens=self.max_proof_tokens,
            endpoint=endpoint,
        )

    def search_limits(self) -> ProverConfig:
        """Return the limits of the searches."""
        return ProverConfig(
            num_workers=self.engines,
            max_expansions=self.expansions,
            num_sampled_tactics=self.samples,
            heartbeats=self.heartbeats,
            temperature=self.temperature,
            visits=self.visits,
            progress_weight=0.0,  # a variable of the environment guides no training
            batch_size=BATCH,
            seed=self.seed,
        )

    def open_engine(self, project: Path | None) -> AbstractContextManager[Server]:
        """Open an engine for a Lean project; ``None`` for Lean alone."""
        return local_server(project)
