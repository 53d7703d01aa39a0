from . import registry as registry
from .discovery import PluginInfo as PluginInfo
from .errors import LeanDojoError as LeanDojoError
from .hookspecs import API_VERSION as API_VERSION, hookimpl as hookimpl
from .protocols import (
    Benchmark as Benchmark,
    Callback as Callback,
    Closes as Closes,
    Command as Command,
    Database as Database,
    DatasetFormatter as DatasetFormatter,
    Message as Message,
    Prover as Prover,
    Repository as Repository,
    RewardFunction as RewardFunction,
    Row as Row,
    Trainer as Trainer,
    WarmsUp as WarmsUp,
)
from .records import (
    Annotation as Annotation,
    BenchmarkProblem as BenchmarkProblem,
    Evaluation as Evaluation,
    Position as Position,
    Premise as Premise,
    PremiseFile as PremiseFile,
    Theorem as Theorem,
    TracedTactic as TracedTactic,
    contains_sorry as contains_sorry,
    remove_marks as remove_marks,
)
from .specs import (
    BenchmarkSpec as BenchmarkSpec,
    CallbackSpec as CallbackSpec,
    CommandSpec as CommandSpec,
    DatasetFormatterSpec as DatasetFormatterSpec,
    ProverSpec as ProverSpec,
    RewardFunctionSpec as RewardFunctionSpec,
    TrainerSpec as TrainerSpec,
)
