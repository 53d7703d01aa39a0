"""Environments on one embedded engine, which all tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from lean_dojo_plugins.services.environment import LeanProofEnvironment, engines_of
from lean_dojo_v2.lean.engines.embedded.install import ensure_installed


@pytest.fixture(scope="package")
def make() -> Iterator[Callable[..., LeanProofEnvironment]]:
    ensure_installed()
    yield partial(LeanProofEnvironment, engines=1, engine="embedded")
    engines_of.cache_clear()
