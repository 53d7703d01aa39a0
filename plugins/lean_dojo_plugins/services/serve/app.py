"""The HTTP application: routes, limits, tokens, and errors as data.

Our own routes: ``POST /v1/tactic``, ``/v1/proof``, ``/v1/file``, ``/v1/reward``; Kimina Lean
Server's: ``POST /api/check``; the playground's: ``/``, ``POST /v1/suggest``,
``/v1/search``; and ``GET /health``, ``/metrics``. An error is
``{"error": {"code": …, "message": …}}`` with a status of 400 (bad request), 401 (no token), 403
(from a page of another site; or it names a folder or repository that is not served), 404 and 405
(no such route or method), 408 (the request did not arrive in time), 413 (too large), 415 (not
JSON), 421 (wrong host name), 503 (full; ``Retry-After``
says when to try again) or 500 (an error of a plugin, or ours).
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from lean_dojo_core.errors import LeanDojoError, UsageError
from lean_dojo_plugins.services.folders import NotGivenError
from lean_dojo_plugins.services.serve import kimina, requests
from lean_dojo_plugins.services.serve.playground import Playground
from lean_dojo_plugins.services.serve.security import LOCAL_HOSTS, Walls, refusal
from lean_dojo_plugins.services.serve.service import VerdictService
from lean_dojo_v2 import lean, prover as provers
from lean_dojo_v2.benchmarks import problem_of_row

QuestionT = TypeVar("QuestionT", bound=requests.StrictRequest)
Answer = dict[str, Any]
PAGE = Path(__file__).with_name("page")
BODY_SECONDS = 60.0
"""Seconds in which a request must arrive."""
_CODES = {404: "not-found", 405: "method", 408: "slow", 413: "too-large", 503: "busy"}
"""Codes of errors by their status; that of any other is ``request``."""


def make_app(
    service: VerdictService,
    *,
    token: str | None = None,
    prover: provers.BaseProver | None = None,
    hosts: Collection[str] | None = LOCAL_HOSTS,
) -> Starlette:
    """Make the application, which closes the service at its end.

    Clients send a token as ``Authorization: Bearer …``, except for ``/health`` and the page. The
    playground's prover is Lean's automation by default. ``hosts`` are allowed host names, or any.
    """
    playground = Playground(prover or provers.AutomationProver())
    posted = partial(_posted, service)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        with closing(service):
            yield

    routes = [
        Route("/health", partial(_health, service)),
        Route("/metrics", partial(_metrics, service)),
        posted("/v1/tactic", "tactic", requests.TacticQuestion, _tactic),
        posted("/v1/proof", "proof", requests.ProofQuestion, _proof),
        posted("/v1/file", "file", requests.FileQuestion, _file),
        posted("/v1/reward", "reward", requests.RewardQuestion, _reward),
        posted("/v1/suggest", "suggest", requests.SuggestQuestion, playground.suggest),
        posted("/v1/search", "search", requests.SearchQuestion, playground.search),
        posted("/api/check", "kimina", requests.KiminaCheck, kimina.check),
        Route("/", _page),
        Mount("/page", StaticFiles(directory=PAGE)),
    ]
    errors = (HTTPException, LeanDojoError, Exception)
    return Starlette(
        routes=routes,
        middleware=[Middleware(Walls, hosts=hosts, token=token)],
        lifespan=lifespan,
        exception_handlers=dict.fromkeys(errors, _explained),
    )


def _posted(
    service: VerdictService,
    path: str,
    kind: str,
    form: type[QuestionT],
    answer: Callable[[VerdictService, QuestionT], Awaitable[Answer | Response]],
) -> Route:
    """Make a route: read the request, admit it, answer it."""

    async def endpoint(request: Request) -> Response:
        question = form.read(await _body(request, service.limits.bytes))
        with service.admitted(kind):
            given = await answer(service, question)
        return given if isinstance(given, Response) else JSONResponse(given)

    return Route(path, endpoint, methods=["POST"])


async def _body(request: Request, limit: int) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > limit:
                    raise HTTPException(413, f"a request may have at most {limit} bytes")
    except TimeoutError as error:
        late = f"the request did not arrive within {BODY_SECONDS:g} s"
        raise HTTPException(408, late, {"Connection": "close"}) from error
    return bytes(body)


async def _explained(_request: Request, error: Exception) -> Response:
    """Answer an error as data; the traceback of an internal one is in the server's log."""
    if isinstance(error, HTTPException):
        code = _CODES.get(error.status_code, "request")
        return refusal(error.status_code, code, error.detail, error.headers)
    if isinstance(error, NotGivenError):
        return refusal(403, "not-served", str(error))
    if isinstance(error, lean.RequestError | UsageError):
        return refusal(400, "request", str(error))
    if isinstance(error, LeanDojoError):
        return refusal(500, type(error).__name__, str(error))
    return refusal(500, "internal", f"{type(error).__name__}: {error}")


