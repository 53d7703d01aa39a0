"""Serve a model's folder with llama.cpp, in float32: ``python llama_server.py FOLDER [PORT]``.

It prints the address of its API and what it serves, and serves until it is stopped.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer

SLOTS = 16
"""Most samples of one request."""


def write_gguf(folder: str, file: Path) -> int:
    """Write a Llama with a byte-level BPE tokenizer as a GGUF file; give its context's length.

    The prompts of this library are token ids, so only what turns tokens into text must be right.
    """
    import gguf

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype="float32")
    config = model.config
    assert config.tie_word_embeddings, "the output's weights are not written"
    layers = config.num_hidden_layers
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    out = gguf.GGUFWriter(file, "llama")
    out.add_block_count(layers)
    out.add_context_length(config.max_position_embeddings)
    out.add_embedding_length(config.hidden_size)
    out.add_feed_forward_length(config.intermediate_size)
    out.add_head_count(heads["q_proj"])
    out.add_head_count_kv(heads["k_proj"])
    out.add_layer_norm_rms_eps(config.rms_norm_eps)
    out.add_rope_freq_base(config.rope_parameters["rope_theta"])
    out.add_vocab_size(config.vocab_size)
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("default")
    special = set(tokenizer.all_special_ids)
    kinds = (gguf.TokenType.NORMAL, gguf.TokenType.CONTROL)
    out.add_token_list(tokenizer.convert_ids_to_tokens(list(range(config.vocab_size))))
    out.add_token_types([kinds[token in special] for token in range(config.vocab_size)])
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    out.add_token_merges([" ".join(pair) for pair in merges])
    out.add_eos_token_id(tokenizer.eos_token_id)
    out.add_add_bos_token(False)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, layers)
    for name, tensor in model.state_dict().items():
        weights = tensor
        if (count := heads.get(name.split(".")[-2])) is not None:
            # Pairs that rotary positions turn lie beside each other there, half a head apart here.
            turned = weights.unflatten(0, (count, 2, -1)).transpose(1, 2)
            weights = turned.reshape(weights.shape)
        if name != "lm_head.weight":  # which is that of the embeddings
            out.add_tensor(names.get_name(name, (".weight",)), weights.contiguous().numpy())
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return config.max_position_embeddings


def main() -> None:
    """Serve the model of a folder, at a port, or at a free one."""
    import xllamacpp

    folder, port = sys.argv[1], int(*sys.argv[2:])
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "model.gguf")
        context = write_gguf(folder, file)
        params = xllamacpp.CommonParams()
        params.model.path = str(file)
        params.model_alias = {folder}
        params.port = port
        params.n_parallel = SLOTS
        params.n_ctx = SLOTS * context
        params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.warmup = False
        server = xllamacpp.Server(params)  # which then needs the file's name no more
    print(f"{server.listening_address}/v1\nserving {folder}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
