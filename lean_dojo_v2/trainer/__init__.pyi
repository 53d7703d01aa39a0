from .grpo_trainer import GRPOTrainer as GRPOTrainer
from .progress_trainer import ProgressTrainer as ProgressTrainer
from .retrieval_trainer import RetrievalTrainer as RetrievalTrainer
from .sft_trainer import SFTTrainer as SFTTrainer
