"""Find installed plugins and ask each for its offers; a broken one is reported, never fatal.

pluggy's own ``load_setuptools_entrypoints`` isolates nothing: the first plugin that fails to import
takes the host down, and a raising hook aborts the whole call. So entry points are loaded and hook
implementations are called one by one here, and every failure ends in a :class:`PluginInfo`.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import attrs
import pluggy

from lean_dojo_core import hookspecs, local
from lean_dojo_core.errors import PluginDeprecationWarning, PluginError, StrictPluginsError
from lean_dojo_core.installed import (
    GROUP,
    HOST_DISTRIBUTION,
    InstalledEntryPoint,
    entry_points,
    normalise,
)
from lean_dojo_core.kinds import KINDS
from lean_dojo_core.specs import PluginSpec

HOOK_SPECS = {kind.hook: kind.spec for kind in KINDS.values()}
"""Each hook with the descriptor that it must yield."""

DISABLE_VARIABLE = "LEAN_DOJO_DISABLE_PLUGINS"
ALLOW_VARIABLE = "LEAN_DOJO_PLUGINS"
STRICT_VARIABLE = "LEAN_DOJO_STRICT_PLUGINS"

Status: TypeAlias = Literal["active", "disabled", "failed", "incompatible"]


@attrs.frozen(kw_only=True)
class PluginInfo:
    """One entry point and how it fared.

    Attributes:
        name: ``"distribution:entry-point"``, unique per environment.
        distribution: The distribution that brings it.
        version: The distribution's version.
        value: The manifest module.
        status: ``active``, ``disabled`` (by environment), ``failed`` or ``incompatible``.
        error: Why it is not active; ``None`` for an active plugin.
        import_seconds: Time its manifest took to import.
        offers: Names it offers, as ``"kind name"``.
    """

    name: str
    distribution: str
    version: str
    value: str
    status: Status
    error: str | None = None
    import_seconds: float = 0.0
    offers: tuple[str, ...] = ()

    @property
    def builtin(self) -> bool:
        """Whether it ships with the host itself."""
        return normalise(self.distribution) == HOST_DISTRIBUTION


class Offer(NamedTuple):
    """A descriptor with its provenance.

    Attributes:
        spec: The descriptor.
        plugin: The plugin that gave it.
    """

    spec: PluginSpec
    plugin: PluginInfo


class Discovery(NamedTuple):
    """All plugins of the environment and what the active ones offer."""

    plugins: tuple[PluginInfo, ...]
    offers: tuple[Offer, ...]

    @property
    def failed(self) -> tuple[PluginInfo, ...]:
        """Plugins that should work and do not."""
        return tuple(info for info in self.plugins if info.status in {"failed", "incompatible"})


def discover(specs: type | None = None, arguments: Mapping[str, object] | None = None) -> Discovery:
    """Load every installed plugin that the environment does not exclude.

    Environment variables, each a comma-separated list of distributions, entry points or
    ``distribution:entry-point``: ``LEAN_DOJO_DISABLE_PLUGINS`` (never loaded) and
    ``LEAN_DOJO_PLUGINS`` (if set, no other third-party plugin is loaded; the built-ins stay).

    Args:
        specs: Class with the hook specifications, if not those of the kinds.
        arguments: What the hooks are called with; an implementation gets those that it names.

    Returns:
        Plugins and offers, built-ins first, otherwise sorted by name.

    Raises:
        StrictPluginsError: With ``LEAN_DOJO_STRICT_PLUGINS=1``, if any plugin failed.
        UnreadableFileError: If the user's settings cannot be read.
    """
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(cast("type", specs or hookspecs.Hooks()))
    infos: list[PluginInfo] = []
    offers: list[Offer] = []
    for info in _candidates():
        loaded, given = _load(manager, info, arguments or {}, taken=offers)
        infos.append(loaded)
        offers.extend(Offer(spec, loaded) for spec in given)
    found = Discovery(tuple(infos), tuple(offers))
    if os.environ.get(STRICT_VARIABLE, "").strip() not in {"", "0"} and found.failed:
        listing = "\n".join(f"  {info.name} {info.version}: {info.error}" for info in found.failed)
        raise StrictPluginsError(
            f"{len(found.failed)} plugin(s) failed and {STRICT_VARIABLE} is set:\n{listing}\n"
            f"Fix or uninstall them, or name them in {DISABLE_VARIABLE}."
        )
    return found


def _candidates() -> Iterator[PluginInfo]:
    """Give every installed plugin, and whether it is to be loaded."""
    disabled = _names_in(DISABLE_VARIABLE)
    put_out = _folded(local.read_settings().get(local.DISABLED, ()))
    allowed = _names_in(ALLOW_VARIABLE) if os.environ.get(ALLOW_VARIABLE) is not None else None

    def order(point: InstalledEntryPoint) -> tuple[bool, str, str]:
        name = normalise(point.distribution)
        return (name != HOST_DISTRIBUTION, name, point.name)

    found = sorted([*entry_points(GROUP), *local.entry_points()], key=order)
    for point in found:
        info = PluginInfo(
            name=f"{point.distribution}:{point.name}",
            distribution=point.distribution,
            version=point.version,
            value=point.value,
            status="active",
        )
        names = {normalise(part) for part in (point.distribution, point.name)}
        names.add(f"{normalise(point.distribution)}:{normalise(point.name)}")
        if names & disabled:
            info = attrs.evolve(info, status="disabled", error=f"named in {DISABLE_VARIABLE}")
        elif names & put_out:
            hint = f"by `lean-dojo plugins disable`; `enable {point.distribution}` undoes it"
            info = attrs.evolve(info, status="disabled", error=hint)
        elif allowed is not None and not info.builtin and not names & allowed:
            info = attrs.evolve(info, status="disabled", error=f"not named in {ALLOW_VARIABLE}")
        elif not info.builtin and (reason := _unmet_requirement(point, found[0])):
            info = attrs.evolve(info, status="incompatible", error=reason)
        yield info


def _names_in(variable: str) -> set[str]:
    return _folded(os.environ.get(variable, "").split(","))


def _folded(names: Iterable[str]) -> set[str]:
    return {":".join(map(normalise, name.strip().split(":"))) for name in names if name.strip()}


def _unmet_requirement(point: InstalledEntryPoint, first: InstalledEntryPoint) -> str | None:
    """Say why the host's version does not satisfy what the distribution requires of it.

    Args:
        point: A plugin's entry point.
        first: The first of all; the host's own, unless the host is not installed as such.
    """
    if point.value.startswith(local.PACKAGE):
        return None  # a file requires nothing
    mine = [
        text
        for text in point.requirements()
        if normalise(re.split(r"[^\w.-]", text, maxsplit=1)[0]) == HOST_DISTRIBUTION
    ]
    if not mine or normalise(first.distribution) != HOST_DISTRIBUTION:
        return None
    # Imported here: a listing without third-party plugins does not pay for it.
    from packaging.requirements import InvalidRequirement, Requirement

    for text in mine:
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            return f"its requirement {text!r} cannot be read: {error}"
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if applies and not requirement.specifier.contains(first.version, prereleases=True):
            return (
                f"requires {HOST_DISTRIBUTION}{requirement.specifier}, but {first.version} is "
                "installed; install a version of the plugin made for it"
            )
    return None


def _load(
    manager: pluggy.PluginManager,
    info: PluginInfo,
    arguments: Mapping[str, object],
    *,
    taken: Iterable[Offer],
) -> tuple[PluginInfo, list[PluginSpec]]:
    if info.status != "active":
        return info, []
    start = time.perf_counter()
    try:
        # What a plugin prints while it loads must not end up in `--json` output.
        with redirect_stdout(sys.stderr), _deprecations_named(info):
            manifest = import_target(info.value)
            if reason := _other_api(manifest):
                return attrs.evolve(info, status="incompatible", error=reason), []
            manager.register(manifest, name=info.name)
            _refuse_unknown_hooks(manager, manifest)
            specs = [
                spec for hook in HOOK_SPECS for spec in _call(manager, hook, info.name, arguments)
            ]
            _refuse_duplicates(info, specs, taken)
    except (Exception, SystemExit) as error:  # plugin code: anything may come out of it
        if manager.has_plugin(info.name):
            manager.unregister(name=info.name)
        text = str(error) or "no message"
        reason = text if isinstance(error, PluginError) else f"{type(error).__name__}: {text}"
        return attrs.evolve(info, status="failed", error=reason), []
    offers = tuple(f"{spec.kind} {spec.name}" for spec in specs)
    seconds = time.perf_counter() - start
    return attrs.evolve(info, import_seconds=seconds, offers=offers), specs


def import_target(value: str) -> Any:
    """Import a module, or something in it, by ``"module"`` or ``"module:attribute"``."""
    module, _, attribute = value.partition(":")
    found: Any = importlib.import_module(module)
    for part in attribute.split(".") if attribute else ():
        found = getattr(found, part)
    return found


@contextmanager
def _deprecations_named(info: PluginInfo) -> Iterator[None]:
    """Say once, with the plugin's name, that it uses something that will go."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    told: set[str] = set()
    for warning in caught:
        if not issubclass(warning.category, (DeprecationWarning, PendingDeprecationWarning)):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
        elif (text := str(warning.message)) not in told:
            told.add(text)
            message = f"plugin {info.name} {info.version}: {text}"
            warnings.warn_explicit(
                message, PluginDeprecationWarning, warning.filename, warning.lineno
            )


