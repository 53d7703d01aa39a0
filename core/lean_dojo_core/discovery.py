"""Find installed plugins and ask each for its offers; a broken one is reported, not fatal.

pluggy's own ``load_setuptools_entrypoints`` isolates nothing: a plugin that fails to import takes
the host down, and a hook that raises aborts the whole call. So entry points are loaded and hook
implementations are called one by one here, and every failure ends in a :class:`PluginInfo`.
"""

from __future__ import annotations

import functools
import itertools
import os
import pkgutil
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, Literal, NamedTuple, TypeAlias

import attrs
import pluggy

from lean_dojo_core import hookspecs, local
from lean_dojo_core.errors import PluginDeprecationWarning, PluginError, StrictPluginsError
from lean_dojo_core.foreign import load
from lean_dojo_core.installed import GROUP, HOST_DISTRIBUTION, host_requirements, normalise, points
from lean_dojo_core.specs import PluginSpec

DISABLE_VARIABLE = "LEAN_DOJO_DISABLE_PLUGINS"
ALLOW_VARIABLE = "LEAN_DOJO_PLUGINS"
STRICT_VARIABLE = "LEAN_DOJO_STRICT_PLUGINS"

Status: TypeAlias = Literal["active", "disabled", "failed", "incompatible"]


@attrs.frozen(kw_only=True)
class PluginInfo:
    """One entry point, and whether it loaded.

    Attributes:
        name: ``"distribution:entry-point"``, unique per environment.
        distribution: The distribution that provides it; a file's name for a single-file plugin.
        version: The distribution's version.
        value: The manifest module.
        status: ``active``, ``disabled`` (by environment), ``failed`` or ``incompatible``.
        error: Why it is not active; ``None`` for an active plugin.
        offers: Names it offers, as ``"kind name"``.
    """

    name: str
    distribution: str
    version: str
    value: str
    status: Status = "active"
    error: str | None = None
    offers: tuple[str, ...] = ()

    @property
    def builtin(self) -> bool:
        """Whether it ships with the host itself."""
        return normalise(self.distribution) == HOST_DISTRIBUTION

    @property
    def aliases(self) -> set[str]:
        """Names that users may give it, normalised: its distribution, its entry point, or both."""
        name = normalise(self.name)
        distribution, _, point = name.rpartition(":")
        return {distribution, point, name}


class Discovery(NamedTuple):
    """All plugins of the environment, and each descriptor with the active plugin that offers it."""

    plugins: tuple[PluginInfo, ...]
    offers: tuple[tuple[PluginSpec, PluginInfo], ...]

    @property
    def failed(self) -> tuple[PluginInfo, ...]:
        """Plugins that should work but do not."""
        return tuple(info for info in self.plugins if info.status in {"failed", "incompatible"})


def discover() -> Discovery:
    """Load every installed plugin that the environment does not exclude.

    Environment variables, each a comma-separated list of distributions, entry points or
    ``distribution:entry-point``: ``LEAN_DOJO_DISABLE_PLUGINS`` (never loaded) and
    ``LEAN_DOJO_PLUGINS`` (if set, no other third-party plugin is loaded; the built-ins stay).

    Returns:
        Plugins and offers, built-ins first, otherwise sorted by name.

    Raises:
        StrictPluginsError: With ``LEAN_DOJO_STRICT_PLUGINS=1``, if any plugin failed.
        OSError: If the user's list of disabled plugins cannot be read.
    """
    infos: list[PluginInfo] = []
    offers: list[tuple[PluginSpec, PluginInfo]] = []
    for info in _candidates():
        loaded, specs = _load(info, infos) if info.status == "active" else (info, [])
        infos.append(loaded)
        offers.extend((spec, loaded) for spec in specs)
    found = Discovery(tuple(infos), tuple(offers))
    if os.environ.get(STRICT_VARIABLE, "").strip() not in {"", "0"} and found.failed:
        listing = "\n".join(f"  {info.name} {info.version}: {info.error}" for info in found.failed)
        raise StrictPluginsError(
            f"{len(found.failed)} plugin(s) failed and {STRICT_VARIABLE} is set:\n{listing}\n"
            f"Fix or uninstall them, or name them in {DISABLE_VARIABLE}."
        )
    return found


def _candidates() -> Iterator[PluginInfo]:
    """Yield every installed plugin, and whether it is to be loaded."""
    disabled = _folded(os.environ.get(DISABLE_VARIABLE, "").split(","))
    put_out = _folded(local.disabled())
    allowed = os.environ.get(ALLOW_VARIABLE)
    found = sorted(
        _installed(),
        key=lambda info: (not info.builtin, normalise(info.distribution), info.name),
    )
    host = next((info.version for info in found if info.builtin), None)
    for info in found:
        if info.aliases & disabled:
            yield attrs.evolve(info, status="disabled", error=f"named in {DISABLE_VARIABLE}")
        elif info.aliases & put_out:
            hint = f"by `lean-dojo plugins disable`; `enable {info.distribution}` undoes it"
            yield attrs.evolve(info, status="disabled", error=hint)
        elif not (info.builtin or allowed is None or info.aliases & _folded(allowed.split(","))):
            yield attrs.evolve(info, status="disabled", error=f"not named in {ALLOW_VARIABLE}")
        elif host and not info.builtin and (reason := _unmet_requirement(info, host)):
            yield attrs.evolve(info, status="incompatible", error=reason)
        else:
            yield info


