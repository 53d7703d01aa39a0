"""The reward of whole proofs: what passes the full verification pays, and nothing else does."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.rewards.proof_verified import ProofVerified, places_in

STATEMENT = "theorem both (p q : Prop) (hp : p) (hq : q) : p ∧ q :="


@pytest.fixture(scope="module")
def reward():
    made = ProofVerified(engines=1, dense=0.5)
    yield made
    made.close()


def score(reward, completions, **columns):
    logged: dict[str, float] = {}
    count = len(completions)
    given = {"problem": [STATEMENT] * count, "full_name": ["both"] * count, **columns}
    found = reward(completions, log_metric=logged.__setitem__, **given)
    return found, logged


TABLE = [
    ("exact ⟨hp, hq⟩", 1.0),
    ("constructor\n· exact hp\n· exact hq", 1.0),
    ("```lean4\ntheorem both (p q : Prop) (hp : p) (hq : q) : p ∧ q := by\n  exact ⟨hp, hq⟩\n```", 1.0),
    ([{"role": "assistant", "content": "exact ⟨hp, hq⟩"}], 1.0),
    ("exact ⟨hp, hp⟩", 0.0),
    ("skip\n-- hm\nskip\n\nexact hn", 0.0),  # padding
    ("constructor\n· exact hp\n· exact hp", pytest.approx(1 / 3)),  # two of three lines hold
    ("sorry", 0.0),
    ("exact both p q hp hq", 0.0),
    ("native_decide", 0.0),
    ("", 0.0),
    ("Lean is a proof assistant.", 0.0),
]  # fmt: skip


def test_what_pays(reward):
    found, logged = score(reward, [completion for completion, _ in TABLE])
    assert found == [paid for _, paid in TABLE]
    assert logged["lean/verified"] == pytest.approx(4 / len(TABLE))
    assert logged["lean/refused/sorry"] == logged["lean/refused/cites-itself"]
    assert logged["lean/unopened"] == 0
    assert logged["lean/calls"] > 0 < logged["lean/seconds"]
    assert score(reward, [completion for completion, _ in TABLE])[1]["lean/calls"] == 0  # known


def test_rewards_on_the_same_engines_count_their_own_calls(reward):
    other = ProofVerified(engines=1)
    score(reward, ["exact ⟨hp, hq⟩"])
    assert score(other, ["exact ⟨hp, hq⟩", "exact ⟨hq, hp⟩"])[1]["lean/calls"] > 0
    assert score(reward, ["exact ⟨hp, hq⟩"])[1]["lean/calls"] == 0
    other.close()


def test_what_is_wrong_is_said_for_another_turn(reward):
    given = {"problem": [STATEMENT] * 3, "full_name": ["both"] * 3}
    holds, wrong, cheats = reward.feedback(["exact ⟨hp, hq⟩", "exact ⟨hp, hp⟩", "sorry"], **given)
    assert holds is None
    assert wrong.startswith("Lean does not accept this proof:\nat `exact ⟨hp, hp⟩`: ")
    assert "Type mismatch" in wrong or "type mismatch" in wrong
    assert "sorry" in cheats
    given["header"] = ["open Nat\n\n"] * 3
    texts = ["constructor\n· exact hp\n· exact )", "constructor\n· exact (hp", "skip"]
    unread, unfinished, left = reward.feedback(texts, **given)
    assert "not a block of tactics: at `· exact )`: " in unread
    assert "not a block of tactics: at its end: unexpected end of input" in unfinished
    assert "proof:\nunsolved goals\n" in left
    given["header"] = ["import Nowhere\n\n"] * 3
    assert reward.feedback(["rfl"] * 3, **given) == [None] * 3


def test_a_changed_statement_earns_nothing(reward):
    text = "```lean\ntheorem both (p q : Prop) (hp : p) (hq : q) : p := by\n  exact hp\n```"
    assert score(reward, [text])[0] == [0.0]


def test_a_theorem_brings_what_comes_before_it(reward):
    columns = {
        "problem": ["theorem two : twice 2 = 4 :="],
        "full_name": ["two"],
        "header": ["def twice (n : Nat) : Nat := n + n\n\n"],
    }
    assert score(reward, ["rfl"], **columns)[0] == [1.0]
    columns["header"] = ["import Nowhere\n\n"]
    found, logged = score(reward, ["rfl"], **columns)
    assert found == [None]
    assert logged["lean/unopened"] == 1


def test_a_theorem_of_a_repository_is_verified_in_its_file(reward, tmp_path: Path):
    text = (
        "def one := 1\n\ntheorem t : one = 1 := by\n  rfl\n\ntheorem later : one + one = 2 := rfl\n"
    )
    (tmp_path / "A.lean").write_text(text)
    columns = {
        "problem": ["theorem t : one = 1 :="],
        "full_name": ["t"],
        "url": ["https://h/o/r"],
        "commit": ["c"],
        "file_path": ["A.lean"],
        "start": [[3, 1]],
        "end": [[4, 6]],
    }
    reward = ProofVerified(engines=1, projects={"https://h/o/r": tmp_path})
    assert reward(["decide"], **columns) == [1.0]
    assert reward(["exact later"], **columns) == [0.0]
    reward.close()


def test_a_row_that_does_not_say_where_its_theorem_stands_is_no_mistake_of_the_model(caplog):
    reward = ProofVerified(engines=1)
    for _ in range(2):
        found, logged = score(reward, ["rfl"], url=["u"], commit=["c"], file_path=["A.lean"])
        assert (found, logged["lean/unopened"]) == ([None], 1)
    reward.close()
    [said] = [r.getMessage() for r in caplog.records if "does not apply" in r.getMessage()]
    assert (
        "first for 'both': the position of both in A.lean is unknown: the columns 'start'" in said
    )


def test_settings():
    assert pickle.loads(pickle.dumps(ProofVerified(dense=0.25))).dense == 0.25
    for wrong in ({"dense": 1}, {"timeout": 0}, {"engines": 0}):
        with pytest.raises(UsageError):
            ProofVerified(**wrong)
    with pytest.raises(UsageError, match="full_name"):
        ProofVerified()(["rfl"], problem=["theorem t : 1 = 1 :="])


def test_what_is_no_proof_is_logged_with_an_example(caplog):
    reward = ProofVerified(engines=1)
    given = {"problem": [STATEMENT] * 2, "full_name": ["both"] * 2}
    assert reward(["exact ⟨hp, hq⟩", "Lean is a proof assistant."], **given) == [1.0, 0.0]
    reward.close()
    [said] = [r.getMessage() for r in caplog.records if "a block of tactics" in r.getMessage()]
    assert said == (
        "proof-verified: this is not a block of tactics (lean/unparsed/not-a-tactic counts these), "
        "first for 'Lean is a proof assistant.'"
    )


def test_an_unfinished_proof_is_worth_more_than_one_that_fails_in_its_first_line(reward):
    found, _ = score(reward, ["constructor", "exact hq", "constructor\n· exact hp\nskip"])
    # half of one line in two, and of two in three: `skip` does not count
    assert found == [0.25, 0.0, pytest.approx(1 / 3)]


FENCED = "First split.\n```lean\n    constructor\n    · exact hp\n    · exact hp\n```\nDone."


def test_it_says_where(reward):
    texts = ["constructor\n· exact hp\n· exact hq", "skip\nconstructor", FENCED, "sorry", "exact )",
             "rw [foo]\nexact hp"]  # fmt: skip
    given = {"problem": [STATEMENT] * len(texts), "full_name": ["both"] * len(texts)}
    reward(texts, **given)
    calls = reward._counter.requests
    said = [
        own and [(one.label, text[one.start : one.end], one.value) for one in own]
        for text, own in zip(texts, reward.spans(texts, **given), strict=True)
    ]
    assert reward._counter.requests == calls, "nothing is elaborated twice"
    assert said[0] == [
        ("sound", part, 1.0)
        for part in ("constructor", "· exact hp", "exact hp", "· exact hq", "exact hq")
    ]
    assert said[1] == [
        ("idle", "skip", 0.0),
        ("sound", "constructor", 1.0),
        ("unfinished", "", -1.0),
    ]
    assert said[2] == [
        ("sound", "constructor", 1.0), ("sound", "· exact hp", 1.0), ("sound", "exact hp", 1.0),
        ("failing", "exact hp", -1.0),
    ]  # fmt: skip
    assert said[3] is None
    assert said[4] == [("failing", "exact )", -1.0)]
    assert said[5] == [("failing", "rw [foo]", -1.0), ("following", "\nexact hp", 0.0)]


@pytest.mark.parametrize(
    "proof",
    ["a\nb", "·\na\n·", "constructor\n\n· simp\n\n· simp\n", "  a\n\n\n  b", "\n\na", "}\n}\n}"],
)
@pytest.mark.parametrize("margin", ["", "    "])
def test_each_character_of_a_proof_has_its_place(proof, margin):
    text = "theorem t : p := by\n" + "".join(f"{margin}{line}\n" for line in proof.split("\n"))
    places = places_in(text, proof)
    assert places is not None
    assert len(places) == len(proof)
    assert places == sorted(places)
    pairs = zip(proof, (text[place] for place in places), strict=True)
    assert all(own == read for own, read in pairs if not own.isspace())


def test_a_proof_that_is_a_term_has_one_part(reward):
    wholes = ["⟨hp, hq⟩", "\n  And.intro\n    hp hq", "⟨hp, hp⟩", "foo hp"]
    texts = [f"{STATEMENT} {term}" for term in wholes]
    given = {"problem": [STATEMENT] * len(texts), "full_name": ["both"] * len(texts)}
    found = reward.spans(texts, **given)
    assert [[text[one.start : one.end] for one in own] for text, own in zip(texts, found, strict=True)] == [
        [term.lstrip()] for term in wholes
    ]  # fmt: skip
    assert [own[0].label for own in found] == ["sound", "sound", "failing", "failing"]
    assert reward.spans([f"{STATEMENT} sorry"], **{k: v[:1] for k, v in given.items()}) == [None]


def test_spans_of_what_cannot_be_opened_are_unknown(reward):
    given = {"problem": [STATEMENT], "full_name": ["both"], "header": ["import Nowhere\n\n"]}
    assert reward.spans(["exact ⟨hp, hq⟩"], **given) == [None]
