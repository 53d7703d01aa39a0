"""Build a small language model with random weights, without any download.

A byte-level BPE tokenizer is trained on the texts at hand and a Llama model is initialised at
random for its vocabulary. Trained for a minute or two, such a model learns one library's ways of
proving and nothing else. It is for tests and demonstrations of the whole pipeline; a real project
starts from a pretrained model.
"""

from collections.abc import Iterable
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed

from lean_dojo_plugins.training import bars_on_terminals_only

BOS, EOS, PAD = "<|start|>", "<|end|>", "<|pad|>"

TEMPLATE = (
    "{{ bos_token }}"
    "{% for message in messages %}"
    "{% if message['role'] == 'user' %}{{ message['content'] + '\n=> ' }}"
    "{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token }}{% endif %}"
    "{% endfor %}"
)
"""The chat template: the goal, an arrow, the tactic, the end-of-turn token.

A system message is left out: it is the same in every prompt, so a model trained from nothing could
learn nothing from it, and it would be two thirds of the tokens.
"""

# Pieces that are never merged with each other: `doubleAll_join` is `double`, `All`, `_`, `join`, so
# that a name never seen in training is put together from parts that were; a space is its own piece,
# so that a word has the same tokens wherever it stands.
_PIECES = r"[A-Z]?[a-z]+|[A-Z]+|[0-9]|\s|[^\sA-Za-z0-9]"

# Then `hp` and `hpq`, the usual names of hypotheses about `p` and `q`, are spelt out: a model that
# has learned to copy `p` and `q` from the goal can name them.
_HYPOTHESES = r"^h(?=[a-z]{1,2}$)|(?<=^h)[a-z](?=[a-z]?$)|(?<=^h[a-z])[a-z]$"


def build_tiny_model(
    texts: Iterable[str],
    output_dir: str | Path,
    *,
    seed: int = 0,
    vocab_size: int = 768,
    hidden_size: int = 256,
    layers: int = 4,
    heads: int = 4,
    max_length: int = 512,
) -> Path:
    """Train a tokenizer on ``texts``, initialise a Llama model for it, and save both.

    The folder loads with ``AutoModelForCausalLM.from_pretrained`` and
    ``AutoTokenizer.from_pretrained`` like any other model. Characters that do not occur in
    ``texts`` are written in bytes, so there is no unknown token and decoding restores every text.

    Args:
        texts: Texts for the tokenizer: goal states and tactics of the training split.
        output_dir: The folder to write, which is returned.
        seed: Seed of the initial weights. The same texts and seed give the same model.
        vocab_size: Upper limit of the vocabulary; 256 bytes and 3 special tokens are always in it.
        hidden_size: Width of the model; a multiple of ``2 * heads``.
        layers: Number of transformer blocks.
        heads: Number of attention heads.
        max_length: Longest sequence, in tokens, that the model is declared for.

    Raises:
        ValueError: ``texts`` is empty, or a size does not fit.
    """
    if vocab_size < 259:
        raise ValueError(
            f"vocab_size is {vocab_size}; 256 bytes and 3 special tokens need at least 259"
        )
    if hidden_size % (2 * heads):
        raise ValueError(
            f"hidden_size ({hidden_size}) must be a multiple of 2 * heads ({2 * heads})"
        )
    folder = Path(output_dir)
    tokenizer = _train_tokenizer(texts, vocab_size, max_length)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden_size,
        intermediate_size=hidden_size * 3,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        max_position_embeddings=max_length,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    set_seed(seed)
    model = LlamaForCausalLM(config)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(folder)
    with bars_on_terminals_only():  # the weights last: a folder that has them is complete
        model.save_pretrained(folder)
    return folder


def _train_tokenizer(
    texts: Iterable[str], vocab_size: int, max_length: int
) -> PreTrainedTokenizerFast:
    corpus = list(texts)
    if not corpus:
        raise ValueError("there are no texts to train the tokenizer on")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), behavior="isolated"),
            pre_tokenizers.Split(Regex(_HYPOTHESES), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[PAD, BOS, EOS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus, trainer, length=len(corpus))
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        bos_token=BOS,
        eos_token=EOS,
        pad_token=PAD,
        chat_template=TEMPLATE,
        model_max_length=max_length,
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )
