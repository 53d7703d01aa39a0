"""A small BERT of random weights, for a progress model that needs no download."""

from __future__ import annotations

from pathlib import Path

from transformers import AutoTokenizer, BertConfig, BertModel, set_seed

from lean_dojo_plugins.training.reporting import bars_on_terminals_only


def build_tiny_encoder(
    tokenizer_path: Path, output_dir: Path, *, seed: int = 0, hidden_size: int = 128
) -> Path:
    """Initialise a BERT of two layers for a tokenizer that is there already.

    Args:
        tokenizer_path: Folder of the tokenizer, for example the tiny language model's.
        output_dir: Where to save both.
        seed: Seed of the weights.
        hidden_size: Width.

    Returns:
        ``output_dir``.
    """
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_path)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden_size,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=4 * hidden_size,
        max_position_embeddings=512,
        pad_token_id=tokenizer.pad_token_id,
    )
    set_seed(seed)
    tokenizer.save_pretrained(output_dir)
    with bars_on_terminals_only():  # the weights last: a folder that has them is complete
        BertModel(config).save_pretrained(output_dir)
    return output_dir
