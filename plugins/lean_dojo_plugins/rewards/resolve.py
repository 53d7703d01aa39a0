"""Turn a user's rewards (a callable, a name, several with weights) into TRL's rewards."""

import importlib
import inspect
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from importlib import metadata
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from lean_dojo_core import registry
from lean_dojo_core.errors import LeanDojoError, PluginLoadError, UnknownNameError, UsageError
from lean_dojo_core.foreign import loading
from lean_dojo_core.settings import settings_of
from lean_dojo_plugins.rewards.adapter import AdaptedReward, adapt
from lean_dojo_v2.settings import Settings, construct

RewardLike: TypeAlias = str | Callable[..., Any]
"""A registry name, ``module:attribute``, ``trl:name``, or the function itself."""

RewardsLike: TypeAlias = RewardLike | Iterable[RewardLike] | Mapping[str, Any]
"""One reward, several, or names with weights: ``{"a": 0.5, "b": {"weight": 0.5, "option": 1}}``."""


def resolve_rewards(rewards: RewardsLike) -> list[AdaptedReward]:
    """Make rewards, in order and with distinct names, from any value of ``reward_func``.

    See :data:`RewardsLike`. A name may carry a weight: ``"length-penalised:0.1"``. A mapping's
    value is a weight, or a mapping of ``weight`` and the reward's own options.

    Raises:
        UsageError: For an empty list, something that is not a reward, a bad weight or bad options.
        UnknownNameError: For a name that no plugin offers.
        PluginLoadError: If a reward cannot be loaded.

    >>> [(r.name, r.weight) for r in resolve_rewards({"constant": 1, "length-penalised": 0.1})]
    [('constant', 1.0), ('length-penalised', 0.1)]
    """
    if isinstance(rewards, Mapping):
        found = [_with_options(name, value) for name, value in rewards.items()]
    elif isinstance(rewards, str) or callable(rewards):
        found = [_one(rewards)]
    elif isinstance(rewards, Iterable):
        found = [_one(reward) for reward in rewards]
    else:
        raise _not_a_reward(rewards)
    if not found:
        raise UsageError("no reward is given; name one, for example 'pantograph-verified'")
    counts: Counter[str] = Counter()
    for reward in found:  # two rewards of one name would share a metrics column in TRL
        counts[reward.name] += 1
        if (count := counts[reward.name]) > 1:
            reward.name = f"{reward.name}-{count}"
    return found


def _one(reward: RewardLike) -> AdaptedReward:
    if isinstance(reward, AdaptedReward):
        return reward
    if callable(reward):
        return adapt(reward)
    if not isinstance(reward, str):
        raise _not_a_reward(reward)
    name, weight = split_weight(reward)
    known = ":" in name or name in registry.reward_functions
    if not math.isfinite(weight) and not known:  # module:nan is an attribute
        name, weight = reward, 1.0
    return _named(name, weight, {})


def _not_a_reward(value: Any) -> UsageError:
    return UsageError(
        f"{value!r:.80} ({type(value).__name__}) is not a reward; give a name such as "
        "'pantograph-verified', 'module:attribute', a function, a list of these, or a mapping of "
        "names to weights"
    )


def _with_options(name: Any, value: Any) -> AdaptedReward:
    if not isinstance(name, str):
        raise _not_a_reward(name)
    options = dict(value) if isinstance(value, Mapping) else {"weight": value}
    weight = options.pop("weight", 1.0)
    if callable(weight):
        return adapt(weight, name=name)
    if isinstance(weight, bool) or not isinstance(weight, (int, float)):
        raise UsageError(f"reward {name!r}: the weight {weight!r} is not a number")
    return _named(name, float(weight), options)


def split_weight(text: str) -> tuple[str, float]:
    """Split ``NAME[:weight]``.

    >>> split_weight("length-penalised:0.1"), split_weight("trl:accuracy_reward")
    (('length-penalised', 0.1), ('trl:accuracy_reward', 1.0))
    """
    name, colon, last = text.rpartition(":")
    if colon:
        with suppress(ValueError):
            return name, float(last)
    return text, 1.0


