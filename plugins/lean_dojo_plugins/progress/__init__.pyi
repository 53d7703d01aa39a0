from .dataset import ProgressDataset as ProgressDataset
from .trainer import ProgressTrainer as ProgressTrainer
