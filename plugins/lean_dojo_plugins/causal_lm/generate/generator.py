"""Sample tactics for many goals at once, each with its log-probability.

The prompt is the formatter's, as in training. A tactic ends with its line, or with its turn.
"""

import logging
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self, TypeAlias, cast

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from lean_dojo_core import DatasetFormatter, Message, formats_whole_proofs, registry
from lean_dojo_core.errors import UnknownNameError, UsageError
from lean_dojo_plugins.causal_lm.generate.sampling import Choice, Hopes, sample, uniforms
from lean_dojo_plugins.causal_lm.model.bases import ADAPTER_FILE, load_tokenizer
from lean_dojo_plugins.causal_lm.model.label_head import restore_forward
from lean_dojo_plugins.causal_lm.model.loading import load_for_inference, match_vocabulary
from lean_dojo_plugins.causal_lm.text.templates import A_TURN, render
from lean_dojo_plugins.causal_lm.text.tokenisation import encode_prompt
from lean_dojo_plugins.training import choose_device, resolve_model, trained_settings
from lean_dojo_v2.errors import CheckpointError
from lean_dojo_v2.lean import TacticWords
from lean_dojo_v2.prover import whole_proof_prompt

log = logging.getLogger(__name__)

DEFAULT_FORMATTER = "tactic-chat"
"""Formatter for a model whose folder does not record its training."""

MAX_LENGTH = 2048
"""Longest prompt and tactic, in tokens, for a model whose folder does not record its training."""

ScoredText: TypeAlias = tuple[str, float]
"""A generated text and its log-probability (natural, summed over its tokens and its end)."""


def _warn_of_another(given: str | DatasetFormatter, recorded: str, model: str | Path) -> None:
    """Warn if a model is prompted otherwise than in training; formatters may share their prompt."""
    if given == recorded:
        return
    made, other = _made(given), registry.dataset_formatters.get(recorded)
    probe = "⊢ True"
    if other is None or other.create().prompt(probe) != made.prompt(probe):
        name = given if isinstance(given, str) else type(given).__name__
        log.warning(
            "%s was trained with the formatter %r but is prompted with %r, whose prompt differs; "
            "it will prove less. Leave the formatter out to prompt it as in training",
            model, recorded, name,
        )  # fmt: skip


def _made(formatter: str | DatasetFormatter) -> DatasetFormatter:
    if isinstance(formatter, str):
        return registry.dataset_formatters[formatter].create()
    return formatter


def _recorded(name: str, model: str | Path) -> DatasetFormatter:
    """Make the formatter that a model's training recorded; if it is not installed, say so."""
    try:
        return _made(name)
    except UnknownNameError as error:
        raise UnknownNameError(
            f"{model} was trained with the formatter {name!r} (its training_state.json says so), "
            f"which is not installed: {error} Install its plugin, or name another formatter "
            "with --formatter (in Python: formatter=…), with which the model may prove less."
        ) from error


