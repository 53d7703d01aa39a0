"""A model behind a completions server is asked, and answers, as in the process.

The server is a stand-in, and in the last tests llama.cpp, or the one that ``LEAN_DOJO_ENDPOINT``
names. That one must serve the model of ``LEAN_DOJO_SERVED_MODEL`` (a folder) in float32:
``vllm serve FOLDER --dtype float32`` (on a CPU also ``--no-enable-chunked-prefill``).
"""

from __future__ import annotations

import os
import subprocess
import sys

import llama_server
import pytest
import torch
from completions_server import FORMS, completions_server
from transformers import AutoModelForCausalLM

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.causal_lm.generate.generator import CausalTacticGenerator, end_tokens
from lean_dojo_plugins.causal_lm.generate.served import ServedTacticGenerator, _tokens_of
from lean_dojo_plugins.causal_lm.model.bases import load_tokenizer
from lean_dojo_v2.lean_agent.config import ProverConfig
from lean_dojo_v2.prover import HFProver
from lean_dojo_v2.prover.external import EndpointError
from lean_dojo_v2.prover.shipped import shipped_model

GOALS = ["⊢ x1 + 0 = 0 + x1", "p q : Prop\nhp : p\nhq : q\n⊢ p ∧ q", "⊢ True"]
TOLERANCE = 1e-2 if "LEAN_DOJO_ENDPOINT" in os.environ else 1e-3
"""Of log-probabilities; a server with a cache in half precision needs the larger one."""


@pytest.fixture(scope="module")
def here(tiny_model):
    """The model in the process; it likes to end its line."""
    tokenizer, model = load_tokenizer(tiny_model), AutoModelForCausalLM.from_pretrained(tiny_model)
    bias = torch.nn.Parameter(torch.zeros(model.config.vocab_size))
    bias.data[end_tokens(tokenizer, model)] = 4.0
    model.lm_head.bias = bias
    return CausalTacticGenerator.from_model(model, tokenizer)


@pytest.fixture
def server(here):
    with completions_server(here.model, here.tokenizer) as served:
        yield served


@pytest.fixture
def there(server, tiny_model):
    return ServedTacticGenerator(tiny_model, server.address, max_retries=0)


def own_logprob(generator, prompt, ids):
    """Compute the log-probability of tokens after a prompt with the model in the process."""
    with torch.inference_mode():
        logits = generator.model(input_ids=torch.tensor([prompt + ids])).logits[0].float()
    log_probs = logits.log_softmax(-1)[len(prompt) - 1 : -1]
    return float(log_probs.gather(1, torch.tensor(ids)[:, None]).sum())


@pytest.mark.parametrize("form", FORMS)
def test_it_is_asked_and_answers_as_in_the_process(here, server, there, form):
    server.form = form
    ends = set(here.ends.tolist())
    found = there.generate(GOALS, 4, 1.2, seeds=[5, 6, 7], max_new_tokens=24, merge=False)
    prompts = {tuple(asked["prompt"]) for asked in server.seen}
    assert prompts == {tuple(here.prompt_ids(goal, (), 24)) for goal in GOALS}
    assert {asked["temperature"] for asked in server.seen} == {1.2}
    expected = set()
    for asked, ids in zip(_by_choice(server), server.drawn, strict=True):
        cut = next((place for place, token in enumerate(ids, 1) if token in ends), 0)
        text = here.tokenizer.decode(ids[:cut], skip_special_tokens=True)
        total = own_logprob(here, asked["prompt"], ids[:cut]) if cut else None
        expected.add((text.partition("\n")[0].strip(), total))
    assert sum(map(len, found)) == len(server.drawn) == 12
    for text, total in (one for each in found for one in each):
        assert any(
            text == own and (want is None or abs(want - total) < TOLERANCE)
            for own, want in expected
        )
    assert any(text for each in found for text, _ in each)


def _by_choice(server):
    """Give the request of each completion that was drawn."""
    many = server.form != "llama.cpp"
    return [asked for asked in server.seen for _ in range(asked["n"] if many else 1)]


@pytest.mark.parametrize("form", FORMS)
def test_the_most_probable_tactic_and_proof_are_the_same(here, server, there, form):
    server.form = form
    ours = here.generate(GOALS, temperature=0, max_new_tokens=16, merge=False)
    theirs = there.generate(GOALS, temperature=0, max_new_tokens=16, merge=False)
    for [(text, total)], [(their_text, their_total)] in zip(ours, theirs, strict=True):
        assert text == their_text
        assert not text or total == pytest.approx(their_total, abs=TOLERANCE)
    statement = ["theorem t : 1 = 1 :="]
    proofs = here.write_proofs(statement, max_new_tokens=12)
    assert there.write_proofs(statement, max_new_tokens=12) == proofs


def test_seeds_belong_to_goals(there):
    together = there.generate(GOALS, 3, seeds=[1, 2**61, 3], max_new_tokens=6)
    alone = [
        there.generate([goal], 3, seeds=[seed], max_new_tokens=6)[0]
        for goal, seed in zip(GOALS, [1, 2**61, 3], strict=True)
    ]
    assert alone == together
    assert there.generate(GOALS, 3, seeds=[4, 5, 6], max_new_tokens=6) != together


def test_a_prover_searches_with_it(server, tiny_model, engine):
    config = ProverConfig(num_workers=1, num_sampled_tactics=2, max_expansions=1)
    prover = HFProver(tiny_model, config=config, max_new_tokens=4, endpoint=server.address)
    result, _ = prover.search(engine, goal="True")
    assert result.expansions == 1
    assert server.seen


