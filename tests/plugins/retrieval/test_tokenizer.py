"""Tokens: ids as ByT5's, and padded."""

import numpy as np
import pytest
from tokenizers import Tokenizer as RawTokenizer, models, pre_tokenizers, processors, trainers
from transformers import ByT5Tokenizer, PreTrainedTokenizerFast

from lean_dojo_plugins.retrieval.data.tokenizer import ByteTokenizer, HubTokenizer, load_tokenizer
from lean_dojo_plugins.retrieval.data.tokens import TokenStore
from lean_dojo_v2.errors import TrainingError

TEXTS = [
    "⊢ ∀ (a b : ℕ), a + b = b + a",
    "",
    "x",
    "α : Type u_1\nh : a ∣ b\n⊢ ∃ c, b = a * c",
    "theorem <a>Nat.add_comm</a> (a b : ℕ)",
    "\t tabs  and\r\n lines \x00 zero",
    "𝔽 🎉 ﬁ e\u0301",
    "a" * 700,
]


@pytest.mark.parametrize("length", [2, 7, 512])
def test_bytes_are_byt5s_ids(length):
    reference = ByT5Tokenizer()
    ids = reference(TEXTS, truncation=True, max_length=length)["input_ids"]
    assert [row.tolist() for row in ByteTokenizer().encode(TEXTS, length)] == ids


def test_random_text_has_byt5s_ids():
    rng = np.random.default_rng(0)
    points = rng.integers(1, 0x2FFF, size=(50, 40))
    texts = ["".join(map(chr, row)) for row in points]
    ids = ByT5Tokenizer()(texts)["input_ids"]
    assert [row.tolist() for row in ByteTokenizer().encode(texts, 10_000)] == ids


def test_a_text_that_spells_a_control_token_stays_text():
    (ids,) = ByteTokenizer().encode(["a</s>b<pad>"], 512)
    assert bytes((ids[:-1] - 3).astype(np.uint8)) == b"a</s>b<pad>"


def test_names_that_need_no_files(tmp_path):
    assert isinstance(load_tokenizer("google/byt5-small"), ByteTokenizer)
    assert isinstance(load_tokenizer("kaiyuy/leandojo-lean4-retriever-byt5-small"), ByteTokenizer)
    ByT5Tokenizer().save_pretrained(tmp_path)
    assert isinstance(load_tokenizer(str(tmp_path)), ByteTokenizer)


@pytest.fixture
def wordpiece(tmp_path):
    raw = RawTokenizer(models.WordLevel(unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    raw.train_from_iterator(
        TEXTS, trainers.WordLevelTrainer(special_tokens=["<pad>", "</s>", "<unk>"])
    )
    raw.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="</s>")
    fast.save_pretrained(tmp_path / "words")
    return str(tmp_path / "words")


def test_any_other_tokenizer_from_a_folder(wordpiece):
    tokenizer = load_tokenizer(wordpiece)
    assert isinstance(tokenizer, HubTokenizer)
    (ids,) = tokenizer.encode(["theorem a b : x"], 4)
    assert len(ids) == 4
    assert ids[-1] == 1


def test_a_tokenizer_that_is_nowhere_is_a_clear_error(tmp_path):
    with pytest.raises(TrainingError, match="byt5-small"):
        load_tokenizer(str(tmp_path / "missing"))


def test_a_store_gives_the_tokens_back():
    store = TokenStore.build(TEXTS, ByteTokenizer(), 64)
    expected = ByteTokenizer().encode(TEXTS, 64)
    assert [store.pad([i], 64)[0].tolist() for i in range(len(store))] == [
        row.tolist() for row in expected
    ]
    assert store.lengths.tolist() == [len(row) for row in expected]


def test_padding_keeps_the_end_token():
    store = TokenStore.build(["abcdef", "", "gh"], ByteTokenizer(), 99)
    assert store.pad([2, 0], 99).tolist() == [
        [106, 107, 1, 0, 0, 0, 0],
        [100, 101, 102, 103, 104, 105, 1],
    ]
    assert store.pad([0, 1], 3).tolist() == [[100, 101, 1], [1, 0, 0]]
    assert TokenStore.build([], ByteTokenizer(), 9).pad([], 9).shape == (0, 1)
