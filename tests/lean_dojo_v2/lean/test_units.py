"""What is read out of answers about whole texts."""

from __future__ import annotations

import pytest

from lean_dojo_v2.lean.client.units import CheckTrackResult


def said(severity: str, text: str = "something") -> dict[str, object]:
    return {"data": text, "pos": {"line": 1, "column": 0}, "severity": severity, "kind": ""}


@pytest.mark.parametrize(
    ("src", "dst", "failure", "succeeded"),
    [
        ([], [], None, True),
        (["warning"], ["info"], None, True),
        ([], ["error"], None, False),
        (["error"], [], None, False),
        ([], [], "f has another type", False),
    ],
)
def test_a_proof_with_errors_proves_nothing(src, dst, failure, succeeded):
    answer = {
        "srcMessages": [said(severity) for severity in src],
        "dstMessages": [said(severity) for severity in dst],
        **({} if failure is None else {"failure": failure}),
    }
    result = CheckTrackResult.parse(answer)
    assert result.succeeded is succeeded
    assert result.hasSrcError == ("error" in src)
    assert result.hasDstError == ("error" in dst)


def test_feedback_is_what_the_prover_should_read():
    answer = {
        "srcMessages": [said("warning", "not for the prover")],
        "dstMessages": [said("error", "unknown identifier")],
        "failure": "f is missing",
    }
    feedback = CheckTrackResult.parse(answer).feedback
    assert feedback == ["1:0: error: unknown identifier", "f is missing"]
