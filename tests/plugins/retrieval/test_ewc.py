"""EWC: the Fisher information against a direct loop, the penalty, and checkpoints of it."""

import copy

import pytest
import torch

from lean_dojo_plugins.retrieval.data.datamodule import RetrievalDataModule
from lean_dojo_plugins.retrieval.model.ewc import Consolidation, fisher_information, normalised
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever
from lean_dojo_v2.errors import CheckpointError


@pytest.fixture
def model(encoder_folder):
    return PremiseRetriever(str(encoder_folder), max_seq_len=64).eval()


@pytest.fixture
def items(exported):
    data = RetrievalDataModule(
        exported / "random", exported / "corpus.jsonl", num_workers=0, max_seq_len=64
    )
    data.setup()
    return data.train_items


def singles(items, count):
    return [items.collate([items[0, number]]) for number in range(count)]


def test_the_fisher_information_is_that_of_a_direct_loop(model, items):
    batches = singles(items, 6)
    fisher = fisher_information(model, batches)
    expected = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    for batch in batches:
        model.zero_grad()
        queries = model.embed(batch["queries"])
        premises = model.embed(batch["premises"])[batch["columns"]]
        error = ((queries @ premises.T - batch["labels"]) ** 2 * batch["weights"]).sum()
        (error / batch["weights"].sum()).backward()
        for name, parameter in model.named_parameters():
            expected[name] += parameter.grad**2 / len(batches)
    assert fisher.keys() == expected.keys()
    for name, value in fisher.items():
        assert torch.allclose(value, expected[name], rtol=1e-3, atol=1e-10), name
    assert sum(value.sum() for value in fisher.values()) > 0


def test_it_is_per_example_not_per_batch(model, items):
    together = items.collate([items[0, number] for number in range(4)])
    one_by_one = fisher_information(model, singles(items, 4))
    at_once = fisher_information(model, [together])
    name = "encoder.encoder.final_layer_norm.weight"
    assert not torch.allclose(one_by_one[name], at_once[name], rtol=0.05)


def test_the_penalty(model, items):
    fisher = fisher_information(model, singles(items, 2))
    consolidation = Consolidation.after(model, fisher, None)
    assert consolidation.penalty(model) == 0
    before = copy.deepcopy(consolidation)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.5)
    expected = sum((0.25 * value).sum() for value in normalised(fisher).values())
    assert torch.allclose(consolidation.penalty(model), expected, rtol=1e-4)
    assert all(torch.equal(before.anchor[name], consolidation.anchor[name]) for name in fisher)


def test_several_repositories_add_up(model, items):
    fisher = fisher_information(model, singles(items, 2))
    once = Consolidation.after(model, fisher, None)
    twice = Consolidation.after(model, fisher, once)
    assert all(torch.allclose(twice.fisher[name], 2 * once.fisher[name]) for name in fisher)


def test_the_information_does_not_vanish_as_the_fit_improves(model, items):
    """Gradients a thousand times smaller, as of a loss that is nearly 0, protect as well."""
    fisher = fisher_information(model, singles(items, 2))
    fitted = {name: value * 1e-6 for name, value in fisher.items()}
    first, second = (Consolidation.after(model, one, None) for one in (fisher, fitted))
    count = sum(value.numel() for value in fisher.values())
    assert sum(value.sum() for value in first.fisher.values()) == pytest.approx(count, rel=1e-3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.01)
    drift = first.penalty(model).item()
    assert second.penalty(model).item() == pytest.approx(drift, rel=1e-3)
    # The documented default acts: beside a loss of at most 1 it is no rounding error.
    assert 0.1 * drift > 0.01


def test_the_fisher_information_of_another_model_is_refused(model, items, make_encoder, tmp_path):
    state = Consolidation.after(
        model, fisher_information(model, singles(items, 1)), None
    ).to_state()
    assert Consolidation.from_state(state, model).penalty(model).item() == 0
    other = PremiseRetriever(str(make_encoder(tmp_path / "other", d_ff=128)))
    with pytest.raises(CheckpointError, match="differs"):
        Consolidation.from_state(state, other)
