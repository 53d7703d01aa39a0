"""Manifest of the built-in benchmarks."""

from collections.abc import Iterator

from lean_dojo_core import hookimpl
from lean_dojo_v2.kinds import BenchmarkSpec


@hookimpl
def lean_dojo_benchmarks() -> Iterator[BenchmarkSpec]:
    """Offer the benchmarks of databases, of the sample, of Lean's library and of files."""
    yield BenchmarkSpec(
        name="held-out",
        target="lean_dojo_v2.benchmarks.database:HeldOutBenchmark",
        summary="Theorems of a database that no trainer sees: its val and test splits.",
    )
    yield BenchmarkSpec(
        name="sorry",
        target="lean_dojo_v2.benchmarks.database:SorryBenchmark",
        summary="Theorems of a database that its authors left sorry.",
    )
    yield BenchmarkSpec(
        name="sample",
        target="lean_dojo_v2.benchmarks.database:SampleBenchmark",
        summary="Held-out and sorry theorems of the shipped sample.",
    )
    yield BenchmarkSpec(
        name="core-library",
        target="lean_dojo_v2.benchmarks.core_library.benchmark:CoreLibraryBenchmark",
        summary="Theorems of Lean's own library, each without itself in scope.",
    )
    yield BenchmarkSpec(
        name="jsonl",
        target="lean_dojo_v2.benchmarks.jsonl:JsonlBenchmark",
        summary="A file with a theorem a line, in the form of miniF2F and other public sets.",
    )
