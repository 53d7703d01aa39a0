"""TRL's GRPO trainer over whole proofs: steps are sampled here, scored and learned by TRL.

TRL sees a batch of steps, each a prompt and a completion of its own; their advantages are those of
the proofs that they belong to. Proofs differ in length, so the batch is padded to whole passes with
steps that are masked out of the loss. Each process plays whole groups with its own engines; its
batch is padded to the longest of all, since TRL gathers them.
"""

import itertools
import math
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import torch

from lean_dojo_core import DatasetFormatter
from lean_dojo_plugins.causal_lm import encode_prompt
from lean_dojo_plugins.grpo.episodes import EpisodeRunner, Group, PlayedStep, Sampled, StepKey
from lean_dojo_plugins.grpo.sampling import seed_of
from lean_dojo_plugins.grpo.step_trainer import StepTrainer
from lean_dojo_v2.errors import TrainingError


@attrs.frozen
class _OwnedStep:
    """A step that TRL scores next."""

    step: PlayedStep
    owner: tuple[int, int]  # its group's and its episode's number
    proved: bool  # its episode is a proof
    counts: bool = True  # it is learned from, and not padding


class EpisodeTrainer(StepTrainer):
    """One curriculum step's trainer over whole proofs.

    Logs ``episodes/proved`` (share of all episodes played), ``episodes/steps`` (mean over those
    learned from), ``episodes/teaching`` (share of the groups learned from in which some succeed and
    some do not), ``episodes/replaced`` (share of the groups played that were replaced),
    ``episodes/ended_by_clock`` (tactics ended by a limit in seconds instead of a count) and
    ``time/episodes`` (seconds to play a batch, including Lean).
    """

    stage: EpisodeRunner
    """The runner of the episodes, closed when training ends."""
    replacements: int
    """How often the groups that teach nothing are replaced in a batch."""
    formatter: DatasetFormatter
    """Makes the prompts."""
    prompt_length: int | None
    """Goals whose prompt is longer, in tokens, are shortened."""
    _batch: Sequence[_OwnedStep] = ()

    def train(self, *args: Any, **kwargs: Any) -> Any:
        """Train, and stop the engines."""
        try:
            return super().train(*args, **kwargs)
        finally:
            self.stage.close()

    def make_batch(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        """Play groups of episodes, and make a batch of their steps."""
        size, start = self.group_size, time.perf_counter()
        groups = self._play(rows[::size], size)
        self.note_seconds("time/episodes", start)
        self._batch = batch = self._flatten(groups, size)
        states = [(one.step.state, one.proved) for one in batch]
        steps = [
            {"prompt": self.formatter.prompt(state), "problem": state, "proved": proved}
            for state, proved in states
        ]
        self.rollout_func = self._recorded
        try:
            output = super().make_batch(steps)
        finally:
            self.rollout_func, self._batch = None, ()
        # Metrics of TRL's groups, which are not ours, and of its generation, which is a replay.
        self.drop_metrics("frac_reward_zero_std", "time/generation")
        return output

    def _advantages_of(self, output: dict[str, Any]) -> torch.Tensor:
        return self._advantages(self._batch).to(output["advantages"].device)

    def _play(self, rows: Sequence[dict[str, Any]], size: int) -> list[Group]:
        """Play groups, replacing those that teach nothing."""
        first = self.first_of(len(rows))
        asked = dict(enumerate(rows, first))
        found: dict[int, Group] = {}
        everything: list[Group] = []
        dataset: Any = self.train_dataset
        for number in range(self.replacements + 1):
            again = self._play_round(number, asked, size)
            everything += again.values()
            for place, group in again.items():
                if group.teaches or place not in found:
                    found[place] = group
            places = range(first, first + len(rows))
            idle = [place for place in places if place not in found or not found[place].teaches]
            draw = partial(seed_of, self.args.seed, self.phase, self.moment, number + 1)
            asked = {place: dataset[draw(place) % len(dataset)] for place in idle}
            if not asked:
                break
        self.wait_for_others()
        groups = [found[place] for place in sorted(found)]
        if not groups:
            raise TrainingError("no theorem of the batch can be opened; trace the repository again")
        played = len(everything)
        clock = sum(group.ended_by_clock for group in everything)
        self._note_share("episodes/proved", sum(one.proved for one in everything), played * size)
        self._note_share("episodes/replaced", played - len(groups), played)
        self.note("episodes/ended_by_clock", float(sum(self._gather([clock]))))
        self._note_share("episodes/teaching", sum(one.teaches for one in groups), len(groups))
        return groups

    def _play_round(
        self, number: int, rows: Mapping[int, dict[str, Any]], size: int
    ) -> dict[int, Group]:
        """Play a group for each row, by its place in the batch of all processes."""
        places = list(rows)

        def sample(states: Sequence[str], steps: Sequence[StepKey]) -> list[Sampled]:
            keys = [(number, places[row], *step) for row, *step in steps]
            return self._sample_tactics(states, keys)

        played = self.stage.play(list(rows.values()), size, sample)
        pairs = zip(places, played, strict=True)
        return {place: group for place, group in pairs if group is not None}

    def _note_share(self, name: str, part: int, of: int) -> None:
        """Log a share over all processes."""
        self.note(name, sum(self._gather([part])) / sum(self._gather([of])))

    def _sample_tactics(
        self, states: Sequence[str], keys: Sequence[tuple[int, ...]]
    ) -> list[Sampled]:
        """Sample a tactic at each state with the policy as it is."""
        tokenizer = self._tokenizer
        prompts = [
            encode_prompt(tokenizer, self.formatter.prompt(state), self.prompt_length)
            for state in states
        ]
        completions, logprobs = self.complete(prompts, 1, keys)
        texts = tokenizer.batch_decode(completions, skip_special_tokens=True)
        tactics = [
            text.strip().partition("\n")[0].strip() if self.has_ended(ids) else ""
            for text, ids in zip(texts, completions, strict=True)
        ]
        known = logprobs or [None] * len(prompts)
        return list(zip(prompts, completions, tactics, known, strict=True))

    def _flatten(self, groups: Sequence[Group], size: int) -> list[_OwnedStep]:
        """List the steps of all episodes, padded by repetition to whole passes."""
        steps = [
            _OwnedStep(step, (number, place), episode.proved)
            for number, group in enumerate(groups)
            for place, episode in enumerate(group.episodes)
            for step in episode.steps
        ]
        arguments: Any = self.args
        passes = arguments.steps_per_generation if self.phase == "train" else 1
        whole = math.lcm(int(passes or 1), size)  # TRL counts in groups
        longest = max(self._gather([len(steps) + -len(steps) % whole]))
        again = itertools.islice(itertools.cycle(steps), int(longest) - len(steps))
        self._note_share("episodes/steps", len(steps), sum(len(group.episodes) for group in groups))
        return [*steps, *(attrs.evolve(one, counts=False) for one in again)]

    def _recorded(self, prompts: Sequence[Any], _trainer: Any) -> dict[str, Any]:
        """Return the sampled steps to TRL, with padding masked."""
        batch = self._batch
        assert len(prompts) == len(batch)
        logprobs = [one.step.logprobs for one in batch]
        return {
            "prompt_ids": [one.step.prompt for one in batch],
            "completion_ids": [one.step.completion for one in batch],
            "logprobs": None if None in logprobs else logprobs,
            "env_mask": [[int(one.counts)] * len(one.step.completion) for one in batch],
        }

    def _advantages(self, batch: Sequence[_OwnedStep]) -> torch.Tensor:
        """Compare each episode with its group; return one number per step, 0 for padding.

        An episode's return is 1 for a proof, and the mean of its steps' other rewards.
        """
        weights = self.reward_weights.to(self._scores.device)
        first = self.accelerator.process_index * len(batch)  # TRL has gathered the scores of all
        worth = (self._scores[first : first + len(batch)] * weights).nansum(1).tolist()
        earned: dict[tuple[int, int], list[float]] = {}
        for one, value in zip(batch, worth, strict=True):
            if one.counts:
                earned.setdefault(one.owner, []).append(value)
        returns = {owner: sum(values) / len(values) for owner, values in earned.items()}
        every = torch.tensor(self._gather(list(returns.values())))
        advantage: dict[tuple[int, int], float] = {}
        for number in {group for group, _ in returns}:
            mine = [owner for owner in returns if owner[0] == number]
            values = torch.tensor([returns[owner] for owner in mine])
            spread = every if self.scale_rewards == "batch" else values
            scale = 1.0 if self.scale_rewards == "none" else float(spread.std()) + 1e-4
            for owner, value in zip(mine, (values - values.mean()) / scale, strict=True):
                advantage[owner] = float(value)
        return torch.tensor([advantage[one.owner] if one.counts else 0.0 for one in batch])
