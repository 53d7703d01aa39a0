"""The prover on an endpoint, before a real local HTTP server."""

from __future__ import annotations

import pytest

from lean_dojo_core import Theorem
from lean_dojo_core.errors import UsageError
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover import ExternalProver
from lean_dojo_v2.prover.completions import first_tactic, proof_of, unfenced
from lean_dojo_v2.prover.external import EndpointError, ExternalGenerator


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    """Retries wait for half a second and more; here for a moment."""
    import openai._base_client as base

    monkeypatch.setattr(base, "INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr(base, "MAX_RETRY_DELAY", 0.02)


# --- answers -------------------------------------------------------------------------------------


def test_the_request_is_the_training_prompt(endpoint, say):
    server = endpoint(say("rfl"))
    ExternalGenerator("some/model").generate(["⊢ 1 = 1"], num_samples=2)
    [(path, headers, body)] = server.requests
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == "Bearer secret"
    assert body["model"] == "some/model"
    assert body["n"] == 2
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["messages"][1]["content"] == "⊢ 1 = 1"


def test_log_probabilities_of_the_endpoint_are_used(endpoint, say):
    endpoint(say("exact foo bar", "rfl\nand some more words", logprobs=True))
    [found] = ExternalGenerator().generate(["⊢ p"], num_samples=2)
    assert [(s.tactic, s.logprob) for s in found] == [("exact foo bar", -3.0), ("rfl", -1.0)]


def test_without_log_probabilities_shares_estimate_them(endpoint, say):
    endpoint(say("rfl", "simp", "rfl", ""))
    [found] = ExternalGenerator().generate(["⊢ p"], num_samples=4)
    assert {s.tactic: round(s.logprob, 3) for s in found} == {"rfl": -0.405, "simp": -1.099}


def test_several_goals_keep_their_order(endpoint):
    endpoint(lambda body: [(f"exact {body['messages'][1]['content'][2:]}", None)] * body["n"])
    found = ExternalGenerator(workers=3).generate([f"⊢ p{k}" for k in range(7)], num_samples=1)
    assert [s.tactic for [s] in found] == [f"exact p{k}" for k in range(7)]


def test_an_endpoint_that_gives_one_completion_at_a_time_is_asked_again(endpoint):
    server = endpoint(lambda _: [("rfl", None)])
    [found] = ExternalGenerator().generate(["⊢ p"], num_samples=3)
    assert len(found) == 3
    assert [body["n"] for _, _, body in server.requests] == [3, 2, 1]


def test_an_endpoint_that_refuses_logprobs_and_n(endpoint):
    server = endpoint(lambda body: 400 if {"logprobs", "n"} & body.keys() else [("rfl", None)])
    generator = ExternalGenerator()
    [found] = generator.generate(["⊢ p"], num_samples=2)
    assert len(found) == 2
    assert len(server.requests) == 4
    generator.generate(["⊢ p"], num_samples=2)  # it has learned that
    assert len(server.requests) == 6


@pytest.mark.parametrize("status", [400, 500])
def test_an_endpoint_whose_chat_template_refuses_the_system_role(endpoint, say, status, caplog):
    """vLLM answers 400 and transformers 500, which is also what passing trouble looks like."""
    answer = say("rfl", logprobs=True)
    server = endpoint(
        lambda body: status if body["messages"][0]["role"] == "system" else answer(body)
    )
    generator = ExternalGenerator("some/model", max_retries=1)
    [[found], _] = generator.generate(["⊢ p", "⊢ p"], num_samples=1)
    assert found.tactic == "rfl"
    [message] = server.requests[-1][2]["messages"]
    assert message["role"] == "user"
    assert message["content"].endswith("\n\n⊢ p")
    assert server.requests[-1][2]["logprobs"]
    assert caplog.text.count("some/model refuses a system message") == 1
    before = len(server.requests)
    generator.generate(["⊢ q"], num_samples=1)  # it has learned that
    assert len(server.requests) == before + 1


def too_long_for(say, word):
    """Refuse every prompt that holds a word, as an endpoint refuses one beyond its context."""
    answer = say("rfl", logprobs=True)
    return lambda body: 400 if word in body["messages"][-1]["content"] else answer(body)


def test_a_prompt_that_is_refused_changes_nothing_for_the_next(endpoint, say):
    server = endpoint(too_long_for(say, "long"))
    generator = ExternalGenerator(workers=1)
    with pytest.raises(EndpointError, match="400"):
        generator.generate(["⊢ long"], num_samples=2)
    generator.generate(["⊢ short"], num_samples=2)
    last = server.requests[-1][2]
    assert (last["logprobs"], last["n"]) == (True, 2)


def test_a_prompt_that_is_refused_costs_no_other_its_answer(endpoint, say, caplog):
    endpoint(too_long_for(say, "long"))
    found = ExternalGenerator().generate(["⊢ p", "⊢ long", "⊢ q"], num_samples=1)
    assert [[s.tactic for s in one] for one in found] == [["rfl"], [], ["rfl"]]
    assert "1 of 3 goals got no tactics" in caplog.text
    assert "400" in caplog.text


# --- trouble -------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 500, 503])
def test_passing_trouble_is_waited_out(endpoint, say, status):
    server = endpoint(status, status, say("rfl"))
    [[found]] = ExternalGenerator().generate(["⊢ p"], num_samples=1)
    assert found.tactic == "rfl"
    assert len(server.requests) == 3


def test_lasting_trouble_is_an_error(endpoint):
    server = endpoint(503)
    with pytest.raises(
        EndpointError, match=r"'some/model' at http://127.0.0.1.*503.*OPENAI_BASE_URL"
    ):
        ExternalGenerator("some/model", max_retries=2).generate(["⊢ p"], num_samples=1)
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [401, 404])
def test_what_will_not_pass_is_not_repeated(endpoint, status):
    server = endpoint(status)
    with pytest.raises(EndpointError, match=str(status)):
        ExternalGenerator().generate(["⊢ p"], num_samples=1)
    assert len(server.requests) == 1


