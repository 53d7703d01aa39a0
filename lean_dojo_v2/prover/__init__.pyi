import lean_dojo_plugins.causal_lm as _causal_lm
import lean_dojo_plugins.retrieval as _retrieval

from .automation import CLOSING_TACTICS as CLOSING_TACTICS, AutomationProver as AutomationProver
from .base import (
    PROGRESS_VARIABLE as PROGRESS_VARIABLE,
    AnyProver as AnyProver,
    BaseProver as BaseProver,
    prover_of as prover_of,
    source_in as source_in,
)
from .cluster import ClusterProver as ClusterProver
from .completions import (
    answer_of as answer_of,
    name_of as name_of,
    proof_of as proof_of,
    statement_of as statement_of,
    unfenced as unfenced,
    whole_proof_prompt as whole_proof_prompt,
    with_context as with_context,
)
from .external import (
    DEFAULT_MODEL as DEFAULT_MODEL,
    EndpointError as EndpointError,
    ExternalProver as ExternalProver,
)
from .judging import (
    PlayedTactic as PlayedTactic,
    StatedGoal as StatedGoal,
    begin_play as begin_play,
    judge_file as judge_file,
    judge_proof as judge_proof,
    judge_tactic as judge_tactic,
    judge_tactics as judge_tactics,
    play_tactic as play_tactic,
    reach_state as reach_state,
    refusal_data as refusal_data,
)
from .problem import (
    GoalProblem as GoalProblem,
    Opens as Opens,
    Problem as Problem,
    TheoremProblem as TheoremProblem,
    again_if_lost as again_if_lost,
)
from .search.best_first import BestFirstSearch as BestFirstSearch
from .search.result import Failure as Failure, SearchResult as SearchResult
from .search.tree import (
    Node as Node,
    NodeStatus as NodeStatus,
    SearchTree as SearchTree,
    draw_tree as draw_tree,
    save_tree as save_tree,
)
from .shipped import (
    SHIPPED as SHIPPED,
    model_named as model_named,
    shipped_model as shipped_model,
    shipped_proofs as shipped_proofs,
)
from .sorries import (
    Sorry as Sorry,
    UnprovedDeclaration as UnprovedDeclaration,
    find_sorries as find_sorries,
)
from .suggestion import (
    Place as Place,
    PremiseSource as PremiseSource,
    ProgressEstimator as ProgressEstimator,
    Step as Step,
    Suggestion as Suggestion,
    TacticGenerator as TacticGenerator,
)
from .whole_proof import WholeProofs as WholeProofs, sampling_whole_proofs as sampling_whole_proofs

HFProver = _causal_lm.HFProver
RetrievalProver = _retrieval.RetrievalProver
