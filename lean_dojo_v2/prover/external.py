"""A prover that uses an OpenAI-compatible endpoint."""

import logging
import math
import os
import threading
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

from lean_dojo_core import DatasetFormatter, Message, registry
from lean_dojo_core.errors import UsageError
from lean_dojo_core.records import Theorem
from lean_dojo_v2.lean_agent import ProverConfig
from lean_dojo_v2.prover.base import BaseProver, answered
from lean_dojo_v2.prover.completions import first_tactic, name_of, unfenced, whole_proof_prompt
from lean_dojo_v2.prover.suggestion import GeneratorError, Suggestion

if TYPE_CHECKING:
    from openai import OpenAI

_log = logging.getLogger(__name__)
_learning = threading.Lock()
DEFAULT_MODEL = "deepseek-ai/DeepSeek-Prover-V2-671B:novita"
"""The model that is asked if none is named."""
HUGGING_FACE = "https://router.huggingface.co/v1"
"""Endpoint of the default model, used with only a Hugging Face token."""
_CRASHED = 500
"""Status code of some servers if a chat template raises an error."""
_REFUSALS = frozenset({400, 422, _CRASHED})


class EndpointError(GeneratorError):
    """The endpoint did not answer with a completion."""


@attrs.frozen
class Completion:
    """A completion of an endpoint, perhaps with its tokens and their log-probabilities."""

    text: str
    tokens: tuple[tuple[str, float], ...] | None = None

    def logprob(self, length: int) -> float | None:
        """Return the log-probability of the first ``length`` characters."""
        if self.tokens is None:
            return None
        total, covered = 0.0, 0
        for token, logprob in self.tokens:
            if covered >= length:
                break
            total += logprob
            covered += len(token)
        return total


@attrs.define(eq=False)
class ExternalGenerator:
    """Samples tactics from an OpenAI-compatible endpoint.

    The address and the key come from ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``; with ``HF_TOKEN``
    alone, the endpoint is Hugging Face's. Requests that fail temporarily (no connection, a
    time-out, status 408, 409, 429 or 5xx) are repeated with growing pauses. If an endpoint refuses
    ``logprobs``, ``n`` or a system message (as the chat templates of some models do), but answers
    without, they are omitted from then on; the system's text then begins the user's turn.
    """

    model_name: str = DEFAULT_MODEL
    formatter: str = attrs.field(default="tactic-chat", kw_only=True)
    temperature: float = attrs.field(default=0.8, kw_only=True)
    max_tokens: int = attrs.field(default=96, kw_only=True)  # of a tactic
    timeout: float = attrs.field(default=120.0, kw_only=True)  # seconds for one request
    max_retries: int = attrs.field(default=5, kw_only=True)
    workers: int = attrs.field(default=8, kw_only=True)  # concurrent requests
    _formatter: DatasetFormatter = attrs.field(init=False)
    _client: "OpenAI | None" = attrs.field(default=None, init=False)
    _wants_logprobs: bool = attrs.field(default=True, init=False)
    _wants_many: bool = attrs.field(default=True, init=False)
    _takes_system: bool | None = attrs.field(default=None, init=False)
    """Not known before the first answer."""

    def __attrs_post_init__(self) -> None:
        self._formatter = registry.dataset_formatters[self.formatter].create()

    def generate(
        self, goals: Sequence[str], *, num_samples: int, premises: Sequence[Sequence[str]] = ()
    ) -> list[list[Suggestion]]:
        """Sample tactics for every goal, with parallel requests.

        Without token log-probabilities, a tactic's share among the samples estimates its
        probability. A goal without an answer, for example one that is too long for the model, gets
        no tactics, which is logged; an ``EndpointError`` is raised if all goals fail.
        """
        given = premises or [()] * len(goals)
        prompts = [
            self._formatter.prompt(goal, premises=p) for goal, p in zip(goals, given, strict=True)
        ]
        found = answered(
            lambda prompt: suggestions_of(self.complete(prompt, num_samples)), prompts, self.workers
        )
        if failures := [one for one in found if isinstance(one, GeneratorError)]:
            _log.warning(
                "%d of %d goals got no tactics: %s", len(failures), len(goals), failures[0]
            )
        return [[] if isinstance(one, GeneratorError) else one for one in found]

    def complete(
        self, messages: Sequence[Message], count: int, *, max_tokens: int | None = None
    ) -> list[Completion]:
        """Request completions, in one request if the endpoint supports ``n``."""
        found: list[Completion] = []
        while len(found) < count:
            more = self._request(messages, count - len(found), max_tokens or self.max_tokens)
            if not more:
                break
            found += more
        return found[:count]

    def _request(
        self, messages: Sequence[Message], count: int, max_tokens: int
    ) -> list[Completion]:
        import openai

        client = self._connect()
        refused: openai.APIStatusError | None = None
        for logprobs, many, system in self._ways(count):
            if refused is not None and refused.status_code == _CRASHED:
                if system:
                    continue
                client = client.with_options(max_retries=0)  # it was retried already
            options: dict[str, Any] = {"logprobs": True} if logprobs else {}
            if many:
                options["n"] = count
            asked = list(messages) if system else _without_system(messages)
            try:
                answer = client.chat.completions.create(
                    model=self.model_name,
                    messages=asked,  # type: ignore[arg-type]
                    temperature=self.temperature,
                    max_tokens=max_tokens,
                    **options,
                )
            except openai.APIStatusError as error:
                if error.status_code not in _REFUSALS:
                    raise self._failure(error) from error
                refused = refused or error
                continue
            except (openai.OpenAIError, ValueError) as error:  # ValueError: what came was not JSON
                raise self._failure(error) from error
            self._learn(logprobs=logprobs, many=many, system=system)
            return _completions(answer)
        assert refused is not None
        raise self._failure(refused) from refused

    def _learn(self, *, logprobs: bool, many: bool, system: bool) -> None:
        """Remember what the endpoint refused. Only a success shows it: a prompt may be too long."""
        with _learning:  # so that concurrent requests say it once
            self._wants_logprobs &= logprobs
            self._wants_many &= many
            if self._takes_system is None and not system:
                _log.warning(
                    "%s refuses a system message; its text begins the user's turn", self.model_name
                )
            self._takes_system = system

    def _ways(self, count: int) -> list[tuple[bool, bool, bool]]:
        """Return variants of a request to try: with ``logprobs``, ``n``, and a system turn."""
        logprobs, many = self._wants_logprobs, self._wants_many
        ways = dict.fromkeys([(logprobs, many), (False, many), (False, many and count == 1)])
        forms = (True, False) if self._takes_system is None else (self._takes_system,)
        return [(*way, system) for system in forms for way in ways]

    def _failure(self, error: Exception) -> EndpointError:
        return EndpointError(
            f"model {self.model_name!r} at {self._connect().base_url}: {type(error).__name__}: "
            f"{str(error).rstrip('.')}. Check OPENAI_BASE_URL and OPENAI_API_KEY, which name the "
            "endpoint."
        )

    def _connect(self) -> "OpenAI":
        if self._client is None:
            import openai

            key, address = os.environ.get("OPENAI_API_KEY"), os.environ.get("OPENAI_BASE_URL")
            if not key and not address and (key := os.environ.get("HF_TOKEN")):
                address = HUGGING_FACE
            if not key:
                raise UsageError(
                    "OPENAI_API_KEY is not set; set it to use an external model (and "
                    "OPENAI_BASE_URL for your own endpoint; if that needs no key, any text will do)"
                )
            self._client = openai.OpenAI(
                api_key=key,
                base_url=address or None,
                timeout=self.timeout,
                max_retries=self.max_retries,
            )
        return self._client