def _other_api(manifest: object) -> str | None:
    """Say why a manifest's ``LEAN_DOJO_API_VERSION`` is not served by this host."""
    stated = getattr(manifest, "LEAN_DOJO_API_VERSION", None)
    if stated is None:
        return None
    match = re.fullmatch(r"(\d+)(?:\.(\d+))?", str(stated))
    if match is None:
        return f"LEAN_DOJO_API_VERSION = {stated!r} is not of the form '1.0'"
    major, minor = int(match[1]), int(match[2] or 0)
    ours = hookspecs.API_VERSION
    if major == ours[0] and minor <= ours[1]:
        return None
    return (
        f"written for plugin API {major}.{minor}, but this host speaks {ours[0]}.{ours[1]}; "
        f"{'upgrade ' + HOST_DISTRIBUTION if (major, minor) > ours else 'upgrade the plugin'}"
    )


def _refuse_unknown_hooks(manager: pluggy.PluginManager, manifest: object) -> None:
    """A misspelt hook would otherwise be registered and never called."""
    callers = manager.get_hookcallers(manifest) or []
    for caller in callers:
        mine = [impl for impl in caller.get_hookimpls() if impl.plugin is manifest]
        if any(impl.wrapper or impl.hookwrapper for impl in mine):
            raise PluginError(f"{caller.name} is a wrapper; these hooks only give descriptors")
        if not caller.has_spec() and not all(impl.optionalhook for impl in mine):
            import difflib

            near = difflib.get_close_matches(caller.name, HOOK_SPECS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; the hooks are {list(HOOK_SPECS)}"
            raise PluginError(f"unknown hook {caller.name!r}{hint}")
    if not callers:
        raise PluginError(
            "implements no hook; decorate a function such as lean_dojo_reward_functions with "
            "lean_dojo_core.hookimpl"
        )


def _call(
    manager: pluggy.PluginManager, hook: str, plugin: str, arguments: Mapping[str, object]
) -> Iterator[PluginSpec]:
    """Call one plugin's implementations of one hook and check what they give."""
    expected = HOOK_SPECS[hook]
    for impl in getattr(manager.hook, hook).get_hookimpls():
        if impl.plugin_name != plugin:
            continue
        try:
            result: Any = impl.function(*(arguments[name] for name in impl.argnames))
            items = [result] if isinstance(result, PluginSpec) else list(_iterable(result))
        except (Exception, SystemExit) as error:
            text = str(error)
            raise PluginError(f"{hook} raised {type(error).__name__}: {text}") from error
        for item in items:
            if type(item) is not expected:
                raise PluginError(
                    f"{hook} gave {item!r:.80} of type {type(item).__name__}; it must yield "
                    f"{expected.__name__}"
                )
            yield item


def _iterable(result: Any) -> Iterable[Any]:
    """A hook that returns nothing offers nothing; one that returns a single thing is checked."""
    if result is None:
        return ()
    return result if isinstance(result, Iterable) and not isinstance(result, str) else (result,)


def _refuse_duplicates(info: PluginInfo, specs: list[PluginSpec], taken: Iterable[Offer]) -> None:
    """Within one distribution a name is unique, so that ``distribution:name`` always is."""
    seen = {
        (offer.spec.kind, offer.spec.name): offer.plugin.name
        for offer in taken
        if normalise(offer.plugin.distribution) == normalise(info.distribution)
    }
    for spec in specs:
        if (other := seen.setdefault((spec.kind, spec.name), info.name)) != info.name:
            raise PluginError(f"{spec.kind} {spec.name!r} is already offered by {other}")
    if len({(spec.kind, spec.name) for spec in specs}) < len(specs):
        names = [f"{spec.kind} {spec.name}" for spec in specs]
        raise PluginError(f"offers a name twice: {sorted(names)}")
