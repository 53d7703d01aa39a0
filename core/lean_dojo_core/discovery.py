"""Find installed plugins and collect what they offer; a broken one is reported, not fatal.

One :class:`pluggy.PluginManager` serves the whole process and is public: every manifest that loaded
is registered under its name, every disabled one is blocked, and the hook specifications are those
of the contract and of installed kinds. With pluggy's own loading and calling, one plugin's error
would stop all of them. So entry points are loaded one by one here, each implementation is called
separately, and every failure is recorded in a :class:`PluginInfo`.
"""

import functools
import os
import pkgutil
import re
import typing
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from importlib import metadata
from typing import Any, Literal, TypeAlias

import attrs
import pluggy

import lean_dojo_core.hookspecs as contract
from lean_dojo_core import local
from lean_dojo_core.errors import PluginDeprecationWarning, PluginError, StrictPluginsError
from lean_dojo_core.foreign import loading
from lean_dojo_core.installed import (
    GROUP,
    HOST_DISTRIBUTION,
    KINDS_GROUP,
    host_requirements,
    normalise,
)
from lean_dojo_core.specs import PluginSpec
from lean_dojo_core.wording import did_you_mean

DISABLE_VARIABLE = "LEAN_DOJO_DISABLE_PLUGINS"
STRICT_VARIABLE = "LEAN_DOJO_STRICT_PLUGINS"

Status: TypeAlias = Literal["active", "disabled", "failed", "incompatible"]


@attrs.frozen(kw_only=True)
class PluginInfo:
    """One entry point, and whether it loaded.

    Attributes:
        name: ``"distribution:entry-point"``, unique per environment; the entry point of a kind is
            preceded by ``kinds.``.
        distribution: The distribution that provides it; a file's name for a single-file plugin.
        version: The distribution's version.
        value: The module that the entry point names.
        group: The entry point's group: ``lean_dojo`` for a manifest, ``lean_dojo.kinds`` for the
            hook specification of a kind.
        status: ``active``, ``disabled`` (by the user), ``failed`` or ``incompatible``.
        error: Why it is not active; ``None`` for an active plugin.
        offers: Names it offers, as ``"kind name"``.
    """

    name: str
    distribution: str
    version: str
    value: str
    group: str = GROUP
    status: Status = "active"
    error: str | None = None
    offers: tuple[str, ...] = ()

    @property
    def builtin(self) -> bool:
        """Whether it ships with the host itself."""
        return normalise(self.distribution) == HOST_DISTRIBUTION

    @property
    def aliases(self) -> set[str]:
        """Names by which users may refer to it, normalised: distribution, entry point, or both."""
        name = normalise(self.name)
        distribution, _, entry_point = name.rpartition(":")
        return {distribution, entry_point, name}


@attrs.frozen
class Discovery:
    """All plugins of the environment.

    Attributes:
        manager: pluggy's manager, with the active manifests registered under their names.
        kinds: The descriptor of every kind, by the kind's name.
        plugins: Every entry point, active or not: those of kinds first, then built-ins, otherwise
            sorted by name.
        offers: Each descriptor, with the active plugin that offers it.
    """

    manager: pluggy.PluginManager = attrs.field(factory=lambda: pluggy.PluginManager(GROUP))
    kinds: dict[str, type[PluginSpec]] = attrs.field(factory=dict)
    plugins: list[PluginInfo] = attrs.field(factory=list)
    offers: list[tuple[PluginSpec, PluginInfo]] = attrs.field(factory=list)

    @property
    def failed(self) -> tuple[PluginInfo, ...]:
        """Plugins that should work but do not."""
        return tuple(info for info in self.plugins if info.status in {"failed", "incompatible"})


def discover() -> Discovery:
    """Load every installed plugin that the user has not disabled.

    A plugin is disabled by the environment variable ``LEAN_DOJO_DISABLE_PLUGINS``, a
    comma-separated list of distributions, entry points or ``distribution:entry-point``, or by
    ``lean-dojo plugins disable``. Nothing of it is imported.

    Raises:
        StrictPluginsError: With ``LEAN_DOJO_STRICT_PLUGINS=1``, if any plugin failed.
        OSError: If the user's list of disabled plugins cannot be read.
    """
    found = Discovery()
    _specify(found, contract)
    for info in _screened(_installed()):
        if info.status == "disabled":
            found.manager.set_blocked(info.name)
        loaded, specs = _loaded(info, found) if info.status == "active" else (info, [])
        found.plugins.append(loaded)
        found.offers.extend((spec, loaded) for spec in specs)
    if os.environ.get(STRICT_VARIABLE, "").strip() not in {"", "0"} and found.failed:
        listing = "\n".join(f"  {info.name} {info.version}: {info.error}" for info in found.failed)
        raise StrictPluginsError(
            f"{len(found.failed)} plugin(s) failed and {STRICT_VARIABLE} is set:\n{listing}\n"
            f"Fix or uninstall them, or name them in {DISABLE_VARIABLE}."
        )
    return found


