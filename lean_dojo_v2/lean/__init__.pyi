from .client.environments import EnvironmentCounts as EnvironmentCounts, all_engines as all_engines
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
    TacticWords as TacticWords,
    Variable as Variable,
    print_goals as print_goals,
)
from .client.server import Server as Server
from .client.units import (
    CheckTrackResult as CheckTrackResult,
    CompilationUnit as CompilationUnit,
    SearchTarget as SearchTarget,
    TacticInvocation as TacticInvocation,
)
from .engines.embedded.install import (
    EMBEDDED_LEAN_VERSION as EMBEDDED_LEAN_VERSION,
    EMBEDDED_PACKAGE as EMBEDDED_PACKAGE,
    embedded_status as embedded_status,
    embedded_version_key as embedded_version_key,
    ensure_installed as ensure_installed,
    find_embedded as find_embedded,
    node_program as node_program,
    node_version as node_version,
    remove_embedded as remove_embedded,
)
from .engines.embedded.launch import prepare_embedded as prepare_embedded
from .engines.native import (
    FOREIGN_VARIABLE as FOREIGN_VARIABLE,
    LEAN_INSTALL_URL as LEAN_INSTALL_URL,
    compiled_for as compiled_for,
    find_lean as find_lean,
    find_repl as find_repl,
    run_lean_tool as run_lean_tool,
    toolchain_of as toolchain_of,
)
from .engines.process import Capabilities as Capabilities
from .engines.protocol import PROTOCOL_VERSION as PROTOCOL_VERSION, serve_protocol as serve_protocol
from .engines.selection import (
    EngineName as EngineName,
    chosen_engine as chosen_engine,
    select_engine as select_engine,
)
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
from .messages import LeanMessage as LeanMessage, Position as Position, Severity as Severity
from .pool.local import (
    EnginePool as EnginePool,
    PoolConfig as PoolConfig,
    SharedEngines as SharedEngines,
    available_cores as available_cores,
    shared_engines as shared_engines,
)
from .pool.ray import RayEnginePool as RayEnginePool, started_ray as started_ray
from .selftest import check_engine as check_engine
from .text.header import Header as Header, parse_header as parse_header
from .text.helpers import (
    HELPER_DECLARATION as HELPER_DECLARATION,
    declarations_of as declarations_of,
    join_helpers as join_helpers,
    split_helpers as split_helpers,
)
from .text.lexer import (
    CLOSERS as CLOSERS,
    NAME_PART as NAME_PART,
    OPENERS as OPENERS,
    Token as Token,
    all_tokens as all_tokens,
    code_tokens as code_tokens,
    without_comments as without_comments,
    without_end as without_end,
)
from .text.positions import PositionMap as PositionMap
from .text.source import (
    SourceTheorem as SourceTheorem,
    endings_of as endings_of,
    lean_text as lean_text,
    read_source as read_source,
)
from .text.statement import split_statement as split_statement
from .verify.advance import judge_step as judge_step
from .verify.files import check_file as check_file
from .verify.goal_text import (
    GoalTextError as GoalTextError,
    open_goal as open_goal,
    reads_as as reads_as,
)
from .verify.lru_cache import LRUCache as LRUCache
from .verify.outcomes import (
    ProofOutcome as ProofOutcome,
    ProofPart as ProofPart,
    ProofTrace as ProofTrace,
    TacticOutcome as TacticOutcome,
    Verdict as Verdict,
)
from .verify.points import (
    ProofPoint as ProofPoint,
    expression_point as expression_point,
    goal_point as goal_point,
    theorem_point as theorem_point,
)
from .verify.proofs import (
    PROOF_TIMEOUT as PROOF_TIMEOUT,
    check_declaration as check_declaration,
    check_goal_proof as check_goal_proof,
    check_proof as check_proof,
    judge_text as judge_text,
)
from .verify.screening import (
    MALFORMED_REASONS as MALFORMED_REASONS,
    Reason as Reason,
    Refusal as Refusal,
    cites as cites,
    screen as screen,
)
from .verify.states import (
    open_expression as open_expression,
    open_theorem as open_theorem,
    recorded_digest as recorded_digest,
    state_digest as state_digest,
)
from .verify.tactics import TACTIC_TIMEOUT as TACTIC_TIMEOUT, check_tactic as check_tactic
from .verify.traced_proof import process_after as process_after, trace_proof as trace_proof
