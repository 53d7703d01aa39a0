"""What the benchmarks say of arms that were measured (``experiments/arms.py``)."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import attrs
import pytest

from lean_dojo_v2.benchmarks.attempts import Attempt, AttemptFolder

ROOT = Path(__file__).parents[2] / "experiments"
ARMS = ("shipped", "human", "quarter", "constant")
PAIRS = (("human", "shipped"), ("constant", "quarter"))


@pytest.fixture
def arms() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(ROOT / "arms.py")))


def measure(folder: Path, arm: str, seed: int, proved: set[int], expansions: int = 0) -> None:
    run = AttemptFolder(folder / "bench" / f"{arm}-{seed}")
    run.begin({"prover": {"label": arm}})
    nothing = dict.fromkeys([field.name for field in attrs.fields(Attempt)], 0)
    for number in range(40):
        more = {
            "name": f"t{number}",
            "success": number in proved,
            "reason": None,
            "detail": "",
            "expansions": expansions,
        }
        run.append("prover", Attempt(**(nothing | more)))
    run.path.with_suffix(".measured").touch()


def test_arms_are_compared_theorem_by_theorem_over_the_seeds_that_both_have(
    arms: SimpleNamespace, tmp_path: Path
) -> None:
    for seed in (0, 1):
        measure(tmp_path, "shipped", seed, set(range(10)))
        measure(tmp_path, "human", seed, set(range(22 + seed)))
    measure(tmp_path, "shipped", 2, set(range(10)))
    every = arms.report(arms.measured(tmp_path), ARMS, PAIRS)
    found = every["16"]
    assert found["arms"]["human"]["proved"] == {"0": 22, "1": 23}
    compared = found["comparisons"]["human - shipped"]
    assert compared["seeds"] == [0, 1]
    assert compared["points"] == pytest.approx(100 * 12.5 / 40)
    assert compared["low"] > 10
    assert compared["p"] < 0.01
    assert compared["p of each seed"][0] == pytest.approx(2 * 0.5**12)
    json.dumps(every)
    table = arms.table(every)
    assert "| human | 22, 23 | 40 | 56.2 % | " in table
    assert "| human - shipped | +31.2 |" in table


def test_equal_arms_differ_by_nothing(arms: SimpleNamespace, tmp_path: Path) -> None:
    for arm in ("constant", "quarter"):
        measure(tmp_path, arm, 0, {1, 2})
    compared = arms.report(arms.measured(tmp_path), ARMS, PAIRS)["16"]["comparisons"][
        "constant - quarter"
    ]
    assert (compared["points"], compared["p"]) == (0.0, 1.0)


def test_what_is_found_late_does_not_count_earlier(arms: SimpleNamespace, tmp_path: Path) -> None:
    measure(tmp_path, "quarter", 0, {1, 2}, expansions=3)
    found = arms.report(arms.measured(tmp_path), ARMS, PAIRS)
    proved = [found[str(n)]["arms"]["quarter"]["proved"]["0"] for n in arms.WITHIN]
    assert proved == [0, 0, 2, 2, 2]


def test_outcomes_of_before_are_added_to(arms: SimpleNamespace, tmp_path: Path) -> None:
    measure(tmp_path, "quarter", 0, {1, 2}, expansions=3)
    measure(tmp_path, "near-100", 1, {7})
    before = arms.measured(tmp_path)
    assert before["quarter", 0]["t1"] == 3
    before["near-100", 1].pop("t0")  # not tried
    another = tmp_path / "another"
    arms.write_outcomes(another / arms.OUTCOMES, before)
    measure(another, "quarter", 1, {3})
    after = arms.measured(another)
    assert after == {**before, ("quarter", 1): {f"t{n}": int(n == 3) for n in range(40)}}
    assert arms.outcomes(after, "quarter", 2) == {
        0: dict.fromkeys(before["quarter", 0], False),
        1: {f"t{n}": n == 3 for n in range(40)},
    }


def test_the_documented_counts_are_those_of_the_outcomes_that_are_kept(
    arms: SimpleNamespace,
) -> None:
    found = arms.read_outcomes(ROOT / "results" / "learning.csv")
    page = (ROOT.parent / "docs" / "benchmarks.md").read_text()
    for arm in ("shipped", "human", "quarter", "control", "self-training"):
        runs = arms.outcomes(found, arm)
        proved = ", ".join(str(sum(run.values())) for run in runs.values())
        assert f"| {arm} | {proved} | " in page
    for count in (0, 100, 1_000, 10_000):
        near, far = (sum(arms.outcomes(found, f"{w}-{count}")[2].values()) for w in ("near", "far"))
        [row] = [
            line for line in page.splitlines() if line.startswith(f"| {count:,} | ") and ";" in line
        ]
        assert f"; {near} | " in row
        assert row.endswith(f"; {far} |")