def _installed() -> list[PluginInfo]:
    """List the installed plugins, in the order in which they are loaded."""
    entry_points = metadata.entry_points()
    about = functools.cache(_about)  # built-ins share a distribution, and reading it takes a while
    found = [
        _info(one, *about(one.dist))
        for group in (KINDS_GROUP, GROUP)
        for one in entry_points.select(group=group)
    ]
    found += [
        PluginInfo(
            name=f"{file.name}:{file.stem}",
            distribution=file.name,
            version="local",
            value=f"{local.__name__}.{file.stem}",
        )
        for file in local.files()
    ]
    return sorted(
        found,
        key=lambda info: (
            info.group != KINDS_GROUP,
            not info.builtin,
            normalise(info.distribution),
            info.name,
        ),
    )


def _about(distribution: metadata.Distribution | None) -> tuple[str | None, str | None]:
    """Return a distribution's name and version; a half-deleted one has neither."""
    found = None if distribution is None else distribution.metadata
    return (None, None) if found is None else (found["Name"], found["Version"])


def _info(entry_point: metadata.EntryPoint, name: str | None, version: str | None) -> PluginInfo:
    # Extras after the value, `module:attr [extra]`, are obsolete and ignored.
    value = entry_point.value.partition("[")[0].strip()
    distribution = name or value.partition(".")[0]
    prefix = "kinds." if entry_point.group == KINDS_GROUP else ""
    return PluginInfo(
        name=f"{distribution}:{prefix}{entry_point.name}",
        distribution=distribution,
        version=version or "unknown",
        value=value,
        group=entry_point.group,
    )


def _screened(plugins: Sequence[PluginInfo]) -> Iterator[PluginInfo]:
    """Yield every plugin; those that must not be loaded are marked."""
    disabled_here = _folded(os.environ.get(DISABLE_VARIABLE, "").split(","))
    disabled_by_user = _folded(local.disabled())
    host = next((info.version for info in plugins if info.builtin), None)
    for info in plugins:
        if info.aliases & disabled_here:
            yield attrs.evolve(info, status="disabled", error=f"named in {DISABLE_VARIABLE}")
        elif info.aliases & disabled_by_user:
            hint = f"by `lean-dojo plugins disable`; `enable {info.distribution}` undoes it"
            yield attrs.evolve(info, status="disabled", error=hint)
        elif not info.builtin and (reason := _unmet_requirement(info, host)):
            yield attrs.evolve(info, status="incompatible", error=reason)
        else:
            yield info


def _folded(names: Iterable[str]) -> set[str]:
    return {normalise(name.strip()) for name in names if name.strip()}


def _unmet_requirement(info: PluginInfo, host: str | None) -> str | None:
    """Return why the host's version does not satisfy the distribution's requirement."""
    try:
        required = host_requirements(info.distribution)
    except ValueError as error:
        return f"its requirement of {HOST_DISTRIBUTION} cannot be read: {error}"
    for one in required:
        if host is not None and not one.specifier.contains(host, prereleases=True):
            return (
                f"requires {HOST_DISTRIBUTION}{one.specifier}, but {host} is installed; install a "
                "version of the plugin made for it"
            )
    return None


def _loaded(info: PluginInfo, found: Discovery) -> tuple[PluginInfo, list[PluginSpec]]:
    """Load a plugin; return its updated record and its descriptors."""
    specs: list[PluginSpec] = []
    try:
        # What a plugin prints while it loads must not end up in `--json` output.
        quiet = nullcontext() if info.builtin else loading(f"plugin {info.name}")
        with quiet, _deprecations_named(info):
            module = import_target(info.value)
            _require_api(module)
            if info.group == KINDS_GROUP:
                offers = [f"kind {spec.kind}" for spec in _specify(found, module)]
            else:
                specs = _register(found, info, module)
                offers = [f"{spec.kind} {spec.name}" for spec in specs]
    except _OtherApiError as error:
        return attrs.evolve(info, status="incompatible", error=str(error)), []
    except (Exception, SystemExit) as error:  # plugin code may raise anything
        text = str(error) or "no message"
        reason = text if isinstance(error, PluginError) else f"{type(error).__name__}: {text}"
        return attrs.evolve(info, status="failed", error=reason), []
    return attrs.evolve(info, offers=tuple(offers)), specs


def import_target(value: str) -> Any:
    """Import a module, or something in it, by ``"module"`` or ``"module:attribute"``."""
    return pkgutil.resolve_name(value if ":" in value else f"{value}:")


@contextmanager
def _deprecations_named(info: PluginInfo) -> Iterator[None]:
    """Warn once, with the plugin's name, about deprecated features that it uses."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    seen: dict[str | tuple[str, type[Warning], int], int] = {}  # as a module's __warningregistry__
    for warning in caught:
        message, category = warning.message, warning.category
        if issubclass(category, (DeprecationWarning, PendingDeprecationWarning)):
            category = PluginDeprecationWarning
            message = category(f"plugin {info.name} {info.version}: {message}")
        warnings.warn_explicit(message, category, warning.filename, warning.lineno, registry=seen)


class _OtherApiError(PluginError):
    """This host does not support a manifest's ``LEAN_DOJO_API_VERSION``."""


