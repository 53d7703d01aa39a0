"""TRL's GRPO trainer, with tactics that end at their line, and timed generation and rewards."""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable, Sequence
from typing import Any, cast

import torch
from accelerate.utils import gather_object
from transformers import GenerationConfig, PreTrainedModel
from trl.models.utils import prepare_deepspeed, prepare_fsdp
from trl.trainer import grpo_trainer as trl_grpo
from trl.trainer.callbacks import SyncRefModelCallback
from trl.trainer.utils import add_fused_lm_head

from lean_dojo_plugins.causal_lm.model.label_head import add_label_head, restore_forward
from lean_dojo_plugins.grpo.sampling import drawn_by_seed, seed_of
from lean_dojo_plugins.grpo.shared_prompt import pack, score, why_not_shared
from lean_dojo_plugins.grpo.turns import Turns
from lean_dojo_plugins.rewards.adapter import AdaptedReward
from lean_dojo_v2.errors import RewardError

log = logging.getLogger(__name__)
BATCHES = 2
"""Number of batches after which a reward that never applied ends the run."""
WHY = (
    "pantograph-verified does not apply where it cannot open the state: the warnings above say "
    "why, and its setting `projects` names the folders of repositories"
)


class StepTrainer(trl_grpo.GRPOTrainer):
    """One curriculum step's trainer.

    Logs ``time/generation`` and ``time/reward``: seconds per generation batch, and for every reward
    ``rewards/NAME/applied``: the share of completions that it gave a number. A reward that has
    ``warm_up`` gets the batch's columns before its completions are generated: Lean verification
    opens the states meanwhile.
    """

    batch_rows: Sequence[dict[str, Any]] = ()
    """The rows of the batch, repeated for each completion."""
    turns: Turns | None = None
    """Runs conversations of several turns; ``None``: a completion is one turn."""
    _applied: Applied | None = None
    _keys: Sequence[Hashable] = ()

    def __init__(self, *, args: Any, share_prompts: bool = True, **options: Any) -> None:
        # TRL would load the reference by the name in the model's configuration, which for a merged
        # adapter is its base, and at a later repository the wrong one; `refer_to` gives the right.
        beta, sync = args.beta, args.sync_ref_model
        args.beta, args.sync_ref_model = 0.0, False
        super().__init__(args=args, **options)
        args.beta, args.sync_ref_model = beta, sync
        self.beta = beta
        self.shares_prompts = share_prompts
        if share_prompts and (reason := why_not_shared(self.model)):
            self.shares_prompts = False
            log.info("each prompt is computed once per completion, not once per group: %s", reason)

    def refer_to(self, reference: PreTrainedModel) -> None:
        """Measure the KL divergence from this model, where the run started."""
        restore_forward(reference)
        args: Any = self.args
        add_fused_lm_head(
            reference,
            temperature=self.temperature,
            cast_lm_head_to_fp32=args.cast_lm_head_to_fp32,
        )
        add_label_head(reference, temperature=self.temperature)
        prepared: Any
        if self.is_deepspeed_enabled:
            prepared = prepare_deepspeed(reference, self.accelerator)
        elif self.is_fsdp_enabled:
            prepared = prepare_fsdp(reference, self.accelerator)
        else:
            prepared = self.accelerator.prepare_model(reference, evaluation_mode=True)
        self.ref_model = prepared
        if args.sync_ref_model:
            self.add_callback(SyncRefModelCallback(prepared, self.accelerator))

    def play(self, turns: Turns) -> None:
        """Generate conversations instead of single turns."""
        self.turns = turns
        self.rollout_func = cast("Any", turns)

    def tokens_of(self, prompts: Sequence[Any]) -> list[list[int]]:
        """Return the tokens of prompts."""
        ids: Any = self._tokenize_prompts(list(prompts))[0]
        return [list(each) for each in ids]

    def complete(
        self, prompts: Sequence[list[int]], group: int, keys: Sequence[Hashable]
    ) -> tuple[list[list[int]], Any]:
        """Sample a completion of each prompt; return tokens, and log-probabilities if known.

        Each ``group`` consecutive prompts are equal. ``keys`` tell each completion from the others
        of this optimiser step, in all processes.
        """
        missing = 0
        if self._generates_together:
            missing = int(max(self._gather([len(prompts)]))) - len(prompts)
        asked = [*prompts, *[self._filler] * missing]
        self._keys = [*keys, *range(missing)]
        try:
            tokens, logprobs = self._generate_single_turn(asked, None, {}, group)
        finally:
            self._keys = ()
        own = len(prompts)
        return tokens[:own], None if logprobs is None else logprobs[:own]

    def wait_for_others(self) -> None:
        """Take part in what other processes generate until none has anything to complete."""
        while self._generates_together and (most := max(self._gather([0]))):
            self._generate_single_turn([self._filler] * int(most), None, {}, 1)

    @property
    def _generates_together(self) -> bool:
        """Whether every process must generate whenever one does, and as many completions."""
        args: Any = self.args
        on_server = self.use_vllm and args.vllm_mode == "server"
        in_parts = self.use_vllm and args.vllm_tensor_parallel_size > 1
        return self._is_sharded or (self.accelerator.num_processes > 1 and (on_server or in_parts))

    @property
    def _is_sharded(self) -> bool:
        """Whether processes hold parts of the weights, and gather them for each call."""
        sharded = self.is_fsdp_enabled or self.is_deepspeed_enabled
        return bool(sharded and self.accelerator.num_processes > 1)

    @property
    def _filler(self) -> list[int]:
        """A prompt whose completion is not used."""
        return [int(self.eos_token_ids[0])]

    def _gather(self, values: Sequence[float]) -> list[float]:
        """Return the values of all processes, in the order of the processes."""
        return list(gather_object(list(values)))

    @property
    def group_size(self) -> int:
        """Completions of a prompt."""
        size = self.num_generations if self._phase == "train" else self.num_generations_eval
        return int(size or 1)

    def end_completions_at(self, tokens: Sequence[int]) -> None:
        """End completions at any of these tokens, as at the end of the sequence."""
        self.eos_token_ids = list(tokens)
        if self.use_vllm:
            served = self.vllm_generation
            ends = {"stop_token_ids": self.eos_token_ids}
            served.generation_kwargs = {**served.generation_kwargs, **ends}
            return
        self.generation_kwargs["eos_token_id"] = self.eos_token_ids
        self.generation_config = GenerationConfig(  # type: ignore[no-untyped-call]
            **self.generation_kwargs, disable_compile=True
        )

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> Any:
        self.batch_rows = inputs
        for reward in self.reward_funcs:
            if isinstance(reward, AdaptedReward):
                reward.warm_up(**_columns(inputs))
        return super()._generate_and_score_completions(inputs)

    def _generate(self, prompts: list[Any]) -> Any:
        start = time.perf_counter()
        result = super()._generate(prompts)
        self._clock("time/generation", start)
        return result

    @property
    def moment(self) -> tuple[int, int]:
        """The optimiser step, and which pass of it; the same where a killed run goes on."""
        # TRL counts passes from 0 again there, always at a whole optimiser step.
        return self.state.global_step, self._step % self.args.gradient_accumulation_steps

    def first_of(self, rows: int) -> int:
        """Return the place, among those of all processes, of the first of this one's rows."""
        return int(self.accelerator.process_index) * rows

    def _generate_single_turn(self, prompt_ids: list[Any], *args: Any, **kwargs: Any) -> Any:
        generate: Any = super()._generate_single_turn
        if self.use_vllm or self.use_transformers_continuous_batching:
            return generate(prompt_ids, *args, **kwargs)
        first = self.first_of(len(prompt_ids))
        keys = self._keys or range(first, first + len(prompt_ids))
        about = self.args.seed, self._phase, self.moment
        seeds = [seed_of(*about, *one) for one in zip(keys, map(tuple, prompt_ids), strict=True)]
        model = self.accelerator.unwrap_model(self.model_wrapped)
        sharded = self._is_sharded  # then every process calls the model as often
        share = self.shares_prompts and not sharded
        with drawn_by_seed(model, seeds, share_prompts=share, in_step=sharded):
            return generate(prompt_ids, *args, **kwargs)

    def _get_per_token_logps_and_entropies(self, *inputs: Any, **options: Any) -> Any:
        plain: Any = super()._get_per_token_logps_and_entropies
        options = {name: value for name, value in options.items() if value is not None}
        size = options.pop("batch_size", len(inputs[1]))
        entropy, auxiliary = (
            options.pop(name, False) for name in ("compute_entropy", "compute_aux_loss")
        )
        if options or auxiliary or not self.shares_prompts:  # what is left are images
            return plain(
                *inputs, **options, batch_size=size, compute_entropy=entropy,
                compute_aux_loss=auxiliary,
            )  # fmt: skip
        model, all_ids, all_masks, kept = inputs
        scores = []
        for ids, mask in zip(all_ids.split(size), all_masks.split(size), strict=True):
            groups = pack(ids, mask, kept)
            if groups is None:
                scores.append(plain(model, ids, mask, kept, compute_entropy=entropy)[:2])
                continue
            with self.accelerator.autocast():
                scores.append(score(model, groups))
        log_probs = torch.cat([each for each, _ in scores])
        return log_probs, torch.cat([each for _, each in scores]) if entropy else None, None

    def _calculate_rewards(
        self,
        inputs: list[dict[str, Any]],
        prompts: list[Any],
        completions: list[Any],
        completion_ids_list: list[list[int]],
    ) -> torch.Tensor:
        start = time.perf_counter()
        if self.turns is not None:  # only the last turn counts
            completions = [_saying(one.last, completions[0]) for one in self.turns.played]
            for name, value in self.turns.metrics().items():
                self._note(name, value)
        else:
            completions = [
                completion if self.has_ended(ids) else _saying("", completion)
                for completion, ids in zip(completions, completion_ids_list, strict=True)
            ]
        scores: torch.Tensor = super()._calculate_rewards(
            inputs, prompts, completions, completion_ids_list
        )
        self._clock("time/reward", start)
        for callback in self.callback_handler.callbacks:
            if (event := getattr(callback, "on_rewards_scored", None)) is not None:
                event(
                    self.args, self.state, self.control,
                    inputs=inputs, completions=completions, rewards=scores,
                    reward_names=self.reward_func_names,
                )  # fmt: skip
        if self._phase == "train":
            self._applied = self._applied or Applied(self.reward_func_names)
            for name, share in self._applied.note(scores).items():
                self._note(f"rewards/{name}/applied", share)
        return scores

    def has_ended(self, ids: Sequence[int]) -> bool:
        """Whether a completion ended; search drops one that did not, and so do rewards."""
        longest = self.max_completion_length
        return longest is None or len(ids) < longest or ids[-1] in self.eos_token_ids

    @property
    def _phase(self) -> str:
        """The kind of metrics that TRL collects now."""
        assert self.model is not None
        return "train" if self.model.training else "eval"

    def _note(self, name: str, value: float) -> None:
        self._metrics[self._phase][name].append(value)

    def _clock(self, name: str, start: float) -> None:
        self._note(name, time.perf_counter() - start)


