"""What a tactic may begin with: enough to stop a model that writes prose, and no human's tactic."""

from __future__ import annotations

import json

from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.sample import sample_database_path


def test_what_a_tactic_may_begin_with_is_known_before_it_is_written(fresh_engine: Server) -> None:
    words = fresh_engine.tactic_words()
    assert {"simp", "exact?", "·", "(", "rw"} <= words.words
    assert not words.other
    data = json.loads(sample_database_path().read_text(encoding="utf-8"))
    tactics = [
        step["tactic"]
        for repository in data["repositories"]
        for theorem in repository["proven_theorems"]
        for step in theorem["traced_tactics"]
    ]
    assert len(tactics) > 1000
    lost = {tactic for tactic in tactics if not words.begin(f"{tactic} ")}
    assert not lost, "a human's tactic"
    beginnings = {tactic[:length] for tactic in tactics for length in range(12)}
    assert not [one for one in beginnings if words.begin(one) is False]
    for prose in ("To prove", "1. simp", "We", "theorem t", "by simp", "```lean", "⊢ p", "Fix n"):
        assert words.begin(prose) is False, prose
    fresh_engine.load_definitions('syntax "Fix" ident : tactic')
    state = fresh_engine.goal_start("1 = 1")
    assert fresh_engine.tactic_words(state).begin("Fix n") is True
    fresh_engine.load_definitions('syntax ident "works" : tactic')
    assert fresh_engine.tactic_words().begin("Zorn") is True
    assert fresh_engine.tactic_words(state).begin("Zorn") is False


def test_tokens_of_all_sorts_are_known(fresh_engine: Server) -> None:
    fresh_engine.load_definitions(
        'syntax "go∎" : tactic\nsyntax "x-y" : tactic\nsyntax "x-" : term\nsyntax "go" : term'
    )
    words = fresh_engine.tactic_words()
    for text in ("go∎", "x-y", "exactλ h => h", "exact‹p›", "exact(h)", "· rfl", "if! "):
        assert words.begin(f"{text} ") is not (text == "if! "), text
    assert [words.begin(text) for text in ("go", "x", "x-", "exact", "")] == [None] * 5
    fresh_engine.load_definitions('syntax num "steps" : tactic')
    assert fresh_engine.tactic_words().other
