from .dataset import SFTDataset as SFTDataset
from .trainer import SFTSettings as SFTSettings, SFTTrainer as SFTTrainer
