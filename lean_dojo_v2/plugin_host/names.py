"""Names in settings: a plugin's object, or anything importable."""

from __future__ import annotations

from lean_dojo_core import registry
from lean_dojo_core.registry import Entry, ObjectT, Registry, SpecT


def entry_named(entries: Registry[SpecT, ObjectT], written: str) -> Entry[SpecT, ObjectT] | None:
    """Find the entry of ``NAME`` or ``distribution:NAME``.

    Returns:
        The plugin's entry; ``None`` for any other name with a colon, ``module:attribute``.

    Raises:
        UnknownNameError: If no plugin offers the name; suggests similar ones.
        AmbiguousNameError: If several distributions offer it; lists them.

    >>> entry_named(registry.trainers, "sft"), entry_named(registry.trainers, "json:dumps")
    (<trainer 'sft' of lean-dojo-v2 ...>, None)
    """
    head, colon, _ = written.partition(":")
    # Not normalised: `my_plugin` is the module of the distribution `my-plugin`.
    distributions = {info.distribution for info in registry.current().plugins}
    if colon and written not in entries and head not in distributions:
        return None
    return entries[written]
