"""Look plugins up by name.

There is one registry for each kind (``trainers``, ``dataset_formatters``, ``reward_functions``;
:func:`registries` gives all), filled from the installed plugins when first used:

>>> from lean_dojo_core import registry
>>> "sft" in registry.trainers
True
>>> registry.trainers["SFT"]                   # case and '_' do not matter
<trainer 'sft' of lean-dojo-v2 ...>

Looking up and listing imports no learning library; only :meth:`Entry.load` does.
"""

import importlib
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any, Generic, TypeVar, cast, overload

import attrs
import pluggy

from lean_dojo_core import errors, protocols, specs
from lean_dojo_core.discovery import Discovery, PluginInfo, discover, import_target
from lean_dojo_core.foreign import loading
from lean_dojo_core.installed import HOST_DISTRIBUTION, normalise
from lean_dojo_core.wording import did_you_mean

SpecT = TypeVar("SpecT", bound=specs.PluginSpec)
SpecT_co = TypeVar("SpecT_co", bound=specs.PluginSpec, covariant=True)
ObjectT = TypeVar("ObjectT")
ObjectT_co = TypeVar("ObjectT_co", covariant=True)


@attrs.frozen(repr=False)
class Entry(Generic[SpecT_co, ObjectT_co]):
    """A registered plugin object: its descriptor, the plugin that offers it, and how to load it."""

    spec: SpecT_co
    plugin: PluginInfo
    _override: Any = None

    def __repr__(self) -> str:
        return f"<{self._who}>"

    @property
    def name(self) -> str:
        """The short name."""
        return self.spec.name

    @property
    def distribution(self) -> str:
        """The distribution that provides it."""
        return self.plugin.distribution

    @property
    def version(self) -> str:
        """The distribution's version."""
        return self.plugin.version

    @property
    def qualified_name(self) -> str:
        """``distribution:name``, which is never ambiguous."""
        return f"{normalise(self.distribution)}:{self.name}"

    def as_dict(self) -> dict[str, Any]:
        """Return the descriptor and its origin as ``show --json`` and ``plugins --json`` print."""
        return {
            "kind": self.spec.kind,
            **attrs.asdict(self.spec),
            "qualified_name": self.qualified_name,
            "distribution": self.distribution,
            "version": self.version,
            "plugin": self.plugin.name,
        }

    @overload
    def load(self: "Entry[specs.ClassSpec, ObjectT]") -> type[ObjectT]: ...
    @overload
    def load(self) -> Callable[..., ObjectT_co] | ObjectT_co: ...
    def load(self) -> Any:
        """Import the target and check that it fits its kind.

        For a trainer it is a class, for a formatter or reward a class, function or instance. If it
        cannot be imported or lacks the methods of its kind, a ``PluginLoadError`` names the plugin,
        its version and the target.
        """
        if (target := self._override) is None:
            # What its libraries print when imported must not end up in `--json` output.
            kept_quiet = redirect_stdout(sys.stderr) if self.plugin.builtin else loading(self._who)
            try:
                with kept_quiet:
                    target = import_target(self.spec.target)
            except (Exception, SystemExit) as error:  # plugin code may raise anything
                raise self._error(f"{type(error).__name__}: {error}") from error
        if (problem := self.spec.problem_with(target)) is not None:
            raise self._error(problem)
        return target

    def create(self, **options: object) -> ObjectT_co:
        """Load the target and, if it is a class, instantiate it with the options.

        Raises:
            ConfigError: If the class has no such setting, or needs others; names them.
            PluginLoadError: If it cannot be loaded or made, or options are given to a plain
                function.
        """
        target: Any = self.load()
        if inspect.isclass(target):
            self._check_names(target, options)
            try:
                return cast("ObjectT_co", target(**options))
            except (errors.LeanDojoError, TypeError, ValueError):  # they are about the options
                raise
            except (Exception, SystemExit) as error:
                raise self._error(f"making it raised {type(error).__name__}: {error}") from error
        if options:
            raise self._error(f"it is not a class, so it takes no options (got {sorted(options)})")
        return cast("ObjectT_co", target)

    def _check_names(self, target: type, options: Mapping[str, object]) -> None:
        try:
            signature = inspect.signature(target)
        except (TypeError, ValueError):  # a class written in C
            return
        try:
            signature.bind(**options)
        except TypeError as error:
            known = signature.parameters
            unknown = [name for name in options if name not in known]
            if not unknown:
                raise errors.ConfigError(f"{self._who}: {error}") from None
            hint = did_you_mean(unknown[0], known)
            raise errors.ConfigError(f"{self._who} has no setting {unknown[0]!r}.{hint}") from None

    @property
    def _who(self) -> str:
        return f"{self.spec.kind} {self.name!r} of {self.distribution} {self.version}"

    def _error(self, reason: str) -> errors.PluginLoadError:
        return errors.PluginLoadError(f"{self._who} (target {self.spec.target}): {reason}")


