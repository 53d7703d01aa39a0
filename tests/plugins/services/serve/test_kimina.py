"""The unmodified client of Kimina Lean Server, over our engines."""

import typing

import pytest
import typing_extensions

# The client asks `typing` for what pydantic takes from there on Python 3.12 and newer alone.
typing.TypedDict = typing_extensions.TypedDict
from kimina_client import KiminaClient, Snippet  # noqa: E402
from kimina_client.models import SnippetStatus  # noqa: E402


@pytest.fixture(scope="module")
def client(served):
    return KiminaClient(api_url=served.url, n_retries=1)


def status(client, text):
    [result] = client.check([Snippet(id="x", code=text)], show_progress=False).results
    return result.analyze().status


@pytest.mark.slow
def test_its_own_test_and_health(client):
    client.test()
    assert client.health()["status"] == "ok"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("theorem t (n : Nat) : n + 0 = n := by simp", SnippetStatus.valid),
        ("theorem t (n : Nat) : n + 0 = n := by sorry", SnippetStatus.sorry),
        ("def a := 1\n#eval a", SnippetStatus.valid),  # though it proves nothing
        ("theorem t (n : Nat) : n + 1 = n := by simp", SnippetStatus.lean_error),
        ("import Mathlib\ntheorem t : 1 = 1 := rfl", SnippetStatus.repl_error),
    ],
)
def test_what_it_makes_of_our_answers(client, text, expected):
    assert status(client, text) == expected


HUSHED = """\
import Lean
theorem target : 2 + 2 = 5 := by
  run_tac do
    Lean.Elab.Command.lintersRef.modify (·.push {
      name := `hush, run := fun _ => modify fun state => { state with messages := {} } })
    Lean.addDecl (.thmDecl {
      name := `target, levelParams := [], type := .const ``True [], value := .const ``True.intro [] })
    (← Lean.Elab.Tactic.getMainGoal).admit
"""
"""It deletes Lean's messages and takes its theorem from Lean's list."""


@pytest.mark.parametrize(
    "text",
    [
        "axiom a : 1 = 2\ntheorem t : 1 = 2 := a",
        "theorem t : 2 ^ 10 = 1024 := by native_decide",
        'elab "cheat" : command => pure ()\naxiom b : False\ntheorem t : False := b',
        "set_option debug.skipKernelTC true\naxiom c : False\ntheorem t : False := c",
        HUSHED,
    ],
)
def test_what_says_nothing_bad_earns_nothing(client, served, text):
    [result] = client.check([Snippet(id="x", code=text)], show_progress=False).results
    assert result.analyze().status == SnippetStatus.lean_error
    question = {"snippets": [{"id": "x", "code": text}]}
    [raw] = served.post("/api/check", question).json()["results"]
    assert raw["response"]["lean_dojo"]["valid"] is False


def test_a_batch_keeps_its_order(client):
    texts = [f"theorem t : {n} + {n} = {n + n + n % 2} := rfl" for n in range(12)]
    snippets = [Snippet(id=str(n), code=text) for n, text in enumerate(texts)]
    results = client.check(snippets, batch_size=4, show_progress=False).results
    found = {result.id: result.analyze().status for result in results}
    assert [found[str(n)] == SnippetStatus.valid for n in range(12)] == [
        n % 2 == 0 for n in range(12)
    ]
