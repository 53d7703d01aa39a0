"""What GRPO uses of TRL's inside: its private methods, under names of ours.

:class:`OpenGRPOTrainer` lets subclasses change how TRL makes a batch and scores it, and samples and
reads each prompt of a group once. Nothing else here overrides or calls what TRL keeps private. See
:mod:`lean_dojo_plugins.training.trl_version`.
"""

import logging
import time
from collections.abc import Hashable, Sequence
from typing import Any

import torch
from transformers import GenerationConfig, PreTrainedModel
from trl.models.utils import prepare_deepspeed, prepare_fsdp
from trl.trainer import grpo_trainer as trl_grpo
from trl.trainer.callbacks import SyncRefModelCallback
from trl.trainer.utils import add_fused_lm_head

from lean_dojo_plugins.causal_lm import add_label_head, restore_forward
from lean_dojo_plugins.grpo.sampling import drawn_by_seed, seed_of
from lean_dojo_plugins.grpo.shared_prompt import pack, score, why_not_shared

_GRPO = "trl.trainer.grpo_trainer:GRPOTrainer"
RELIED_ON = {
    f"{_GRPO}.__init__": "18f01b7a46c9",
    f"{_GRPO}._calculate_rewards": "736ae29b0838",
    f"{_GRPO}._compute_loss": "80295546bbdb",
    f"{_GRPO}._generate": "2a27fdf8f5e6",
    f"{_GRPO}._generate_and_score_completions": "1fa48922792d",
    f"{_GRPO}._generate_single_turn": "e0f02e4fc094",
    f"{_GRPO}._get_per_token_logps_and_entropies": "ea73c3909275",
    f"{_GRPO}._prepare_inputs": "f824e7fb0714",
    f"{_GRPO}._tokenize_prompts": "d2d27f7c9bfd",
    f"{_GRPO}.log": "1e7772819cc8",
    f"{_GRPO}.training_step": "9e18632f7dd8",
    "trl.models.utils:prepare_deepspeed": "86d126e5d92c",
    "trl.models.utils:prepare_fsdp": "80d48284544e",
    "trl.trainer.callbacks:SyncRefModelCallback": "1b01935ae29b",
}
"""Hashes of the source of what this module relies on; a test names what changed."""
log = logging.getLogger(__name__)


class OpenGRPOTrainer(trl_grpo.GRPOTrainer):
    """TRL's GRPO trainer, with the places at which ours differ.

    With ``share_prompts`` each prompt is computed once per group, if the model allows it.
    """

    sampling_keys: Sequence[Hashable] = ()
    """What tells the completions that are sampled next from all others of the optimiser step."""

    def __init__(self, *, args: Any, share_prompts: bool, **options: Any) -> None:
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

    def make_batch(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        """Generate a batch of completions, score them, and return what the loss needs."""
        output: dict[str, Any] = super()._generate_and_score_completions(rows)
        return output

    def score(
        self,
        rows: list[dict[str, Any]],
        prompts: list[Any],
        completions: list[Any],
        completion_ids: list[list[int]],
    ) -> torch.Tensor:
        """Return the rewards of the completions of all processes, ``(completions, rewards)``."""
        scores: torch.Tensor = super()._calculate_rewards(
            rows, prompts, completions, completion_ids
        )
        return scores

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> Any:
        return self.make_batch(inputs)

    def _calculate_rewards(self, *batch: Any) -> torch.Tensor:
        return self.score(*batch)

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

    def tokens_of(self, prompts: Sequence[Any]) -> list[list[int]]:
        """Return the tokens of prompts."""
        ids: Any = self._tokenize_prompts(list(prompts))[0]
        return [list(each) for each in ids]

    def sample(
        self, prompts: Sequence[list[int]], group: int, keys: Sequence[Hashable] = ()
    ) -> tuple[list[list[int]], Any]:
        """Sample a completion of each prompt; return tokens, and log-probabilities if known.

        Each ``group`` consecutive prompts are equal; see :attr:`sampling_keys` for ``keys``.
        """
        self.sampling_keys = keys
        try:
            tokens, logprobs = self._generate_single_turn(list(prompts), None, {}, group)
        finally:
            self.sampling_keys = ()
        return tokens, logprobs

    def drop_metrics(self, *names: str) -> None:
        """Leave metrics out that TRL has collected since it last logged."""
        for name in names:
            self._metrics[self.phase].pop(name, None)

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

    @property
    def is_sharded(self) -> bool:
        """Whether processes hold parts of the weights, and gather them for each call."""
        sharded = self.is_fsdp_enabled or self.is_deepspeed_enabled
        return bool(sharded and self.accelerator.num_processes > 1)

    def first_of(self, rows: int) -> int:
        """Return the place, among those of all processes, of the first of this one's rows."""
        return int(self.accelerator.process_index) * rows

    @property
    def moment(self) -> tuple[int, int]:
        """The optimiser step, and which pass of it; the same where a killed run goes on."""
        # TRL counts passes from 0 again there, always at a whole optimiser step.
        return self.state.global_step, self._step % self.args.gradient_accumulation_steps

    @property
    def phase(self) -> str:
        """The kind of metrics that TRL collects now."""
        assert self.model is not None
        return "train" if self.model.training else "eval"

    def note(self, name: str, value: float) -> None:
        """Log a number of this batch."""
        self._metrics[self.phase][name].append(value)

    def note_seconds(self, name: str, start: float) -> None:
        """Log the seconds since ``start``, a reading of ``time.perf_counter``."""
        self.note(name, time.perf_counter() - start)

    def _generate(self, prompts: list[Any]) -> Any:
        start = time.perf_counter()
        result = super()._generate(prompts)
        self.note_seconds("time/generation", start)
        return result

    def _generate_single_turn(self, prompt_ids: list[Any], *args: Any, **kwargs: Any) -> Any:
        generate: Any = super()._generate_single_turn
        if self.use_vllm or self.use_transformers_continuous_batching:
            return generate(prompt_ids, *args, **kwargs)
        first = self.first_of(len(prompt_ids))
        keys = self.sampling_keys or range(first, first + len(prompt_ids))
        about = self.args.seed, self.phase, self.moment
        seeds = [seed_of(*about, *one) for one in zip(keys, map(tuple, prompt_ids), strict=True)]
        model = self.accelerator.unwrap_model(self.model_wrapped)
        sharded = self.is_sharded  # then every process calls the model as often
        share = self.shares_prompts and not sharded
        with drawn_by_seed(model, seeds, share_prompts=share, in_step=sharded):
            return generate(prompt_ids, *args, **kwargs)

    def _get_per_token_logps_and_entropies(self, *inputs: Any, **options: Any) -> Any:
        plain: Any = super()._get_per_token_logps_and_entropies
        options = {name: value for name, value in options.items() if value is not None}
        size = options.pop("batch_size", len(inputs[1]))
        entropy = options.pop("compute_entropy", False)
        auxiliary = options.pop("compute_aux_loss", False)
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
