from .database import HeldOutBenchmark as HeldOutBenchmark
from .database import SampleBenchmark as SampleBenchmark
from .database import SorryBenchmark as SorryBenchmark
from .jsonl import JsonlBenchmark as JsonlBenchmark
from .source import problem_of as problem_of
