"""Models by name: a local folder or a Hugging Face hub id, even without network."""

from __future__ import annotations

import functools
import socket
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from lean_dojo_core.errors import UsageError
from lean_dojo_plugins.training.reporting import bars_on_terminals_only
from lean_dojo_v2.errors import TrainingError
from lean_dojo_v2.prover import SHIPPED, model_named

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_PATIENCE = 15.0
"""Seconds to wait for the hub when checking for a model."""


def looks_like_path(name: str) -> bool:
    """Whether a model's name can only be a local path (a hub id is ``owner/name``)."""
    return name.startswith((".", "/", "~", "\\")) or name.count("/") > 1


def resolve_model(name: str | Path) -> str:
    """Return the local folder or file of a name, or the hub id unchanged.

    ``shipped`` is the shipped model. UsageError if it can only be a path and nothing is there.
    """
    if str(name).endswith(".gguf"):
        raise UsageError(
            f"{name} is a GGUF file: convert it to safetensors with transformers, or serve it with "
            "llama.cpp and prove with --endpoint"
        )
    path = Path(model_named(str(name))).expanduser()
    if path.exists():
        return str(path)
    if isinstance(name, Path) or looks_like_path(str(name)):
        raise UsageError(
            f"model_name: there is no model at {name}; give a folder that holds one, or the "
            "hub id of a model ('owner/name')"
        )
    return str(name)


def require_model(name: str | Path) -> None:
    """Check that a model exists, without downloading it."""
    source = resolve_model(name)
    if Path(source).is_dir():
        files = ("config.json", "adapter_config.json")
        if not any(next(Path(source).glob(file), None) for file in files):
            raise UsageError(f"model_name: the folder {name} holds no model (no config.json)")
    elif not Path(source).exists() and (reason := _not_on_hub(source)):
        folders = (one.name for one in Path.cwd().iterdir() if (one / "config.json").is_file())
        meant = get_close_matches(source, [SHIPPED, *folders], 1)
        hint = f". Did you mean {meant[0]!r}?" if meant else ""
        raise UsageError(
            f"model_name: {name!r} is neither a folder here nor a model of the Hugging Face hub: "
            f"{reason}{hint}"
        )


def check_model_name(name: str | Path) -> None:
    """Refuse names that are wrong without asking the hub, when a trainer is constructed.

    A name without an owner is usually a missing folder; :func:`require_model` checks an
    ``owner/name`` on the hub before the training.
    """
    source = resolve_model(name)
    if "/" not in source and not Path(source).exists():
        require_model(name)


@functools.cache
def _not_on_hub(name: str) -> str:
    """Return why the hub does not provide a model; empty if it does, or if it is cached."""
    from huggingface_hub import constants, model_info, try_to_load_from_cache
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, RepositoryNotFoundError

    try:
        for file in ("config.json", "adapter_config.json"):
            if isinstance(try_to_load_from_cache(name, file), str):
                return ""
        if constants.HF_HUB_OFFLINE or not _can_be_asked(constants.ENDPOINT):
            return "it is not in the cache, and the hub cannot be reached"
        model_info(name, timeout=_PATIENCE)
    except RepositoryNotFoundError:
        return "there is none with that name, or it is private (`hf auth login`)"
    except (HFValidationError, HfHubHTTPError, OSError) as error:
        return " ".join(str(error).split())[:200]
    return ""


def fetch(load: Any, source: str, *, what: str, **options: Any) -> Any:
    """Call a ``from_pretrained`` and turn its failures into one TrainingError with advice."""
    from huggingface_hub import constants
    from safetensors import SafetensorError

    # Without a network the libraries retry for about a minute, with warnings, before they fail;
    # cached models need no network.
    offline = not (Path(source).exists() or _can_be_asked(constants.ENDPOINT))
    try:
        with bars_on_terminals_only():
            return load(source, **({"local_files_only": True} if offline else {}), **options)
    except (OSError, ValueError, ImportError, KeyError, SafetensorError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:400]
        if Path(source).exists():
            raise TrainingError(
                f"{source}: no {what} can be loaded from there: {reason}"
            ) from error
        raise TrainingError(
            f"{what} {source!r}: there is no such folder here, and the Hugging Face hub did not "
            f"provide it ({reason}). Check the name and the connection, or give a local folder."
        ) from error


def fetch_tokenizer(source: str) -> PreTrainedTokenizerBase:
    """Load a tokenizer that can pad, with its end token if it has no padding token."""
    from transformers import AutoTokenizer

    tokenizer: PreTrainedTokenizerBase = fetch(
        AutoTokenizer.from_pretrained, source, what="tokenizer"
    )
    if tokenizer.pad_token is None:
        if tokenizer.eos_token is None:
            raise TrainingError(
                f"{source}: its tokenizer has neither a padding nor an end token; set one of them "
                "in its tokenizer_config.json"
            )
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def has_tokenizer(name: str | Path) -> bool:
    """Whether a model may have a tokenizer, by the files of a local folder."""
    folder = Path(resolve_model(name))
    files = ("tokenizer*", "vocab.*", "spiece.model")
    return not folder.is_dir() or any(next(folder.glob(file), None) for file in files)


@functools.cache
def _can_be_asked(endpoint: str) -> bool:
    """Whether the endpoint has an address; behind a proxy only the proxy knows."""
    if getproxies().keys() & {"https", "http", "all"}:
        return True
    try:
        socket.getaddrinfo(urlsplit(endpoint).hostname, None)
    except OSError:
        return False
    return True
