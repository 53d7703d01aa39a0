"""Muon and AdamW as one optimiser."""

from __future__ import annotations

import copy

import torch
from torch.optim.lr_scheduler import LambdaLR

from lean_dojo_plugins.sft.trainer import MuonWithAdamW


class Small(torch.nn.Module):
    """An embedding, tied to the output as in language models, a matrix and a gain."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = torch.nn.Embedding(12, 8)
        self.hidden = torch.nn.Linear(8, 8, bias=False)
        self.norm = torch.nn.RMSNorm(8)
        self.output = torch.nn.Linear(8, 12, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.output(self.norm(torch.relu(self.hidden(self.embedding(ids)))))


def test_matrices_alone_get_muon_and_nothing_is_forgotten() -> None:
    model = Small()
    muon, adamw = MuonWithAdamW(model, lr=1e-2).param_groups
    assert [id(weight) for weight in muon["params"]] == [id(model.hidden.weight)]
    assert {id(w) for w in adamw["params"]} == {id(model.embedding.weight), id(model.norm.weight)}


def test_a_schedule_reaches_both() -> None:
    model = Small()
    optimiser = MuonWithAdamW(model, lr=1e-2)
    optimiser.load_state_dict(optimiser.state_dict())  # as accelerate does
    schedule = LambdaLR(optimiser, lambda step: 0.0 if step else 1.0)
    ids = torch.arange(12)
    for moves in (True, False):
        before = [weight.detach().clone() for weight in model.parameters()]
        torch.nn.functional.cross_entropy(model(ids), ids.roll(1)).backward()
        optimiser.step()
        optimiser.zero_grad()
        schedule.step()
        for old, new in zip(before, model.parameters(), strict=True):
            assert torch.equal(old, new) is not moves
            assert new.grad is None


def test_its_state_is_saved_and_loaded() -> None:
    model, ids = Small(), torch.arange(12)

    def step(optimiser: MuonWithAdamW) -> list[torch.Tensor]:
        torch.nn.functional.cross_entropy(model(ids), ids.roll(1)).backward()
        optimiser.step()
        optimiser.zero_grad()
        return [weight.detach().clone() for weight in model.parameters()]

    first = MuonWithAdamW(model, lr=1e-2)
    step(first)
    weights = {name: weight.clone() for name, weight in model.state_dict().items()}
    saved = copy.deepcopy(first.state_dict())
    expected = step(first)
    model.load_state_dict(weights)
    second = MuonWithAdamW(model, lr=1e-2)
    second.load_state_dict(saved)
    for one, other in zip(expected, step(second), strict=True):
        torch.testing.assert_close(one, other)
