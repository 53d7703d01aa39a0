"""Run a conformance suite over one object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lean_dojo_core.testing import Suite, run_suite

Problems = Callable[[type[Suite], Any], dict[str, str]]


def _problems(suite: type[Suite], made: Any) -> dict[str, str]:
    """Give what fails, by check; an object of a class is made anew where the suite asks."""

    class Named(suite):  # type: ignore[valid-type, misc]
        def make(self) -> Any:
            return made() if isinstance(made, type) else made

    return {f.check: f.problem for f in run_suite(Named) if f.problem is not None}


@pytest.fixture
def problems() -> Problems:
    return _problems
