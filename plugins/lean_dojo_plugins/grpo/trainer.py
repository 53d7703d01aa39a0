"""Group relative policy optimisation of a causal language model on traced goals."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any, ClassVar

import attrs
from accelerate import PartialState
from datasets import Dataset
from peft import LoraConfig
from transformers import PreTrainedModel, TrainingArguments
from trl.trainer.grpo_config import GRPOConfig

from lean_dojo_core import Database, DatasetFormatter, Evaluation, Repository, registry
from lean_dojo_core.errors import ConfigError, UsageError
from lean_dojo_plugins.causal_lm.generate.generator import CausalTacticGenerator, end_tokens
from lean_dojo_plugins.causal_lm.model.label_head import add_label_head
from lean_dojo_plugins.causal_lm.model.loading import is_adapter, load_model
from lean_dojo_plugins.causal_lm.text.tokenisation import Tokeniser
from lean_dojo_plugins.causal_lm.trainer import CausalTrainer
from lean_dojo_plugins.grpo.episode_trainer import WHOLE_PROOF, EpisodeTrainer, whole_proof_reward
from lean_dojo_plugins.grpo.episodes import EpisodeLimits, EpisodeRunner
from lean_dojo_plugins.grpo.evaluation import sample_and_score
from lean_dojo_plugins.grpo.groups import GroupPlan, plan_groups
from lean_dojo_plugins.grpo.step_trainer import StepTrainer
from lean_dojo_plugins.grpo.turns import FEEDBACK_TOKENS, Feedback, Turns
from lean_dojo_plugins.rewards.adapter import AdaptedReward
from lean_dojo_plugins.rewards.resolve import resolve_rewards
from lean_dojo_plugins.training.curriculum import CurriculumStep
from lean_dojo_plugins.training.data import PLACE, HumanShare, formatted_rows
from lean_dojo_plugins.training.devices import PATIENCE
from lean_dojo_plugins.training.hub import resolve_model
from lean_dojo_plugins.training.settings import lora_of, plain
from lean_dojo_plugins.training.statements import (
    STATEMENT_COLUMNS,
    Statements,
    StatementSource,
    TrainsOnStatements,
    statements_of,
)
from lean_dojo_v2 import fields
from lean_dojo_v2.fields import about, setting
from lean_dojo_v2.paths import merged_data_dir

TACTIC_TOKENS, PROOF_TOKENS = 96, 512
"""Default completion lengths: of one tactic, and of a whole proof."""
TACTIC_PROMPT, WHOLE_PROOF_FORMATTER = "tactic-prompt", "whole-proof"


@attrs.define(slots=False, eq=False, kw_only=True)
class GRPOTrainer(TrainsOnStatements, CausalTrainer):
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

    config_class: ClassVar[type[TrainingArguments]] = GRPOConfig
    fixed_args: ClassVar[Mapping[str, str]] = {
        **CausalTrainer.fixed_args,
        "reward_weights": "weights belong to the rewards: reward_func={'name': weight}",
    }
    required_columns: ClassVar[tuple[str, ...]] = ("prompt", "problem")

    # The reward is documented as the second parameter. attrs orders fields as written, so the
    # fields after it are repeated; type checkers do not follow a field transformer.
    reward_func: Any = attrs.field(
        default=None,
        kw_only=False,
        metadata=about(
            "Reward: a function, a plugin's name, a list of these, or names with weights. "
            "Required, except with episodes, where null rewards the proof alone."
        ),
    )
    output_dir: str = attrs.field(
        default="outputs",
        converter=fields.text_of_path,
        validator=fields.non_empty_text,
        kw_only=False,
        metadata=about("Folder for the trained model and its tokenizer.", shapes_result=False),
    )
    epochs_per_repo: int = attrs.field(
        default=1,
        validator=fields.positive_int,
        kw_only=False,
        metadata=about("Passes over the merged data for each repository."),
    )
    batch_size: int = attrs.field(
        default=1,
        validator=fields.positive_int,
        kw_only=False,
        metadata=about("Completions per device and backward pass; group sizes are fitted to it."),
    )
    lr: float = attrs.field(
        default=2e-5,
        validator=fields.positive,
        kw_only=False,
        metadata=about(
            "Peak learning rate; the documented default suits LoRA and is 20 times TRL's: use 1e-6 "
            "to train all weights."
        ),
    )
    lora_config: LoraConfig | None = attrs.field(
        default=None,
        converter=lora_of,
        kw_only=False,
        metadata=about("Train only a LoRA adapter with this configuration."),
    )
    formatter: str = setting(TACTIC_PROMPT, "Dataset formatter that turns theorems into rows.")
    statements: StatementSource | str | None = attrs.field(
        default=None,
        converter=statements_of,
        metadata=about(
            "Train on whole proofs of these statements instead of a database: a JSONL file, "
            "hub:OWNER/NAME[:SPLIT], or the name of a benchmark; or a mapping with source, "
            "project, columns, held_out, check."
        ),
    )
    turns: int = setting(
        1,
        "Turns of the model for a statement: Lean's answer to a failed proof is the next message, "
        "and the loss covers the model's turns only.",
        fields.positive_int,
    )
    share_prompts: bool = setting(
        True,
        "Compute each prompt once per group if the model's attention allows it: faster, with the "
        "same values and gradients.",
        shapes_result=False,
    )
    human_share: float = setting(
        0.0,
        "Share of the training theorems whose human proofs the model has learned, as sft chooses "
        "it: they are left out.",
        fields.share,
    )
    episodes: bool = setting(
        False,
        "Play whole proofs, step by step from each theorem's first goal; a proof that passes the "
        "full verification earns 1 at all its steps.",
    )
    episode_steps: int = setting(8, "Maximum number of tactics per episode.", fields.positive_int)
    replacements: int = setting(
        2,
        "How often a batch replaces groups of episodes in which all or none succeed.",
        fields.not_negative_int,
    )
    engines: int = setting(2, "Lean engines per repository, for episodes.", fields.positive_int)
    projects: Mapping[str, Path] = attrs.field(
        factory=dict,
        converter=fields.folders,
        metadata=about("Folder of each repository, by address, for episodes."),
    )
    _reference: PreTrainedModel | None = attrs.field(default=None, init=False, repr=False)
    _set: Statements | None = attrs.field(default=None, init=False, repr=False)
    _rewards: list[AdaptedReward] = attrs.field(factory=list, init=False, repr=False)

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
        data_path = data_path or merged_data_dir()
        if self.statements is not None:
            self._set = self.statement_set
            # The other processes wait while one has Lean elaborate the statements.
            on_cpu = self.chosen_device.name == "cpu"
            if PartialState(cpu=on_cpu, timeout=PATIENCE).is_main_process:
                self._set.say()
            stands_in: Any = self._set
            super().train([stands_in], stands_in, Path(data_path) / "statements")
            return
        if repos is None or database is None:
            raise UsageError("grpo needs repositories of a database, or statements")
        hidden: Any = database
        if self.human_share:
            hidden = HumanShare(database, self.human_share, hidden=True)
        super().train(repos, hidden, data_path)

    def preflight(self) -> None:
        """Check what training will need, including the rewards."""
        columns: Sequence[str] = self.make_formatter().columns
        if self.episodes:
            if missing := [name for name in PLACE if name not in columns]:
                raise ConfigError(
                    f"episodes: the dataset formatter {self.formatter!r} has no column "
                    f"{missing[0]!r}, which says where a theorem stands"
                )
            columns = ("prompt", "problem", "proved")
        if self.statements is not None:
            _ = self.statement_set  # raises if it cannot be read
            columns = STATEMENT_COLUMNS
        _check_rewards(self._rewards, columns, self.formatter)
        super().preflight()

    @property
    def completion_length(self) -> int:
        """Longest completion, in tokens."""
        usual = PROOF_TOKENS if self.writes_whole_proofs else TACTIC_TOKENS
        return self.trainer_args.get("max_completion_length") or usual

    @property
    def writes_whole_proofs(self) -> bool:
        """Whether a completion is a whole proof, not one tactic."""
        return self.statements is not None or bool(
            getattr(super().make_formatter(), "whole_proof", False)
        )

    def make_formatter(self) -> DatasetFormatter:
        """Load the dataset formatter; for statements, one of whole proofs."""
        if self.statements is not None and self.formatter == TACTIC_PROMPT:
            return registry.dataset_formatters[f"lean-dojo-v2:{WHOLE_PROOF_FORMATTER}"].create()
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
        found = (getattr(reward.function, "feedback", None) for reward in self._rewards)
        return next((one for one in found if one is not None), None)

    @property
    def rewards(self) -> tuple[AdaptedReward, ...]:
        """The rewards as TRL calls them, with their weights."""
        return tuple(self._rewards)

    def settings(self) -> dict[str, Any]:
        """Return all settings that affect the result; a run goes on only with the same."""
        rewards = [[r.name, r.weight, plain(r.function)] for r in self._rewards]
        return {**super().settings(), "reward_func": rewards}

    def prepare_rows(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Shorten prompts that are too long; an exact replay needs the other columns as they are.

        TRL itself has no limit for prompts. For episodes only the theorems are kept.
        """
        if self._set is not None:
            rows = self._set.elaborated(Path(self.output_dir)).rows(self.make_formatter())
        elif self.episodes:
            rows = _theorems(rows)
        yield from Tokeniser(self.tokenizer, self.row_length, self.too_long).prompts(rows)

    def build_step_trainer(self, dataset: Dataset, step: CurriculumStep) -> StepTrainer:
        """Build TRL's trainer for one step."""
        if step.index == 0 and PartialState().is_main_process:
            groups = self._groups(step)
            words = ("episode", "theorem") if self.episodes else ("completion", "prompt")
            print(f"GRPO: {groups.describe(*words)}", file=sys.stderr)
        config = self.step_config(step)
        trainer = (EpisodeTrainer if self.episodes else StepTrainer)(
            model=self.model,
            reward_funcs=list(self._rewards),  # TRL changes the list it is given
            args=config,
            train_dataset=dataset,
            processing_class=self.tokenizer,
            share_prompts=self.share_prompts,
        )
        if not self.writes_whole_proofs:
            trainer.end_completions_at(end_tokens(self.tokenizer, self.model))
        if self.turns > 1 and (feedback := self._feedback()) is not None:
            trainer.play(Turns(self.turns, feedback))
        bonus = config.entropy_coef != 0 or config.use_adaptive_entropy
        add_label_head(trainer.model, temperature=trainer.temperature, differentiable_entropy=bonus)
        if trainer.beta:
            self._set_reference(trainer)
        if isinstance(trainer, EpisodeTrainer):
            limits = EpisodeLimits(steps=self.episode_steps, replacements=self.replacements)
            stage = EpisodeRunner(limits, self.engines, self.projects)
            trainer.play_with(stage, self.make_formatter(), self.row_length)
        return trainer

    def _set_reference(self, trainer: StepTrainer) -> None:
        """Measure the KL divergence from the model that the whole run started from."""
        policy: Any = trainer.model
        if self.lora_config is None:
            if self._reference is None:
                reference = load_model(self.model_name, device=self.chosen_device)
                reference.requires_grad_(False)
                self._reference = reference
            trainer.refer_to(self._reference)
        elif is_adapter(self.model_name) and "ref" not in policy.peft_config:
            # TRL takes the adapter of that name; without one, the base model alone.
            source = resolve_model(self.model_name)
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

        Args:
            data_path: Folder of merged data, or a split's file; by default what this object
                trained on, or ``$RAID_DIR/data/merged``.
            split: ``"val"``, ``"test"`` or ``"train"``.
            limit: Take only this many goals, from the start.
            samples: Tactics to sample at each goal, scored by the trainer's rewards.
            temperature: Sampling temperature; the policy itself has 1.

        Returns:
            ``loss`` and ``exact_match`` as SFT's; ``reward``, the mean of the weighted sum;
            ``reward/NAME`` for each reward; and what rewards log, such as ``lean/verified``.

        Raises:
            EmptyDatasetError: If the split has no tactic to learn.
            RewardError: If a reward fails.
        """
        base = super().evaluate(data_path, split, limit=limit)
        rewards = [reward for reward in self._rewards if reward.name != WHOLE_PROOF]
        if not rewards:  # whole proofs are measured by `lean-dojo bench`
            return base
        formatter = self.make_formatter()
        rows = list(
            islice(formatted_rows(self.evaluation_file(data_path, split), formatter), limit)
        )
        earned = sample_and_score(
            CausalTacticGenerator.from_model(
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

    def _groups(self, step: CurriculumStep) -> GroupPlan:
        """Plan the groups; each group of episodes is played in one process."""
        count, given = step.processes, dict(self.trainer_args)
        if not self.episodes:
            return plan_groups(self.batch_size, count, given)
        if size := given.get("generation_batch_size"):  # of all processes
            given["generation_batch_size"] = size // count
        return attrs.evolve(plan_groups(self.batch_size, 1, given), processes=count)

    def step_config(self, step: CurriculumStep, **fixed: Any) -> Any:
        """Make the configuration of one step's trainer, with groups of completions."""
        groups = self._groups(step)
        arguments: dict[str, Any] = {
            "num_generations": groups.num_generations,
            "gradient_accumulation_steps": groups.accumulation,
            "reward_weights": [reward.weight for reward in self._rewards],
            "max_completion_length": self.completion_length,
        }
        return super().step_config(step, **{**arguments, **fixed})


def _theorems(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Keep the location of each theorem, once."""
    for place, same in groupby(rows, lambda row: {name: row[name] for name in PLACE}):
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
