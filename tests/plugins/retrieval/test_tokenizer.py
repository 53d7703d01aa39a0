"""Tokens: ids as ByT5's, and padded."""

import pytest
from tokenizers import Tokenizer as RawTokenizer, models, pre_tokenizers, processors, trainers
from transformers import ByT5Tokenizer, PreTrainedTokenizerFast

from lean_dojo_plugins.retrieval.data.batches import TokenStore, load_tokenizer
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


def test_byt5_needs_no_files(tmp_path):
    for name in ("google/byt5-small", "kaiyuy/leandojo-lean4-retriever-byt5-small", str(tmp_path)):
        assert isinstance(load_tokenizer(name), ByT5Tokenizer)
    ByT5Tokenizer().save_pretrained(tmp_path)
    assert isinstance(load_tokenizer(str(tmp_path)), ByT5Tokenizer)


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
    store = TokenStore.build(["theorem a b : x"], wordpiece, 4)
    assert store.lengths.tolist() == [4]
    assert store.pad([0])[0, -1] == 1


def test_a_tokenizer_that_is_nowhere_is_a_clear_error(tmp_path):
    with pytest.raises(TrainingError, match=r"tokenizer .*missing.*local folder"):
        load_tokenizer(str(tmp_path / "missing"))


def test_a_store_gives_the_tokens_back():
    store = TokenStore.build(TEXTS, "google/byt5-small", 64)
    expected = ByT5Tokenizer()(TEXTS, truncation=True, max_length=64)["input_ids"]
    assert [store.pad([i])[0].tolist() for i in range(len(store))] == expected
    assert store.lengths.tolist() == [len(row) for row in expected]
    assert store.pad([2, 1]).tolist() == [[123, 1], [1, 0]]