def _installed() -> Iterator[PluginInfo]:
    """List the installed plugins."""
    for given, version, point, value in points():
        name = given or value.partition(".")[0]  # a half-deleted distribution has no metadata
        yield PluginInfo(
            name=f"{name}:{point}",
            distribution=name,
            version=version or "unknown",
            # Extras after the value, `module:attr [extra]`, are obsolete and ignored.
            value=value.partition("[")[0].strip(),
        )
    for file in local.files():
        name = os.path.basename(file)  # noqa: PTH119 - pathlib is slow to import
        stem = name.removesuffix(".py")
        yield PluginInfo(
            name=f"{name}:{stem}",
            distribution=name,
            version="local",
            value=f"{local.__name__}.{stem}",
        )


def _folded(names: Iterable[str]) -> set[str]:
    return {normalise(name.strip()) for name in names if name.strip()}


def _unmet_requirement(info: PluginInfo, host: str) -> str | None:
    """Return why the host's version does not satisfy the distribution's requirement."""
    try:
        required = host_requirements(info.distribution)
    except ValueError as error:
        return f"its requirement of {HOST_DISTRIBUTION} cannot be read: {error}"
    for one in required:
        if not one.specifier.contains(host, prereleases=True):
            return (
                f"requires {HOST_DISTRIBUTION}{one.specifier}, but {host} is installed; install a "
                "version of the plugin made for it"
            )
    return None


def _load(info: PluginInfo, earlier: Iterable[PluginInfo]) -> tuple[PluginInfo, list[PluginSpec]]:
    try:
        # What a plugin prints while it loads must not end up in `--json` output.
        with redirect_stdout(sys.stderr), _deprecations_named(info):
            if info.builtin:
                specs = _specs(info, earlier)
            else:
                specs = load(lambda: _specs(info, earlier), f"plugin {info.name}")
    except _OtherApiError as error:
        return attrs.evolve(info, status="incompatible", error=str(error)), []
    except (Exception, SystemExit) as error:  # plugin code: anything may come out of it
        text = str(error) or "no message"
        reason = text if isinstance(error, PluginError) else f"{type(error).__name__}: {text}"
        return attrs.evolve(info, status="failed", error=reason), []
    offers = tuple(f"{spec.kind} {spec.name}" for spec in specs)
    return attrs.evolve(info, offers=offers), specs


def _specs(info: PluginInfo, earlier: Iterable[PluginInfo]) -> list[PluginSpec]:
    manifest = import_target(info.value)
    _require_api(manifest)
    specs = list(_offered(manifest, info))
    _refuse_duplicates(info, specs, earlier)
    return specs


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
    ours = hookspecs.API_VERSION
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


def _offered(manifest: object, info: PluginInfo) -> Iterator[PluginSpec]:
    """Call a manifest's hooks, kind by kind, and check their descriptors."""
    manager = _manager()
    try:
        manager.register(manifest, name=info.name)
        manager.check_pending()
        callers = manager.get_hookcallers(manifest) or []
        if not callers:
            raise PluginError(
                "implements no hook; decorate a function such as lean_dojo_reward_functions with "
                "lean_dojo_core.hookimpl"
            )
        for name, spec in hookspecs.HOOKS.items():
            caller: pluggy.HookCaller = getattr(manager.hook, name)
            if caller in callers:
                yield from _descriptors(caller, spec)
    except pluggy.PluginValidationError as error:
        raise PluginError(" ".join(str(error).split())) from error
    finally:  # what goes wrong in it affects no other plugin
        manager.unregister(name=info.name)


@functools.cache
def _manager() -> pluggy.PluginManager:
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hookspecs)
    return manager


def _descriptors(caller: pluggy.HookCaller, spec: type[PluginSpec]) -> Iterator[PluginSpec]:
    if any(one.wrapper or one.hookwrapper for one in caller.get_hookimpls()):
        raise PluginError(f"{caller.name} is a wrapper; these hooks only yield descriptors")
    try:
        given = [one if isinstance(one, Iterable) else (one,) for one in caller()]
        items = list(itertools.chain.from_iterable(given))
    except (Exception, SystemExit) as error:
        raise PluginError(f"{caller.name} raised {type(error).__name__}: {error}") from error
    for item in items:
        if type(item) is not spec:
            raise PluginError(
                f"{caller.name} gave {item!r:.80} of type {type(item).__name__}; it must yield "
                f"{spec.__name__}"
            )
        yield item


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
