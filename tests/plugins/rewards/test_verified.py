"""The reward that asks Lean: what pays, what does not, what costs; dedup, replay, deaths."""

from __future__ import annotations

import pickle
from pathlib import Path

import psutil
import pytest
from processes import kill

from lean_dojo_core import registry
from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.rewards.adapter import adapt
from lean_dojo_plugins.rewards.verified import PantographVerified
from lean_dojo_v2.lean.pool.local import EnginePool
from lean_dojo_v2.lean.verify.outcomes import Verdict

GOAL = "p q : Prop\nhp : p\nhq : q\n⊢ p ∧ q"

FILE = """\
namespace Farm

def double (n : Nat) : Nat := n + n

theorem double_zero : double 0 = 0 := by
  unfold double
  rfl

end Farm
"""


@pytest.fixture(scope="module")
def reward():
    made = PantographVerified(engines=1, timeout=5)
    yield made
    made.close()


TABLE = [
    ("exact ⟨hp, hq⟩", 1.0),
    ("constructor", 0.0),
    ("refine ⟨hp, ?_⟩", 0.0),
    ("constructor <;> assumption", 1.0),
    ("  exact ⟨hp, hq⟩\n", 1.0),
    ("skip", 0.0),
    ("have := trivial", 0.0),
    ("have h2 := hp", 0.0),
    ("rename p => r", 0.0),
    ("(rename_i; skip)", 0.0),
    ("refine ?_", 0.0),
    ("by_cases h : True", 0.0),
    ("simp at *", 0.0),
    ("exact hp", 0.0),
    ("constructor <;> exact hp", 0.0),
    ("", 0.0),
    ("   ", 0.0),
    ("We split the conjunction.", 0.0),
    ("```lean\nexact ⟨hp, hq⟩\n```", 0.0),
    ("constructor\nexact hp", 0.0),
    ("constructor; exact hp", 0.0),
    ("exact ⟨hp, hq⟩ -- done", 0.0),
    ("exact?", 0.0),
    ("sorry", -1.0),
    ("constructor <;> sorry", -1.0),
    ("exact (sorry)", -1.0),
    ("exact ⟨hp, sorryAx _⟩", -1.0),
    ("admit", -1.0),
    ("native_decide", -1.0),
    ("set_option maxHeartbeats 0 in constructor", -1.0),
    ("run_tac Lean.Elab.Tactic.evalTactic (← `(tactic| constructor))", -1.0),
    ("theorem cheat : False := cheat", -1.0),
]


def test_only_verified_advances_pay_and_cheating_costs(reward):
    tactics = [tactic for tactic, _ in TABLE]
    logged = {}
    scores = reward(tactics, problem=[GOAL] * len(tactics), log_metric=logged.__setitem__)
    assert dict(zip(tactics, scores, strict=True)) == dict(TABLE)
    assert logged["lean/verified"] == pytest.approx(3 / len(TABLE))
    assert logged["lean/refused"] == pytest.approx(9 / len(TABLE))
    assert logged["lean/unopened"] == 0


def test_every_end_and_every_reason_is_counted_under_a_stable_name(reward):
    tactics = [tactic for tactic, _ in TABLE]
    logged, nothing = {}, {}
    reward(tactics, problem=[GOAL] * len(tactics), log_metric=logged.__setitem__)
    reward(["constructor"], problem=[GOAL], log_metric=nothing.__setitem__)
    assert nothing.keys() == logged.keys(), "a name that comes and goes would be averaged wrongly"
    met = {"lean/unproven", "lean/fallback", "lean/fallback/no-place"}
    assert {name for name in nothing if nothing[name]} == met, "the rows have a goal's text alone"
    ends = ("verified", "unproven", "failed", "unparsed", "refused", "timed_out", "unopened")
    assert sum(logged[f"lean/{end}"] for end in ends) == pytest.approx(1)
    for kind in ("refused", "unparsed"):
        reasons = {n: v for n, v in logged.items() if n.startswith(f"lean/{kind}/")}
        assert sum(reasons.values()) == pytest.approx(logged[f"lean/{kind}"])
    count = {name: round(share * len(TABLE)) for name, share in logged.items() if share}
    assert count["lean/refused/sorry"] == 5
    assert count["lean/refused/native-code"] == 1
    assert count["lean/refused/option"] == 1
    assert count["lean/refused/metaprogram"] == 1
    assert count["lean/unparsed/empty"] == 2
    assert count["lean/unparsed/search-tactic"] == 1


