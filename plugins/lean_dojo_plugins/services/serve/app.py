"""The HTTP application: routes, limits, tokens, and errors as data.

Our own routes: ``POST /v1/tactic``, ``/v1/proof``, ``/v1/file``, ``/v1/reward``; Kimina Lean
Server's: ``POST /api/check``; the playground's: ``/``, ``POST /v1/suggest``,
``/v1/search``; and ``GET /health``, ``/metrics``. An error is
``{"error": {"code": …, "message": …}}`` with a status of 400 (bad request), 401 (no token), 403
(from a page of another site), 404 and 405 (no such route or method), 408 (the request did not
arrive in time), 413 (too large), 415 (not JSON), 421 (wrong host name), 503 (full; ``Retry-After``
says when to try again) or 500 (an error of a plugin, or ours).
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from lean_dojo_core.errors import LeanDojoError, UsageError
from lean_dojo_plugins.services.serve import kimina
from lean_dojo_plugins.services.serve.playground import Playground, SuggestingProver, page_routes
from lean_dojo_plugins.services.serve.requests import (
    FileQuestion,
    KiminaCheck,
    ProblemQuestion,
    ProofQuestion,
    RewardQuestion,
    SearchQuestion,
    SuggestQuestion,
    TacticQuestion,
)
from lean_dojo_plugins.services.serve.service import BusyError, VerdictService
from lean_dojo_plugins.services.serve.walls import LOCAL_HOSTS, Walls
from lean_dojo_v2.benchmarks.rows import problem_of_row
from lean_dojo_v2.lean.errors import EngineKilledError, EngineTimeoutError, RequestError
from lean_dojo_v2.lean.text.header import parse_header
from lean_dojo_v2.lean.verify.outcomes import Verdict
from lean_dojo_v2.prover.automation import AutomationProver
from lean_dojo_v2.prover.judging import StatedGoal, judge_file, judge_proof, judge_tactic
from lean_dojo_v2.prover.replay import Opens

QuestionT = TypeVar("QuestionT", bound=BaseModel)
Answer = dict[str, Any]
RETRY_AFTER = "1"
"""``Retry-After`` of a full server, in seconds."""
BODY_SECONDS = 60.0
"""Seconds in which a request must arrive."""


class TooLargeError(LeanDojoError):
    """A request has too many bytes."""


def make_app(
    service: VerdictService,
    *,
    token: str | None = None,
    prover: SuggestingProver | None = None,
    hosts: Collection[str] | None = LOCAL_HOSTS,
) -> Starlette:
    """Make the application.

    Args:
        service: Answers the requests; closed when the application ends.
        token: Token required as ``Authorization: Bearer …``, except for ``/health`` and the page;
            ``None`` for none.
        prover: Prover of the playground; default: Lean's automation.
        hosts: Allowed host names; ``None`` for any.
    """
    playground = Playground(prover or AutomationProver())

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            service.close()

    routes = [
        Route("/health", _health),
        Route("/metrics", _metrics),
        _posted("/v1/tactic", "tactic", TacticQuestion, _tactic),
        _posted("/v1/proof", "proof", ProofQuestion, _proof),
        _posted("/v1/file", "file", FileQuestion, _file),
        _posted("/v1/reward", "reward", RewardQuestion, _reward),
        _posted("/v1/suggest", "suggest", SuggestQuestion, playground.suggest),
        _posted("/v1/search", "search", SearchQuestion, playground.search),
        *page_routes(),
        _posted("/api/check", "kimina", KiminaCheck, kimina.check),
    ]
    guards = [Middleware(Walls, hosts=hosts)]
    if token is not None:
        guards.append(Middleware(_Token, token=token))
    app = Starlette(
        routes=routes,
        middleware=guards,
        lifespan=lifespan,
        exception_handlers={HTTPException: _no_such, Exception: _unforeseen},
    )
    app.state.service = service
    return app


class _Token(BaseHTTPMiddleware):
    """Requires the token, except for the page and the server's health."""

    def __init__(self, app: Any, token: str) -> None:
        super().__init__(app)
        self._expected = f"Bearer {token}".encode()

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        given = request.headers.get("authorization", "").encode()
        path = request.url.path
        is_open = path in {"/", "/health"} or path.startswith("/page/")  # nothing secret there
        if is_open or hmac.compare_digest(given, self._expected):
            return await call_next(request)
        return _error(401, "token", "send the server's token: 'Authorization: Bearer …'")


