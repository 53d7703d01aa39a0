"""Expert iteration: rounds of proof search, and fine-tuning on the proofs that Lean confirmed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

import attrs
from accelerate import PartialState

from lean_dojo_core import Database, Repository
from lean_dojo_core.errors import ConfigError, UsageError
from lean_dojo_plugins.causal_lm.generate.prover import HFProver
from lean_dojo_plugins.causal_lm.generate.serving import check_command
from lean_dojo_plugins.expert_iteration.problems import (
    HIDDEN,
    NAMED,
    SORRY,
    TRAINING,
    ProblemSet,
    gather,
)
from lean_dojo_plugins.expert_iteration.rounds import BATCH, Rounds
from lean_dojo_plugins.sft.trainer import SFTTrainer
from lean_dojo_plugins.training.curriculum import Loop
from lean_dojo_plugins.training.data import checked_repositories
from lean_dojo_plugins.training.devices import PATIENCE
from lean_dojo_plugins.training.hub import require_model
from lean_dojo_plugins.training.lock import run_lock
from lean_dojo_plugins.training.run_folder import RunFolder
from lean_dojo_plugins.training.statements import (
    StatementSource,
    TrainsOnStatements,
    statements_of,
)
from lean_dojo_v2 import fields
from lean_dojo_v2.benchmarks.jsonl import JsonlBenchmark
from lean_dojo_v2.benchmarks.runner import local_server
from lean_dojo_v2.data.repository import Repository as TracedRepository
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.fields import about, setting
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.paths import merged_data_dir
from lean_dojo_v2.runs.processes import Process, processes_here
from lean_dojo_v2.wording import counted

BASE, LAST = "base", "last"
TACTICS, WHOLE_PROOFS = "tactic-chat", "whole-proof"
OF_SEARCH = ("samples", "expansions", "visits", "heartbeats", "automation")
"""Settings without a meaning for whole proofs."""


def _texts(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


@attrs.define(slots=False, eq=False, kw_only=True)
class ExpertIterationTrainer(TrainsOnStatements, SFTTrainer):
    """Trains a model on its own proofs, which it finds without seeing human ones.

    A round searches for proofs of the problems with the previous round's model, has Lean verify
    each in full, mixes the states and tactics of the distinct proofs with human ones, and
    fine-tunes on them as ``sft`` does; the model is saved in ``output_dir``. Nothing held out is a
    problem, and human proofs of problems are not used for the search.

    Expert iteration (Anthony et al. 2017, arXiv:1705.08439) for theorem proving is that of GPT-f
    (Polu & Sutskever 2020, arXiv:2009.03393; Polu et al. 2022, arXiv:2202.01344). HTPS (Lample et
    al. 2022, arXiv:2205.11491) learns from its search trees as it goes; DeepSeek-Prover-V1.5 (Xin
    et al. 2024, arXiv:2408.08152) fine-tunes anew on all proofs so far, as is the default here;
    BFS-Prover (Xin et al. 2025, arXiv:2502.03438) filters out what is proved with ease, and learns
    from tactics that failed beside those of the proof, which are kept in ``negatives.jsonl``.

    Each of several processes searches its share of the problems, with engines of its own; what is
    found and learned does not depend on how many there are. With ``server_command`` the processes
    of a machine share a server of the model, which runs while they search.

    A killed run resumes: a search after its last attempt, training from its last checkpoint. With
    more ``rounds``, a finished run continues.

    >>> ExpertIterationTrainer("owner/model", start_from="middle")
    Traceback (most recent call last):
    lean_dojo_core.errors.ConfigError: start_from must be 'base' or 'last', not 'middle'
    """

    problems: tuple[str, ...] = attrs.field(
        default=(TRAINING, SORRY),
        converter=_texts,
        metadata=about(
            "Sources of problems: 'training' (the training split, without its proofs), 'hidden' "
            "(those of it whose human proofs human_share leaves out), 'sorry', or JSONL files in "
            "miniF2F's format."
        ),
    )
    statements: StatementSource | str | None = attrs.field(
        default=None,
        converter=statements_of,
        metadata=about(
            "Statements to use as problems instead of a database's theorems: a JSONL file, "
            "hub:OWNER/NAME[:SPLIT], or the name of a benchmark; or a mapping with source, "
            "project, columns, held_out, check."
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
    _anew: bool = attrs.field(default=False, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.whole_proof and self.formatter == TACTICS:
            self.formatter = WHOLE_PROOFS
        super().__attrs_post_init__()
        if self.whole_proof and not getattr(self.make_formatter(), "whole_proof", False):
            raise ConfigError(
                f"whole_proof: the dataset formatter {self.formatter!r} is for tactics; leave "
                "it out, or name one for whole proofs"
            )
        known = attrs.fields_dict(type(self))
        given = [name for name in OF_SEARCH if getattr(self, name) != known[name].default]
        if self.whole_proof and given:
            raise ConfigError(
                f"{given[0]} is for proof search, which whole_proof=true replaces; leave out one "
                "of them"
            )
        for source in self.problems:
            if source not in NAMED and Path(source).suffix != ".jsonl":
                raise ConfigError(
                    f"problems: {source!r} is neither {TRAINING!r} nor {HIDDEN!r} nor {SORRY!r} "
                    "nor a .jsonl file"
                )
        if HIDDEN in self.problems and self.human_share == 1:
            raise ConfigError(
                f"problems: {HIDDEN!r} are the training theorems whose human proofs are not "
                f"learned, and with human_share=1 all are; lower human_share, or name {TRAINING!r}"
            )
        if self.statements is not None and self.problems != (TRAINING, SORRY):
            raise ConfigError("statements take the place of problems: name one of them")
        if self.server_command is not None:
            check_command(self.server_command)
        if not self.problems:
            raise ConfigError(f"problems: name at least one source, such as {TRAINING!r}")

    def preflight(self) -> None:
        """Check what training will need, including the problem files and both models."""
        try:
            for source in self.problems:
                if source not in NAMED:
                    JsonlBenchmark(Path(source)).problems()
        except UsageError as error:
            raise UsageError(f"problems: {error}") from error
        if self.statements is not None:
            _ = self.statement_set  # raises if it cannot be read
        if self.search_model is not None:
            require_model(self.search_model)
        super().preflight()

    def train(
        self,
        repos: Sequence[Repository] | None = None,
        database: Database | None = None,
        data_path: Path | str | None = None,
    ) -> None:
        """Search and learn, round by round.

        The proofs of ``sorry`` theorems are recorded in the database; all proofs are in
        ``proofs.jsonl`` in ``output_dir``. With ``statements`` it needs neither repositories nor a
        database.

        Args:
            repos: Repositories with ``url`` and ``commit``, which the database holds.
            database: The database.
            data_path: Folder for the exported human data.

        Raises:
            EmptyDatasetError: If there are no problems, or nothing was proved and no
                human data is learned.
            UsageError: If ``output_dir`` holds another run.
            GeneratorError: If the model's generator fails.
        """
        data_path = Path(data_path or merged_data_dir())
        rounds = self._rounds(repos, database, data_path)
        processes = PartialState(cpu=self.chosen_device.name == "cpu", timeout=PATIENCE)
        count = processes.num_processes
        rounds.process = Process(processes.process_index, count, processes_here(count))
        self._trained_on = data_path
        self._anew = self.start_from == BASE
        steps: list[Any] = rounds.steps(self.rounds)
        stands_in: Any = rounds  # in the database's place
        data = rounds.folder / "rounds" / "data"
        try:
            with run_lock(self.output_dir, processes):
                if processes.is_main_process:
                    rounds.begin()
                loop = Loop(
                    self, steps, stands_in, data, noun=("round", "rounds"), make_ready=rounds.search
                )
                try:
                    loop.run()
                except EmptyDatasetError as error:
                    if loop.too_long.skipped:
                        raise  # there were proofs
                    raise self._nothing_found(rounds) from error
        except BaseException:
            self.forget_model()
            raise
        finally:
            self._anew = False

    def _nothing_found(self, rounds: Rounds) -> EmptyDatasetError:
        more = "attempts" if self.whole_proof else "expansions"
        human = "" if self.statements is not None else " or human_share"
        return EmptyDatasetError(
            f"no proof was found in {counted(self.rounds, 'round', 'rounds')} over "
            f"{counted(len(rounds.problem_set.problems), 'problem', 'problems')}, and there is no "
            "human proof to learn; start with a model that proves something (search_model), or "
            f"raise {more}{human}"
        )

    def _rounds(
        self, repos: Sequence[Repository] | None, database: Database | None, data_path: Path
    ) -> Rounds:
        """Collect the problems, from statements or a database."""
        if self.statements is not None:
            self.preflight()
            found = self.statement_set
            own = data_path / "statements"
            return Rounds(self, (), None, own, ProblemSet(found.problems, (), found))
        if repos is None or database is None:
            raise UsageError("expert-iteration needs repositories of a database, or statements")
        repos = checked_repositories(repos, database)
        self.preflight()
        traced = cast("DynamicDatabase", database)  # only this class holds theorems without proofs
        known = [_known(traced, repo) for repo in repos]
        problem_set = gather(
            self.problems, known, self.projects, traced.repositories, human_share=self.human_share
        )
        return Rounds(self, known, traced, data_path, problem_set)

    def fit(self, *args: Any, **options: Any) -> int:
        """Train one round, from the start model or from that of the last round."""
        if self._anew:
            self.forget_model()
        return super().fit(*args, **options)

    def searching_model(self) -> str:
        """Return the model to search with now: the last round's, or the first one's."""
        state = RunFolder(Path(self.output_dir)).load()
        if state is not None and state.finished:
            return self.output_dir
        return self.search_model or self.model_name

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

    def _source(self) -> str:
        return self.model_name if self._anew else super()._source()


def _known(database: DynamicDatabase, repo: Repository) -> TracedRepository:
    found = database.get_repository(repo.url, repo.commit)
    if found is None:
        raise UsageError(f"{repo.url} at {repo.commit} is not in the database; trace it first")
    return found
