"""What Lake gives to ``lean`` when it builds a file: ``leanOptions`` and ``moreLeanArgs``.

``lake env lean FILE`` gives none of it, so a file would be elaborated otherwise than in the build.
``weakLeanArgs`` are left out, as Lake itself promises that they change no result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from lean_dojo_v2.tracing.project.lakefile import read_target

_OURS = frozenset({"trace.Elab.info", "Elab.async", "warningAsError"})
"""Options that a trace decides itself; with warnings as errors a ``sorry`` would be no theorem."""


@attrs.frozen
class LeanArguments:
    """Arguments of ``lean`` for every file of a package, and what its targets add to them.

    Those are for each library and executable its root modules, and its further arguments.
    """

    package: tuple[str, ...] = ()
    targets: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()

    def of(self, module: str) -> tuple[str, ...]:
        """Return the arguments for a module, those that win at the end."""
        for roots, arguments in self.targets:
            if any(module == root or module.startswith(f"{root}.") for root in roots):
                return (*self.package, *arguments)
        return self.package


def read_arguments(configuration: Mapping[str, Any]) -> LeanArguments:
    """Read the arguments out of what a package's ``lakefile.toml`` says.

    Raises:
        TypeError: If a value is not what it should be; or ``AttributeError``, ``KeyError``.
    """
    # Where two libraries could have a module, Lake takes the one that is declared last; and
    # executables come after libraries.
    libraries = reversed(configuration.get("lean_lib", ()))
    executables = configuration.get("lean_exe", ())
    return LeanArguments(
        _arguments(configuration),
        (
            *((read_target(entry).roots, _arguments(entry)) for entry in libraries),
            *((read_target(e, executable=True).roots, _arguments(e)) for e in executables),
        ),
    )


def _arguments(entry: Mapping[str, Any]) -> tuple[str, ...]:
    options = (f"-D{name}={_text(value)}" for name, value in _options(entry.get("leanOptions", {})))
    return tuple(_not_ours([*options, *map(str, entry.get("moreLeanArgs", ()))]))


def _options(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield names and values of a TOML table, whose dotted names are tables, or of an array."""
    if isinstance(value, list):
        for item in value:
            yield str(item["name"]), item["value"]
        return
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _options(inner, f"{prefix}{name}.")
        else:
            yield prefix + name, inner


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _not_ours(arguments: Iterable[str]) -> Iterator[str]:
    words = iter(arguments)
    for word in words:
        argument = f"-D{next(words, '')}" if word == "-D" else word
        name = argument.removeprefix("-D").partition("=")[0].strip().removeprefix("weak.")
        if not argument.startswith("-D") or name not in _OURS:
            yield argument
