"""The verdict server, asked for a problem: a goal, or a theorem in miniF2F's form."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import httpx

TOKEN = "LEAN_DOJO_SERVE_TOKEN"  # noqa: S105 - the name of a variable
SECONDS = 600.0
"""How long an answer may take; the server bounds what Lean may take."""


async def ask(server: str, kind: str, problem: dict[str, str], **question: Any) -> dict[str, Any]:
    """Ask the server; where it is full, come back as it says.

    Args:
        server: Its address.
        kind: ``"tactic"`` or ``"proof"``.
        problem: ``goal``; or ``name``, ``formal_statement`` and perhaps ``header``.
        **question: The rest of the question.

    Returns:
        The answer.

    Raises:
        ValueError: The question is wrong; the message is the server's.
        httpx.HTTPError: The server cannot be reached, or failed.
    """
    token = os.environ.get(TOKEN)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(base_url=server, headers=headers, timeout=SECONDS) as client:
        while True:
            answer = await client.post(f"/v1/{kind}", json={**problem, **question})
            if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                break
            await asyncio.sleep(float(answer.headers.get("Retry-After", "1")))
    if answer.status_code == httpx.codes.BAD_REQUEST:
        raise ValueError(answer.json()["error"]["message"])
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found
