from .commands import CommandSuite as CommandSuite
from .formatters import DatasetFormatterSuite as DatasetFormatterSuite
from .manifest import ManifestSuite as ManifestSuite, check_distribution as check_distribution
from .provers import BenchmarkSuite as BenchmarkSuite, ProverSuite as ProverSuite
from .rewards import RewardFunctionSuite as RewardFunctionSuite
from .samples import ODD_THEOREMS as ODD_THEOREMS, SAMPLE_THEOREMS as SAMPLE_THEOREMS
from .suite import (
    ClassSuite as ClassSuite,
    Finding as Finding,
    Suite as Suite,
    run_suite as run_suite,
)
from .trainers import CallbackSuite as CallbackSuite, TrainerSuite as TrainerSuite