async def _page(_request: Request) -> Response:
    return FileResponse(PAGE / "index.html")


async def _health(service: VerdictService, _request: Request) -> Response:
    engines = service.pool.config.size
    return JSONResponse(
        {"status": "ok", "engines": engines, "open_requests": service.open_requests}
    )


async def _metrics(service: VerdictService, _request: Request) -> Response:
    return Response(generate_latest(service.metrics), media_type=CONTENT_TYPE_LATEST)


async def _tactic(service: VerdictService, question: requests.TacticQuestion) -> Answer:
    start: provers.Opens
    if question.goal is not None:
        start, header = provers.StatedGoal(question.goal), None
    else:
        start, header = problem_of_row(question.row).problem, _modules(question.header)
    fields = (start, question.tactics, question.tactic)
    how = {"header": header, "owner": question.owner}
    answer = await _judged(service, question.timeout, provers.judge_tactic, *fields, **how)
    if "verdict" in answer:
        service.verdict("tactic", answer["verdict"])
    return answer


async def _proof(service: VerdictService, question: requests.ProofQuestion) -> Answer:
    problem = problem_of_row(question.row).problem
    how = {"header": _modules(question.header), "owner": question.owner}
    fields = (problem, question.proof)
    answer = await _judged(service, question.timeout, provers.judge_proof, *fields, **how)
    service.verdict("proof", "valid" if answer["valid"] else "invalid")
    return answer


async def _file(service: VerdictService, question: requests.FileQuestion) -> Answer:
    fields = (question.text, question.reference)
    header = _modules(question.text)
    answer = await _judged(service, question.timeout, provers.judge_file, *fields, header=header)
    service.verdict("file", "valid" if answer["valid"] else "invalid")
    return answer


async def _reward(service: VerdictService, question: requests.RewardQuestion) -> Answer:
    fields = (question.reward, question.completions, question.columns)
    return {"scores": await asyncio.to_thread(service.score, *fields)}


def _modules(text: str | None) -> str | None:
    return None if text is None else " ".join(lean.parse_header(text).modules)


async def _judged(
    service: VerdictService,
    seconds: float,
    judge: Callable[..., Answer],
    *fields: Any,
    **how: str | None,
) -> Answer:
    """Judge; a request that took too long or killed its engines does not hold."""
    seconds = min(seconds, service.limits.timeout)
    try:
        return await service.run(judge, *fields, seconds, name=judge.__name__, **how)
    except (lean.EngineTimeoutError, lean.EngineKilledError) as error:
        timed_out = isinstance(error, lean.EngineTimeoutError)
        lost: Answer = {"detail": str(error), "refusal": None, "timed_out": timed_out}
        if judge is provers.judge_tactic:
            return {"verdict": lean.Verdict.TIMED_OUT.value, "state": None, "solved": False, **lost}
        return {"valid": False, **lost}
