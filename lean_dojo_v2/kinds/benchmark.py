"""Benchmarks: named sets of theorems to prove."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Protocol

from lean_dojo_core import ClassSpec, Registry, hookspec

if TYPE_CHECKING:
    from lean_dojo_core import BenchmarkProblem


class Benchmark(Protocol):
    """A named set of theorems to prove."""

    name: str
    """Its name in results, for example ``"minif2f"``."""

    def problems(self) -> "Iterable[BenchmarkProblem]":
        """Return its theorems, always the same in the same order, with distinct names."""


class BenchmarkSpec(ClassSpec):
    """Describes a benchmark: a class whose instances provide theorems to prove."""

    kind: ClassVar = "benchmark"
    protocol: ClassVar = Benchmark
    suite: ClassVar = "lean_dojo_v2.kinds.testing:BenchmarkSuite"


@hookspec
def lean_dojo_benchmarks() -> Iterable[BenchmarkSpec]:
    """Offer benchmarks: named sets of theorems to prove.

    ``lean-dojo bench NAME`` measures provers on them. See :class:`Benchmark`.

    >>> from lean_dojo_core import hookimpl
    >>> from lean_dojo_v2.kinds import BenchmarkSpec
    >>> @hookimpl
    ... def lean_dojo_benchmarks():
    ...     yield BenchmarkSpec(
    ...         name="parity",
    ...         target="my_plugin.parity:Parity",
    ...         summary="Fifty theorems about even and odd numbers.",
    ...     )
    """
    yield from ()


benchmarks: Registry[BenchmarkSpec, Benchmark] = Registry(BenchmarkSpec)
"""The registry of benchmarks."""
