"""Base class of provers: a generator, the search around it, progress guidance; trained ones."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias, TypeVar

from lean_dojo_core import Proves, Trainer, registry
from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import Theorem
from lean_dojo_v2.kinds import Prover, provers
from lean_dojo_v2.lean import GoalState, LeanError, Server, SourceTheorem, read_source
from lean_dojo_v2.lean_agent import ProverConfig
from lean_dojo_v2.prover.problem import GoalProblem, Problem, TheoremProblem
from lean_dojo_v2.prover.search.best_first import BestFirstSearch, print_batch
from lean_dojo_v2.prover.search.result import SearchResult
from lean_dojo_v2.prover.suggestion import (
    GeneratorError,
    PremiseSource,
    ProgressEstimator,
    TacticGenerator,
)

AskedT = TypeVar("AskedT")
AnswerT = TypeVar("AnswerT")
AnyProver: TypeAlias = Prover[Problem, Server, SearchResult]
"""Any registered prover."""

PROGRESS_VARIABLE = "LEANPROGRESS_MODEL"
"""Environment variable with the folder of a ``progress`` model that guides the search."""
LANGUAGE_MODEL = "hf"
"""Default prover for a trainer whose plugin names none."""


class BaseProver(ABC):
    """Proves theorems by best-first search with a tactic generator, within the config's limits.

    Raises:
        UsageError: If ``config`` sets ``use_vllm``; no prover starts vLLM.
    """

    def __init__(self, config: ProverConfig | None = None) -> None:
        if config is not None and config.use_vllm:
            raise UsageError(
                "use_vllm: no prover starts vLLM itself; serve the model with `vllm serve` and "
                "give HFProver its address (endpoint; --endpoint on the command line)"
            )
        self.settings = config or ProverConfig()
        self.theorem: Theorem | SourceTheorem | None = None
        self._progress: tuple[str, ProgressEstimator] | None = None

    @property
    @abstractmethod
    def generator(self) -> TacticGenerator:
        """The generator of tactics."""

    @property
    def premises(self) -> PremiseSource | None:
        """The source of premises for the generator; ``None`` by default."""
        return None

    @abstractmethod
    def generate_whole_proof(self, theorem: Theorem | str) -> str:
        """Write a complete proof of a traced theorem, or of a statement's text, in one go.

        It is as the model wrote it; :func:`lean_dojo_v2.lean.check_proof` says whether it holds.
        """

    def write_proofs(
        self, theorems: Sequence[Theorem | str], seeds: Sequence[int]
    ) -> Sequence[str | GeneratorError]:
        """Sample a complete proof of each theorem, unchecked.

        Each has a seed; its proof does not depend on the others. An error stands in place of one
        that failed; a ``GeneratorError`` is raised if all of them fail. By default each proof comes
        from :meth:`generate_whole_proof`, without sampling.
        """
        assert len(seeds) == len(theorems)
        return answered(self.generate_whole_proof, theorems)

    def next_tactic(self, state: GoalState, goal_id: int) -> str | None:
        """Propose the most probable of the tactics sampled for ``state.goals[goal_id]``, if any."""
        count = self.settings.num_sampled_tactics
        goals = [str(state.goals[goal_id])]
        found = () if self.premises is None else self.premises.retrieve(goals, [None])
        [suggestions] = self.generator.generate(goals, num_samples=count, premises=found)
        return max(suggestions, key=lambda s: s.logprob).tactic if suggestions else None

    def guidance(self, state: GoalState) -> list[float]:
        """Return a priority for each goal of a state; goals with fewer hypotheses come first."""
        return [1.0 / (len(goal.variables) + 1) for goal in state.goals]

    def search(
        self,
        server: Server,
        goal: str | None = None,
        theorem: Theorem | SourceTheorem | None = None,
        verbose: bool = False,
    ) -> tuple[SearchResult, list[str] | None]:
        """Search for a proof of a goal, an expression, or of a theorem; Lean verifies it in full.

        The file of a traced theorem is read from the server's ``project_path``. ``verbose`` prints
        every expanded state to standard error. The tactics of the proof, or ``None``, follow the
        result.

        Raises:
            UsageError: If there is neither a goal nor a theorem, or no folder with its file.
            LeanError: If its file cannot be read.
        """
        if isinstance(theorem, SourceTheorem):
            problem: Problem = TheoremProblem(theorem)
        elif theorem is not None:
            problem = TheoremProblem(source_in(server.project_path, theorem))
        elif goal is not None:
            problem = GoalProblem(goal)
        else:
            raise UsageError("search needs a goal or a theorem")
        self.theorem = theorem
        [(_, result)] = self.search_many([problem], [server], verbose=verbose)
        return result, None if result.tactics is None else list(result.tactics)

    def search_many(
        self, problems: Sequence[Problem], servers: Sequence[Server], *, verbose: bool = False
    ) -> Iterator[tuple[int, SearchResult]]:
        """Search for proofs of several problems together, generating tactics in batches.

        Yields each problem's index and result, as soon as it is known.
        """
        search = BestFirstSearch(self.generator, self.settings, self.progress(), self.premises)
        yield from search.results(problems, servers, print_batch if verbose else None)

    def progress(self) -> ProgressEstimator | None:
        """Load the model named by ``LEANPROGRESS_MODEL``; ``CheckpointError`` if there is none.

        The result is ``None`` if it is not set, or if the weight of its predictions is 0.
        """
        path = os.environ.get(PROGRESS_VARIABLE)
        if not path or not self.settings.progress_weight:
            return None
        if self._progress is None or self._progress[0] != path:
            trainer = registry.builtin(registry.trainers, "progress")
            self._progress = (path, trainer.estimator(path))
        return self._progress[1]


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


def answered(
    ask: Callable[[AskedT], AnswerT], questions: Sequence[AskedT], workers: int = 1
) -> list[AnswerT | GeneratorError]:
    """Ask a model, some questions at a time; raise an error only if all fail."""

    def attempt(question: AskedT) -> AnswerT | GeneratorError:
        try:
            return ask(question)
        except GeneratorError as error:
            return error

    with ThreadPoolExecutor(workers) as threads:
        found = list(threads.map(attempt, questions))
    errors = [one for one in found if isinstance(one, GeneratorError)]
    if errors and len(errors) == len(found):
        raise errors[0]
    return found


def source_in(project: Path | str | None, theorem: Theorem) -> SourceTheorem:
    """Read the file of a theorem in the folder that holds its repository.

    ``UsageError`` if there is no folder, ``LeanError`` if the file cannot be read.
    """
    if project is None:
        raise UsageError(
            f"{theorem.full_name}: give the server the project_path of its repository, so that the "
            "theorem can be proved in its file"
        )
    file = Path(project) / theorem.file_path
    try:
        text = read_source(file)
    except (OSError, UnicodeDecodeError) as error:
        raise LeanError(f"{theorem.full_name}: {file} cannot be read: {error}") from error
    return SourceTheorem.of(theorem, text)
