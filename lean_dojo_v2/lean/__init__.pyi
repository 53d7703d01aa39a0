from .client.records import (
    Expr as Expr,
    Goal as Goal,
    GoalState as GoalState,
    Site as Site,
    Tactic as Tactic,
    TacticDraft as TacticDraft,
    TacticExpr as TacticExpr,
    TacticHave as TacticHave,
    TacticLet as TacticLet,
    TacticMode as TacticMode,
    Variable as Variable,
)
from .client.server import Server as Server
from .client.units import (
    CheckTrackResult as CheckTrackResult,
    CompilationUnit as CompilationUnit,
    SearchTarget as SearchTarget,
    TacticInvocation as TacticInvocation,
)
from .engines.process import Capabilities as Capabilities
from .errors import (
    EngineDiedError as EngineDiedError,
    EngineKilledError as EngineKilledError,
    EngineLostError as EngineLostError,
    EngineMemoryError as EngineMemoryError,
    EngineProtocolError as EngineProtocolError,
    EngineTimeoutError as EngineTimeoutError,
    EngineUnavailableError as EngineUnavailableError,
    LeanError as LeanError,
    ParseError as ParseError,
    RequestError as RequestError,
    RequestParseError as RequestParseError,
    ServerError as ServerError,
    StaleStateError as StaleStateError,
    TacticError as TacticError,
    TacticFailure as TacticFailure,
    TacticParseError as TacticParseError,
)
from .messages import (
    LeanMessage as LeanMessage,
    Position as Position,
    Severity as Severity,
)
from .pool.local import (
    EnginePool as EnginePool,
    PoolConfig as PoolConfig,
    SharedEngines as SharedEngines,
    shared_engines as shared_engines,
)
from .pool.ray import RayEnginePool as RayEnginePool
from .verify.goal_text import (
    GoalTextError as GoalTextError,
    open_goal as open_goal,
)
from .verify.outcomes import (
    TacticOutcome as TacticOutcome,
    Verdict as Verdict,
)
from .verify.tactics import check_tactic as check_tactic
