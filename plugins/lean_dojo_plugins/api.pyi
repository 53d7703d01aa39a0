from .causal_lm.generate.generator import CausalTacticGenerator as CausalTacticGenerator
from .causal_lm.text.tokenisation import Tokeniser as Tokeniser
from .causal_lm.tiny_model import build_tiny_model as build_tiny_model
from .causal_lm.trainer import CausalTrainer as CausalTrainer
from .grpo.credit import token_values as token_values
from .grpo.trainer import GRPOTrainer as GRPOTrainer
from .rewards.adapter import AdaptedReward as AdaptedReward, adapt as adapt
from .rewards.resolve import resolve_rewards as resolve_rewards
from .rewards.rows import (
    RowState as RowState,
    RowTask as RowTask,
    RowTheorem as RowTheorem,
    problem_of_row as problem_of_row,
    rows_of as rows_of,
)
from .services.environment import LeanProofEnvironment as LeanProofEnvironment
from .sft.trainer import SFTTrainer as SFTTrainer
from .training.callbacks import resolve_callbacks as resolve_callbacks
from .training.curriculum import CurriculumStep as CurriculumStep
from .training.data import (
    chunks as chunks,
    formatted_rows as formatted_rows,
    split_file as split_file,
)
from .training.devices import Device as Device, choose_device as choose_device
from .training.reporting import TooLong as TooLong
from .training.rows import open_rows as open_rows, write_rows as write_rows
from .training.settings import about as about

__api_version__: str
