"""A prover on any OpenAI-compatible endpoint."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from lean_dojo_core import Message, registry
from lean_dojo_core.errors import LeanDojoError, UsageError
from lean_dojo_core.records import Theorem
from lean_dojo_v2.prover.base import BaseProver
from lean_dojo_v2.prover.suggestion import Suggestion

if TYPE_CHECKING:
    from openai import OpenAI

    from lean_dojo_v2.lean_agent.config import ProverConfig

DEFAULT_MODEL = "deepseek-ai/DeepSeek-Prover-V2-671B:novita"
_FENCE = re.compile(r"```(?:lean4?|tactics)?[ \t]*\n(?P<body>.*?)(?:```|\Z)", re.DOTALL)
_WHOLE_PROOF = (
    "You write proofs in Lean 4. Given a theorem, output the tactic block that proves it: what "
    "follows `:= by`, one tactic a line, and nothing else. Never use `sorry` or `admit`."
)


class EndpointError(LeanDojoError):
    """The endpoint did not answer, or not with a completion."""


class ExternalGenerator:
    """Samples tactics from an OpenAI-compatible endpoint.

    The base URL and the key come from ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``. Failed requests
    are repeated with growing pauses by the client.

    Args:
        model_name: The endpoint's name of the model.
        formatter: Dataset formatter that makes the prompt.
        temperature: Sampling temperature.
        max_tokens: Tokens of one tactic at most.
        timeout: Seconds that one request may take.
        max_retries: How often a failed request is repeated.
        workers: Requests at a time.
    """

    def __init__(
        self,
        model_name: str = DEFAULT_MODEL,
        *,
        formatter: str = "tactic-chat",
        temperature: float = 0.8,
        max_tokens: int = 96,
        timeout: float = 120.0,
        max_retries: int = 5,
        workers: int = 8,
    ) -> None:
        self.model_name = model_name
        self.temperature = temperature
        self.max_tokens = max_tokens
        self._timeout = timeout
        self._max_retries = max_retries
        self._workers = workers
        self._formatter = registry.dataset_formatters[formatter].create()
        self._client: OpenAI | None = None

    def generate(
        self, goals: Sequence[str], *, num_samples: int, premises: Sequence[Sequence[str]] = ()
    ) -> list[list[Suggestion]]:
        """Sample tactics for every goal, requests side by side.

        The endpoint's token log-probabilities are used where it gives them; where it does not,
        a tactic's share among the samples estimates its probability.

        Raises:
            EndpointError: If the endpoint fails for good.
        """
        given = premises or [()] * len(goals)
        prompts = [
            self._formatter.prompt(goal, premises=p) for goal, p in zip(goals, given, strict=True)
        ]
        with ThreadPoolExecutor(self._workers) as executor:
            answers = executor.map(lambda p: self.complete(p, num_samples, stop=["\n"]), prompts)
            return [_suggestions(choices) for choices in answers]

    def complete(
        self,
        messages: Sequence[Message],
        count: int,
        *,
        stop: list[str] | None = None,
        max_tokens: int | None = None,
    ) -> list[tuple[str, float | None]]:
        """Ask for completions.

        Returns:
            Each completion's text with the sum of its token log-probabilities, if given.

        Raises:
            EndpointError: If the endpoint fails for good.
        """
        import openai

        try:
            answer = self._connect().chat.completions.create(
                model=self.model_name,
                messages=list(messages),  # type: ignore[arg-type]
                n=count,
                temperature=self.temperature,
                max_tokens=max_tokens or self.max_tokens,
                stop=stop,
                logprobs=True,
            )
        except openai.OpenAIError as error:
            raise EndpointError(
                f"model {self.model_name!r} at {self._connect().base_url}: "
                f"{type(error).__name__}: {error}. OPENAI_BASE_URL and OPENAI_API_KEY say where "
                "the endpoint is."
            ) from error
        return [(choice.message.content or "", _logprob(choice)) for choice in answer.choices]

    def _connect(self) -> OpenAI:
        if self._client is None:
            import openai

            if not os.environ.get("OPENAI_API_KEY"):
                raise UsageError(
                    "OPENAI_API_KEY is not set; set it (and OPENAI_BASE_URL for an endpoint of "
                    "your own) to use an external model"
                )
            self._client = openai.OpenAI(timeout=self._timeout, max_retries=self._max_retries)
        return self._client


class ExternalProver(BaseProver):
    """Proves with a model behind an OpenAI-compatible endpoint.

    Args:
        model_name: The endpoint's name of the model.
        config: Limits of the search.
        **options: Further options of :class:`ExternalGenerator`.
    """

    def __init__(
        self, model_name: str = DEFAULT_MODEL, config: ProverConfig | None = None, **options: Any
    ) -> None:
        super().__init__(config)
        self._generator = ExternalGenerator(model_name, **options)

    @property
    def generator(self) -> ExternalGenerator:
        """The endpoint."""
        return self._generator

    def generate_whole_proof(self, theorem: Theorem | str) -> str:
        """Ask for a complete proof; see :meth:`BaseProver.generate_whole_proof`."""
        messages = whole_proof_prompt(theorem)
        [(text, _)] = self._generator.complete(messages, 1, max_tokens=2048)
        return unfenced(text)


def whole_proof_prompt(theorem: Theorem | str) -> list[Message]:
    """Give the conversation that asks for a complete proof.

    Raises:
        UsageError: If a traced theorem has no statement.
    """
    statement = theorem if isinstance(theorem, str) else theorem.theorem_statement
    if not statement:
        raise UsageError("the theorem has no statement; trace its repository again")
    return [
        {"role": "system", "content": _WHOLE_PROOF},
        {"role": "user", "content": statement.strip()},
    ]


def unfenced(text: str) -> str:
    r"""Give the code of a completion: of its first code fence, or as it is.

    >>> unfenced("Sure!\n```lean\nintro n\nrfl\n```")
    'intro n\nrfl'
    """
    match = _FENCE.search(text)
    return (match["body"] if match else text).strip("\n")


def _logprob(choice: Any) -> float | None:
    tokens = getattr(choice.logprobs, "content", None)
    return sum(token.logprob for token in tokens) if tokens else None


def _suggestions(choices: Sequence[tuple[str, float | None]]) -> list[Suggestion]:
    lines = [(_first_line(text), logprob) for text, logprob in choices]
    found = [(line, logprob) for line, logprob in lines if line]
    shares = Counter(line for line, _ in found)
    return [
        Suggestion(line, math.log(shares[line] / len(found)) if logprob is None else logprob)
        for line, logprob in found
    ]


def _first_line(text: str) -> str:
    lines = unfenced(text).splitlines()
    return next((line.strip() for line in lines if line.strip()), "")
