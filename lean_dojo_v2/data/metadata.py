"""What is known about a repository besides its contents: name, dates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from lean_dojo_v2.data.codec import Json
from lean_dojo_v2.data.errors import MalformedError


def name_of_url(url: str) -> str:
    """Return ``owner/repo`` for a repository's address, or the last folder of a local path.

    >>> name_of_url("https://github.com/durant42040/lean4-example.git")
    'durant42040/lean4-example'
    """
    parts = [part for part in re.split(r"[/\\:]+", url.removesuffix(".git")) if part]
    return "/".join(parts[-2:] if "://" in url or url.startswith("git@") else parts[-1:]) or url


def date_from_metadata(metadata: Mapping[str, Any]) -> datetime:
    """Read ``date_processed``; the beginning of time if it is missing.

    Raises:
        MalformedError: If it is there and is not an ISO date.
    """
    value = metadata.get("date_processed")
    if value is None or value == "":
        return datetime.min.replace(tzinfo=UTC)
    try:
        date = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise MalformedError(f"not an ISO date: {value!r}", "metadata.date_processed") from error
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def metadata_to_json(metadata: Mapping[str, Any]) -> Json:
    """Return metadata with its dates as ISO strings."""
    return {
        key: value.isoformat() if isinstance(value, datetime) else value
        for key, value in metadata.items()
    }
