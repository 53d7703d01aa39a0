"""Look plugins up by name.

Three registries, one a kind, filled from the installed plugins when first used:

>>> from lean_dojo_core import registry
>>> "sft" in registry.trainers
True
>>> registry.trainers["SFT"].distribution      # case and '_' do not matter
'lean-dojo-v2'

Looking up and listing imports no learning library; :meth:`Entry.load` does, when asked.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any, Generic, TypeVar, cast

import attrs

from lean_dojo_core.discovery import (
    HOST_DISTRIBUTION,
    Discovery,
    PluginInfo,
    discover,
)
from lean_dojo_core.errors import AmbiguousNameError, PluginError, PluginLoadError, UnknownNameError
from lean_dojo_core.installed import normalise
from lean_dojo_core.protocols import DatasetFormatter, RewardFunction, Trainer
from lean_dojo_core.specs import DatasetFormatterSpec, PluginSpec, RewardFunctionSpec, TrainerSpec

SpecT = TypeVar("SpecT", bound=PluginSpec)
ObjectT = TypeVar("ObjectT")


@attrs.frozen
class Entry(Generic[SpecT, ObjectT]):
    """A registered plugin object: its descriptor, where it comes from, and the way to it.

    Attributes:
        spec: The descriptor.
        plugin: The plugin that offers it.
    """

    spec: SpecT
    plugin: PluginInfo
    _protocol: type = attrs.field(repr=False)
    _override: Any = attrs.field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The short name."""
        return self.spec.name

    @property
    def distribution(self) -> str:
        """The distribution that brings it."""
        return self.plugin.distribution

    @property
    def version(self) -> str:
        """The distribution's version."""
        return self.plugin.version

    @property
    def qualified_name(self) -> str:
        """``distribution:name``, which is never ambiguous."""
        return f"{normalise(self.distribution)}:{self.name}"

    def load(self) -> Any:
        """Import the target and check that it is what its kind must be.

        Returns:
            The target itself: for a trainer its class, for a formatter or reward a class,
            function or instance.

        Raises:
            PluginLoadError: If it cannot be imported or lacks the methods of its kind; the message
                names the plugin, its version and the target.
        """
        if self._override is not None:
            return self._override
        module_name, _, attribute = self.spec.target.partition(":")
        try:
            # What its libraries print when imported must not end up in `--json` output.
            with redirect_stdout(sys.stderr):
                target: Any = importlib.import_module(module_name)
                for part in attribute.split("."):
                    target = getattr(target, part)
        except (Exception, SystemExit) as error:  # plugin code: anything may come out of it
            raise self._error(f"{type(error).__name__}: {error}") from error
        self._check(target)
        return target

    def create(self, **options: Any) -> ObjectT:
        """Load the target and, if it is a class, instantiate it.

        Args:
            **options: Constructor arguments; a target that is not a class takes none.

        Raises:
            PluginLoadError: If it cannot be loaded, or options are given to a plain function.
        """
        target = self.load()
        if inspect.isclass(target):
            return cast("ObjectT", target(**options))
        if options:
            raise self._error(f"it is not a class, so it takes no options (got {sorted(options)})")
        return cast("ObjectT", target)

    def _check(self, target: Any) -> None:
        if self._protocol is RewardFunction:
            if not callable(target) or (inspect.isclass(target) and not _has(target, "__call__")):
                raise self._error("a reward must be callable, or a class with __call__")
            return
        methods = ("train",) if self._protocol is Trainer else ("rows", "prompt")
        if missing := [method for method in methods if not _has(target, method)]:
            raise self._error(f"a {self.spec.kind} needs the method(s) {', '.join(missing)}")
        if self._protocol is Trainer and not inspect.isclass(target):
            raise self._error("a trainer must be a class")

    def _error(self, reason: str) -> PluginLoadError:
        return PluginLoadError(
            f"{self.spec.kind} {self.name!r} of {self.distribution} {self.version} "
            f"(target {self.spec.target}): {reason}"
        )


def _has(target: Any, method: str) -> bool:
    """Whether the target (or, for a class, its instances) has a method of that name."""
    if inspect.isclass(target):
        # Every class is callable through its metaclass; only its own __call__ counts.
        return any(method in vars(base) for base in target.__mro__)
    return callable(getattr(target, method, None))


def not_loaded() -> str:
    """Say in one sentence which plugins are installed and not active; nothing if all are.

    For messages about a name that was not found: one of these may offer it.
    """
    idle = [info for info in current().plugins if info.status != "active"]
    if not idle:
        return ""
    names = ", ".join(f"{info.name} ({info.status})" for info in idle)
    return f" Not loaded: {names}; see `lean-dojo plugins --failed`."


