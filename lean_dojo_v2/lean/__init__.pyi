from .client.records import (
    Expr as Expr,
)
from .client.records import (
    Goal as Goal,
)
from .client.records import (
    GoalState as GoalState,
)
from .client.records import (
    Site as Site,
)
from .client.records import (
    Subsumption as Subsumption,
)
from .client.records import (
    Tactic as Tactic,
)
from .client.records import (
    TacticDraft as TacticDraft,
)
from .client.records import (
    TacticExpr as TacticExpr,
)
from .client.records import (
    TacticHave as TacticHave,
)
from .client.records import (
    TacticLet as TacticLet,
)
from .client.records import (
    TacticMode as TacticMode,
)
from .client.records import (
    Variable as Variable,
)
from .client.server import (
    Server as Server,
)
from .client.units import (
    CheckTrackResult as CheckTrackResult,
)
from .client.units import (
    CompilationUnit as CompilationUnit,
)
from .client.units import (
    SearchTarget as SearchTarget,
)
from .client.units import (
    TacticInvocation as TacticInvocation,
)
from .errors import (
    EngineDiedError as EngineDiedError,
)
from .errors import (
    EngineKilledError as EngineKilledError,
)
from .errors import (
    EngineLostError as EngineLostError,
)
from .errors import (
    EngineMemoryError as EngineMemoryError,
)
from .errors import (
    EngineProtocolError as EngineProtocolError,
)
from .errors import (
    EngineTimeoutError as EngineTimeoutError,
)
from .errors import (
    EngineUnavailableError as EngineUnavailableError,
)
from .errors import (
    LeanError as LeanError,
)
from .errors import (
    ParseError as ParseError,
)
from .errors import (
    RequestError as RequestError,
)
from .errors import (
    RequestParseError as RequestParseError,
)
from .errors import (
    ServerError as ServerError,
)
from .errors import (
    StaleStateError as StaleStateError,
)
from .errors import (
    TacticError as TacticError,
)
from .errors import (
    TacticFailure as TacticFailure,
)
from .errors import (
    TacticParseError as TacticParseError,
)
from .messages import (
    Message as Message,
)
from .messages import (
    Position as Position,
)
from .messages import (
    Severity as Severity,
)
from .pool.local import (
    EnginePool as EnginePool,
)
from .pool.local import (
    PoolConfig as PoolConfig,
)
from .pool.ray import (
    RayEnginePool as RayEnginePool,
)