def test_message_lists_score_as_their_text(reward):
    chat = [[{"role": "assistant", "content": "exact ⟨hp, hq⟩"}]]
    assert reward(chat, problem=[GOAL]) == [1.0]
    assert adapt(reward)(chat, problem=[GOAL], trainer_state=None) == [1.0]


def sharing(reward, **settings):
    """Another reward that uses the same engines."""
    made = PantographVerified(engines=1, **settings)
    made.lean = reward.lean
    return made


def test_equal_pairs_are_checked_once(reward, monkeypatch):
    requests = []
    submit = EnginePool.submit
    monkeypatch.setattr(
        EnginePool,
        "submit",
        lambda self, fn, *a, **k: (requests.append(a[:2]), submit(self, fn, *a, **k))[1],
    )
    reward = sharing(reward)
    batch = ["constructor", "skip", "constructor", "constructor"]
    assert reward(batch, problem=[GOAL] * 4) == [0.0, 0.0, 0.0, 0.0]
    assert reward(["skip"], problem=[GOAL]) == [0.0]
    [(spec, tactics)] = requests
    assert spec.goal == GOAL
    assert tactics == ("constructor", "skip")


def test_a_state_that_cannot_be_opened_is_not_judged(reward):
    logged = {}
    scores = reward(
        ["rfl", "rfl"],
        problem=["⊢ Farm.double 0 = 0", "⊢ 1 = 1"],
        log_metric=logged.__setitem__,
    )
    assert scores == [None, 1.0]
    assert logged["lean/unopened"] == logged["lean/unopened/no-place"] == 0.5
    assert logged["lean/fallback"] == logged["lean/fallback/no-place"] == 0.5


def row(url: str, **changes) -> dict:
    """Columns of the tactic-prompt formatter for the second tactic of the farm's theorem."""
    columns = {
        "problem": "⊢ double 0 = 0", "url": url, "commit": "", "file_path": "Farm.lean",
        "full_name": "Farm.double_zero", "start": [5, 1], "end": [7, 6], "position": [6, 3],
        "tactic": "unfold double",
    }  # fmt: skip
    return {name: [value] for name, value in {**columns, **changes}.items()}


@pytest.mark.slow
def test_rows_are_replayed_in_their_file_without_the_theorem(tmp_path: Path):
    (tmp_path / "Farm.lean").write_text(FILE)
    reward = PantographVerified(engines=1, projects={"farm": tmp_path})
    for tactic, score in [
        ("unfold double", 1.0),
        ("simp [double]", 1.0),
        ("rfl", 1.0),
        ("exact double_zero", -1.0),
        ("exact Farm.double_zero", -1.0),
        ("exact double_one", 0.0),
    ]:
        assert reward([tactic], **row("farm")) == [score], tactic
    judged = reward.judgements(["rfl"], **row("farm", position=[7, 3], problem="⊢ 0 + 0 = 0"))
    assert judged[0].verdict is Verdict.SOLVED
    # Split files do not say where a tactic stands: its text is found, its state decides.
    for tactic, goal in [("unfold double", "⊢ double 0 = 0"), ("rfl", "⊢ 0 + 0 = 0")]:
        columns = row("farm", position=None, tactic=tactic, problem=goal)
        assert reward([tactic], **columns) == [1.0]
    # The file has changed since: the traced state is opened from its text, or not judged.
    assert reward(["rfl"], **row("farm", problem="⊢ 1 + 1 = 2")) == [1.0]
    assert reward(["rfl"], **row("farm", problem="⊢ triple 1 = 3")) == [None]
    reward.close()


@pytest.mark.slow
def test_a_place_where_nothing_is_open_is_passed_over(tmp_path: Path):
    """The row's tactic stands twice; before the first one, no goal is left."""
    text = FILE.replace("  unfold", "  have : 1 = 1 := by\n    rfl\n    all_goals skip\n  unfold")
    (tmp_path / "Farm.lean").write_text(text.replace("  rfl\n\n", "  all_goals skip\n  rfl\n\n"))
    reward = PantographVerified(engines=1, projects={"farm": tmp_path})
    place = {"position": None, "tactic": "all_goals skip", "end": [11, 6]}
    goal = "this : 1 = 1\n⊢ 0 + 0 = 0"
    [judged] = reward.judgements(["rfl"], **row("farm", problem=goal, **place))
    assert judged.verdict is Verdict.SOLVED
    # It stands nowhere any more; `double` means something in its file alone.
    [judged] = reward.judgements(["rfl"], **row("farm", problem="⊢ double 2 = 4", **place))
    assert judged.verdict is Verdict.UNOPENED
    assert "trace it again" in judged.detail
    reward.close()


