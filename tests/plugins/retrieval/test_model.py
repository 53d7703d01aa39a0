"""The retriever itself: embedding, loss, strict loading, checkpoints that stand alone."""

import json
import os
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional
from transformers import BertConfig, BertModel, T5Config, T5ForConditionalGeneration

from lean_dojo_plugins.retrieval.data.datamodule import RetrievalDataModule
from lean_dojo_plugins.retrieval.model.premise_retriever import PremiseRetriever, weighted_mse
from lean_dojo_v2.errors import CheckpointError, TrainingError


@pytest.fixture
def model(encoder_folder):
    return PremiseRetriever(str(encoder_folder), max_seq_len=64).eval()


def save(model, path):
    checkpoint = {
        "state_dict": model.state_dict(),
        "hyper_parameters": dict(model.hparams),
        "pytorch-lightning_version": "2.6.6",
    }
    model.on_save_checkpoint(checkpoint)
    torch.save(checkpoint, path)
    return path


def test_embedding_is_the_normalised_mean_over_the_text_only(model):
    short, long = [100, 101, 1], [100, 101, 102, 103, 1]
    batch = torch.tensor([[*short, 0, 0], long])
    both = model.embed(batch)
    assert torch.allclose(both.norm(dim=1), torch.ones(2), atol=1e-6)
    alone = model.embed(torch.tensor([short]))
    assert torch.allclose(both[0], alone[0], atol=1e-5), "padding changes nothing"
    states = model.encoder(input_ids=torch.tensor([short])).last_hidden_state
    assert torch.allclose(alone[0], functional.normalize(states[0].mean(0), dim=0), atol=1e-6)


def test_embedding_by_length_gives_the_same(model):
    rng = torch.Generator().manual_seed(0)
    ids = torch.zeros(12, 40, dtype=torch.int64)
    for row, size in enumerate(torch.randint(1, 41, (12,), generator=rng).tolist()):
        ids[row, :size] = torch.randint(3, 259, (size,), generator=rng)
    assert torch.allclose(model.embed_by_length(ids), model.embed(ids), atol=1e-5)


def test_the_loss_is_mse_against_the_whole_matrix_where_all_counts():
    similarity, labels = torch.rand(3, 12), (torch.rand(3, 12) > 0.5).float()
    batch = {"labels": labels, "weights": torch.ones(3, 12)}
    assert torch.allclose(weighted_mse(similarity, batch), functional.mse_loss(similarity, labels))
    batch["weights"][0, 5] = 0
    changed = similarity.clone()
    changed[0, 5] = 100
    assert torch.equal(weighted_mse(changed, batch), weighted_mse(similarity, batch))