def _require_api(manifest: object) -> None:
    ours = contract.API_VERSION
    stated = getattr(manifest, "LEAN_DOJO_API_VERSION", None) or ours[0]
    match = re.fullmatch(r"(\d+)(?:\.(\d+))?", str(stated))
    if match is None:
        raise _OtherApiError(f"LEAN_DOJO_API_VERSION = {stated!r} is not of the form '1.0'")
    major, minor = int(match[1]), int(match[2] or 0)
    if major != ours[0] or minor > ours[1]:
        raise _OtherApiError(
            f"written for plugin API {major}.{minor}, but this host speaks {ours[0]}.{ours[1]}; "
            f"{'upgrade ' + HOST_DISTRIBUTION if (major, minor) > ours else 'upgrade the plugin'}"
        )


def _specify(found: Discovery, module: Any) -> list[type[PluginSpec]]:
    """Add a module's hook specifications, and return the descriptors of their kinds."""
    names = [name for name in vars(module) if found.manager.parse_hookspec_opts(module, name)]
    kinds = [_kind(name, getattr(module, name)) for name in names]
    for kind in kinds:
        if kind.kind in found.kinds:
            raise PluginError(f"the kind {kind.kind!r} is already specified")
    if not kinds:
        raise PluginError(
            "specifies no hook; decorate a function with lean_dojo_core.hookspec, and annotate "
            "what it yields"
        )
    found.manager.add_hookspecs(module)
    found.kinds.update({kind.kind: kind for kind in kinds})
    return kinds


def _kind(name: str, hook: Any) -> type[PluginSpec]:
    """Return the descriptor that a hook yields, by its annotation ``-> Iterable[ThatSpec]``."""
    given = typing.get_args(typing.get_type_hints(hook).get("return"))
    spec = given[0] if given else None
    if not (isinstance(spec, type) and issubclass(spec, PluginSpec)):
        raise PluginError(
            f"{name} must be annotated with the descriptor that it yields, a subclass of "
            f"lean_dojo_core.PluginSpec: def {name}() -> Iterable[ThatSpec]"
        )
    if spec.hook() != name:
        raise PluginError(f"the hook of the kind {spec.kind!r} must be called {spec.hook()}")
    return spec


def _register(found: Discovery, info: PluginInfo, manifest: Any) -> list[PluginSpec]:
    """Register a manifest under its name, and ask it for its descriptors."""
    manager = found.manager
    try:
        manager.register(manifest, name=info.name)
        _check_hooks(manager, manifest, found.kinds)
        specs = [
            descriptor
            for kind in found.kinds.values()
            for implementation in getattr(manager.hook, kind.hook()).get_hookimpls()
            if implementation.plugin_name == info.name
            for descriptor in _descriptors(implementation, kind)
        ]
        _refuse_duplicates(info, specs, found.plugins)
    except BaseException as error:
        if manager.has_plugin(info.name):
            manager.unregister(name=info.name)
        if isinstance(error, pluggy.PluginValidationError):
            raise PluginError(" ".join(str(error).split())) from error
        raise
    return specs


def _check_hooks(
    manager: pluggy.PluginManager, manifest: Any, kinds: Mapping[str, type[PluginSpec]]
) -> None:
    callers = manager.get_hookcallers(manifest)
    if not callers:
        raise PluginError(
            "implements no hook; decorate a function such as lean_dojo_reward_functions with "
            "lean_dojo_core.hookimpl"
        )
    known = [kind.hook() for kind in kinds.values()]
    for caller in callers:
        mine = [one for one in caller.get_hookimpls() if one.plugin is manifest]
        if not caller.has_spec() and not all(one.optionalhook for one in mine):
            hint = did_you_mean(caller.name, known, heading="Hooks")
            raise PluginError(f"unknown hook {caller.name!r}.{hint}")


def _descriptors(implementation: pluggy.HookImpl, kind: type[PluginSpec]) -> list[PluginSpec]:
    """Call one implementation of a hook, and check what it yields."""
    name = kind.hook()
    if implementation.wrapper or implementation.hookwrapper:
        raise PluginError(f"{name} is a wrapper; these hooks only yield descriptors")
    try:
        given: Any = implementation.function()
        descriptors = list(given) if isinstance(given, Iterable) else [given]
    except (Exception, SystemExit) as error:
        raise PluginError(f"{name} raised {type(error).__name__}: {error}") from error
    for one in descriptors:
        if type(one) is not kind:
            raise PluginError(
                f"{name} yielded {one!r:.80} of type {type(one).__name__}; it must yield "
                f"{kind.__name__}"
            )
    return descriptors


def _refuse_duplicates(
    info: PluginInfo, specs: list[PluginSpec], earlier: Iterable[PluginInfo]
) -> None:
    """Within one distribution a name is unique, so that ``distribution:name`` always is."""
    mine = normalise(info.distribution)
    siblings = [other for other in earlier if normalise(other.distribution) == mine]
    seen = {offer: other.name for other in siblings for offer in other.offers}
    for spec in specs:
        offer = f"{spec.kind} {spec.name}"
        if offer in seen:
            raise PluginError(f"{spec.kind} {spec.name!r} is already offered by {seen[offer]}")
        seen[offer] = info.name
