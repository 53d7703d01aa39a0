from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import lean_dojo_core
from lean_dojo_core import (
    ChecksData,
    Closes,
    Evaluates,
    GivesFeedback,
    HasOwnData,
    Preflights,
    Previews,
    Proves,
    Registry,
    RewardFunctionSpec,
    TrainerSpec,
    WarmsUp,
    formats_whole_proofs,
    registry,
    testing,
)
from lean_dojo_core.discovery import import_target
from lean_dojo_core.errors import (
    ConfigError,
    InvalidSpecError,
    LeanDojoError,
    PluginLoadError,
    UnknownNameError,
    UsageError,
)


def ones(completions: list[Any], **kwargs: Any) -> list[float]:
    return [1.0] * len(completions)


def test_builtins_are_registered_with_their_origin() -> None:
    entry = registry.trainers["sft"]
    assert entry.distribution == "lean-dojo-v2"
    assert entry.version.startswith("2.")
    assert entry.qualified_name == "lean-dojo-v2:sft"
    assert entry.plugin.builtin


@pytest.mark.parametrize("name", ["sft", "SFT", "lean-dojo-v2:sft", "Lean_Dojo.v2:Sft"])
def test_look_up_ignores_case_and_underscores(name: str) -> None:
    assert registry.trainers[name].name == "sft"
    assert name in registry.trainers


def test_a_registry_is_a_mapping() -> None:
    names = list(registry.trainers)
    assert len(names) == len(registry.trainers)
    assert {name: registry.trainers[name].name for name in names} == {
        name: entry.name for name, entry in registry.trainers.items()
    }
    assert registry.trainers.get("nobody") is None
    assert 7 not in registry.trainers


def test_an_unknown_name_is_a_key_error_and_a_usage_error() -> None:
    with pytest.raises(KeyError) as caught:
        registry.trainers["stf"]
    assert isinstance(caught.value, UnknownNameError)
    assert isinstance(caught.value, UsageError)
    assert str(caught.value).startswith("no trainer is called 'stf'. Did you mean 'sft'")


def test_override_replaces_and_adds_and_can_be_nested() -> None:
    rewards = registry.reward_functions
    count = len(rewards)
    with rewards.override("constant", ones):
        assert rewards["constant"].create()(["a"]) == [1.0]
        assert len(rewards) == count
        with rewards.override("constant", lambda completions, **kwargs: [2.0]):
            assert rewards["constant"].create()(["a"]) == [2.0]
        assert rewards["constant"].load() is ones
        with rewards.override("New_One", ones):
            assert len(rewards) == count + 1
            assert rewards["new-one"].distribution == "override"
    assert "new-one" not in rewards
    assert rewards["constant"].distribution == "lean-dojo-v2"


