"""A hub that is out of reach is not waited for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.training.hub import (
    _can_be_asked,
    fetch_tokenizer,
    resolve_model,
)
from lean_dojo_v2.errors import TrainingError

CODE = """
import sys
from lean_dojo_core import LeanDojoError
from lean_dojo_plugins.causal_lm.model.bases import load_tokenizer
try:
    load_tokenizer("no-such-model")
except LeanDojoError as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


@pytest.mark.slow
def test_a_missing_model_without_a_network_is_said_at_once(
    environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    variables = environment(HF_ENDPOINT="https://hub.invalid", HF_HOME=str(tmp_path))
    for name in [key for key in variables if key.lower().endswith("_proxy")]:
        del variables[name]
    variables["HF_HUB_OFFLINE"] = "0"
    ran = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=variables,
    )
    assert ran.returncode == 1
    assert "TrainingError: tokenizer 'no-such-model': there is no such folder here" in ran.stderr
    assert "Retrying" not in ran.stderr
    assert len(ran.stderr.splitlines()) == 1, ran.stderr


def test_a_tokenizer_pads_with_its_end_token_or_says_that_it_cannot(tmp_path: Path) -> None:
    words = Tokenizer(models.WordLevel({"a": 0, "</s>": 1, "?": 2}, unk_token="?"))
    PreTrainedTokenizerFast(tokenizer_object=words, eos_token="</s>").save_pretrained(
        tmp_path / "a"
    )
    assert fetch_tokenizer(str(tmp_path / "a")).pad_token == "</s>"
    PreTrainedTokenizerFast(tokenizer_object=words).save_pretrained(tmp_path / "b")
    with pytest.raises(TrainingError, match="neither a padding nor an end token"):
        fetch_tokenizer(str(tmp_path / "b"))


@pytest.mark.parametrize("name", ["prover.gguf", "owner/prover.gguf"])
def test_a_gguf_file_is_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(UsageError, match="a GGUF file: convert it"):
        resolve_model(name)


def test_behind_a_proxy_only_the_proxy_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    _can_be_asked.cache_clear()
    assert not _can_be_asked("https://hub.invalid")
    _can_be_asked.cache_clear()
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    assert _can_be_asked("https://hub.invalid")
    _can_be_asked.cache_clear()