class Registry(Mapping[str, "Entry[SpecT, ObjectT]"]):
    """Plugins of one kind by name.

    Iterates over short names; a name that several distributions offer appears as
    ``distribution:name`` for each of them. Look-up folds case and ``_``.

    Args:
        spec_type: Descriptor of this kind.
        protocol: What a target of this kind must be.
    """

    def __init__(self, spec_type: type[SpecT], protocol: type[Any]) -> None:
        self._spec_type = spec_type
        self._protocol = protocol
        self._overrides: list[Entry[SpecT, ObjectT]] = []

    @property
    def kind(self) -> str:
        """Name of the kind, for example ``"trainer"``."""
        return self._spec_type.kind

    def entries(self) -> list[Entry[SpecT, ObjectT]]:
        """List every entry, built-ins first; overridden ones are replaced.

        Raises:
            PluginError: As :func:`current`.
        """
        replaced = {entry.name for entry in self._overrides}
        latest = {entry.name: entry for entry in self._overrides}
        found = [
            Entry[SpecT, ObjectT](offer.spec, offer.plugin, self._protocol)
            for offer in current().offers
            if type(offer.spec) is self._spec_type and offer.spec.name not in replaced
        ]
        return [*found, *latest.values()]

    def __getitem__(self, name: str) -> Entry[SpecT, ObjectT]:
        """Find a plugin by short or qualified name.

        Raises:
            UnknownNameError: If nobody offers the name; suggests near ones.
            AmbiguousNameError: If several distributions offer it; lists them.
        """
        wanted = ":".join(normalise(part) for part in name.split(":"))
        entries = self.entries()
        matches = [entry for entry in entries if wanted in {entry.name, entry.qualified_name}]
        if len(matches) == 1:
            return matches[0]
        if matches:
            providers = ", ".join(f"{m.qualified_name} ({m.version})" for m in matches)
            raise AmbiguousNameError(
                f"{self.kind} {name!r} is offered by several distributions; say which: {providers}"
            )
        raise UnknownNameError(self._unknown(name, wanted, entries))

    def _unknown(self, name: str, wanted: str, entries: list[Entry[SpecT, ObjectT]]) -> str:
        import difflib  # only for this message

        known = sorted({entry.name for entry in entries})
        near = difflib.get_close_matches(wanted.rpartition(":")[2], known, n=3)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        listed = ", ".join(known) or "none"
        return f"no {self.kind} is called {name!r}.{hint} Installed: {listed}.{not_loaded()}"

    def __contains__(self, name: object) -> bool:
        """Whether ``registry[name]`` would give an entry."""
        if not isinstance(name, str):
            return False
        try:
            self[name]
        except (UnknownNameError, AmbiguousNameError):
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        entries = self.entries()
        names = [entry.name for entry in entries]
        for entry in entries:
            yield entry.name if names.count(entry.name) == 1 else entry.qualified_name

    def __len__(self) -> int:
        return len(self.entries())

    @contextmanager
    def override(self, name: str, target: Any) -> Iterator[None]:
        """Put an object under a name for the length of a ``with`` block (for tests).

        Args:
            name: A name, known or new; every provider of it is hidden meanwhile.
            target: The object that ``load()`` then gives.

        >>> from lean_dojo_core import registry
        >>> with registry.reward_functions.override("zero", lambda completions, **_: [0.0]):
        ...     registry.reward_functions["zero"].create()(["simp"])
        [0.0]
        """
        plugin = PluginInfo(
            name="override", distribution="override", version="0", value="", status="active"
        )
        spec = self._spec_type(
            name=normalise(name), target="override:target", summary="Set by override()."
        )
        entry = Entry[SpecT, ObjectT](spec, plugin, self._protocol, target)
        entry._check(target)  # noqa: SLF001 - our own class
        self._overrides.append(entry)
        try:
            yield
        finally:
            # By identity: two equal overrides may be nested.
            self._overrides[:] = [other for other in self._overrides if other is not entry]


_discovered: Discovery | None = None
_discovering = False
# Reentrant: another thread waits for the first; a manifest that comes back is told so.
_lock = threading.RLock()


def current() -> Discovery:
    """Give the plugins of this process, discovering them on the first call.

    Raises:
        PluginError: If a manifest asks while it is itself being loaded; or, with
            ``LEAN_DOJO_STRICT_PLUGINS=1``, if a plugin does not load.
    """
    global _discovered, _discovering  # noqa: PLW0603 - one environment per process
    if _discovered is not None:
        return _discovered
    with _lock:
        if _discovering:
            raise PluginError(
                "the registries cannot be used while plugins are being loaded; use them in the "
                "target that a descriptor names, not in the manifest"
            )
        if _discovered is None:
            _discovering = True
            try:
                _discovered = discover()
            finally:
                _discovering = False
        return _discovered


def refresh() -> Discovery:
    """Look for plugins again: those installed since the first look are there, others are gone.

    For notebooks and servers that go on running: after ``%pip install shortness-bonus``,
    ``registry.refresh()`` makes ``registry.reward_functions["shortness-bonus"]`` work. Modules that
    are imported already stay as they are, so an *upgraded* plugin needs a new process.

    Raises:
        PluginError: As :func:`current`.
    """
    global _discovered  # noqa: PLW0603
    importlib.invalidate_caches()
    with _lock:
        _discovered = None
        return current()


def builtin(kind: Registry[SpecT, ObjectT], name: str) -> Any:
    """Load a built-in by name, whoever else offers that name.

    Args:
        kind: One of the registries.
        name: The built-in's short name.

    Raises:
        UnknownNameError: If there is no such built-in.
        PluginLoadError: If its target cannot be imported.
    """
    return kind[f"{HOST_DISTRIBUTION}:{name}"].load()


trainers: Registry[TrainerSpec, Trainer] = Registry(TrainerSpec, Trainer)
dataset_formatters: Registry[DatasetFormatterSpec, DatasetFormatter] = Registry(
    DatasetFormatterSpec, DatasetFormatter
)
reward_functions: Registry[RewardFunctionSpec, RewardFunction] = Registry(
    RewardFunctionSpec, RewardFunction
)

REGISTRIES: dict[str, Registry[Any, Any]] = {
    registry.kind: registry for registry in (trainers, dataset_formatters, reward_functions)
}
"""The registries by kind."""