class CausalTacticGenerator:
    """Suggests tactics.

    Args:
        model_path: A folder or hub id; a folder with a LoRA adapter is loaded onto its base.
        use_lora: Whether ``model_path`` must be an adapter.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"mps"``.
        formatter: Dataset formatter that the model was trained with, or its name; by default the
            one recorded beside the model, else ``tactic-chat``.
        max_length: Longest prompt and tactic together, in tokens; longer goals are shortened. By
            default the training's, recorded beside the model; else 2048.

    Raises:
        UsageError: If there is no model at that path.
        CheckpointError: If ``use_lora`` is set and it is not an adapter.
    """

    batch_tokens = 16384
    """About how many tokens go through the model at once; bounds memory."""

    def __init__(
        self,
        model_path: str | Path,
        use_lora: bool = False,
        device: str = "auto",
        formatter: str | DatasetFormatter | None = None,
        *,
        max_length: int | None = None,
    ) -> None:
        if use_lora and not (Path(model_path) / ADAPTER_FILE).is_file():
            raise CheckpointError(
                f"{model_path}: there is no LoRA adapter (no {ADAPTER_FILE}); train with "
                "lora_config first, or leave use_lora out"
            )
        trained = trained_settings(Path(resolve_model(model_path)))
        if max_length is None:
            max_length = trained.get("max_length", MAX_LENGTH)
        recorded = trained.get("formatter")
        if formatter is None:
            formatter = DEFAULT_FORMATTER if recorded is None else _recorded(recorded, model_path)
        elif recorded is not None:
            _warn_of_another(formatter, recorded, model_path)
        model = self._load(model_path, device)
        self.attach(model, load_tokenizer(model_path), formatter, max_length)

    def _load(self, model_path: str | Path, device: str) -> PreTrainedModel:
        return load_for_inference(model_path, choose_device(device))

    @classmethod
    def from_model(
        cls,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        formatter: str | DatasetFormatter = DEFAULT_FORMATTER,
        *,
        max_length: int | None = MAX_LENGTH,
    ) -> Self:
        """Make a generator from a loaded model, which stays as it is and on its device.

        With ``max_length=None`` the model's context is the only limit.
        """
        made = cls.__new__(cls)
        restore_forward(model)
        made.attach(model, tokenizer, formatter, max_length)
        return made

    def attach(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        formatter: str | DatasetFormatter,
        max_length: int | None,
    ) -> None:
        """Use this model from now on; parameters as in :meth:`from_model`."""
        match_vocabulary(model, tokenizer)
        self.model = model
        self.tokenizer = tokenizer
        self.formatter = _made(formatter)
        context = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        self.max_length = min((n for n in (max_length, context) if n), default=MAX_LENGTH)
        self.ends = torch.tensor(end_tokens(tokenizer, model))
        self.turn_ends = torch.tensor(turn_end_tokens(tokenizer, model))

    def generate(
        self,
        goals: Sequence[str],
        num_samples: int = 1,
        temperature: float = 1.0,
        *,
        max_new_tokens: int = 128,
        premises: Sequence[Sequence[str]] | None = None,
        seed: int | None = None,
        seeds: Sequence[int] = (),
        words: Sequence[TacticWords | None] = (),
        merge: bool = True,
    ) -> list[list[ScoredText]]:
        """Suggest tactics for each goal.

        Args:
            goals: States as Lean prints them.
            num_samples: How many tactics to sample per goal; equal ones are merged, so fewer may
                come back.
            temperature: Of sampling; 0 gives the one greedy tactic.
            max_new_tokens: Longest tactic; one that does not end by then is dropped.
            premises: Texts of retrieved premises for each goal.
            seed: Makes sampling repeatable.
            seeds: A seed for each goal, instead of ``seed``: its samples then do not depend on the
                other goals.
            words: For each goal what a tactic may begin with, if known: a sample that begins
                otherwise ends there, as empty text.
            merge: Merge equal samples, and drop those that did not end; otherwise every sample
                is returned as drawn, and one that did not end as empty text.

        Returns:
            For each goal distinct tactics, most probable first. The log-probability is the
            model's own, whatever the temperature.

        Raises:
            UsageError: For a number out of range, or a model whose state cannot be repeated for
                several samples (linear attention).
        """
        if num_samples < 1 or temperature < 0 or max_new_tokens < 1:
            raise UsageError(
                "num_samples and max_new_tokens must be at least 1 and temperature at least 0; got "
                f"{num_samples}, {max_new_tokens}, {temperature}"
            )
        samples = 1 if temperature == 0 else num_samples
        own_seeds = list(seeds) or _seeds(seed, len(goals))
        given = premises or [()] * len(goals)
        prompts = [
            self.prompt_ids(goal, texts, max_new_tokens)
            for goal, texts in zip(goals, given, strict=True)
        ]
        found = self.complete(
            prompts, samples, max_new_tokens, temperature=temperature, seeds=own_seeds, words=words
        )
        lines = [[(text.partition("\n")[0].strip(), score) for text, score in e] for e in found]
        return [_distinct(each) for each in lines] if merge else lines

    def write_proofs(
        self,
        statements: Sequence[str],
        temperature: float = 0.0,
        *,
        max_new_tokens: int,
        seeds: Sequence[int] = (),
    ) -> list[str]:
        """Write one whole proof of each statement, to the end of the model's turn.

        A statement is the theorem's source up to and with ``:=``. A model whose formatter is for
        whole proofs is prompted as in its training. The other arguments are those of
        :meth:`generate`; a proof that does not end in time is empty text.
        """
        own_seeds = list(seeds) or _seeds(0, len(statements))
        own = formats_whole_proofs(self.formatter)
        asked = [
            list(self.formatter.prompt(one)) if own else whole_proof_prompt(one)
            for one in statements
        ]
        prompts = [self._encoded(prompt, max_new_tokens) for prompt in asked]
        found = self.complete(
            prompts, 1, max_new_tokens, temperature=temperature, seeds=own_seeds, whole=True
        )
        return [text for [(text, _)] in found]

    def complete(
        self,
        prompts: Sequence[list[int]],
        samples: int,
        max_new_tokens: int,
        *,
        temperature: float,
        seeds: Sequence[int],
        words: Sequence[TacticWords | None] = (),
        whole: bool = False,
    ) -> list[list[ScoredText]]:
        """Complete prompts of token ids; return for each its completions as drawn, with their end.

        ``seeds`` has one for each prompt. With ``whole`` a completion goes on to the end of the
        turn, not only of the line. One that does not end in time is empty text, and one that begins
        with none of the prompt's ``words``, if they are known, may be cut off there.
        """
        ends = self.turn_ends if whole else self.ends
        pad = cast("int", self.tokenizer.pad_token_id)
        results: list[list[ScoredText]] = [[] for _ in prompts]
        training = self.model.training
        self.model.train(False)  # without dropout
        try:
            for batch in self._batches(prompts, samples, max_new_tokens):
                chosen, device = [seeds[index] for index in batch], self.model.device
                draws = uniforms(chosen, samples, max_new_tokens, device)
                wanted = [words[index] for index in batch for _ in range(samples)] if words else []
                choice = Choice(temperature, draws, ends.to(device), self._hopes(wanted))
                asked = [prompts[index] for index in batch]
                found = sample(self.model, asked, choice, pad=pad)
                for index, each in zip(batch, found, strict=True):
                    results[index] = [(self._text(tokens), score) for tokens, score in each]
        finally:
            self.model.train(training)
        return results

    def _hopes(self, words: Sequence[TacticWords | None]) -> Hopes | None:
        """Tell samples that may become a tactic from others, if the words are known."""
        if not any(words):
            return None

        def hopes(sample: int, tokens: list[int]) -> bool | None:
            known = words[sample]
            if known is None:
                return True
            text = self._text(tokens)
            return None if text.endswith("\ufffd") else known.begin(text)

        return hopes

    def prompt_ids(
        self, goal: str, premises: Sequence[str] = (), max_new_tokens: int = 128
    ) -> list[int]:
        """Return the token ids of the prompt for a goal."""
        return self._encoded(self.formatter.prompt(goal, premises=premises), max_new_tokens)

    def _encoded(self, prompt: list[Message], max_new_tokens: int) -> list[int]:
        return encode_prompt(self.tokenizer, prompt, max(self.max_length - max_new_tokens, 1))

    def longest_answer(self, wanted: int) -> int:
        """Bound an answer's tokens so that a short ``max_length`` leaves half to the prompt."""
        return max(1, min(wanted, self.max_length // 2))

    def _batches(
        self, prompts: Sequence[list[int]], samples: int, new_tokens: int
    ) -> Iterator[list[int]]:
        """Group prompts of similar length so that a batch stays within its tokens."""
        order = sorted(range(len(prompts)), key=lambda index: -len(prompts[index]))
        while order:
            width = (len(prompts[order[0]]) + new_tokens) * samples
            size = max(1, self.batch_tokens // width)
            yield order[:size]
            order = order[size:]

    def _text(self, tokens: list[int]) -> str:
        return cast("str", self.tokenizer.decode(tokens, skip_special_tokens=True))


def _seeds(seed: int | None, count: int) -> list[int]:
    """Derive the goals' seeds from one seed; without it, draw new ones each time."""
    generator = torch.Generator()
    generator.manual_seed(secrets.randbits(63) if seed is None else seed)
    return [int(one) for one in torch.randint(2**62, (count,), generator=generator)]


def turn_end_tokens(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> list[int]:
    """Return the tokens that end a model's turn: end of sequence, end of turn."""
    ends: set[int] = set()
    for value in (tokenizer.eos_token_id, model.generation_config.eos_token_id):
        ends.update(value if isinstance(value, list) else [] if value is None else [value])
    (rendered,) = render(tokenizer, [A_TURN], ask=False)
    tail = rendered.rpartition("x")[2]
    ids = cast("list[int]", tokenizer(tail, add_special_tokens=False)["input_ids"])
    return sorted(ends | set(ids) & set(tokenizer.all_special_ids))


def end_tokens(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> list[int]:
    """Return the tokens that end a tactic: those that end a turn, and end of line."""
    ends = set(turn_end_tokens(tokenizer, model))
    # Byte-level vocabularies write a newline as Ċ, byte-fallback ones as <0x0A>.
    ends.update(
        index
        for text, index in tokenizer.get_vocab().items()
        if "Ċ" in text or "\n" in text or text == "<0x0A>"
    )
    return sorted(ends)


def _distinct(suggestions: Sequence[ScoredText]) -> list[ScoredText]:
    """Merge equal tactics, drop empty ones and broken characters; most probable first."""
    best: dict[str, float] = {}
    for text, score in suggestions:
        if text and "\ufffd" not in text:
            best[text] = max(score, best.get(text, score))
    return sorted(best.items(), key=lambda item: -item[1])