_overrides: dict[str, list[Entry[Any, Any]]] = {}
"""What :meth:`Registry.override` has set, by kind."""


class Registry(Mapping[str, "Entry[SpecT, ObjectT]"]):
    """Plugins of one kind by name.

    Iterates over short names; a name that several distributions offer appears as
    ``distribution:name`` for each of them. Look-up ignores case and treats ``_`` as ``-``. All
    registries of a kind have the same contents; the module that specifies a kind creates a typed
    one from its descriptor::

        dashboards: Registry[DashboardSpec, Dashboard] = Registry(DashboardSpec)
    """

    def __init__(self, spec: type[SpecT]) -> None:
        self._spec = spec
        self._overrides: list[Entry[SpecT, ObjectT]] = _overrides.setdefault(spec.kind, [])

    def __repr__(self) -> str:
        return f"<{self._spec.plural()}: {', '.join(self) or 'none'}>"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    @property
    def kind(self) -> str:
        """Name of the kind, for example ``"reward-function"``."""
        return self._spec.kind

    def entries(self) -> list[Entry[SpecT, ObjectT]]:
        """List entries, built-ins first, overridden ones replaced; raises as :func:`current`."""
        latest = {entry.name: entry for entry in self._overrides}
        found = [
            Entry[SpecT, ObjectT](spec, plugin)
            for spec, plugin in current().offers
            if isinstance(spec, self._spec) and spec.name not in latest
        ]
        return [*found, *latest.values()]

    def __getitem__(self, name: str) -> Entry[SpecT, ObjectT]:
        """Find a plugin by short or qualified name.

        Raises:
            UnknownNameError: If no plugin offers the name; suggests similar ones.
            AmbiguousNameError: If several distributions offer it; lists them.
        """
        wanted = normalise(name)
        entries = self.entries()
        matches = [entry for entry in entries if wanted in {entry.name, entry.qualified_name}]
        if len(matches) == 1:
            return matches[0]
        if matches:
            providers = ", ".join(f"{m.qualified_name} ({m.version})" for m in matches)
            raise errors.AmbiguousNameError(
                f"{self.kind} {name!r} is offered by several distributions; say which: {providers}"
            )
        known = sorted({entry.name for entry in entries})
        hint = did_you_mean(wanted.rpartition(":")[2], known, heading="Installed")
        idle = [info for info in current().plugins if info.status != "active"]
        names = ", ".join(f"{info.name} ({info.status})" for info in idle)
        more = f" Not loaded: {names}; see `lean-dojo plugins --failed`." if idle else ""
        raise errors.UnknownNameError(f"no {self.kind} is called {name!r}.{hint}{more}")

    def named(self, written: str) -> Entry[SpecT, ObjectT] | None:
        """Find the entry of ``NAME`` or ``distribution:NAME``, as a setting is written.

        ``None`` for any other text with a colon, ``module:attribute``.

        Raises:
            UnknownNameError: If no plugin offers the name; suggests similar ones.
            AmbiguousNameError: If several distributions offer it; lists them.

        >>> trainers.named("sft"), trainers.named("json:dumps")
        (<trainer 'sft' of lean-dojo-v2 ...>, None)
        """
        head, colon, _ = written.partition(":")
        # Not normalised: `my_plugin` is the module of the distribution `my-plugin`.
        distributions = {info.distribution for info in current().plugins}
        if colon and written not in self and head not in distributions:
            return None
        return self[written]

    def __contains__(self, name: object) -> bool:
        """Whether ``registry[name]`` finds an entry."""
        try:
            return isinstance(name, str) and self[name] is not None
        except (errors.UnknownNameError, errors.AmbiguousNameError):
            return False

    def __iter__(self) -> Iterator[str]:
        entries = self.entries()
        names = [entry.name for entry in entries]
        for entry in entries:
            yield entry.name if names.count(entry.name) == 1 else entry.qualified_name

    def __len__(self) -> int:
        return len(self.entries())

    @contextmanager
    def override(self, name: str, target: Any) -> Iterator[None]:
        """Have ``load()`` return an object under a name within a ``with`` block (for tests).

        Every provider of the name, which may be new, is hidden meanwhile.
        """
        plugin = PluginInfo(name="override", distribution="override", version="0", value="")
        spec = self._spec(
            name=normalise(name), target="override:target", summary="Set by override()."
        )
        entry = Entry[SpecT, ObjectT](spec, plugin, target)
        entry.load()
        self._overrides.append(entry)
        try:
            yield
        finally:
            # By identity: two equal overrides may be nested.
            self._overrides[:] = [other for other in self._overrides if other is not entry]


