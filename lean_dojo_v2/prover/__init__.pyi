import lean_dojo_plugins.causal_lm.generate.prover as _causal_lm
import lean_dojo_plugins.retrieval.search.prover as _retrieval

from .automation import AutomationProver as AutomationProver
from .base import BaseProver as BaseProver
from .external import ExternalProver as ExternalProver
from .search.best_first import BestFirstSearch as BestFirstSearch
from .search.result import SearchResult as SearchResult
from .suggestion import Suggestion as Suggestion

HFProver = _causal_lm.HFProver
RetrievalProver = _retrieval.RetrievalProver