def _named(name: str, weight: float, options: dict[str, Any]) -> AdaptedReward:
    if not math.isfinite(weight):
        raise UsageError(f"reward {name!r}: the weight {weight} is not a finite number")
    head, colon, tail = name.partition(":")
    if head == "trl" and colon:
        by = f"trl {metadata.version('trl')}"
        return _imported_reward(name, f"trl.rewards:{tail}", weight, options, by)
    if (entry := registry.reward_functions.named(name)) is None:
        if head in registry.reward_functions:
            raise UsageError(
                f"reward {name!r}: only a weight may follow the reward {head!r}, as in "
                f"{head}:0.5, and only in a list of rewards"
            )
        return _imported_reward(name, name, weight, options, head)
    target = entry.load()
    timeout = _take_timeout(name, target, options)
    # An attrs class is checked like a trainer's settings.
    if options and inspect.isclass(target) and attrs.has(target):
        made = construct(target, Settings(options), owner=f"reward {entry.name!r}")
    else:
        made = _made(entry.create, options, entry.name)
    return adapt(
        made,
        name=entry.name,
        provenance=f"{entry.distribution} {entry.version}",
        weight=weight,
        columns=entry.spec.required_columns,
        timeout=timeout,
    )


def _take_timeout(name: str, target: Any, options: dict[str, Any]) -> float | None:
    """Pop the time limit from a reward's options, unless it has such a setting itself."""
    if inspect.isclass(target) and "timeout" in {setting.name for setting in settings_of(target)}:
        return None
    seconds = options.pop("timeout", None)
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
        raise UsageError(f"reward {name!r}: timeout must be a number of seconds, not {seconds!r}")
    return float(seconds)


def _imported_reward(
    name: str, place: str, weight: float, options: dict[str, Any], provenance: str
) -> AdaptedReward:
    """Make the reward at ``place``, a ``module:attribute``."""
    if (here := str(Path.cwd())) not in sys.path:  # its module may be a file in this folder
        sys.path.append(here)  # last: a file here hides no installed module
    module, _, attribute = place.partition(":")
    try:
        with loading(f"module {module!r}"):
            target = importlib.import_module(module)
    except ImportError as error:
        raise UnknownNameError(
            f"reward {name!r}: no plugin and no module is called {module!r} ({error})"
        ) from error
    except (Exception, SystemExit) as error:  # whatever somebody's module raises
        raise UsageError(
            f"reward {name!r}: importing {module!r} failed: {type(error).__name__}: {error}"
        ) from error
    try:
        target = attrgetter(attribute)(target)
    except AttributeError as error:
        raise UnknownNameError(f"reward {name!r}: {error}") from error
    timeout = _take_timeout(name, target, options)
    of_trl = module.partition(".")[0] == "trl"
    attribute = attribute.rpartition(".")[2]
    if options or inspect.isclass(target) or (of_trl and attribute.startswith("get_")):
        target = _made(target, options, name)
    if not callable(target):
        raise UsageError(f"reward {name!r} is not callable")
    # TRL's own rewards read message lists; functions of others follow the documented text form.
    return adapt(
        target,
        name=attribute,
        provenance=provenance,
        weight=weight,
        messages=of_trl,
        timeout=timeout,
    )


def _made(make: Callable[..., Any], options: dict[str, Any], name: str) -> Any:
    """Call a class, or a function such as TRL's ``get_soft_overlong_punishment``."""
    try:
        return make(**options)
    except (TypeError, ValueError) as error:
        given = f"with the options {options}" if options else "without options"
        hint = (
            ""
            if options
            else "; give them as its options: --set OPTION=VALUE of `reward score`, in training "
            f"reward_func: {{'{name}': {{OPTION: VALUE}}}}"
        )
        raise UsageError(f"reward {name!r} cannot be made {given}: {error}{hint}") from error
    except LeanDojoError:
        raise
    except (Exception, SystemExit) as error:  # plugin code: anything may come out of it
        raise PluginLoadError(
            f"reward {name!r} cannot be made: it raised {type(error).__name__}: {error}"
        ) from error
