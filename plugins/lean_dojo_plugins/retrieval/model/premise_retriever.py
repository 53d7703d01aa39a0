"""The retriever: a T5 encoder as a LightningModule, with EWC."""

import hashlib
import math
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytorch_lightning as pl
import torch
from torch.nn import functional
from tqdm import tqdm
from transformers import (
    AutoConfig,
    AutoModelForTextEncoding,
    PreTrainedModel,
    get_cosine_schedule_with_warmup,
)

from lean_dojo_plugins.retrieval.data.batches import PAD_ID, EvalBatch, TokenStore, TrainBatch
from lean_dojo_plugins.retrieval.data.corpus import Numbers
from lean_dojo_plugins.retrieval.data.datamodule import RetrievalDataModule
from lean_dojo_plugins.retrieval.model.ewc import Consolidation
from lean_dojo_plugins.retrieval.model.ranking import METRICS, measured, top_k
from lean_dojo_plugins.training import cpu_has_bf16, fetch
from lean_dojo_v2.errors import CheckpointError

T5_TYPES = {"t5", "mt5", "umt5"}


class PremiseRetriever(pl.LightningModule):
    """Scores how relevant a premise is to a proof state: the cosine of their embeddings.

    Yang et al. 2023, "LeanDojo: Theorem Proving with Retrieval-Augmented Language Models". After
    ``warmup_steps`` the learning rate falls as a cosine. With an ``encoder_config``, as checkpoints
    keep it, nothing is loaded by name.
    """

    def __init__(
        self,
        model_name: str,
        lr: float = 1e-3,
        warmup_steps: int = 1000,
        max_seq_len: int = 512,
        num_retrieved: int = 100,
        *,
        tokenizer_name: str = "google/byt5-small",
        gradient_checkpointing: bool = False,
        cap_warmup: bool = True,
        encoder_config: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.model_name = model_name
        self.lr = lr
        self.warmup_steps = warmup_steps
        self.max_seq_len = max_seq_len
        self.num_retrieved = num_retrieved
        self.tokenizer_name = tokenizer_name
        self.cap_warmup = cap_warmup
        self.encoder: PreTrainedModel
        if encoder_config:  # a checkpoint's, which has the weights as well
            config = AutoConfig.for_model(**encoder_config)
            self.encoder = AutoModelForTextEncoding.from_config(config)  # type: ignore[no-untyped-call]
        else:
            self.encoder = load_encoder(model_name)
        if gradient_checkpointing:
            self.encoder.activation_checkpointing_enable()
        self.ewc_lambda = 0.0  # weight of the EWC penalty; 0 switches it off
        self.consolidation: Consolidation | None = None
        self.split_strategies: tuple[str, ...] = ()  # those that it was trained on
        self._embeddings: torch.Tensor | None = None
        self._measured: list[list[float]] = []

    @classmethod
    def load(
        cls,
        source: Path | str,
        device: torch.device | str = "cpu",
        *,
        freeze: bool = True,
        **settings: Any,
    ) -> Self:
        """Load a Lightning checkpoint, strictly, or an encoder from a folder or the hub.

        With ``freeze`` it is in evaluation mode, without gradients. ``settings`` are constructor
        arguments; they replace a checkpoint's. By default an encoder has the tokenizer of its own
        name.
        """
        if Path(source).suffix == ".ckpt" or Path(source).is_file():
            model = cls._of_checkpoint(source, settings)
        else:
            model = cls(str(source), **{"tokenizer_name": str(source), **settings})
        model = model.to(torch.device(device))
        if freeze:
            model.freeze()
        else:
            model.unfreeze()
            model.encoder.train()  # transformers hands models over in evaluation mode
        return model

    @classmethod
    def _of_checkpoint(cls, path: Path | str, settings: dict[str, Any]) -> Self:
        checkpoint = read_checkpoint(path)
        known = set(cls.__init__.__annotations__) - {"return"}
        settings = {**(checkpoint.get("hyper_parameters") or {}), **settings}
        if "model_name" not in settings or "state_dict" not in checkpoint:
            raise CheckpointError(f"{path} is a checkpoint, but not of a premise retriever")
        model = cls(**{key: value for key, value in settings.items() if key in known})
        try:
            model.load_state_dict(checkpoint["state_dict"], strict=True)
        except RuntimeError as error:
            lines = [line.strip() for line in str(error).splitlines()[1:3]]
            raise CheckpointError(
                f"{path} does not fit its encoder: {' '.join(lines)[:300]}"
            ) from error
        model.on_load_checkpoint(checkpoint)
        return model

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        """Encode ``int64[B, L]``, padded with 0, as the tokens' mean: ``float[B, D]``, norm 1."""
        mask = ids != PAD_ID
        states = self.encoder(input_ids=ids, attention_mask=mask.long()).last_hidden_state
        weights = mask.unsqueeze(-1).to(states.dtype)
        mean = (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
        return functional.normalize(mean.float(), dim=1)

    def embed_by_length(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the result of :meth:`embed`, for texts of similar length together, to pad less."""
        lengths = (ids != PAD_ID).sum(dim=1).cpu().numpy()
        batches = self._length_batches(lengths)
        parts = [self.embed(ids[batch, : lengths[batch[0]]]) for batch in batches]
        return torch.cat(parts)[np.argsort(np.concatenate(batches))]

    @torch.inference_mode()
    def embed_all(
        self, store: TokenStore, numbers: Numbers | None = None, description: str | None = None
    ) -> torch.Tensor:
        """Encode texts of a store, by default all, in evaluation mode: ``float32[N, D]``.

        With a description, it shows a progress bar on a terminal.
        """
        chosen = np.arange(len(store)) if numbers is None else numbers
        result = torch.empty(len(chosen), self.encoder.config.d_model, device=self.device)
        hidden = None if description else True  # None: off a terminal
        with (
            tqdm(total=len(chosen), desc=description, unit="text", disable=hidden) as bar,
            inference_autocast(self.device),
        ):
            for batch in self._length_batches(store.lengths[chosen]):
                result[batch] = self.embed(store.pad(chosen[batch]).to(self.device)).float()
                bar.update(len(batch))
        return result

    def _length_batches(self, lengths: Numbers) -> list[Numbers]:
        # Many on a GPU; elsewhere as many as fit the caches.
        return length_batches(lengths, 1 << 17 if self.device.type == "cuda" else 1 << 13)

    def tokens(self, texts: Iterable[str]) -> TokenStore:
        """Encode texts with the model's tokenizer."""
        return TokenStore.build(texts, self.tokenizer_name, self.max_seq_len)

    def forward(self, batch: TrainBatch) -> torch.Tensor:
        """Return the cosine of every state with every column, ``float32[B, C]``."""
        queries = self.embed_by_length(batch["queries"])[batch["rows"]]
        premises = self.embed_by_length(batch["premises"])[batch["columns"]]
        return queries @ premises.T

    def similarity_loss(self, batch: TrainBatch) -> torch.Tensor:
        """Return the mean squared error of the cosines against the labels, where they count."""
        # Through forward(): that is the call in which DDP gathers gradients.
        return weighted_mse(self(batch), batch)

    def training_step(self, batch: TrainBatch, _batch_index: int) -> torch.Tensor:
        """Return the loss of a batch, with the EWC penalty where it is on."""
        loss = self.similarity_loss(batch)
        size = len(batch["rows"])
        self.log("loss_train", loss, prog_bar=True, batch_size=size)
        if self.ewc_lambda > 0 and self.consolidation is not None:
            penalty = self.ewc_lambda * self.consolidation.penalty(self)
            self.log("ewc_penalty", penalty, batch_size=size)
            loss = loss + penalty
        return loss

    def configure_optimizers(self) -> Any:
        """Use AdamW with linear warm-up and cosine decay."""
        # Not trainer.estimated_stepping_batches: that makes the loader before Lightning restores
        # a run, and the loader's place in the epoch would be lost.
        per_epoch = math.ceil(
            len(self._data.training_batches()) / self.trainer.accumulate_grad_batches
        )
        steps = per_epoch * (self.trainer.max_epochs or 1)
        warmup = min(self.warmup_steps, steps // 10) if self.cap_warmup else self.warmup_steps
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.lr)
        schedule = get_cosine_schedule_with_warmup(optimizer, warmup, steps)
        return {
            "optimizer": optimizer,
            "lr_scheduler": {"scheduler": schedule, "interval": "step"},
        }

    def on_fit_start(self) -> None:
        """Move EWC's state to the model's device."""
        if self.consolidation is not None:
            self.consolidation = self.consolidation.to(self.device)

    @property
    def _data(self) -> RetrievalDataModule:
        module: RetrievalDataModule = self.trainer.datamodule  # type: ignore[attr-defined]
        return module

    def on_validation_epoch_start(self) -> None:
        """Encode the corpus; each process encodes its share."""
        store = self._data.premises
        rank, share = self.trainer.global_rank, -(-len(store) // self.trainer.world_size)
        # The last share is filled up with the first premises, so that all are equally long.
        numbers = np.arange(rank * share, (rank + 1) * share) % len(store)
        part = self.embed_all(store, numbers, "Encoding premises" if rank == 0 else None)
        gathered = self.all_gather(part)
        assert isinstance(gathered, torch.Tensor)
        self._embeddings = gathered.view(-1, part.shape[1])[: len(store)]
        self._measured = []

    def validation_step(self, batch: EvalBatch, _batch_index: int) -> None:
        """Retrieve for a batch of states and measure it."""
        assert self._embeddings is not None
        examples = [self._data.val_examples[number] for number in batch["examples"].tolist()]
        visibility = self._data.corpus.visibility
        usable = (visibility.mask(one.file, one.before) for one in examples)
        queries = self.embed(batch["queries"])
        _, found = top_k(queries, self._embeddings, self.num_retrieved, usable)
        for example, retrieved in zip(examples, found.numpy(), strict=True):
            self._measured.append(measured(retrieved, example.positives))

    def on_validation_epoch_end(self) -> None:
        """Log the metrics over all processes; no state is counted twice."""
        self._embeddings = None
        rows = torch.tensor(self._measured).reshape(len(self._measured), len(METRICS))
        sums = torch.cat([rows.sum(0), torch.tensor([float(len(rows))])]).to(self.device)
        *totals, count = self.trainer.strategy.reduce(sums, reduce_op="sum").tolist()
        if count:
            # Equal in all processes already; sync_dist only tells Lightning so.
            recall_1, recall_10, rank = (total / count for total in totals)
            self.log("Recall@1_val", recall_1, sync_dist=True)
            self.log("Recall@10_val", recall_10, prog_bar=True, sync_dist=True)
            self.log("MRR", rank, sync_dist=True)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Add what loading needs, EWC's state and the split strategies."""
        settings = dict(checkpoint.get("hyper_parameters") or self.hparams)
        settings["encoder_config"] = self.encoder.config.to_dict()
        checkpoint["hyper_parameters"] = settings
        checkpoint["split_strategies"] = list(self.split_strategies)
        if self.consolidation is not None:
            checkpoint["ewc"] = self.consolidation.to_state()

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Read it back."""
        self.split_strategies = tuple(checkpoint.get("split_strategies", ()))
        if "ewc" in checkpoint:
            self.consolidation = Consolidation.from_state(checkpoint["ewc"], self)

    def fingerprint(self) -> str:
        """Return a digest of the encoder's weights; indexes are tied to it."""
        digest = hashlib.blake2b(
            f"{self.max_seq_len} {self.tokenizer_name}".encode(), digest_size=16
        )
        for name, value in sorted(self.encoder.state_dict().items()):
            digest.update(name.encode())
            digest.update(value.detach().cpu().contiguous().view(torch.uint8).numpy().data)
        return digest.hexdigest()


def load_encoder(name: str) -> PreTrainedModel:
    """Load the encoder of a T5-type model with 32-bit weights; a decoder is dropped."""
    model, report = fetch(
        AutoModelForTextEncoding.from_pretrained,
        name,
        what="T5-type encoder",
        output_loading_info=True,
        dtype=torch.float32,
    )
    missing = sorted(report["missing_keys"]) + [str(key) for key in report["mismatched_keys"]]
    foreign = [
        key for key in report["unexpected_keys"] if not key.startswith(("decoder.", "lm_head."))
    ]
    odd = {"missing": missing, "unknown": foreign}
    if said := "; ".join(f"{what} {', '.join(keys[:3])}" for what, keys in odd.items() if keys):
        raise CheckpointError(
            f"{name} is not the encoder of a retriever: {said}. Give a T5-type encoder"
        )
    if model.config.model_type not in T5_TYPES:
        raise CheckpointError(
            f"{name} is a {model.config.model_type} model; the retriever needs a T5-type encoder "
            f"({', '.join(sorted(T5_TYPES))}), for example google/byt5-small"
        )
    return model  # type: ignore[no-any-return]


def has_bf16(device: str) -> bool:
    """Whether a type of device, ``cuda`` or another, is fast at bfloat16 here."""
    return torch.cuda.is_bf16_supported() if device == "cuda" else cpu_has_bf16()


def inference_autocast(device: torch.device) -> AbstractContextManager[Any]:
    """Compute in bfloat16 on devices that are fast at it (embeddings change by about 4e-5)."""
    fast = has_bf16(device.type)
    return torch.autocast(device.type, dtype=torch.bfloat16) if fast else nullcontext()


def length_batches(lengths: Numbers, tokens: int) -> list[Numbers]:
    """Split texts into batches of similar length, longest first.

    The shortest text of a batch has more than 2/3 of the tokens of the longest, and all together
    have at most ``tokens``, padding included.

    >>> [batch.tolist() for batch in length_batches(np.array([10, 300, 90, 250, 100]), 600)]
    [[1, 3], [4, 2], [0]]
    """
    order = np.argsort(-lengths, kind="stable")
    sizes = lengths[order].tolist()
    ends = []
    first = 0
    for last, size in enumerate(sizes):
        if last > first and (
            3 * size <= 2 * sizes[first] or (last + 1 - first) * sizes[first] > tokens
        ):
            ends.append(last)
            first = last
    return np.split(order, ends) if sizes else []


def weighted_mse(similarity: torch.Tensor, batch: TrainBatch) -> torch.Tensor:
    """Return the mean squared error over the entries that count: those of positive weight."""
    weights = batch["weights"]
    error = (similarity.float() - batch["labels"]).square()
    return (error * weights).sum() / weights.sum().clamp(min=1)


def read_checkpoint(path: Path | str) -> dict[str, Any]:
    """Read a checkpoint file as plain data, or raise ``CheckpointError``; runs no code in it."""
    if not Path(path).is_file():
        raise CheckpointError(f"{path}: there is no such checkpoint")
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a broken file can raise anything
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise CheckpointError(f"{path} cannot be read as a checkpoint: {reason}") from error
    if not isinstance(loaded, dict):
        raise CheckpointError(f"{path} is not a Lightning checkpoint")
    return loaded