def test_training_makes_the_loss_fall(model, exported):
    data = RetrievalDataModule(
        exported / "random", exported / "corpus.jsonl", batch_size=8, num_workers=0, max_seq_len=64
    )
    data.setup()
    batch = next(iter(data.train_dataloader()))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(15):
        loss = model.similarity_loss(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


def test_a_checkpoint_stands_alone(encoder_folder, model, tmp_path):
    folder = tmp_path / "moved"
    shutil.copytree(encoder_folder, folder)
    path = save(PremiseRetriever(str(folder), lr=5e-4).eval(), tmp_path / "a.ckpt")
    shutil.rmtree(folder)
    loaded = PremiseRetriever.load(path)
    ids = torch.tensor([[100, 101, 1]])
    assert torch.allclose(loaded.embed(ids), model.embed(ids), atol=1e-6)
    assert loaded.lr == 5e-4
    assert not loaded.training
    assert not any(parameter.requires_grad for parameter in loaded.parameters())
    unfrozen = PremiseRetriever.load(path, freeze=False, lr=1e-4)
    assert unfrozen.lr == 1e-4
    assert unfrozen.encoder.training
    assert all(parameter.requires_grad for parameter in unfrozen.parameters())


def test_training_may_start_from_a_checkpoint(model, tmp_path):
    path = save(model, tmp_path / "a.ckpt")
    started = PremiseRetriever.load(path, freeze=False, max_seq_len=128)
    assert torch.equal(
        started.eval().embed(torch.tensor([[9, 1]])), model.embed(torch.tensor([[9, 1]]))
    )
    assert started.max_seq_len == 128


# --- wrong checkpoints are errors, not silent half-loads ------------------------------------------


def test_a_missing_weight_of_a_checkpoint(model, tmp_path):
    path = save(model, tmp_path / "a.ckpt")
    checkpoint = torch.load(path, weights_only=True)
    checkpoint["state_dict"].pop("encoder.encoder.final_layer_norm.weight")
    torch.save(checkpoint, path)
    with pytest.raises(CheckpointError, match="final_layer_norm"):
        PremiseRetriever.load(path)


def test_weights_of_another_size(model, tmp_path, make_encoder):
    path = save(model, tmp_path / "a.ckpt")
    checkpoint = torch.load(path, weights_only=True)
    checkpoint["hyper_parameters"]["encoder_config"]["d_ff"] = 128
    torch.save(checkpoint, path)
    with pytest.raises(CheckpointError, match="does not fit"):
        PremiseRetriever.load(path)


def test_other_files(tmp_path):
    other = tmp_path / "b.ckpt"
    torch.save({"state_dict": {}}, other)
    with pytest.raises(CheckpointError, match="not of a premise retriever"):
        PremiseRetriever.load(other)
    other.write_bytes(b"half of a file")
    with pytest.raises(CheckpointError, match=r"b\.ckpt cannot be read"):
        PremiseRetriever.load(other)
    with pytest.raises(CheckpointError, match="no such checkpoint"):
        PremiseRetriever.load(tmp_path / "nowhere.ckpt")


def test_a_checkpoint_runs_no_code(tmp_path):
    marker = tmp_path / "ran"

    class Hostile:
        def __reduce__(self):
            return (os.mkdir, (str(marker),))

    torch.save({"state_dict": {}, "hyper_parameters": Hostile()}, tmp_path / "c.ckpt")
    with pytest.raises(CheckpointError):
        PremiseRetriever.load(tmp_path / "c.ckpt")
    assert not marker.exists()


def test_an_encoder_that_lacks_a_weight(encoder_folder, tmp_path):
    folder = tmp_path / "broken"
    shutil.copytree(encoder_folder, folder)
    weights = load_file(folder / "model.safetensors")
    weights.pop("encoder.final_layer_norm.weight")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CheckpointError, match=r"missing encoder\.final_layer_norm"):
        PremiseRetriever(str(folder))


def test_another_kind_of_model(tmp_path):
    config = BertConfig(
        vocab_size=40,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    BertModel(config).save_pretrained(tmp_path / "bert")
    with pytest.raises(TrainingError, match="bert"):
        PremiseRetriever(str(tmp_path / "bert"))


def test_the_encoder_of_a_whole_t5(tmp_path):
    whole = T5ForConditionalGeneration(
        T5Config(vocab_size=384, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2)
    )
    whole.save_pretrained(tmp_path / "t5")
    loaded = PremiseRetriever(str(tmp_path / "t5"))
    assert torch.equal(loaded.encoder.shared.weight, whole.shared.weight)


def test_no_network_is_a_clear_error(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    name = "kaiyuy/leandojo-lean4-retriever-byt5-small"
    with pytest.raises(TrainingError, match=rf"{name}.*local folder"):
        PremiseRetriever(name)


def test_gradient_checkpointing_gives_the_same_gradients(encoder_folder):
    ids = torch.tensor([[100, 101, 102, 1]])
    gradients = []
    for on in (False, True):
        model = PremiseRetriever(str(encoder_folder), gradient_checkpointing=on).train()
        model.embed(ids)[:, :5].sum().backward()
        gradients.append(model.encoder.shared.weight.grad)
    assert torch.allclose(*gradients, atol=1e-6)


def test_the_configuration_kept_is_plain(model, tmp_path):
    path = save(model, tmp_path / "a.ckpt")
    kept = torch.load(path, weights_only=True)["hyper_parameters"]["encoder_config"]
    assert json.loads(json.dumps(kept))["d_model"] == 32
