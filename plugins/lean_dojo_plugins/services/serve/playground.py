"""The playground: a page to try tactics on, with a prover's suggestions and its search."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from typing import Any

import attrs
import orjson
from starlette.responses import Response, StreamingResponse

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_plugins.services.serve.requests import SearchQuestion, SuggestQuestion
from lean_dojo_plugins.services.serve.service import VerdictService
from lean_dojo_v2 import prover as provers
from lean_dojo_v2.lean import PROOF_TIMEOUT, GoalState, ProofOutcome, Server

Answer = dict[str, Any]


@attrs.frozen
class Playground:
    """Answers the page's requests to the prover, whose model answers one at a time."""

    prover: provers.BaseProver
    _model: threading.Lock = attrs.Factory(threading.Lock)

    async def suggest(self, service: VerdictService, question: SuggestQuestion) -> Answer:
        """Suggest tactics at a state, with Lean's verdict on each; the most probable first."""
        goal, tactics = question.goal, question.tactics
        state = await service.run(_first_goal, goal, tactics, name="suggest", owner=goal)
        if state is None:
            return {"suggestions": []}
        found = await asyncio.to_thread(self._generate, state, question.samples)
        found.sort(key=lambda one: -one.logprob)
        candidates = [one.tactic for one in found]
        fields = (provers.StatedGoal(goal), tactics, candidates, question.timeout)
        verdicts = await service.run(provers.judge_tactics, *fields, name="suggest", owner=goal)
        return {
            "suggestions": [
                {"tactic": one.tactic, "logprob": one.logprob, **verdict}
                for one, verdict in zip(found, verdicts, strict=True)
            ]
        }

    def _generate(self, goal: str, samples: int) -> list[provers.Suggestion]:
        with self._model:
            return list(self.prover.generator.generate([goal], num_samples=samples)[0])

    async def search(self, service: VerdictService, question: SearchQuestion) -> Response:
        """Search for a proof; one line of JSON per batch, the result in the last."""
        return StreamingResponse(self._events(service, question), media_type="application/x-ndjson")

    async def _events(
        self, service: VerdictService, question: SearchQuestion
    ) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Answer | None] = asyncio.Queue()

        def tell(event: Answer | None) -> None:
            loop.call_soon_threadsafe(events.put_nowait, event)

        def batch(
            expanded: Sequence[tuple[str, provers.Node, Sequence[provers.Suggestion]]],
        ) -> None:
            tell({"nodes": [_node(node) for _, node, _ in expanded]})

        def work(server: Server) -> provers.SearchResult:
            limits = attrs.evolve(
                self.prover.settings,
                num_sampled_tactics=question.samples,
                max_expansions=question.expansions,
            )
            search = provers.BestFirstSearch(self.prover.generator, limits)
            problem = _Continued(question.goal, tactics=tuple(question.tactics))
            with self._model:
                [(_, result)] = search.results([problem], [server], batch)
            return result

        async def run() -> None:
            try:
                result = await service.run(work, name="search", owner=question.goal)
                nodes = [] if result.tree is None else result.tree.nodes
                tell({"nodes": [_node(node) for node in nodes], "result": result.to_dict()})
            except LeanDojoError as error:
                tell({"error": {"code": type(error).__name__, "message": str(error)}})
            finally:
                tell(None)

        task = asyncio.create_task(run())
        while (event := await events.get()) is not None:
            yield orjson.dumps(event, default=str) + b"\n"
        await task


@attrs.frozen
class _Continued(provers.GoalProblem):
    """A goal with the first tactics of its proof; a proof found is checked with them."""

    tactics: tuple[str, ...] = ()

    def open(self, server: Server) -> GoalState:
        return provers.reach_state(server, provers.StatedGoal(self.expression), self.tactics)

    def check(self, server: Server, proof: str, *, timeout: float = PROOF_TIMEOUT) -> ProofOutcome:
        return super().check(server, "\n".join([*self.tactics, proof]), timeout=timeout)


def _first_goal(server: Server, goal: str, tactics: list[str]) -> str | None:
    state = provers.reach_state(server, provers.StatedGoal(goal), tactics)
    return str(state.goals[0]) if state.goals else None


def _node(node: provers.Node) -> Answer:
    shown = ("id", "parent", "tactic", "state", "depth", "status")
    return {name: getattr(node, name) for name in shown}
