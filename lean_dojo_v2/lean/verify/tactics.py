"""Check tactics with Lean.

Three walls stand between a model's completion and a "yes": its text (:mod:`.screening`), Lean's own
parser (exactly one tactic, of a kind that proves and does nothing else), and Lean's judgement: the
goals that a tactic leaves, or for a whole proof the axioms and the statement of the finished
theorem, elaborated again in its file's context without itself in scope.

"No error and no sorry" verifies nothing: Lean does not report a new axiom, ``native_decide`` or a
skipped kernel check.
"""

from collections.abc import Collection

from lean_dojo_v2.lean import errors
from lean_dojo_v2.lean.client.records import GoalState, Site
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict
from lean_dojo_v2.lean.verify.proofs import ALLOWED_AXIOMS, not_hidden
from lean_dojo_v2.lean.verify.screening import MALFORMED_REASONS, Refusal, parse, screen

TACTIC_TIMEOUT = 10.0
"""Default time limit for one tactic, in seconds."""


def check_tactic(
    server: Server,
    state: GoalState,
    tactic: str,
    *,
    goal_index: int = 0,
    own_names: Collection[str] = (),
    strict: bool = False,
    heartbeats: int | None = None,
    timeout: float = TACTIC_TIMEOUT,
) -> TacticOutcome:
    """Try one tactic at a state.

    Args:
        server: The engine that holds the state.
        state: The goals.
        tactic: A model's completion: hostile input.
        goal_index: The goal it acts on.
        own_names: Names of the theorem that is being proved; citing one is refused.
        strict: Refuse a tactic that depends on ``sorry`` or on an axiom of the file, and report
            hidden open goals (``state.owed``). Our engines only.
        heartbeats: Lean's heartbeats; default: Lean's own limit.
        timeout: Seconds that Lean may take.

    Returns:
        The outcome: ``SOLVED`` if no goal is open, including siblings, ``UNPROVEN`` if goals are
        left; :func:`.advance.judge_step` judges progress. A lost engine gives the verdict
        ``TIMED_OUT``; the server starts another at its next request.
    """
    text = tactic.strip()
    own_names = not_hidden(own_names, state.goals[goal_index])
    if refusal := screen(text, own_names=own_names):
        return _refused(refusal)
    try:
        if refusal := parse(server, text, state=state, own_names=own_names, timeout=timeout):
            return _refused(refusal)
        site = Site(goal_index, auto_resume=True)
        axioms = ALLOWED_AXIOMS if strict else None
        options = None if heartbeats is None else {"maxHeartbeats": heartbeats}
        after = server.goal_tactic(
            state, text, site, options=options, axioms=axioms, timeout=timeout
        )
    except errors.TacticParseError as error:
        return TacticOutcome(Verdict.UNPARSED, detail=str(error))
    except (errors.TacticFailure, errors.RequestError) as error:
        return TacticOutcome(Verdict.FAILED, detail=str(error))
    except (errors.EngineLostError, errors.StaleStateError) as error:
        return unanswered(error)
    return TacticOutcome(Verdict.SOLVED if after.is_solved else Verdict.UNPROVEN, after)


def unanswered(error: errors.EngineLostError | errors.StaleStateError) -> TacticOutcome:
    """Return the outcome of a tactic whose engine is lost."""
    died = not isinstance(error, errors.EngineTimeoutError)
    return TacticOutcome(Verdict.TIMED_OUT, detail=str(error), engine_died=died)


def _refused(refusal: Refusal) -> TacticOutcome:
    verdict = Verdict.UNPARSED if refusal.reason in MALFORMED_REASONS else Verdict.REFUSED
    return TacticOutcome(verdict, detail=str(refusal), refusal=refusal)
