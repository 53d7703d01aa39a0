"""Whether the Hugging Face hub can be asked at all."""

from __future__ import annotations

import functools
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from huggingface_hub import constants


def hub_options(source: str) -> dict[str, Any]:
    """Give the options with which ``from_pretrained`` does not wait for a hub that is out of reach.

    Without a network the libraries ask again and again, for about a minute and with a warning each
    time, before they say that there is no such model; what is cached needs no asking.

    Args:
        source: A folder or a hub id.
    """
    if Path(source).exists() or _can_be_asked(constants.ENDPOINT):
        return {}
    return {"local_files_only": True}


@functools.cache
def _can_be_asked(endpoint: str) -> bool:
    """Whether the endpoint has an address; behind a proxy only the proxy knows."""
    if getproxies().keys() & {"https", "http", "all"}:
        return True
    try:
        socket.getaddrinfo(urlsplit(endpoint).hostname, None)
    except OSError:
        return False
    return True