class Applied:
    """Counts the completions to which each reward applied: ``None`` throughout teaches nothing."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._first: list[torch.Tensor] = []

    def note(self, scores: torch.Tensor) -> dict[str, float]:
        """Return the share of a batch's completions to which each reward applied.

        ``scores`` is ``(completions, rewards)``, NaN where a reward does not apply. A reward that
        applied to none of the first batches is a :class:`RewardError`.
        """
        applied = ~torch.isnan(scores)
        if len(self._first) < BATCHES:
            self._first.append(applied)
            if len(self._first) == BATCHES:
                self._judge(torch.cat(self._first))
        return dict(zip(self._names, applied.float().mean(0).tolist(), strict=True))

    def _judge(self, applied: torch.Tensor) -> None:
        seen = len(applied)
        for name, count in zip(self._names, applied.sum(0).tolist(), strict=True):
            if count == 0:
                raise RewardError(
                    f"the reward {name} applied to none of the first {seen} completions, so "
                    f"nothing can be learned from it; {WHY}. Remove it, or give it what it needs"
                )
            if 2 * count < seen:
                few = f"did not apply to {seen - count} of the first {seen} completions"
                log.warning("the reward %s %s; %s", name, few, WHY)


def _saying(text: str, completion: Any) -> Any:
    """Return a completion of the same form with another text."""
    if isinstance(completion, str):
        return text
    return [*completion[:-1], {**completion[-1], "content": text}]


def _columns(inputs: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {key: [row[key] for row in inputs] for key in inputs[0] if key != "prompt"}
