"""Manifest of the built-in benchmarks."""

from __future__ import annotations

from collections.abc import Iterator

from lean_dojo_core import BenchmarkSpec, hookimpl


@hookimpl
def lean_dojo_benchmarks() -> Iterator[BenchmarkSpec]:
    """Offer ``held-out``, ``training``, ``sorry``, ``sample`` and ``jsonl``."""
    yield BenchmarkSpec(
        name="held-out",
        target="lean_dojo_v2.benchmarks.database:HeldOutBenchmark",
        summary="Theorems of a database that no trainer sees: its val and test splits.",
    )
    yield BenchmarkSpec(
        name="training",
        target="lean_dojo_v2.benchmarks.database:TrainingBenchmark",
        summary="Theorems of a database that trainers see: to collect searches for a critic.",
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
        name="jsonl",
        target="lean_dojo_v2.benchmarks.jsonl:JsonlBenchmark",
        summary="A file in miniF2F's form: name, header, formal_statement, split.",
    )
