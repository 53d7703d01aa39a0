"""Expert iteration: rounds of proof search, and fine-tuning on the proofs that Lean confirmed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from lean_dojo_core import (
    Database,
    Evaluation,
    PreviewExample,
    Repository,
    Theorem,
    formats_whole_proofs,
)
from lean_dojo_core.errors import ConfigError, UsageError
from lean_dojo_core.wording import counted
from lean_dojo_plugins import training
from lean_dojo_plugins.causal_lm import check_command, check_other_folder
from lean_dojo_plugins.expert_iteration import searching
from lean_dojo_plugins.expert_iteration.problems import (
    HIDDEN,
    NAMED,
    SORRY,
    TRAINING,
    ProblemSet,
    gather,
)
from lean_dojo_plugins.expert_iteration.rounds import Rounds
from lean_dojo_plugins.sft import SFTTrainer
from lean_dojo_v2.benchmarks import JsonlBenchmark
from lean_dojo_v2.data import Repository as TracedRepository
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.errors import EmptyDatasetError
from lean_dojo_v2.files import merged_data_dir

if TYPE_CHECKING:
    from datasets import Dataset


@attrs.define(slots=False, eq=False, kw_only=True)
class ExpertIterationTrainer(searching.SearchingTrainer):
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

    _trained_on: Path | None = attrs.field(default=None, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.whole_proof and self.formatter == searching.TACTICS:
            self.formatter = searching.WHOLE_PROOFS
        check_other_folder(self.model_name, self.output_dir)
        self.learner()  # raises if its settings do not fit
        if self.whole_proof and not formats_whole_proofs(self.make_formatter()):
            raise ConfigError(
                f"whole_proof: the dataset formatter {self.formatter!r} is for tactics; leave "
                "it out, or name one for whole proofs"
            )
        known = attrs.fields_dict(type(self))
        given = [name for name in searching.OF_SEARCH if getattr(self, name) != known[name].default]
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
        _ = self.statement_set  # raises if it cannot be read
        if self.search_model is not None:
            training.require_model(self.search_model)
        learner = self.learner()
        self.check_ready(learner.trial_config())
        learner.check_model()

    def train(
        self,
        repos: Sequence[Repository] | None = None,
        database: Database | None = None,
        data_path: Path | str | None = None,
    ) -> None:
        """Search and learn, round by round.

        The database holds the repositories, and records the proofs of their ``sorry`` theorems; all
        proofs are in ``proofs.jsonl`` in ``output_dir``. The human data are exported to the folder
        ``data_path``. With ``statements`` it needs neither repositories nor a database.

        Raises:
            EmptyDatasetError: If there are no problems, or nothing was proved and no
                human data is learned.
            UsageError: If ``output_dir`` holds another run.
            GeneratorError: If the model's generator fails.
        """
        from accelerate import PartialState

        data_path = Path(data_path or merged_data_dir())
        rounds = self._rounds(repos, database, data_path)
        processes = PartialState(
            cpu=self.chosen_device.name == "cpu", timeout=training.PROCESS_TIMEOUT
        )
        rounds.index, rounds.count = processes.process_index, processes.num_processes
        self._trained_on = data_path
        data = rounds.folder / "rounds" / "data"
        with training.run_lock(self.output_dir, processes):
            if processes.is_main_process:
                rounds.begin()
            loop = training.Loop(
                self, rounds, data, noun=("round", "rounds"), make_ready=rounds.search
            )
            try:
                loop.run()
            except EmptyDatasetError as error:
                if loop.too_long.skipped:
                    raise  # there were proofs
                raise self._nothing_found(rounds) from error

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
        if (found := self.statement_set) is not None:
            self.preflight()
            own = data_path / "statements"
            return Rounds(self, (), None, own, ProblemSet(found.problems, (), found))
        if repos is None or database is None:
            raise UsageError("expert-iteration needs repositories of a database, or statements")
        repos, database = training.checked_repositories(repos, database)
        if not isinstance(database, DynamicDatabase):
            raise UsageError(
                "expert-iteration needs a DynamicDatabase, which holds theorems without proofs, "
                f"not a {type(database).__name__}"
            )
        self.preflight()
        known = [_known(database, repo) for repo in repos]
        others, share = database.repositories, self.human_share
        problem_set = gather(self.problems, known, self.projects, others, human_share=share)
        return Rounds(self, known, database, data_path, problem_set)

    def learner(self, start: str | None = None) -> SFTTrainer:
        """Make the trainer that learns; by default it goes on with the model trained so far."""
        shared = {one.name: getattr(self, one.name) for one in attrs.fields(SFTTrainer) if one.init}
        shared["model_name"] = start or self._trained() or self.model_name
        shared["output_dir"] = str(Path(self.output_dir, "rounds", "model"))  # never written
        return SFTTrainer(**shared)

    def rows(self, data_path: Path) -> Iterator[dict[str, Any]]:
        """Stream the rows of the training dataset, as ``sft`` makes them."""
        learner = self.learner()
        learner.too_long = self.too_long
        return learner.rows(data_path)

    def fit(
        self, dataset: Dataset, step: training.CurriculumStep, fitting: training.Fitting
    ) -> int:
        """Train one round, from the start model or from that of the last round."""
        learner = self.learner(self.model_name if self.start_from == searching.BASE else None)
        return learner.fit(dataset, step, fitting)

    def card(self) -> dict[str, str]:
        """Describe the model for the model card."""
        return self.learner().card()

    def preview(self, theorems: Iterable[Theorem], limit: int = 3) -> list[PreviewExample]:
        """Return the first examples as the model reads them; see :class:`SFTTrainer`."""
        return self.learner().preview(theorems, limit)

    def evaluate(
        self, data_path: Path | str | None = None, split: str = "val", *, limit: int | None = None
    ) -> Evaluation:
        """Measure the model on held-out tactics; see :class:`SFTTrainer`."""
        if self.resume:
            self.run_state()  # refuses a run with other settings
        return self.learner().evaluate(data_path or self._trained_on, split, limit=limit)

    def prover_settings(self) -> dict[str, object]:
        """Return the settings of the prover that uses the trained model."""
        return {**self.learner().prover_settings(), "ckpt_path": self.output_dir}


def _known(database: DynamicDatabase, repo: Repository) -> TracedRepository:
    found = database.get_repository(repo.url, repo.commit)
    if found is None:
        raise UsageError(f"{repo.url} at {repo.commit} is not in the database; trace it first")
    return found