def test_an_endpoint_that_does_not_answer_in_time(endpoint):
    server = endpoint(2.0)
    with pytest.raises(EndpointError, match=r"(?i)time"):
        ExternalGenerator(timeout=0.2, max_retries=1).generate(["⊢ p"], num_samples=1)
    assert len(server.requests) == 2


@pytest.mark.parametrize("content", [b"<html>hello</html>", b"{}", b'{"choices": null}', b'"text"'])
def test_garbage_gives_nothing_or_an_error(endpoint, content):
    endpoint(content)
    try:
        found = ExternalGenerator(max_retries=0).generate(["⊢ p"], num_samples=2)
    except EndpointError:
        return
    assert found == [[]]


def test_an_address_where_nobody_listens(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with pytest.raises(EndpointError, match="Connection"):
        ExternalGenerator(max_retries=0).generate(["⊢ p"], num_samples=1)


def test_a_missing_key_is_said(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set"):
        ExternalGenerator().generate(["⊢ p"], num_samples=1)


def test_a_token_of_hugging_face_is_enough(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("HF_TOKEN", "hf")
    assert str(ExternalGenerator()._connect().base_url) == "https://router.huggingface.co/v1/"


# --- proving -------------------------------------------------------------------------------------


def test_it_proves_with_lean(endpoint, say, engine, zoo):
    endpoint(say("```lean\nexact ⟨hp, hq⟩\n```", "sorry", "I think that simp will do."))
    prover = ExternalProver("m", ProverConfig(num_sampled_tactics=3, max_expansions=3))
    result, tactics = prover.search(engine, theorem=zoo("both").source)
    assert result.success
    assert tactics == ["exact ⟨hp, hq⟩"]


def test_whole_proofs(endpoint, say):
    server = endpoint(say("Here it is:\n```lean4\nintro n\nexact by simp\n```\nDone."))
    theorem = Theorem("a", "A.lean", (1, 1), (1, 9), "u", "c", "theorem a : ∀ n, n = n :=")
    assert ExternalProver("m").generate_whole_proof(theorem) == "intro n\nexact by simp"
    assert server.requests[0][2]["messages"][1]["content"] == "theorem a : ∀ n, n = n :="
    assert (
        ExternalProver("m").generate_whole_proof("theorem b : 1 = 1 :=") == "intro n\nexact by simp"
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("rfl", "rfl"),
        ("```\nrfl\n```", "rfl"),
        ("```lean\n  intro n\n    rfl\n", "intro n\n  rfl"),
        ("```lean\r\nintro n\r\nrfl\r\n```", "intro n\nrfl"),
        ("by simp", "by simp"),
        ("exact foo (by simp)", "exact foo (by simp)"),
        ("", ""),
    ],
)
def test_unfenced(text, code):
    assert unfenced(text) == code


def test_first_tactic_keeps_its_by():
    assert first_tactic("\n\n  have h : p := by simp\nmore") == "have h : p := by simp"


@pytest.mark.parametrize(
    ("text", "proof"),
    [
        ("intro n\nrfl", "intro n\nrfl"),
        ("theorem Foo.bar : 1 = 1 := by rfl", "rfl"),
        (
            "theorem bar : 1 = 1 := by\n  have : 2 = 2 := by rfl\n  rfl",
            "have : 2 = 2 := by rfl\nrfl",
        ),
        (
            "```lean\nimport Lean\n\nlemma bar (h : p := by simp) : p := by\n  exact h\n```",
            "exact h",
        ),
        ("theorem bars : 1 = 1 := by rfl", "theorem bars : 1 = 1 := by rfl"),
        ("theorem bar : 1 = 1 := rfl", "exact rfl"),
    ],
)
def test_a_repeated_theorem_is_passed_over(text, proof):
    assert proof_of(text, "Foo.bar") == proof
