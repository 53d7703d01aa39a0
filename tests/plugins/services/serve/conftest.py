"""Servers for the tests of this folder."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest
from serving import Running, running


@pytest.fixture(scope="package")
def served() -> Iterator[Running]:
    """One server for all tests that leave it as they found it."""
    with running() as server:
        yield server


@pytest.fixture
def start() -> Callable[..., contextlib.AbstractContextManager[Running]]:
    return running