def _posted(
    path: str,
    kind: str,
    form: type[QuestionT],
    answer: Callable[[VerdictService, QuestionT], Awaitable[Answer | Response]],
) -> Route:
    """Make a route: read the request, admit it, answer it, turn errors into data."""

    async def endpoint(request: Request) -> Response:
        service: VerdictService = request.app.state.service
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _body(request, service.limits.bytes)
            question = form.model_validate_json(body)
            with service.admitted(kind):
                given = await answer(service, question)
            return given if isinstance(given, Response) else JSONResponse(given)
        except TimeoutError:
            late = f"the request did not arrive within {BODY_SECONDS:g} s"
            return _error(408, "slow", late, {"Connection": "close"})
        except TooLargeError as error:
            return _error(413, "too-large", str(error))
        except ValidationError as error:
            return _error(400, "request", _where(error))
        except (RequestError, UsageError) as error:
            return _error(400, "request", str(error))
        except BusyError as error:
            return _error(503, "busy", str(error), {"Retry-After": RETRY_AFTER})
        except LeanDojoError as error:
            return _error(500, type(error).__name__, str(error))

    return Route(path, endpoint, methods=["POST"])


async def _body(request: Request, limit: int) -> bytes:
    """Read a request of at most ``limit`` bytes.

    Raises:
        TooLargeError: It has more.
    """
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise TooLargeError(f"a request may have at most {limit} bytes")
        parts.append(part)
    return b"".join(parts)


def _where(error: ValidationError) -> str:
    """Describe a validation error, with its field."""
    problems = []
    for problem in error.errors(include_url=False):
        place = ".".join(map(str, problem["loc"]))
        problems.append(f"{place}: {problem['msg']}" if place else problem["msg"])
    return "; ".join(problems)


def _error(
    status: int, code: str, message: str, headers: dict[str, str] | None = None
) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": message}}, status, headers)


async def _no_such(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "not-found", 405: "method"}.get(error.status_code, "request")
    return _error(error.status_code, code, error.detail, dict(error.headers or {}))


async def _unforeseen(_request: Request, error: Exception) -> Response:
    """Answer an internal error; its traceback is in the server's log."""
    return _error(500, "internal", f"{type(error).__name__}: {error}")


# --- answers -------------------------------------------------------------------------------------


async def _health(request: Request) -> Response:
    service: VerdictService = request.app.state.service
    config = service.pool.config
    return JSONResponse(
        {"status": "ok", "engines": config.size, "open_requests": service.open_requests}
    )


async def _metrics(request: Request) -> Response:
    service: VerdictService = request.app.state.service
    return Response(generate_latest(service.metrics), media_type=CONTENT_TYPE_LATEST)


async def _tactic(service: VerdictService, question: TacticQuestion) -> Answer:
    timeout = min(question.timeout, service.limits.timeout)
    start, header = _start(question)
    fields = (start, question.tactics, question.tactic, timeout)
    how = {"header": header, "owner": question.owner}
    answer = await _within_time(service, judge_tactic, *fields, **how)
    if "verdict" in answer:
        service.verdict("tactic", answer["verdict"])
    return answer


async def _proof(service: VerdictService, question: ProofQuestion) -> Answer:
    timeout = min(question.timeout, service.limits.timeout)
    problem = problem_of_row(question.row).problem
    fields = (problem, question.proof, timeout)
    how = {"header": _modules(question.header), "owner": question.owner}
    answer = await _within_time(service, judge_proof, *fields, **how)
    service.verdict("proof", "valid" if answer["valid"] else "invalid")
    return answer


def _start(question: ProblemQuestion) -> tuple[Opens, str | None]:
    """Return the start of a proof, and the header that its requests share."""
    if question.goal is not None:
        return StatedGoal(question.goal), None
    return problem_of_row(question.row).problem, _modules(question.header)


def _modules(text: str | None) -> str | None:
    return None if text is None else " ".join(parse_header(text).modules)


async def _file(service: VerdictService, question: FileQuestion) -> Answer:
    timeout = min(question.timeout, service.limits.timeout)
    fields = (question.text, question.reference, timeout)
    header = _modules(question.text)
    answer = await _within_time(service, judge_file, *fields, header=header)
    service.verdict("file", "valid" if answer["valid"] else "invalid")
    return answer


async def _reward(service: VerdictService, question: RewardQuestion) -> Answer:
    scores = await service.score(question.reward, question.completions, question.columns)
    return {"scores": scores}


async def _within_time(
    service: VerdictService, judge: Callable[..., Answer], *fields: Any, **how: str | None
) -> Answer:
    """Judge; a request that took too long or killed its engines does not hold."""
    try:
        return await service.run(judge, *fields, name=judge.__name__, **how)
    except (EngineTimeoutError, EngineKilledError) as error:
        timed_out = isinstance(error, EngineTimeoutError)
        lost: Answer = {"detail": str(error), "refusal": None, "timed_out": timed_out}
        if judge is judge_tactic:
            return {"verdict": Verdict.TIMED_OUT.value, "state": None, "solved": False, **lost}
        return {"valid": False, **lost}
