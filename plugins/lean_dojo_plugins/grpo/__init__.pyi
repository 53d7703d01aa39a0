from .dataset import GRPODataset as GRPODataset
from .trainer import GRPOTrainer as GRPOTrainer