class ExternalProver(BaseProver):
    """Proves with a model behind an OpenAI-compatible endpoint.

    Args:
        model_name: Name of the model at the endpoint.
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
        found = self._generator.complete(whole_proof_prompt(theorem), 1, max_tokens=2048)
        return unfenced(found[0].text, name_of(theorem)) if found else ""

    def write_proofs(
        self,
        theorems: Sequence[Theorem | str],
        seeds: Sequence[int],  # noqa: ARG002 - the endpoint draws as it likes
    ) -> Sequence[str | GeneratorError]:
        """Sample complete proofs with parallel requests; see :meth:`BaseProver.write_proofs`."""
        return answered(self.generate_whole_proof, theorems, self._generator.workers)


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """Put the system's text at the start of the user's turn, as in training of such models."""
    first, *others = messages
    if first["role"] != "system" or not others:
        return list(messages)
    joined = f"{first['content']}\n\n{others[0]['content']}"
    return [{"role": others[0]["role"], "content": joined}, *others[1:]]


def _completions(answer: Any) -> list[Completion]:
    """Read an answer; missing parts count as empty."""
    found = []
    for choice in getattr(answer, "choices", None) or ():
        message = getattr(choice, "message", None)
        told = getattr(getattr(choice, "logprobs", None), "content", None)
        tokens = tuple((str(t.token), float(t.logprob)) for t in told) if told else None
        found.append(Completion(getattr(message, "content", None) or "", tokens))
    return found


def suggestions_of(completions: Sequence[Completion]) -> list[Suggestion]:
    """Return the tactics of completions; those without one are left out."""
    found = [
        (tactic, completion)
        for completion in completions
        if (tactic := first_tactic(completion.text))
    ]
    shares = Counter(tactic for tactic, _ in found)
    result = []
    for tactic, completion in found:
        place = completion.text.find(tactic)
        end = len(completion.text) if place < 0 else place + len(tactic)
        logprob = completion.logprob(end)
        if logprob is None:
            logprob = math.log(shares[tactic] / len(found))
        result.append(Suggestion(tactic, logprob))
    return result
