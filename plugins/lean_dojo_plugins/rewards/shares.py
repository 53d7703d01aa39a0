"""Metrics of the verified rewards: shares of verdicts and of reasons, and what they mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lean_dojo_plugins.rewards.replay import Fallback
from lean_dojo_v2.lean.verify.outcomes import TacticOutcome, Verdict
from lean_dojo_v2.lean.verify.screening import MALFORMED, Reason

NOT_A_TACTIC = "not-a-tactic"
"""A reason besides those of ``MALFORMED``: Lean's own parser refuses the text."""

_NAMES = (
    *("lean/verified", "lean/solved", "lean/unproven", "lean/failed", "lean/unparsed"),
    *("lean/refused", "lean/timed_out", "lean/unopened"),
    *(f"lean/refused/{reason}" for reason in Reason if reason not in MALFORMED),
    *(f"lean/unparsed/{reason}" for reason in Reason if reason in MALFORMED),
    f"lean/unparsed/{NOT_A_TACTIC}",
    "lean/fallback",
    *(f"lean/{kind}/{why}" for kind in ("fallback", "unopened") for why in Fallback),
)

MEANS = {"lean/unopened": "the reward does not apply"} | {
    f"lean/{kind}/{why}": text
    for kind in ("fallback", "unopened")
    for why, text in {
        Fallback.NO_DIGEST: "the data has no digest of the state, so the replayed one is compared "
        "by its text",
        Fallback.NO_PLACE: "the row does not name its theorem, so its state is opened from its "
        "text",
        Fallback.NO_REPOSITORY: "the repository's folder does not exist, so the state is opened "
        "from its text",
        Fallback.NO_REPLAY: "Lean cannot replay the proof up to there, so the state is opened from "
        "its text",
        Fallback.ANOTHER_STATE: "that place of the proof has another state, so the traced one is "
        "opened from its text",
    }.items()
}
"""What the user should hear of the shares that tell nothing of the model."""


def shares(judgements: Sequence[TacticOutcome]) -> dict[str, float]:
    """Return the shares of a batch that are logged, always under the same names.

    A name that is absent from some batches would be averaged over the others only.

    Args:
        judgements: The judgement of each completion.

    Returns:
        The metrics that the page *pantograph-verified* lists.

    >>> found = shares([TacticOutcome(Verdict.SOLVED), TacticOutcome(Verdict.UNPROVEN)])
    >>> found["lean/verified"], found["lean/unproven"], found["lean/refused/sorry"]
    (0.5, 0.5, 0.0)
    """
    counts = Counter(name for judgement in judgements for name in counted(judgement))
    total = max(1, len(judgements))
    return {name: counts[name] / total for name in _NAMES}


def counted(judgement: TacticOutcome) -> tuple[str, ...]:
    """Return the names of the shares in which a completion counts; :data:`MEANS` explains some."""
    verdict, why = judgement.verdict, judgement.fallback
    names = [f"lean/{verdict}"]  # of these, "advanced" is no metric of its own
    if judgement.advances:
        names.append("lean/verified")
    if verdict in {Verdict.UNPARSED, Verdict.REFUSED}:
        names.append(f"lean/{verdict}/{judgement.reason or NOT_A_TACTIC}")
    if why is not None and verdict is Verdict.UNOPENED:
        names.append(f"lean/unopened/{why}")
    elif why is not None:
        names += ["lean/fallback", f"lean/fallback/{why}"]
    return tuple(names)
