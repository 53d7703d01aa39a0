"""What a model that starts from nothing needs: Muon, and a loss on its prompts, too."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from datasets import Dataset
from safetensors.torch import load_file
from torch.nn import functional
from torch.optim.lr_scheduler import LambdaLR
from torch.overrides import TorchFunctionMode

from lean_dojo_core.errors import ConfigError
from lean_dojo_plugins.sft.step_trainer import MuonWithAdamW
from lean_dojo_plugins.sft.trainer import SFTTrainer
from lean_dojo_plugins.training.curriculum import CurriculumStep
from lean_dojo_v2.database import DynamicDatabase

ROWS = [
    {"input_ids": [5, 6, 7, 8, 9], "labels": [-100, -100, -100, 8, 9], "length": 5},
    {"input_ids": [5, 9, 4], "labels": [-100, -100, 4], "length": 3},
]


def collated(trainer):
    """Give the batch of all rows, where the model is."""
    rows = [{k: row[k] for k in ("input_ids", "labels")} for row in ROWS]
    return dict(trainer._prepare_inputs(trainer.data_collator(rows)))


@pytest.mark.parametrize("padding_free", [False, True])
def test_prompts_weigh_as_they_are_told_to(tiny_model, tmp_path, padding_free):
    trainer = SFTTrainer(
        tiny_model, tmp_path / "out", prompt_weight=0.25, batch_size=2,
        trainer_args={"padding_free": padding_free, "bf16": False},
    )  # fmt: skip
    step = CurriculumStep(0, 1, (), tmp_path / "step", 0, 1)
    built = trainer.build_step_trainer(Dataset.from_list(ROWS), step)
    batch = collated(built)
    found = built.compute_loss(built.model, dict(batch))
    total = weight = torch.tensor(0.0)
    for row in ROWS:
        ids = torch.tensor([row["input_ids"]])
        logits = built.model(input_ids=ids.to(built.model.device)).logits[0, :-1].float().cpu()
        each = functional.cross_entropy(logits, ids[0, 1:], reduction="none")
        weights = torch.tensor([1.0 if label != -100 else 0.25 for label in row["labels"][1:]])
        total, weight = total + (weights * each).sum(), weight + weights.sum()
    torch.testing.assert_close(found.cpu(), total / weight, rtol=1e-5, atol=1e-6)
    share = built.compute_loss(built.model, dict(batch), num_items_in_batch=6)  # one of two
    torch.testing.assert_close(share, found / 2)


def test_what_is_logged_and_shared_out_is_as_without_a_weight(tiny_model, tmp_path, monkeypatch):
    def build(**options):
        trainer = SFTTrainer(
            tiny_model, tmp_path / "out", batch_size=2, trainer_args={"bf16": False}, **options
        )
        step = CurriculumStep(0, 1, (), tmp_path / "step", 0, 1)
        return trainer.build_step_trainer(Dataset.from_list(ROWS), step)

    plain, weighted = build(), build(prompt_weight=0.25)
    logged = []
    for built in (plain, weighted):
        built.model.train()
        built.state.num_input_tokens_seen = 100  # of the run that goes on
        built.compute_loss(built.model, collated(built))
        logged.append({k: values[-1] for k, values in built._metrics["train"].items()})
    assert logged[0] == pytest.approx(logged[1], rel=1e-5)
    assert logged[0]["num_tokens"] == 108
    assert logged[0]["entropy"] > 0

    batch = collated(weighted)
    alone = weighted.compute_loss(weighted.model, dict(batch), num_items_in_batch=3)
    monkeypatch.setattr(type(weighted.accelerator), "num_processes", 2)
    of_two = weighted.compute_loss(weighted.model, dict(batch), num_items_in_batch=3)
    torch.testing.assert_close(of_two, 2 * alone)  # the gradients of both are averaged


def test_muon_is_an_optimiser_like_any_other(tiny_model, tmp_path, traced):
    database = DynamicDatabase(traced)
    trainer = SFTTrainer(
        tiny_model, tmp_path / "out", prompt_weight=0.25, batch_size=4, lr=1e-3,
        trainer_args={"optim": "muon", "max_steps": 6, "save_steps": 3, "weight_decay": 0.1},
    )  # fmt: skip
    used = []
    build = trainer.build_step_trainer

    def watched(dataset, step):
        used.append(build(dataset, step))
        return used[-1]

    trainer.build_step_trainer = watched
    trainer.train(database.repositories[:1], database, tmp_path / "data")
    optimiser = used[0].optimizer
    optimiser = getattr(optimiser, "optimizer", optimiser)
    assert isinstance(optimiser, MuonWithAdamW)
    start, end = (load_file(Path(f) / "model.safetensors") for f in (tiny_model, tmp_path / "out"))
    assert all(not torch.equal(start[name], end[name]) for name in end)


def test_settings_that_do_not_fit(tiny_model, tmp_path):
    with pytest.raises(ConfigError, match="prompt_weight must be a number of at least 0"):
        SFTTrainer(tiny_model, tmp_path / "out", prompt_weight=-1)
    for args in ({"loss_type": "dft"}, {"label_smoothing_factor": 0.1}):
        SFTTrainer(tiny_model, tmp_path / "out", trainer_args=args)
        with pytest.raises(ConfigError, match="conflicts with prompt_weight"):
            SFTTrainer(tiny_model, tmp_path / "out", prompt_weight=0.5, trainer_args=args)
    with pytest.raises(ConfigError, match="muom"):
        SFTTrainer(tiny_model, tmp_path / "out", trainer_args={"optim": "muom"}).preflight()


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


class Products(TorchFunctionMode):
    """Records the types of the matrices that are multiplied."""

    def __init__(self) -> None:
        super().__init__()
        self.types: set[torch.dtype] = set()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if getattr(function, "__name__", "") in {"addmm", "matmul", "mm", "__matmul__"}:
            self.types.add(args[0].dtype)
        return function(*args, **(kwargs or {}))


def test_a_cpu_without_bfloat16_multiplies_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's own products of bfloat16 take fifteen times as long there."""
    moved = {}
    for has_bf16 in (True, False):
        monkeypatch.setattr(
            "lean_dojo_plugins.sft.step_trainer.cpu_has_bf16", lambda has=has_bf16: has
        )
        model, ids = Small(), torch.arange(12)
        optimiser = MuonWithAdamW(model, lr=1e-2)
        torch.nn.functional.cross_entropy(model(ids), ids.roll(1)).backward()
        with Products() as products:
            optimiser.step()
        assert products.types == {torch.bfloat16 if has_bf16 else torch.float32}
        moved[has_bf16] = model.hidden.weight.detach() - Small().hidden.weight
    torch.testing.assert_close(moved[True], moved[False], rtol=0.05, atol=2e-4)
