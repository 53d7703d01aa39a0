"""Plugins of distributions that are really installed: broken ones do not affect the others."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

HEADER = """
from lean_dojo_core import DatasetFormatterSpec, RewardFunctionSpec, TrainerSpec, hookimpl
"""
HOOK = """
@hookimpl
def lean_dojo_reward_functions():
    yield RewardFunctionSpec(name="{name}", target="{target}", summary="A reward.")
"""
IMPLEMENTATION = '''
def reward(completions, **kwargs):
    """One for everything."""
    return [1.0] * len(completions)
'''


def offering(name: str, module: str) -> str:
    return HEADER + HOOK.format(name=name, target=f"{module}.implementation:reward")


# Distribution → source of its manifest.
MANIFESTS = {
    "cannot-import": "import a_module_that_nobody_has",
    "exits": "import sys\nsys.exit('no licence for this machine')",
    "raising-hook": HEADER
    + "@hookimpl\ndef lean_dojo_reward_functions():\n    raise ValueError('no GPU today')\n    yield",
    "misspelt-hook": HEADER + "@hookimpl\ndef lean_dojo_reward_function():\n    return []",
    "wrong-type": HEADER + "@hookimpl\ndef lean_dojo_reward_functions():\n    yield 'shortness'",
    "wrong-kind": HEADER
    + "@hookimpl\ndef lean_dojo_trainers():\n"
    + "    yield RewardFunctionSpec(name='a', target='a:b', summary='c')",
    "invalid-name": HEADER + HOOK.format(name="My Reward", target="a:b"),
    "no-hooks": "from lean_dojo_core import hookimpl",
    "wrapping": HEADER
    + "@hookimpl(wrapper=True)\ndef lean_dojo_reward_functions():\n    return (yield)",
    "wants-argument": HEADER
    + "@hookimpl\ndef lean_dojo_reward_functions(host_version):\n    return []",
    "reentrant": HEADER
    + "@hookimpl\ndef lean_dojo_reward_functions():\n"
    + "    from lean_dojo_core import registry\n    return list(registry.trainers)",
    "other-api": "LEAN_DOJO_API_VERSION = '2.0'\n" + offering("other-api", "other_api"),
    "later-api": "LEAN_DOJO_API_VERSION = '1.9'\n" + offering("later-api", "later_api"),
    "old-major": offering("old-major", "old_major"),
    "next-major": offering("next-major", "next_major"),
    "well-made": offering("well-made", "well_made"),
    "twin-one": offering("shared", "twin_one"),
    "twin-two": offering("shared", "twin_two"),
    "builtin-name": offering("length-penalised", "builtin_name"),
    "chatty": "print('hello from the manifest')\n" + offering("chatty", "chatty"),
    "old-fashioned": "import warnings\n"
    "for _ in range(3):\n"
    "    warnings.warn('columns is now required_columns', DeprecationWarning)\n"
    + offering("old-fashioned", "old_fashioned"),
    "missing-target": HEADER + HOOK.format(name="missing-target", target="nowhere.at_all:reward"),
    "not-callable": HEADER + HOOK.format(name="not-callable", target="not_callable.data:NUMBER"),
}
KINDS = {
    "kind-of-kinds": "from collections.abc import Iterable\n"
    "from typing import ClassVar\n"
    "from lean_dojo_core import ClassSpec, hookspec\n"
    "class DashboardSpec(ClassSpec):\n    kind: ClassVar = 'dashboard'\n"
    "@hookspec\ndef lean_dojo_dashboards() -> Iterable[DashboardSpec]:\n    yield from ()\n",
    "raising-kind": "1 / 0",
    "empty-kind": "",
    "untyped-kind": "from lean_dojo_core import hookspec\n"
    "@hookspec\ndef lean_dojo_things():\n    yield from ()\n",
    "other-name-kind": "from collections.abc import Iterable\n"
    "from lean_dojo_core import PluginSpec, hookspec\n"
    "class OtherSpec(PluginSpec):\n    kind = 'other'\n"
    "@hookspec\ndef lean_dojo_things() -> Iterable[OtherSpec]:\n    yield from ()\n",
    "taken-kind": "from collections.abc import Iterable\n"
    "from lean_dojo_core import TrainerSpec, hookspec\n"
    "@hookspec\ndef lean_dojo_trainers() -> Iterable[TrainerSpec]:\n    yield from ()\n",
}
"""Distribution → source of its module of hook specifications."""
FAILED_KINDS = {
    "raising-kind": "ZeroDivisionError: division by zero",
    "empty-kind": "specifies no hook",
    "untyped-kind": "lean_dojo_things must be annotated with the descriptor that it yields",
    "other-name-kind": "the hook of the kind 'other' must be called lean_dojo_others",
    "taken-kind": "the kind 'trainer' is already specified",
}
REQUIRES = {"old-major": ["lean-dojo-v2<2"], "next-major": ["lean-dojo-v2>=3,<4"]}
ACTIVE = {
    "well-made", "twin-one", "twin-two", "builtin-name", "chatty", "old-fashioned",
    "missing-target", "not-callable",
}  # fmt: skip

WHAT_FAILED = {
    "cannot-import": "ModuleNotFoundError: No module named 'a_module_that_nobody_has'",
    "exits": "SystemExit: no licence for this machine",
    "raising-hook": "lean_dojo_reward_functions raised ValueError: no GPU today",
    "misspelt-hook": "unknown hook 'lean_dojo_reward_function'. "
    "Did you mean 'lean_dojo_reward_functions'",
    "wrong-type": "lean_dojo_reward_functions yielded 'shortness' of type str; "
    "it must yield RewardFunctionSpec",
    "wrong-kind": "of type RewardFunctionSpec; it must yield TrainerSpec",
    "invalid-name": "'My Reward' is not a name; use kebab-case",
    "no-hooks": "implements no hook; decorate a function",
    "wrapping": "lean_dojo_reward_functions is a wrapper",
    "wants-argument": "host_version",
    "reentrant": "the registries cannot be used while plugins are being loaded",
}
INCOMPATIBLE = {
    "other-api": "written for plugin API 2.0, but this host speaks 1.1; upgrade lean-dojo-v2",
    "later-api": "written for plugin API 1.9, but this host speaks 1.1; upgrade lean-dojo-v2",
    "old-major": "requires lean-dojo-v2<2, but 2.",
    "next-major": "requires lean-dojo-v2<4,>=3, but 2.",
}


@attrs.frozen
class Ran:
    returncode: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


class Installed:
    """The environment with all of them, and the ways to use it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment

    def python(self, code: str, **changes: str) -> Ran:
        return self._run(["-c", code], changes)

    def lean_dojo(self, *arguments: str, **changes: str) -> Ran:
        return self._run(["-m", "lean_dojo_v2", *arguments], changes)

    def _run(self, arguments: list[str], changes: Mapping[str, str]) -> Ran:
        done = subprocess.run(
            [sys.executable, *arguments],
            env={**self.environment, **changes},
            capture_output=True,
            text=True,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def installed(
    tmp_path_factory: pytest.TempPathFactory,
    make_wheel: Callable[..., Path],
    pip_target: Callable[..., Mapping[str, str]],
) -> Installed:
    wheels = []
    for name, manifest in MANIFESTS.items():
        package = name.replace("-", "_")
        files = {
            f"{package}/__init__.py": "",
            f"{package}/manifest.py": manifest,
            f"{package}/implementation.py": IMPLEMENTATION,
            f"{package}/data.py": "NUMBER = 7",
        }
        # Every one calls its entry point the same: names of entry points may clash, too.
        entry_points = {"plugin": f"{package}.manifest"}
        folder = tmp_path_factory.mktemp("wheels")
        wheels.append(
            make_wheel(
                folder, name, files, entry_points=entry_points, requires=REQUIRES.get(name, ())
            )
        )
    for name, specification in KINDS.items():
        module = name.replace("-", "_")
        folder = tmp_path_factory.mktemp("wheels")
        files = {f"{module}.py": specification}
        wheels.append(make_wheel(folder, name, files, kinds={"kinds": module}))
    return Installed(pip_target(tmp_path_factory.mktemp("site"), wheels))


@pytest.fixture(scope="module")
def listing(installed: Installed) -> Ran:
    return installed.lean_dojo("plugins", "--json")


@pytest.fixture(scope="module")
def plugins(listing: Ran) -> dict[str, dict[str, Any]]:
    return {info["distribution"]: info for info in listing.json["plugins"]}


def test_listing_succeeds_and_lists_every_plugin(
    listing: Ran, plugins: dict[str, dict[str, Any]]
) -> None:
    assert listing.returncode == 0
    assert {*MANIFESTS, *KINDS} <= set(plugins)


def test_valid_plugins_are_active(plugins: dict[str, dict[str, Any]]) -> None:
    active = {name for name, info in plugins.items() if info["status"] == "active"}
    assert active == ACTIVE | {"lean-dojo-v2", "kind-of-kinds"}


@pytest.mark.parametrize(("name", "reason"), FAILED_KINDS.items())
def test_a_broken_kind_is_listed_with_its_reason(
    plugins: dict[str, dict[str, Any]], name: str, reason: str
) -> None:
    info = plugins[name]
    assert (info["group"], info["status"]) == ("lean_dojo.kinds", "failed")
    assert info["name"] == f"{name}:kinds.kinds"
    assert reason in info["error"]


def test_a_distribution_adds_a_kind(
    installed: Installed, plugins: dict[str, dict[str, Any]]
) -> None:
    assert plugins["kind-of-kinds"]["offers"] == ["kind dashboard"]
    ran = installed.lean_dojo("plugins", "--kind", "dashboard")
    assert "No plugin offers anything of this kind" in ran.stderr
    without = installed.lean_dojo(
        "plugins", "--kind", "dashboard", LEAN_DOJO_DISABLE_PLUGINS="kind-of-kinds"
    )
    assert without.returncode == 2
    assert "'dashboard' is not one of 'trainer', 'dataset-formatter'" in without.stderr


@pytest.mark.parametrize(("name", "reason"), WHAT_FAILED.items())
def test_a_broken_plugin_is_listed_with_its_reason(
    plugins: dict[str, dict[str, Any]], name: str, reason: str
) -> None:
    assert plugins[name]["status"] == "failed"
    assert reason in plugins[name]["error"]
    assert plugins[name]["offers"] == []


@pytest.mark.parametrize(("name", "reason"), INCOMPATIBLE.items())
def test_an_incompatible_plugin_is_listed_with_both_versions(
    plugins: dict[str, dict[str, Any]], name: str, reason: str
) -> None:
    assert plugins[name]["status"] == "incompatible"
    assert reason in plugins[name]["error"]


def test_builtins_are_untouched(plugins: dict[str, dict[str, Any]], listing: Ran) -> None:
    offered = {
        (o["kind"], o["name"])
        for o in listing.json["offers"]
        if o["distribution"] == "lean-dojo-v2"
    }
    assert {("trainer", "sft"), ("dataset-formatter", "tactic-chat")} <= offered


def test_output_of_a_manifest_does_not_reach_stdout(listing: Ran) -> None:
    assert "hello from the manifest" not in listing.stdout
    assert "hello from the manifest" in listing.stderr


def test_a_deprecation_warning_is_printed_once_and_names_the_plugin(listing: Ran) -> None:
    told = "plugin old-fashioned:plugin 1.0: columns is now required_columns"
    assert listing.stderr.count(told) == 1


def test_registries_work_beside_broken_plugins(installed: Installed) -> None:
    code = """
import json
from lean_dojo_core import registry
from lean_dojo_core.errors import LeanDojoError
rewards = registry.reward_functions

def message(call):
    try:
        return [type(error := None), call()]
    except LeanDojoError as error:
        return [type(error).__name__, str(error)]

print(json.dumps({
    "score": rewards["Well_Made"].create()(["a", "b"]),
    "provenance": [rewards["well-made"].distribution, rewards["well-made"].version],
    "names": [name for name in rewards if name.endswith("shared")],
    "in": ["shared" in rewards, "twin-one:shared" in rewards],
    "qualified": rewards["twin-two:shared"].create()(["a"]),
    "ambiguous": message(lambda: rewards["shared"]),
    "shadow": message(lambda: rewards["length-penalised"]),
    "builtin": registry.builtin(rewards, "length-penalised").__name__,
    "unknown": message(lambda: rewards["well-mad"]),
    "missing": message(lambda: rewards["missing-target"].load()),
    "not_callable": message(lambda: rewards["not-callable"].load()),
}))
"""
    ran = installed.python(code)
    assert ran.returncode == 0, ran.stderr
    found = ran.json
    assert found["score"] == [1.0, 1.0]
    assert found["provenance"] == ["well-made", "1.0"]
    assert found["names"] == ["twin-one:shared", "twin-two:shared"]
    assert found["in"] == [False, True]
    assert found["qualified"] == [1.0]
    assert found["ambiguous"] == [
        "AmbiguousNameError",
        (
            "reward-function 'shared' is offered by several distributions; say which: "
            "twin-one:shared (1.0), twin-two:shared (1.0)"
        ),
    ]
    assert found["shadow"][0] == "AmbiguousNameError"
    assert "lean-dojo-v2:length-penalised" in found["shadow"][1]
    assert found["builtin"] == "LengthPenalised"
    assert found["unknown"][0] == "UnknownNameError"
    assert "Did you mean 'well-made'" in found["unknown"][1]
    assert "cannot-import:plugin" in found["unknown"][1]
    assert found["missing"][0] == "PluginLoadError"
    assert "missing-target 1.0 (target nowhere.at_all:reward)" in found["missing"][1]
    assert "callable" in found["not_callable"][1]


@pytest.mark.parametrize("way", ["well-made", "WELL_MADE", "well-made:plugin"])
def test_the_environment_variable_disables_plugins(installed: Installed, way: str) -> None:
    ran = installed.lean_dojo("plugins", "--json", LEAN_DOJO_DISABLE_PLUGINS=f"{way}, exits")
    infos = {info["distribution"]: info for info in ran.json["plugins"]}
    assert infos["well-made"]["status"] == infos["exits"]["status"] == "disabled"
    assert infos["well-made"]["error"] == "named in LEAN_DOJO_DISABLE_PLUGINS"
    assert infos["twin-one"]["status"] == "active"
    assert "well-made" not in {offer["name"] for offer in ran.json["offers"]}


def test_strict_mode_fails_and_names_the_broken_plugins(installed: Installed) -> None:
    ran = installed.lean_dojo("show", "well-made", LEAN_DOJO_STRICT_PLUGINS="1")
    assert ran.returncode == 1
    assert "cannot-import:plugin 1.0: ModuleNotFoundError" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""


def test_strict_mode_passes_without_broken_plugins(installed: Installed) -> None:
    ran = installed.lean_dojo(
        "show",
        "well-made",
        LEAN_DOJO_STRICT_PLUGINS="1",
        LEAN_DOJO_DISABLE_PLUGINS=",".join({*MANIFESTS, *KINDS} - ACTIVE),
    )
    assert ran.returncode == 0, ran.stderr


def test_listing_in_strict_mode_fails_after_listing(installed: Installed) -> None:
    ran = installed.lean_dojo("plugins", "--failed", "--strict")
    assert ran.returncode == 1
    for name in WHAT_FAILED | INCOMPATIBLE:
        assert f"{name}:plugin" in ran.stdout


@pytest.mark.parametrize(("strict", "offered"), [("0", True), ("1", False)])
def test_shell_completion_ignores_broken_plugins(
    installed: Installed, strict: str, offered: bool
) -> None:
    ran = installed.lean_dojo(
        LEAN_DOJO_STRICT_PLUGINS=strict,
        _LEAN_DOJO_COMPLETE="bash_complete",
        COMP_WORDS="lean-dojo show well-m",
        COMP_CWORD="2",
    )
    assert ("well-made" in ran.stdout) == offered
    assert "hello from the manifest" not in ran.stdout
    assert "Traceback" not in ran.stderr


def test_version_names_third_party_plugins(installed: Installed) -> None:
    ran = installed.lean_dojo("--version")
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("lean-dojo 2.")
    assert "well-made 1.0" in lines
    assert "exits 1.0 (failed)" in lines


def test_a_half_deleted_distribution_does_not_break_discovery(
    installed: Installed, tmp_path: Path
) -> None:
    folder = tmp_path / "half_gone-1.0.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_text("[lean_dojo]\nplugin = half_gone.manifest\n")
    ran = installed.lean_dojo("plugins", "--json", PYTHONPATH=str(tmp_path))
    infos = {info["distribution"]: info for info in ran.json["plugins"]}
    assert infos["half_gone"]["status"] == "failed"
    assert "No module named 'half_gone'" in infos["half_gone"]["error"]
