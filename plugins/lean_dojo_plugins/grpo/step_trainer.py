"""TRL's GRPO trainer, with tactics that end at their line, and timed generation and rewards."""

import logging
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch
from accelerate.utils import gather_object

from lean_dojo_plugins.grpo.plain_trainer import with_text
from lean_dojo_plugins.grpo.trl_internals import OpenGRPOTrainer
from lean_dojo_plugins.grpo.turns import Turns, columns_of
from lean_dojo_plugins.rewards import AdaptedReward, LeanReward, completion_texts
from lean_dojo_v2.errors import RewardError, TrainingError

log = logging.getLogger(__name__)
BATCHES = 2
"""Number of batches after which a reward that never applied ends the run."""
WHY = "it returned None for them, which means that it does not apply"
WHY_OF_LEAN = (
    "it does not apply where Lean cannot open the state or the theorem: the warnings above say "
    "why, and its setting `projects` names the folders of repositories"
)


class StepTrainer(OpenGRPOTrainer):
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
    token_advantages: Callable[..., torch.Tensor] | None = None
    """Called with each batch; see :meth:`.GRPOTrainer.token_advantages`."""
    pending_metrics: list[tuple[str, float]]
    """Metrics that :attr:`token_advantages` has logged, not yet gathered."""
    _completions: Sequence[str] = ()
    """The completions of the batch, as rewards see them."""
    _scores: torch.Tensor
    """The rewards of the batch, of all processes: ``(completions, rewards)``."""
    _applied: Sequence[torch.Tensor] = ()
    """Of the first batches, which rewards applied to which completions."""

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
        tokens, logprobs = self.sample(asked, group, [*keys, *range(missing)])
        own = len(prompts)
        return tokens[:own], None if logprobs is None else logprobs[:own]

    def wait_for_others(self) -> None:
        """Take part in what other processes generate until none has anything to complete."""
        while self._generates_together and (most := max(self._gather([0]))):
            self.sample([self._filler] * int(most), 1)

    @property
    def _generates_together(self) -> bool:
        """Whether every process must generate whenever one does, and as many completions."""
        args: Any = self.args
        on_server = self.use_vllm and args.vllm_mode == "server"
        in_parts = self.use_vllm and args.vllm_tensor_parallel_size > 1
        return self.is_sharded or (self.accelerator.num_processes > 1 and (on_server or in_parts))

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
        size = self.num_generations if self.phase == "train" else self.num_generations_eval
        return int(size or 1)

    def make_batch(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        """Make a batch, with rewards that warm up before it, and an objective's advantages."""
        self.batch_rows = rows
        for reward in self.reward_funcs:
            if isinstance(reward, AdaptedReward):
                reward.warm_up(**columns_of(rows))
        output = super().make_batch(rows)
        output["advantages"] = self._advantages_of(output)
        if self.token_advantages is not None:
            output["advantages"] = self._of_tokens(rows, output)
        return output

    def _advantages_of(self, output: dict[str, Any]) -> torch.Tensor:
        """Return the advantage of each completion over its group, ``(completions,)``."""
        advantages: torch.Tensor = output["advantages"]
        return advantages

    def _of_tokens(self, rows: Sequence[dict[str, Any]], output: dict[str, Any]) -> torch.Tensor:
        """Have the objective say what each token is worth, and log what it logs."""
        mask = output["completion_mask"]
        if "tool_mask" in output:  # what the model has not written itself
            mask = mask * output["tool_mask"]
        first = self.first_of(len(rows))
        assert self.token_advantages is not None
        advantages = self.token_advantages(
            rows=rows,
            completions=self._completions,
            completion_ids=output["completion_ids"],
            completion_mask=mask,
            rewards=self._scores[first : first + len(rows)],
            advantages=output["advantages"],
        )
        if tuple(advantages.shape) not in {tuple(mask.shape), (len(rows),)}:
            raise TrainingError(
                f"token_advantages returned a tensor of shape {tuple(advantages.shape)}; it must "
                f"be {(len(rows),)} or {tuple(mask.shape)}: one for each completion, or for each "
                "of its tokens"
            )
        noted: dict[str, list[float]] = {}
        for name, value in gather_object(self.pending_metrics):
            noted.setdefault(name, []).append(value)
        self.pending_metrics.clear()
        for name in sorted(noted):
            self.note(name, sum(noted[name]) / len(noted[name]))
        return advantages

    def score(
        self,
        rows: list[dict[str, Any]],
        prompts: list[Any],
        completions: list[Any],
        completion_ids: list[list[int]],
    ) -> torch.Tensor:
        """Score completions: empty text where one did not end, and only the last of several turns.

        Callbacks with ``on_rewards_scored`` are called.
        """
        start = time.perf_counter()
        if self.turns is not None:  # only the last turn counts
            completions = [with_text(one.last, completions[0]) for one in self.turns.played]
            for name, value in self.turns.metrics().items():
                self.note(name, value)
        else:
            completions = [
                completion if self.has_ended(ids) else with_text("", completion)
                for completion, ids in zip(completions, completion_ids, strict=True)
            ]
        self._completions = completion_texts(completions)
        scores = super().score(rows, prompts, completions, completion_ids)
        self._scores = scores
        self.note_seconds("time/reward", start)
        for callback in self.callback_handler.callbacks:
            if (event := getattr(callback, "on_rewards_scored", None)) is not None:
                event(
                    self.args, self.state, self.control,
                    inputs=rows, completions=completions, rewards=scores,
                    reward_names=self.reward_func_names,
                )  # fmt: skip
        if self.phase == "train":
            self._note_applied(scores)
        return scores

    def has_ended(self, ids: Sequence[int]) -> bool:
        """Whether a completion ended; search drops one that did not, and so do rewards."""
        longest = self.max_completion_length
        return longest is None or len(ids) < longest or ids[-1] in self.eos_token_ids

    def _note_applied(self, scores: torch.Tensor) -> None:
        """Log the share of completions to which each reward applied, and judge the first batches.

        A reward that applied to none of them is a :class:`RewardError`: nothing can be learned.
        """
        applied = ~torch.isnan(scores)
        shares = applied.float().mean(0).tolist()
        for name, share in zip(self.reward_func_names, shares, strict=True):
            self.note(f"rewards/{name}/applied", share)
        if len(self._applied) == BATCHES:
            return
        self._applied = [*self._applied, applied]
        if len(self._applied) < BATCHES:
            return
        first = torch.cat(self._applied)
        seen, counts = len(first), first.sum(0).tolist()
        named = zip(self.reward_func_names, self.reward_funcs, counts, strict=True)
        for name, reward, count in named:
            of_lean = isinstance(getattr(reward, "function", reward), LeanReward)
            why = WHY_OF_LEAN if of_lean else WHY
            if count == 0:
                raise RewardError(
                    f"the reward {name!r} applied to none of the first {seen} completions, so "
                    f"nothing can be learned from it: {why}. Remove it, or give it what it needs"
                )
            if 2 * count < seen:
                few = f"did not apply to {seen - count} of the first {seen} completions"
                log.warning("the reward %r %s: %s", name, few, why)