def test_concurrent_threads_share_one_discovery() -> None:
    code = (
        "import sys, threading\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from lean_dojo_core import registry\n"
        "start = threading.Barrier(8)\n"
        "def ask(_):\n"
        "    start.wait()\n"
        "    return registry.current()\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    found = list(pool.map(ask, range(8)))\n"
        "sys.exit(len({id(one) for one in found}) != 1)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_override_checks_its_target() -> None:
    with (
        pytest.raises(PluginLoadError, match="must be callable"),
        registry.reward_functions.override("x", 3),
    ):
        pass
    with (
        pytest.raises(PluginLoadError, match=r"needs the method\(s\) train"),
        registry.trainers.override("x", type("Idle", (), {})),
    ):
        pass


def test_create_passes_options_only_to_a_class() -> None:
    assert registry.reward_functions["constant"].create(value=3)(["a"]) == [3.0]
    with (
        registry.reward_functions.override("function", ones),
        pytest.raises(PluginLoadError, match="takes no options"),
    ):
        registry.reward_functions["function"].create(value=3)


def test_create_names_an_unknown_setting_and_a_missing_one() -> None:
    class Trains:
        def __init__(self, model_name: str, *, batch_size: int = 1) -> None: ...

        def train(self, repos: Any, database: Any, data_path: Any) -> None: ...

    with registry.trainers.override("trains", Trains):
        entry = registry.trainers["trains"]
        with pytest.raises(
            ConfigError, match=r"no setting 'batchsize'\. Did you mean 'batch_size'"
        ):
            entry.create(model_name="m", batchsize=2)
        with pytest.raises(ConfigError, match="'model_name'"):
            entry.create()


def test_a_builtin_is_found_even_if_another_plugin_offers_its_name() -> None:
    assert registry.builtin(registry.reward_functions, "constant").__name__ == "Constant"


@pytest.mark.parametrize(
    "name", ["", "Upper", "snake_case", "-a", "a-", "a--b", "1st", "a b", "a.b", "ä", 7, None]
)
def test_bad_names(name: Any) -> None:
    with pytest.raises(InvalidSpecError, match="kebab-case"):
        RewardFunctionSpec(name=name, target="a:b", summary="s")


@pytest.mark.parametrize("target", ["", "a", "a:", ":b", "a.b", "a:b:c", "a-b:c", "a..b:c", 3])
def test_bad_targets(target: Any) -> None:
    with pytest.raises(InvalidSpecError, match=r"package\.module:attribute"):
        RewardFunctionSpec(name="a", target=target, summary="s")


@pytest.mark.parametrize("summary", ["", "  ", "two\nlines", None])
def test_bad_summaries(summary: Any) -> None:
    with pytest.raises(InvalidSpecError, match="one line"):
        RewardFunctionSpec(name="a", target="a:b", summary=summary)


def test_columns_are_converted_to_a_tuple() -> None:
    def columns(value: Any) -> tuple[str, ...]:
        return TrainerSpec(
            name="a", target="a:b", summary="s", required_columns=value
        ).required_columns

    assert columns(["x", "y"]) == ("x", "y")
    assert columns("prompt") == ("prompt",)
    with pytest.raises(InvalidSpecError, match="column"):
        columns(["not a column"])


def test_every_public_name_exists_and_is_documented() -> None:
    for name in lean_dojo_core.__all__:
        assert getattr(lean_dojo_core, name) is not None
    assert set(lean_dojo_core.__all__) <= set(dir(lean_dojo_core))
    with pytest.raises(AttributeError, match="nonesuch"):
        lean_dojo_core.nonesuch  # noqa: B018


def test_every_error_has_one_root_and_an_exit_code() -> None:
    from lean_dojo_core import errors

    for value in vars(errors).values():
        if (
            isinstance(value, type)
            and issubclass(value, Exception)
            and value.__module__ == errors.__name__
        ):
            assert issubclass(value, (LeanDojoError, Warning)), value
            assert value.__doc__, value
            assert getattr(value, "exit_code", 1) in {1, 2}


def test_every_kind_has_a_hook_a_registry_a_suite_and_an_example() -> None:
    manager, kinds = registry.manager(), registry.current().kinds
    assert list(registry.registries()) == list(kinds)
    assert list(kinds)[:3] == ["trainer", "dataset-formatter", "reward-function"]
    for name, spec in kinds.items():
        assert Registry[Any, Any](spec).kind == name
        assert issubclass(import_target(spec.suite), testing.Suite)
        specified = getattr(manager.hook, spec.hook()).spec
        assert f"... def {spec.hook()}():" in (specified.function.__doc__ or "")


def test_pluggys_manager_shows_what_is_registered() -> None:
    manager = registry.manager()
    assert manager is registry.manager()
    names = {name for name, plugin in manager.list_name_plugin() if plugin is not None}
    active = [info for info in registry.current().plugins if info.status == "active"]
    assert names == {info.name for info in active if info.group == "lean_dojo"}
    callers = manager.get_hookcallers(manager.get_plugin("lean-dojo-v2:sft")) or []
    assert "lean_dojo_trainers" in {caller.name for caller in callers}


def test_isinstance_works_for_the_optional_protocols() -> None:
    class Careful:
        own_data = "rows.jsonl"

        def preflight(self) -> None: ...

        def check_data(self, theorems: object) -> None: ...

        def close(self) -> None: ...

    assert isinstance(Careful(), Preflights)
    assert isinstance(Careful(), ChecksData)
    assert isinstance(Careful(), HasOwnData)
    assert isinstance(Careful(), Closes)
    assert not isinstance(Careful(), Evaluates | Proves | Previews | WarmsUp | GivesFeedback)


@pytest.mark.parametrize(("stated", "whole"), [({}, False), ({"whole_proof": True}, True)])
def test_a_formatter_declares_whether_it_formats_whole_proofs(stated: Any, whole: bool) -> None:
    formatter = type("Mine", (), {"columns": (), **stated})()
    assert formats_whole_proofs(formatter) is whole
