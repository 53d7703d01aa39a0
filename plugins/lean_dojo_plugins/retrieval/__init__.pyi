from .commands import open_retriever as open_retriever, retriever_options as retriever_options
from .search.prover import RetrievalProver as RetrievalProver
from .trainer import RetrievalTrainer as RetrievalTrainer
