"""What the judge says of the constants of a text, asked of one engine by lines of the protocol."""

from __future__ import annotations

from typing import Any


def judged(lean: Any, **fields: Any) -> dict[str, Any]:
    """Elaborate a text, and let the same engine judge what its constants depend on."""
    answer: dict[str, Any] = lean("dojo.check", **fields)
    if "error" in answer:
        return answer
    context = []
    for entry in answer["export"]["context"]:
        number, *row = entry if isinstance(entry, list) else [entry]
        if row:
            lean.rows[number] = row[0]
        context.append([number, lean.rows[number]])
    verdict = lean("dojo.judge", export={**answer["export"], "context": context})["declarations"]
    told = answer["declarations"].items()
    return {
        **answer,
        "declarations": {name: {**one, **verdict.get(name, {})} for name, one in told},
    }
