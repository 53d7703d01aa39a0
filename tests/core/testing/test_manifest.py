"""The manifest suite reads requirements on the host as pip does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lean_dojo_core.testing import ManifestSuite

BOUNDED = (
    ["lean-dojo-v2>=2.0,<3"],
    ["lean_dojo_v2<3,>=2.0"],
    ["Lean.Dojo_V2 ~= 2.0"],
    ["lean-dojo-v2[ray]==2.*"],
    ["lean-dojo-v2>=2.0", "lean-dojo-v2<3"],
    ["lean-dojo-v2>=2.0,<3; python_version >= '3.11'"],
)
UNBOUNDED = (
    [],
    ["lean-dojo-v2"],
    ["lean-dojo-v2>=2.0,!=2.1"],
    ["lean-dojo-v2>=2.0; python_version < '4'"],
    ["lean-dojo-v2-tools<3"],
    ["lean-dojo-v2>=2.0", "lean-dojo-v2<3; extra == 'old'"],
)


def name_of(requires: list[str]) -> str:
    return f"bounded-plugin-{[*BOUNDED, *UNBOUNDED].index(requires)}"


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory,
    make_wheel: Callable[..., Path],
    pip_target: Callable[..., Mapping[str, str]],
) -> Path:
    """A folder in which a distribution is installed for each of these."""
    folder = tmp_path_factory.mktemp("bounds")
    wheels = [
        make_wheel(folder, name_of(requires), {}, requires=requires)
        for requires in (*BOUNDED, *UNBOUNDED)
    ]
    pip_target(folder / "site", wheels)
    return folder / "site"


@pytest.fixture
def check(site: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str]], None]:
    """Check the bound of the distribution with these requirements."""
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])

    def run(requires: list[str]) -> None:
        suite = type("Bounded", (ManifestSuite,), {"distribution": name_of(requires)})
        suite().test_bounds_the_host_version()

    return run


@pytest.mark.parametrize("requires", BOUNDED)
def test_every_form_of_an_upper_bound_is_accepted(
    check: Callable[[list[str]], None], requires: list[str]
) -> None:
    check(requires)


@pytest.mark.parametrize("requires", UNBOUNDED)
def test_a_requirement_without_an_upper_bound_is_refused(
    check: Callable[[list[str]], None], requires: list[str]
) -> None:
    with pytest.raises(AssertionError, match=r"write dependencies = \['lean-dojo-v2>=2\.0,<3'\]"):
        check(requires)