_discovered: Discovery | None = None
_discovering = False
# Reentrant: other threads wait; a manifest that uses the registries gets an error.
_lock = threading.RLock()


def current() -> Discovery:
    """Return the plugins of this process, discovering them on the first call.

    A ``PluginError`` if a manifest asks while it is itself being loaded; or, with
    ``LEAN_DOJO_STRICT_PLUGINS=1``, if a plugin does not load.
    """
    global _discovered, _discovering  # noqa: PLW0603 - one environment per process
    with _lock:
        if _discovering:
            raise errors.PluginError(
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


def manager() -> pluggy.PluginManager:
    """Return pluggy's manager of this process's plugins, for a look at what is registered.

    Raises as :func:`current`.

    >>> manager().has_plugin("lean-dojo-v2:sft"), manager().is_blocked("lean-dojo-v2:sft")
    (True, False)
    """
    return current().manager


def refresh() -> Discovery:
    """Look for plugins again: add those installed since, and drop those uninstalled.

    For notebooks and servers that go on running: after ``%pip install shortness-bonus``,
    ``registry.refresh()`` makes ``registry.reward_functions["shortness-bonus"]`` work. Modules that
    are imported already stay as they are, so an *upgraded* plugin needs a new process. Raises as
    :func:`current`.
    """
    global _discovered  # noqa: PLW0603
    importlib.invalidate_caches()
    with _lock:
        _discovered = None
        return current()


def builtin(kind: Registry[SpecT, ObjectT], name: str) -> Any:
    """Load a built-in of a registry by its short name, even if another plugin offers that name.

    Raises:
        UnknownNameError: If there is no such built-in.
        PluginLoadError: If its target cannot be imported.
    """
    return kind[f"{HOST_DISTRIBUTION}:{name}"].load()


trainers: Registry[specs.TrainerSpec, protocols.Trainer] = Registry(specs.TrainerSpec)
dataset_formatters: Registry[specs.DatasetFormatterSpec, protocols.DatasetFormatter] = Registry(
    specs.DatasetFormatterSpec
)
reward_functions: Registry[specs.RewardFunctionSpec, protocols.RewardFunction] = Registry(
    specs.RewardFunctionSpec
)


def registries() -> dict[str, Registry[Any, Any]]:
    """Return each kind's registry by name, in the order of listings; raises as :func:`current`."""
    return {name: Registry(spec) for name, spec in current().kinds.items()}
