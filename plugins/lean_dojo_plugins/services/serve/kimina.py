"""Kimina Lean Server's protocol, so that its unmodified client works.

It has no way to say that Lean reported nothing and a text still is not a proof. A refused text gets
an error message here, so that a client that counts errors is not misled; the reason is in a field
of its own, ``lean_dojo``.
"""

import asyncio
import time
from typing import Any

from lean_dojo_plugins.services.serve.positions import sorries as sorries_of
from lean_dojo_plugins.services.serve.requests import KiminaCheck, Snippet
from lean_dojo_plugins.services.serve.service import VerdictService
from lean_dojo_v2 import lean
from lean_dojo_v2.prover import judge_file


async def check(service: VerdictService, question: KiminaCheck) -> dict[str, Any]:
    """Answer ``POST /api/check``."""
    seconds = min(question.timeout, service.limits.timeout)
    answers = (_answer(service, snippet, seconds) for snippet in question.snippets)
    return {"results": await asyncio.gather(*answers)}


async def _answer(service: VerdictService, snippet: Snippet, seconds: float) -> dict[str, Any]:
    start = time.monotonic()
    error: str | None = None
    response: dict[str, Any] | None = None
    try:
        response = await _response(service, snippet.code, seconds)
    except lean.EngineTimeoutError:
        error = f"Lean timed out after {seconds:g} seconds"
    except lean.RequestError as problem:
        response = {"message": str(problem)}
    except lean.LeanError as problem:
        error = str(problem)
    valid = response is not None and response.get("lean_dojo", {}).get("valid")
    status = "error" if error else "valid" if valid else "invalid"
    service.verdict("kimina", status)
    taken = time.monotonic() - start
    return {"id": snippet.id, "time": taken, "error": error, "response": response}


async def _response(service: VerdictService, text: str, seconds: float) -> dict[str, Any]:
    header = " ".join(lean.parse_header(text).modules)
    found = await service.run(
        judge_file, text, None, seconds, header=header, name="snippet", owner=text
    )
    messages, refusal = list(found["messages"]), found["refusal"]
    sorries: list[dict[str, Any]] = []
    if refusal is not None and refusal["reason"] == "sorry":
        places = await service.run(
            sorries_of, text, seconds, header=header, name="sorries", owner=text
        )
        for one in places:
            pos = {"line": one["line"], "column": one["column"]}
            end = {**pos, "column": pos["column"] + len("sorry")}
            sorries.append({"pos": pos, "endPos": end, "goal": one["goal"]})
    # A `sorry` that Kimina's own server would not list, and every other refusal, is an error. A
    # text that states no theorem is none: `#eval` is answered by its messages. A program in a text
    # may keep its theorem from Lean's list.
    stated = any(token.text in {"theorem", "lemma"} for token in lean.code_tokens(text))
    proves = found["theorems"] or refusal is not None or stated
    no_error = all(message["severity"] != "error" for message in messages)
    if not found["valid"] and proves and not sorries and no_error:
        start = {"line": 1, "column": 0}
        refused = {"severity": "error", "pos": start, "endPos": None, "data": found["detail"]}
        messages.append(refused)
    kept = {key: found[key] for key in ("valid", "detail", "refusal", "theorems", "examples")}
    response: dict[str, Any] = {"env": 0, "lean_dojo": kept}
    if messages:
        response["messages"] = messages
    if sorries:
        response["sorries"] = sorries
    return response