def test_no_server(tiny_model):
    with pytest.raises(UsageError, match=r"no model server answers.*vllm serve"):
        ServedTacticGenerator(tiny_model, "http://127.0.0.1:1/v1")


def test_another_model(server, tiny_model):
    server.names = ("one", "two")
    with pytest.raises(UsageError, match=r"does not serve .*model but one, two; name one"):
        ServedTacticGenerator(tiny_model, server.address)
    with pytest.raises(UsageError, match="does not serve three"):
        ServedTacticGenerator(tiny_model, server.address, served_name="three")
    assert ServedTacticGenerator(tiny_model, server.address, served_name="two")
    server.names = ("one", tiny_model.name)
    assert ServedTacticGenerator(tiny_model, server.address).served_name == tiny_model.name


def test_no_log_probabilities(server, there):
    server.form = "mute"
    with pytest.raises(UsageError, match="returns no log-probabilities"):
        there.generate(GOALS, max_new_tokens=2)


def test_another_tokenizer(server, there, here, monkeypatch):
    decode = here.tokenizer.decode
    monkeypatch.setattr(
        server, "tokenizer", _Shifted(decode, here.tokenizer.eos_token_id, len(here.tokenizer))
    )
    with pytest.raises(UsageError, match="reads otherwise"):
        there.generate(GOALS, 4, seeds=[1, 2, 3], max_new_tokens=8)


class _Shifted:
    """A tokenizer whose numbers are others."""

    def __init__(self, decode, eos_token_id, size):
        self._decode, self.eos_token_id, self._size = decode, eos_token_id, size

    def decode(self, ids, **options):
        return self._decode([(token + 40) % self._size for token in ids], **options)


def test_a_server_that_adds_tokens(server, there, monkeypatch):
    answer = server.answer
    monkeypatch.setattr(
        type(server), "answer", lambda _, asked: answer({**asked, "prompt": [1, *asked["prompt"]]})
    )
    with pytest.raises(UsageError, match=r"read .* tokens of a prompt that has"):
        there.generate(GOALS, max_new_tokens=2)


def test_a_server_that_fails(server, there, monkeypatch):
    def fail(*_):
        raise ValueError("it breaks")

    monkeypatch.setattr(type(server), "answer", fail)
    with pytest.raises(EndpointError, match="a-model"):
        there.generate(GOALS, max_new_tokens=2)


@pytest.fixture(scope="module")
def real():
    """The folder of a model, and the address of a real server that serves it."""
    if address := os.environ.get("LEAN_DOJO_ENDPOINT"):
        yield os.environ["LEAN_DOJO_SERVED_MODEL"], address
        return
    folder = str(shipped_model())
    with subprocess.Popen(
        [sys.executable, llama_server.__file__, folder], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            assert address.startswith("http")
            yield folder, address
        finally:
            server.kill()


@pytest.mark.slow
def test_a_real_server(real, monkeypatch):
    folder, address = real
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    here = CausalTacticGenerator.from_model(model, load_tokenizer(folder))
    there = ServedTacticGenerator(folder, address)
    read, drawn = there._read, []

    def noted(written, *others):
        drawn.append(written)
        return read(written, *others)

    ask = there._request

    def checked(prompt, **options):
        choices = ask(prompt, **options)
        assert all(one.get("prompt_token_ids", prompt) == prompt for one in choices)  # vLLM's
        return choices

    monkeypatch.setattr(there, "_read", noted)
    monkeypatch.setattr(there, "_request", checked)
    ends = set(here.ends.tolist())
    off, compared = 0.0, 0
    for number, goal in enumerate(GOALS):
        drawn.clear()
        prompt = here.prompt_ids(goal, (), 32)
        found = [
            there.generate([goal], 16, 1.2, seeds=[number], max_new_tokens=32, merge=False)[0]
            for _ in range(2)
        ]
        assert [text for text, _ in found[0]] == [text for text, _ in found[1]]
        assert len({text for text, _ in found[0]}) > 1
        for written, (text, total) in zip(drawn, found[0] + found[1], strict=True):
            _, _, ids = _tokens_of(written)
            cut = next((place for place, token in enumerate(ids, 1) if token in ends), 0)
            if cut:
                assert here._text(ids[:cut]).partition("\n")[0].strip() == text
                compared += 1
                off = max(off, abs(total - own_logprob(here, prompt, ids[:cut])))
    print(f"{compared} log-probabilities, at most {off:.2g} off")
    assert compared > 50
    assert off < TOLERANCE
    ours, theirs = (one.generate(GOALS, temperature=0, max_new_tokens=32) for one in (here, there))
    for [(text, total)], [(their_text, their_total)] in zip(ours, theirs, strict=True):
        assert (text, their_total) == (their_text, pytest.approx(total, abs=TOLERANCE))
    statements = ["theorem t : 1 = 1 :="]
    written = here.write_proofs(statements, temperature=0, max_new_tokens=12)
    assert there.write_proofs(statements, temperature=0, max_new_tokens=12) == written


@pytest.mark.slow
def test_a_prover_proves_with_a_real_server(real, engine):
    folder, address = real
    config = ProverConfig(num_workers=1, num_sampled_tactics=8, max_expansions=8)
    prover = HFProver(folder, config=config, endpoint=address)
    result, tactics = prover.search(engine, goal="∀ p q : Prop, p ∧ q → q ∧ p")
    assert result.success
    assert tactics
