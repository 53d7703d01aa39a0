from .commands import RetrieverChoice as RetrieverChoice
from .search.prover import RetrievalProver as RetrievalProver
from .trainer import RetrievalTrainer as RetrievalTrainer
