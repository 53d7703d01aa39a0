"""Group relative policy optimisation of a causal language model on traced goals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import attrs

from lean_dojo_core import (
    Database,
    DatasetFormatter,
    Evaluation,
    GivesFeedback,
    PreviewExample,
    Repository,
    formats_whole_proofs,
    registry,
)
from lean_dojo_core.errors import ConfigError, UsageError
from lean_dojo_core.records import Theorem
from lean_dojo_core.wording import counted
from lean_dojo_plugins import causal_lm, training
from lean_dojo_plugins.grpo.episodes import WHOLE_PROOF, EpisodeRunner, whole_proof_reward
from lean_dojo_plugins.grpo.groups import GroupPlan, plan_groups
from lean_dojo_plugins.grpo.settings import FIRST_TOKEN, TACTIC_PROMPT, GRPOSettings
from lean_dojo_plugins.grpo.turns import FEEDBACK_TOKENS, Feedback, Turns, columns_of
from lean_dojo_plugins.rewards import AdaptedReward, resolve_rewards
from lean_dojo_v2.database import split_of
from lean_dojo_v2.files import merged_data_dir
from lean_dojo_v2.lean import SharedEngines, shared_engines

if TYPE_CHECKING:
    import torch
    from datasets import Dataset
    from transformers import PreTrainedModel, Trainer, TrainingArguments

    from lean_dojo_plugins.grpo.step_trainer import StepTrainer

TACTIC_TOKENS, PROOF_TOKENS = 96, 512
"""Default completion lengths: of one tactic, and of a whole proof."""


@attrs.define(slots=False, eq=False, kw_only=True)
class GRPOTrainer(GRPOSettings):
    """Refines a tactic generator with rewards (GRPO, Shao et al. 2024, arXiv:2402.03300).

    For each repository in turn, exports the merged data of all so far, samples groups of tactics at
    the goals of ``random/train.json``, scores them with the rewards and updates the policy with
    ``trl.GRPOTrainer``; then saves model (or LoRA adapter) and tokenizer to ``output_dir``.

    A completion ends with its line, because a tactic is one line. With a formatter for whole
    proofs, or with ``statements``, it is a whole proof.
    Prompts are shortened so that the longest completion still fits into ``max_length``; rewards
    see the whole goal.

    All further settings of ``trl.GRPOConfig`` (``beta``, ``temperature``, ``num_generations``,
    ``use_vllm``, …) go through ``trainer_args``.

    >>> GRPOTrainer("owner/model", "constant", trainer_args={"num_generations": 1})
    Traceback (most recent call last):
    lean_dojo_core.errors.ConfigError: trainer_args.num_generations is 1, but ...
    """

    config_class: ClassVar[type[TrainingArguments] | str] = "trl:GRPOConfig"
    fixed_args: ClassVar[Mapping[str, str]] = {
        **causal_lm.CausalBase.fixed_args,
        "reward_weights": "weights belong to the rewards: reward_func={'name': weight}",
    }
    required_columns: ClassVar[tuple[str, ...]] = ("prompt", "problem")

    _reference: PreTrainedModel | None = attrs.field(default=None, init=False, repr=False)
    _rewards: list[AdaptedReward] = attrs.field(factory=list, init=False, repr=False)
    _logged: list[tuple[str, float]] = attrs.field(factory=list, init=False, repr=False)
    _labels: set[str] = attrs.field(factory=set, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        given = [] if self.reward_func in (None, [], {}) else resolve_rewards(self.reward_func)
        self._rewards = [whole_proof_reward(), *given] if self.episodes else given
        super().__attrs_post_init__()
        if not self._rewards:
            raise ConfigError(
                "grpo needs a reward: name one with --reward NAME, for example --reward "
                "pantograph-verified, or set reward_func (installed: "
                f"{', '.join(registry.reward_functions)}); only with episodes=true is none needed"
            )
        if self.statements is not None and self.episodes:
            raise ConfigError("statements and episodes exclude each other: choose one")
        if self.process_weight and not any(one.locates for one in self._rewards):
            raise ConfigError(
                "process_weight needs a reward that says where a completion is right or wrong, "
                "such as proof-verified (a method `spans`: lean_dojo_core.Locates)"
            )
        if self.turns > 1 and (self.statements is None or self._feedback() is None):
            raise ConfigError(
                "turns above 1 need statements, and a reward that explains what is wrong with a "
                "proof, such as proof-verified"
            )
        plan_groups(self.batch_size, 1, self.trainer_args)
        if self.max_length and self.row_length is not None and self.row_length < 1:
            told = f" in each of {self.turns} turns, and an error 256" if self.turns > 1 else ""
            raise ConfigError(
                f"max_length is {self.max_length}, and a completion may take "
                f"{self.completion_length} of it (trainer_args.max_completion_length)"
                f"{told}: no room is left for a prompt; raise max_length well above "
                f"{self.max_length - self.row_length}"
            )

    def train(
        self,
        repos: Sequence[Repository] | None = None,
        database: Database | None = None,
        data_path: Path | str | None = None,
    ) -> None:
        """Train on the repositories in their order; see :class:`CausalTrainer`.

        With ``statements`` it needs neither repositories nor a database.
        """
        from accelerate import PartialState

        folder = Path(data_path or merged_data_dir())
        if (statements := self.statement_set) is not None:
            # The other processes wait while one has Lean elaborate the statements.
            on_cpu = self.chosen_device.name == "cpu"
            if PartialState(cpu=on_cpu, timeout=training.PROCESS_TIMEOUT).is_main_process:
                statements.say()
            self.train_on(statements, folder / "statements")
            return
        if repos is None or database is None:
            raise UsageError("grpo needs repositories of a database, or statements")
        found, share = training.checked_repositories(repos, database), self.human_share or None
        self.train_on(training.DatabaseSource(*found, share, hidden=True), folder)

    def preflight(self) -> None:
        """Check what training will need, including the rewards."""
        columns: Sequence[str] = self.make_formatter().columns
        if self.episodes:
            if missing := [name for name in training.PLACE_COLUMNS if name not in columns]:
                raise ConfigError(
                    f"episodes: the dataset formatter {self.formatter!r} has no column "
                    f"{missing[0]!r}, which says where a theorem stands"
                )
            columns = ("prompt", "problem", "proved")
        if (statements := self.statement_set) is not None:
            columns = training.STATEMENT_COLUMNS
            _check_count(statements.problems, self.trial_config())
        _check_rewards(self._rewards, columns, self.formatter)
        own_objective = type(self).token_advantages is not GRPOTrainer.token_advantages
        for setting_name, uses_internals in {
            "episodes": self.episodes,
            "turns above 1": self.turns > 1,
            "process_weight": self.process_weight,
            "trainer_args.beta": self.trainer_args.get("beta"),
            f"{type(self).__name__}.token_advantages": own_objective,
        }.items():
            if uses_internals:
                training.require_known_trl(setting_name)
        super().preflight()

    def check_data(self, theorems: Iterable[Theorem]) -> None:
        """Refuse a batch that is larger than the first repository's training data."""
        if self.statements is not None:  # checked with the settings
            return
        learned = (one for one in theorems if split_of(one) == "train")
        if self.human_share:
            learned = (one for one in learned if not training.is_in_share(one, self.human_share))
        formatter = self.make_formatter()
        rows = (row for theorem in learned for row in formatter.rows(theorem))
        _check_count(_theorems(rows) if self.episodes else rows, self.trial_config())

    @property
    def completion_length(self) -> int:
        """Longest completion, in tokens."""
        usual = PROOF_TOKENS if self.writes_whole_proofs else TACTIC_TOKENS
        return self.trainer_args.get("max_completion_length") or usual

    @property
    def writes_whole_proofs(self) -> bool:
        """Whether a completion is a whole proof, not one tactic."""
        return self.statements is not None or bool(formats_whole_proofs(super().make_formatter()))

    def make_formatter(self) -> DatasetFormatter:
        """Load the dataset formatter; for statements, one of whole proofs."""
        if self.statements is not None and self.formatter == TACTIC_PROMPT:
            return registry.dataset_formatters["lean-dojo-v2:whole-proof"].create()
        return super().make_formatter()

    @property
    def row_length(self) -> int | None:
        """Longest prompt, in tokens: ``max_length`` less a completion."""
        if self.max_length is None:
            return None
        between = (self.turns - 1) * (FEEDBACK_TOKENS + self.completion_length)
        return self.max_length - self.completion_length - between

    def _feedback(self) -> Feedback | None:
        """Return the feedback method of the first reward that has one."""
        functions: Iterable[object] = (reward.function for reward in self._rewards)
        return next((one.feedback for one in functions if isinstance(one, GivesFeedback)), None)

    @property
    def rewards(self) -> tuple[AdaptedReward, ...]:
        """The rewards as TRL calls them, with their weights."""
        return tuple(self._rewards)

    @cached_property
    def lean(self) -> SharedEngines:
        """The Lean engines of the run, which its rewards use too.

        Ask with :meth:`.RowTask.submit`. They are those of the first reward with an attribute
        ``lean``, as rewards that use Lean have; without one, those of ``shared_engines()``. They
        end with the process.
        """
        for reward in self._rewards:
            if isinstance(found := getattr(reward.function, "lean", None), SharedEngines):
                return found
        return shared_engines()

    def settings(self) -> dict[str, Any]:
        """Return all settings that affect the result; a run goes on only with the same."""
        rewards = [[r.name, r.weight, training.to_json_value(r.function)] for r in self._rewards]
        return {**super().settings(), "reward_func": rewards}

    def preview(self, theorems: Iterable[Theorem], limit: int = 3) -> list[PreviewExample]:
        """Return the first prompts as the model reads them; of ``statements``, if they are set."""
        if (statements := self.statement_set) is None:
            return super().preview(theorems, limit)
        rows = statements.rows(self.make_formatter())
        named = ((f"{row['full_name']} ({self.own_data})", row) for row in rows)
        return causal_lm.preview_rows(
            causal_lm.Tokeniser(self.tokenizer, self.row_length), named, limit
        )

    def rows(self, data_path: Path) -> Iterator[dict[str, Any]]:
        """Stream the rows of the training dataset, made of the data there or of the statements."""
        if (statements := self.statement_set) is None:
            return super().rows(data_path)
        kept = statements.elaborated(Path(self.output_dir))
        return self.prepare_rows(kept.rows(self.make_formatter()))

    def prepare_rows(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Shorten prompts that are too long; an exact replay needs the other columns as they are.

        TRL itself has no limit for prompts. For episodes only the theorems are kept.
        """
        if self.episodes:
            rows = _theorems(rows)
        yield from causal_lm.Tokeniser(self.tokenizer, self.row_length, self.too_long).prompts(rows)

    def build_step_trainer(self, dataset: Dataset, step: training.CurriculumStep) -> Trainer:
        """Build TRL's trainer for one step."""
        if step.index == 0:
            words = ("episode", "theorem") if self.episodes else ("completion", "prompt")
            self.say(f"GRPO: {self._groups(step).describe(*words)}")
        config = self.step_config(step)
        _check_count(dataset, config)
        given: dict[str, Any] = {
            "model": self.model,
            "args": config,
            "train_dataset": dataset,
            "processing_class": self.tokenizer,
        }
        if not training.knows_trl():
            from lean_dojo_plugins.grpo.plain_trainer import plain_trainer

            ends = causal_lm.turn_end_tokens if self.writes_whole_proofs else causal_lm.end_tokens
            return plain_trainer(self._rewards, ends(self.tokenizer, self.model), **given)
        from lean_dojo_plugins.grpo.episode_trainer import EpisodeTrainer
        from lean_dojo_plugins.grpo.step_trainer import StepTrainer

        trainer = (EpisodeTrainer if self.episodes else StepTrainer)(
            reward_funcs=list(self._rewards),  # TRL changes the list it is given
            share_prompts=self.share_prompts,
            **given,
        )
        trainer.token_advantages = self.token_advantages
        trainer.pending_metrics = self._logged = []
        if not self.writes_whole_proofs:
            trainer.end_completions_at(causal_lm.end_tokens(self.tokenizer, self.model))
        if self.turns > 1 and (feedback := self._feedback()) is not None:
            trainer.turns = trainer.rollout_func = cast("Any", Turns(self.turns, feedback))
        bonus = config.entropy_coef != 0 or config.use_adaptive_entropy
        causal_lm.add_label_head(
            trainer.model, temperature=trainer.temperature, differentiable_entropy=bonus
        )
        if trainer.beta:
            self._set_reference(trainer)
        if isinstance(trainer, EpisodeTrainer):
            trainer.stage = EpisodeRunner(self.episode_steps, self.engines, self.projects)
            trainer.replacements = self.replacements
            trainer.formatter, trainer.prompt_length = self.make_formatter(), self.row_length
        return trainer

    def token_advantages(
        self,
        *,
        rows: Sequence[dict[str, Any]],
        completions: Sequence[str],
        completion_ids: torch.Tensor,
        completion_mask: torch.Tensor,
        rewards: torch.Tensor,  # noqa: ARG002 - for those who override it
        advantages: torch.Tensor,
    ) -> torch.Tensor:
        """Return the advantages that are learned from; override it for another objective.

        It is called with each batch, in each process with its own completions, whether prompts are
        shared, and for single turns, conversations and episodes. :meth:`log_metric` logs from here.
        The base class adds ``process_weight`` times what rewards say of parts of a completion.

        Args:
            rows: The row of each completion; of an episode's step, ``problem`` is its state.
            completions: Their texts, as rewards see them: empty if a completion did not end; of a
                conversation, the last turn.
            completion_ids: ``(completions, tokens)``, padded on the right.
            completion_mask: ``(completions, tokens)``; 1 for the tokens that the model wrote and
                learns from, 0 for padding and for what others said in a conversation.
            rewards: ``(completions, rewards)``; NaN where one does not apply.
            advantages: ``(completions,)``; the advantage of each over its group.

        Returns:
            ``(completions,)`` or ``(completions, tokens)``, on the same device.
        """
        import torch
        from accelerate.utils import gather_object

        from lean_dojo_plugins.grpo.credit import token_values

        if not self.process_weight:
            return advantages
        values = torch.zeros(completion_ids.shape, device=completion_ids.device)
        counts: Counter[str] = Counter()  # of the spans, by label
        known = [False] * len(completions)
        for reward in self._rewards:
            if not reward.locates:
                continue
            spans = reward.spans(completions, **columns_of(rows))
            found = token_values(
                self.tokenizer, spans, completions, completion_ids, completion_mask,
                first_token=self.process_credit == FIRST_TOKEN,
            )  # fmt: skip
            values += reward.weight * found
            counts.update(span.label for own in spans for span in own or () if span.label)
            known = [was or own is not None for was, own in zip(known, spans, strict=True)]
        # Each process logs the same names, with 0 for what it has not seen.
        self._labels.update(gather_object(list(counts)))
        for label in self._labels:
            self.log_metric(f"process/{label}", counts[label] / max(1, len(known)))
        self.log_metric("process/located", sum(known) / max(1, len(known)))
        return advantages.unsqueeze(1) + self.process_weight * values

    def log_metric(self, name: str, value: float) -> None:
        """Log a number of this batch, from :meth:`token_advantages`.

        It is averaged over the processes that log it, and over the batches between two lines of
        ``metrics.jsonl``.
        """
        self._logged.append((name, float(value)))

    def _set_reference(self, trainer: StepTrainer) -> None:
        """Measure the KL divergence from the model that the whole run started from."""
        policy: Any = trainer.model
        if self.lora_config is None:
            if self._reference is None:
                reference = causal_lm.load_model(self.model_name, device=self.chosen_device)
                reference.requires_grad_(False)
                self._reference = reference
            trainer.refer_to(self._reference)
        elif causal_lm.is_adapter(self.model_name) and "ref" not in policy.peft_config:
            # TRL takes the adapter of that name; without one, the base model alone.
            source = training.resolve_model(self.model_name)
            policy.load_adapter(source, adapter_name="ref", is_trainable=False)

    def forget_model(self) -> None:
        """Release the model and its reference; the next use loads them again."""
        super().forget_model()
        self._reference = None

    def evaluate(
        self,
        data_path: Path | str | None = None,
        split: str = "val",
        *,
        limit: int | None = None,
        samples: int = 4,
        temperature: float = 1.0,
    ) -> Evaluation:
        """Measure the policy on held-out goals: loss on human tactics, and rewards of samples.

        At each goal ``samples`` tactics are sampled at ``temperature`` (the policy itself has 1)
        and scored by the trainer's rewards. The other arguments are those of
        :meth:`CausalBase.evaluate`.

        Returns:
            ``loss`` and ``exact_match`` as SFT's; ``reward``, the mean of the weighted sum;
            ``reward/NAME`` for each reward; and what rewards log, such as ``lean/verified``.

        Raises:
            EmptyDatasetError: If the split has no tactic to learn.
            RewardError: If a reward fails.
        """
        from lean_dojo_plugins.grpo.evaluation import sample_and_score

        base = super().evaluate(data_path, split, limit=limit)
        rewards = [reward for reward in self._rewards if reward.name != WHOLE_PROOF]
        if not rewards:  # whole proofs are measured by `lean-dojo bench`
            return base
        formatter = self.make_formatter()
        file = self.evaluation_file(data_path, split)
        rows = list(islice(training.formatted_rows(file, formatter), limit))
        earned = sample_and_score(
            causal_lm.CausalTacticGenerator.from_model(
                self.model, self.tokenizer, formatter, max_length=self.max_length
            ),
            rewards,
            rows,
            samples=samples,
            temperature=temperature,
            max_new_tokens=self.completion_length,
            seed=self.seed,
        )
        return attrs.evolve(base, metrics={**base.metrics, **earned})

    def _groups(self, step: training.CurriculumStep) -> GroupPlan:
        """Plan the groups; each group of episodes is played in one process."""
        count, given = step.processes, dict(self.trainer_args)
        if not self.episodes:
            return plan_groups(self.batch_size, count, given)
        if size := given.get("generation_batch_size"):  # of all processes
            given["generation_batch_size"] = size // count
        return attrs.evolve(plan_groups(self.batch_size, 1, given), processes=count)

    def step_config(self, step: training.CurriculumStep, **fixed: Any) -> Any:
        """Make the configuration of one step's trainer, with groups of completions."""
        groups = self._groups(step)
        arguments: dict[str, Any] = {
            "num_generations": groups.num_generations,
            "gradient_accumulation_steps": groups.accumulation,
            "reward_weights": [reward.weight for reward in self._rewards],
            "max_completion_length": self.completion_length,
        }
        return super().step_config(step, **{**arguments, **fixed})


def _check_count(rows: Iterable[Any], config: Any) -> None:
    """Refuse a batch that is larger than the data: TRL would leave it out, and train nothing."""
    needed = config.generation_batch_size // config.num_generations
    found = sum(1 for _ in islice(rows, needed))
    if found < needed:
        raise ConfigError(
            f"batch_size: a batch takes completions of {counted(needed, 'prompt', 'prompts')}, "
            f"and the data have {found}, so no step would be trained; lower batch_size or "
            "trainer_args.gradient_accumulation_steps, or raise trainer_args.num_generations"
        )


def _theorems(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Keep the location of each theorem, once."""
    for place, same in groupby(
        rows, lambda row: {name: row[name] for name in training.PLACE_COLUMNS}
    ):
        row = next(same)
        yield {"prompt": row["prompt"], "problem": row["problem"], **place}


def _check_rewards(
    rewards: Sequence[AdaptedReward], columns: Sequence[str], formatter: str
) -> None:
    """Refuse rewards that read missing columns, or whose libraries are missing."""
    for reward in rewards:
        missing = [name for name in reward.columns_needed() if name not in columns]
        if missing:
            raise ConfigError(
                f"reward {reward.name!r} reads the column {missing[0]!r}, which the dataset "
                f"formatter {formatter!r} does not give; its columns are {', '.join(columns)}. "
                "The completions themselves are passed as 'completions'"
            )
        if not reward.messages:
            continue
        try:  # TRL's rewards report a missing library only when called
            empty: dict[str, list[Any]] = {name: [] for name in reward.columns_needed()}
            reward.function(completions=[], completion_ids=[], **empty)
        except ImportError as error:
            raise ConfigError(f"reward {reward.name!r} cannot be used here: {error}") from error
