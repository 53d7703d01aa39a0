from .database import (
    HeldOutBenchmark as HeldOutBenchmark,
    SampleBenchmark as SampleBenchmark,
    SorryBenchmark as SorryBenchmark,
    TrainingBenchmark as TrainingBenchmark,
)
from .jsonl import JsonlBenchmark as JsonlBenchmark
from .source import problem_of as problem_of
