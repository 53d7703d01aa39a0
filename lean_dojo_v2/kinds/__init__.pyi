from .benchmark import (
    Benchmark as Benchmark,
    BenchmarkSpec as BenchmarkSpec,
    benchmarks as benchmarks,
)
from .callback import (
    Callback as Callback,
    CallbackSpec as CallbackSpec,
    SeesRewards as SeesRewards,
    callbacks as callbacks,
)
from .command import Command as Command, CommandSpec as CommandSpec, commands as commands
from .prover import Prover as Prover, ProverSpec as ProverSpec, provers as provers