def test_without_its_repository_the_text_serves(reward, tmp_path, monkeypatch):
    monkeypatch.setenv("RAID_DIR", str(tmp_path))
    columns = row(str(tmp_path / "nowhere"), commit="0" * 40, problem="⊢ 0 + 0 = 0")
    assert reward(["rfl"], **columns) == [1.0]


def test_moves_that_are_open_everywhere_do_not_pay(reward):
    moves = ["exfalso", "revert hp", "have := Nat.zero_le 1", "have h := Nat.add_comm"]
    moves += ["apply Fin.elim0", "apply Empty.elim", "apply PLift.down"]
    moves += ["refine absurd ?_ (Nat.lt_irrefl 0)"]
    assert reward(moves, problem=[GOAL] * len(moves)) == [0.0] * len(moves)
    assert reward(["symm"], problem=["n m : Nat\nh : n < m\n⊢ m = n"]) == [0.0]
    # Where it helps it does: `assumption` closes what `simp_all` closed before.
    assert reward(["symm"], problem=["n m : Nat\nh : n = m\n⊢ m = n"]) == [1.0]


@pytest.mark.slow
def test_engines_of_few_repositories_stay_open(tmp_path):
    reward = PantographVerified(engines=1, kept_projects=1)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Farm.lean").write_text(FILE)
        reward.projects[name] = tmp_path / name
        reward.warm_up(**row(name))
        assert reward(["unfold double"], **row(name)) == [1.0]
    assert reward.lean.projects == [tmp_path / "two"]
    reward.close()


@pytest.mark.slow
def test_a_killed_engine_costs_nothing_but_time():
    others = {process.pid for process in psutil.Process().children(recursive=True)}
    reward = PantographVerified(engines=1, kept_projects=1)  # shares no engine of other tests
    goal = "p q : Prop\nh : p ∧ q\n⊢ q ∧ p"
    assert reward(["exact ⟨h.right, h.left⟩"], problem=[goal]) == [1.0]
    mine = [p for p in psutil.Process().children(recursive=True) if p.pid not in others]
    assert mine
    for process in mine:
        kill(process)
    assert reward(["exact ⟨h.2, h.1⟩"], problem=[goal]) == [1.0]
    reward.close()


@pytest.mark.slow
def test_a_tactic_that_never_ends_loses_only_its_own_reward(reward):
    bomb = "skip"
    for _ in range(6):
        bomb = f"(iterate 9 (try {bomb}; have := hp))"
    hasty = sharing(reward, timeout=1)
    judged = hasty.judgements([bomb, "exact ⟨hp, hq⟩"], problem=[GOAL] * 2)
    assert [one.verdict for one in judged] == [Verdict.TIMED_OUT, Verdict.SOLVED]
    assert hasty([bomb], problem=[GOAL]) == [0.0]


def test_settings_shape_the_scores(reward):
    custom = sharing(reward, advanced=0.5, solved=2, refused=-3, unparsed=-0.1)
    scores = custom(["exact ⟨hp, hq⟩", "sorry", "hm hm"], problem=[GOAL] * 3)
    assert scores == [2.0, -3.0, -0.1]
    forall = "⊢ ∀ (n : Nat), n + 0 = n ∧ True"
    assert custom(["intro n"], problem=[forall]) == [0.5]


def test_it_pickles_without_its_engines(reward):
    copy = pickle.loads(pickle.dumps(reward))
    assert copy.lean.projects == []
    assert (copy.timeout, copy.engines) == (reward.timeout, reward.engines)


def test_missing_column_and_bad_settings_are_usage_errors(reward):
    with pytest.raises(UsageError, match="column 'problem'"):
        reward(["rfl"])
    with pytest.raises(UsageError, match="timeout"):
        PantographVerified(timeout=0)


def test_an_empty_batch_needs_no_engine():
    reward = PantographVerified()
    assert reward([], problem=[]) == []
    assert reward.lean.projects == []


def test_the_registry_gives_it():
    entry = registry.reward_functions["pantograph_verified"]
    assert entry.load() is PantographVerified
    assert entry.spec.needs_lean
