"""Tactic generation by a model server: vLLM, SGLang, llama.cpp.

Prompts are made here, by the model's own tokenizer and chat template, and sent as token ids to the
server's OpenAI-compatible *completions* endpoint. Completions are read as for a local model: up to
the token that ends the tactic, with the log-probability summed over all of them.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import openai
from transformers import PreTrainedModel

from lean_dojo_core import DatasetFormatter
from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.causal_lm.generate.generator import CausalTacticGenerator, ScoredText
from lean_dojo_plugins.causal_lm.model.loading import load_outline
from lean_dojo_v2.lean import TacticWords
from lean_dojo_v2.prover import EndpointError

WORKERS = 32
"""Concurrent requests, one for each goal; the server batches them."""

_SECONDS_TO_GREET, _SECONDS_TO_ANSWER = 10.0, 600.0
_SEEDS = 2**31
"""Largest seed that llama.cpp accepts."""

_AS_IT_IS: dict[str, Any] = {
    # A server may have other defaults, some from the model's generation_config.json.
    "top_k": -1,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    # vLLM and SGLang then leave the text of the token that ends it in place.
    "include_stop_str_in_output": True,
    "no_stop_trim": True,
    # vLLM then says which tokens it wrote; llama.cpp always does.
    "return_token_ids": True,
}


class ServedTacticGenerator(CausalTacticGenerator):
    """Suggests tactics as :class:`CausalTacticGenerator` does, computed by a server.

    Seeds are sent to the server: its samples differ from a local model's, but have the same
    distribution. ``OPENAI_API_KEY`` is sent if it is set. Of ``model_path`` only the configuration,
    the tokenizer and the training record are read. ``served_name`` is the model's name there; by
    default its only model, or among several, the one named ``model_path``.
    """

    def __init__(
        self,
        model_path: str | Path,
        endpoint: str,
        use_lora: bool = False,
        formatter: str | DatasetFormatter | None = None,
        *,
        max_length: int | None = None,
        served_name: str | None = None,
        max_retries: int = 5,
    ) -> None:
        super().__init__(model_path, use_lora, "cpu", formatter, max_length=max_length)
        self.endpoint = endpoint
        self._client = openai.OpenAI(
            api_key=os.environ.get("OPENAI_API_KEY") or "none",
            base_url=endpoint,
            timeout=_SECONDS_TO_ANSWER,
            max_retries=max_retries,
        )
        self.served_name = self._served(served_name, str(model_path))

    def _load(self, model_path: str | Path, device: str) -> PreTrainedModel:  # noqa: ARG002
        return load_outline(model_path)

    def _served(self, wanted: str | None, model: str) -> str:
        """Find the model among those that the server lists."""
        client = self._client.with_options(timeout=_SECONDS_TO_GREET, max_retries=0)
        try:
            names = [one.id for one in client.models.list()]
        except (openai.OpenAIError, ValueError) as error:  # ValueError: what came was not JSON
            raise UsageError(
                f"{self.endpoint}: no model server answers there "
                f"({type(error).__name__}: {str(error).rstrip('.')}); start one, for example with "
                f"`vllm serve {model}`, and give the address of its API, which ends in /v1"
            ) from error
        if wanted is None and len(names) == 1:
            return names[0]
        for name in (wanted,) if wanted is not None else (model, Path(model).name):
            if name in names:
                return name
        raise UsageError(
            f"{self.endpoint} does not serve {wanted or model} but {', '.join(names) or 'nothing'};"
            " name one of them with --prover-set served_name=NAME"
        )

    def complete(
        self,
        prompts: Sequence[list[int]],
        samples: int,
        max_new_tokens: int,
        *,
        temperature: float,
        seeds: Sequence[int],
        words: Sequence[TacticWords | None] = (),  # noqa: ARG002 - servers stop at tokens only
        whole: bool = False,
    ) -> list[list[ScoredText]]:
        """Complete prompts, one request each; see :meth:`CausalTacticGenerator.complete`."""
        ends = (self.turn_ends if whole else self.ends).tolist()
        options = {
            "max_tokens": max_new_tokens,
            "temperature": temperature,
            "top_p": 1.0,
            "logprobs": 1,
            "extra_body": {**_AS_IT_IS, "stop_token_ids": ends},
        }

        def ask(prompt: list[int], seed: int) -> list[ScoredText]:
            found: list[ScoredText] = []
            while len(found) < samples:  # some servers ignore n
                missing = samples - len(found)
                own = (seed + len(found)) % _SEEDS
                choices = self._request(prompt, n=missing, seed=own, **options)
                found += [self._read(one, set(ends), whole) for one in choices]
            return found[:samples]

        with ThreadPoolExecutor(WORKERS) as threads:
            return list(threads.map(ask, prompts, seeds))

    def _request(self, prompt: list[int], **options: Any) -> list[dict[str, Any]]:
        """Send one request; return its choices, at least one."""
        try:
            answer = self._client.completions.create(
                model=self.served_name, prompt=prompt, **options
            )
        except (openai.OpenAIError, ValueError) as error:
            raise EndpointError(
                f"model {self.served_name!r} at {self.endpoint}: {type(error).__name__}: "
                f"{str(error).rstrip('.')}"
            ) from error
        if not answer.choices:
            raise EndpointError(f"model {self.served_name!r} at {self.endpoint} gave no completion")
        if answer.usage is not None and answer.usage.prompt_tokens != len(prompt):
            raise UsageError(
                f"{self.endpoint} read {answer.usage.prompt_tokens} tokens of a prompt that has "
                f"{len(prompt)}; the server must take prompts as token ids and add nothing"
            )
        return [choice.to_dict() for choice in answer.choices]

    def _read(self, choice: dict[str, Any], ends: set[int], whole: bool) -> ScoredText:
        """Return a completion up to the first token that ends it, and its log-probability."""
        text = choice.get("text") or ""
        tokens, logprobs, ids = _tokens_of(choice)
        if not logprobs:
            raise UsageError(
                f"{self.endpoint} returns no log-probabilities, which a search needs; serve the "
                "model with a server that does, such as vLLM, SGLang or llama.cpp"
            )
        if ids and not _same(self._text(ids), text):
            raise UsageError(
                f"{self.endpoint} writes tokens that the tokenizer of "
                f"{self.tokenizer.name_or_path} reads otherwise; name the model that the server "
                "serves with --model"
            )
        length = len(logprobs) if choice.get("finish_reason") == "stop" else 0
        for place, token in enumerate(tokens):
            by_id = place < len(ids) and ids[place] in ends
            if by_id or (not whole and "\n" in token):
                length = place + 1
                break
        total = sum(logprobs[:length])
        if not length:
            return "", total
        return self._text(ids[:length]) if ids else text, total


def _tokens_of(choice: dict[str, Any]) -> tuple[list[str], list[float], list[int]]:
    """Return the text, log-probability and id of each token; no ids if the server gives none.

    llama.cpp lists its tokens in the format of chat completions.
    """
    told = choice.get("logprobs") or {}
    if content := told.get("content"):
        ids = [token["id"] for token in content if "id" in token]
        return [token["token"] for token in content], [one["logprob"] for one in content], ids
    return told.get("tokens") or [], told.get("token_logprobs") or [], choice.get("token_ids") or []


def _same(ours: str, theirs: str) -> bool:
    """Whether texts agree as far as the shorter one goes, up to spaces and broken characters."""
    pairs = zip("".join(ours.split()), "".join(theirs.split()), strict=False)
    return all(left == right or "\ufffd" in {left, right} for left, right in pairs)
