"""Options that choose a prover, and the prover made from them."""

import hashlib
from pathlib import Path
from typing import Any

import attrs
import click

from lean_dojo_core import Entry, UsageError, settings_of
from lean_dojo_v2 import kinds, prover
from lean_dojo_v2.cli import parameters as args
from lean_dojo_v2.cli.output import note
from lean_dojo_v2.lean_agent import ProverConfig
from lean_dojo_v2.settings import Settings, parse_assignment, resolve

DEFAULT = "automation"
"""The prover that needs no model."""
LANGUAGE_MODEL = "hf"
"""The prover for --model, or for the shipped model."""
_BIG = 1_000_000_000
"""Bytes of weights whose reading takes long enough to be announced."""


@attrs.frozen(kw_only=True)
class ProverChoice:
    """The options that choose a prover."""

    prover: str | None = args.option(
        metavar="NAME",
        shell_complete=args.complete_prover,
        help="Prover (default with --model: `hf`; with --external: `external`).",
    )
    model: str | None = args.option(
        metavar="MODEL",
        type=click.Path(),
        help="Model trained by sft, expert-iteration or grpo: a folder or hub id (default: "
        "`shipped`, the model included in LeanDojo, if there is one).",
    )
    external: str | None = args.option(
        metavar="MODEL", help="Model behind an OpenAI-compatible endpoint."
    )
    endpoint: str | None = args.option(
        metavar="URL",
        help="OpenAI-compatible server of --model (vLLM, SGLang, llama.cpp), for example "
        "http://localhost:8000/v1; without it the model is loaded locally.",
    )
    formatter: str | None = args.option(
        metavar="NAME",
        shell_complete=args.complete_formatter,
        help="Dataset formatter of the model (default: the one recorded in training).",
    )
    device: str | None = args.option(
        metavar="DEVICE", help="Where --model runs: auto, cpu, cuda or mps."
    )
    prover_settings: tuple[str, ...] = args.option(
        "--prover-set",
        multiple=True,
        metavar="KEY=VALUE",
        help="Set another setting of the prover; may be repeated.",
    )

    def __attrs_post_init__(self) -> None:
        if self.external is not None and (self.model is not None or self.prover is not None):
            raise UsageError("name one model, --model or --external, or one prover, --prover NAME")

    @property
    def is_given(self) -> bool:
        """Whether any prover was named."""
        return any(value is not None for value in (self.prover, self.model, self.external))

    @property
    def name(self) -> str:
        """The prover's name."""
        if self.prover is not None:
            return self.prover
        if self.external is not None:
            return "external"
        return DEFAULT if self.own_model is None else LANGUAGE_MODEL

    @property
    def own_model(self) -> str | None:
        """The model of ``--model``, or the shipped one if no prover is named."""
        if self.model is not None:
            return prover.model_named(self.model)
        if self.external is not None or self.prover not in {None, LANGUAGE_MODEL}:
            return None
        shipped = prover.shipped_model()
        return None if shipped is None else str(shipped)

    @property
    def is_default_model(self) -> bool:
        """Whether the shipped model is used because no prover was named."""
        return not self.is_given and self.own_model is not None

    @property
    def label(self) -> str:
        """Label of its results: its model, if it has one."""
        model = self.own_model or self.external
        if model is None:
            return self.name
        return prover.SHIPPED if model == str(prover.shipped_model()) else Path(model).name

    @property
    def default_notice(self) -> str:
        """Return a notice about the default prover; empty if one was named."""
        if self.is_given:
            return ""
        if self.own_model is None:
            return f"No model is named, so Lean's own automation proves (--prover {DEFAULT})."
        return (
            "No model is named, so the shipped model and Lean's own automation prove together "
            f"(use --prover {DEFAULT} for the automation alone)."
        )

    def described(self) -> dict[str, Any]:
        """Return everything that determines its proofs, wherever they are searched."""
        settings = attrs.asdict(self).items()
        given = {key: value for key, value in settings if value and key not in {"device", "ray"}}
        found = {**given, "prover": self.name, "label": self.label}
        if self.is_default_model:
            found["automation"] = True
        if self.own_model is not None and (files := _files(Path(self.own_model))):
            found["files"] = files
        return found

    def make(self, config: ProverConfig) -> Any:
        """Make the prover, with limits of its search; raises as :meth:`resolved`."""
        target, arguments, takes_config = self.resolved()
        return target(**arguments, **({"config": config} if takes_config else {}))

    def resolved(self) -> tuple[Any, dict[str, Any], bool]:
        """Check the options, without loading a model.

        Returns the prover's class, its arguments, and whether it takes limits of a search.
        """
        entry = kinds.provers[self.name]
        target = entry.load()
        known = {setting.name for setting in settings_of(target)}
        settings = Settings()
        for key, value, place in self._given(entry):
            if key not in known:
                raise UsageError(f"prover {entry.name!r} has no setting for {place}")
            settings.put(key, value, place)
        for text in self.prover_settings:
            settings.update(parse_assignment(text, "--prover-set"))
        arguments = resolve(
            settings, target, owner=f"prover {entry.name!r}", how="with --prover-set"
        )
        return target, arguments, "config" in known

    def _given(self, entry: Entry[Any, Any]) -> list[tuple[str, Any, str]]:
        """Yield settings with their values and options."""
        model = entry.spec.model_setting or "model"
        settings = [
            (model, self.own_model, "--model"),
            (model, self.external, "--external"),
            ("automation", self.is_default_model or None, "--prover"),
            ("formatter", self.formatter, "--formatter"),
            ("device", self.device, "--device"),
            ("endpoint", self.endpoint, "--endpoint"),
        ]
        return [one for one in settings if one[1] is not None]


@attrs.frozen(kw_only=True)
class ClusterChoice(ProverChoice):
    """The options that choose a prover, and where it searches."""

    ray: bool = args.option(
        is_flag=True,
        help="Search on a Ray cluster: actors with a model and -j engines each, as many as fit.",
    )

    def make(self, config: ProverConfig) -> Any:
        """Make the prover, or what has it work in every actor of a cluster."""
        if not self.ray:
            return super().make(config)
        here = self.own_model is not None and self.endpoint is None
        on_gpu = here and self.device != "cpu"
        make = attrs.evolve(self, ray=False).make
        return prover.ClusterProver(make, config, on_gpu=on_gpu)


def _files(folder: Path) -> dict[str, str]:
    """Return a digest of each file of weights in a model's folder; empty for a hub model."""
    if not folder.is_dir():
        return {}
    files = [file for file in sorted(folder.iterdir()) if file.suffix in {".safetensors", ".bin"}]
    if (size := sum(file.stat().st_size for file in files)) > _BIG:
        note(f"reading the {size / 1e9:.0f} GB of weights in {folder}, to recognise this run later")
    digests = {}
    for file in files:
        with file.open("rb") as stream:
            digests[file.name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return digests
