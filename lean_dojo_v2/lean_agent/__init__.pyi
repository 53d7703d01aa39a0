from .config import ProverConfig as ProverConfig, TrainingConfig as TrainingConfig
