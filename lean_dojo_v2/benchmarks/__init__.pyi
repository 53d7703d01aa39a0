from .database import (
    HeldOutBenchmark as HeldOutBenchmark,
    SampleBenchmark as SampleBenchmark,
    SorryBenchmark as SorryBenchmark,
)
from .jsonl import JsonlBenchmark as JsonlBenchmark
from .rows import problem_of as problem_of
