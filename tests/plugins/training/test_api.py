"""What plugin authors may import: no example needs more, and it suffices for a trainer."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from transformers import TrainingArguments

from lean_dojo_core import registry
from lean_dojo_core.errors import ConfigError
from lean_dojo_core.hookspecs import API_VERSION
from lean_dojo_plugins import api
from lean_dojo_plugins.training.run_folder import RunFolder
from lean_dojo_v2.database import DynamicDatabase
from lean_dojo_v2.runs import metrics

ROOT = Path(__file__).resolve().parents[3]
PLUGINS_PAGE = ROOT / "docs" / "plugins.md"
_BLOCK = re.compile(
    r"^```python(?: title=\"(?P<title>[^\"]+)\")?\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)


def sources() -> Iterator[tuple[str, str]]:
    """Give what plugin authors read: the example plugin, scaffolds, examples, and all pages."""
    files = [
        *(ROOT / "tests" / "example_plugin").rglob("*.py"),
        *(ROOT / "lean_dojo_v2" / "cli" / "scaffold").rglob("*.py.tmpl"),
        *(ROOT / "examples").rglob("*.py"),
    ]
    yield from ((str(file.relative_to(ROOT)), file.read_text()) for file in files)
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        if "tools" not in page.parts and "reference" not in page.parts:
            for block in _BLOCK.finditer(page.read_text()):
                yield str(page.relative_to(ROOT)), block["code"]


def test_nothing_that_authors_read_imports_what_is_private():
    seen = 0
    for name, text in sources():
        plain = re.sub(r"\$\w+", "it", text)
        try:
            tree = ast.parse(plain)
        except SyntaxError:  # signatures, and lines of a session
            continue
        for node in ast.walk(tree):
            modules = []
            if isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            elif isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            for module in modules:
                seen += module.startswith("lean_dojo")
                parts = module.split(".")
                assert parts[0] != "lean_dojo_plugins" or parts[1:] == ["api"], f"{name}: {module}"
                assert not any(part.startswith("_") for part in parts[1:]), f"{name}: {module}"
    assert seen > 30


def test_the_example_plugin_imports_nothing_else_of_ours():
    for file in (ROOT / "tests" / "example_plugin" / "src").rglob("*.py"):
        found = set(
            re.findall(r"^(?:from|import) (lean_dojo_\w+[\w.]*)", file.read_text(), re.MULTILINE)
        )
        ours = {name for name in found if not name.startswith("lean_dojo_example")}
        assert ours <= {"lean_dojo_core", "lean_dojo_plugins.api"}, file


def test_every_name_is_there():
    assert api.__api_version__ == ".".join(map(str, API_VERSION))
    for name in api.__all__:
        assert getattr(api, name) is not None
    page = PLUGINS_PAGE.read_text()
    missing = [name for name in api.__all__ if f"`{name}`" not in page]
    assert not missing, f"docs/plugins.md does not explain {missing}"


@pytest.fixture
def documented():
    """The trainers that the page writes."""
    blocks = {m["title"]: m["code"] for m in _BLOCK.finditer(PLUGINS_PAGE.read_text())}
    namespace = {"__name__": "documented"}
    for title in ("weighted.py", "preferences.py", "from_nothing.py"):
        exec(compile(blocks[title], title, "exec"), namespace)
    return namespace


def test_a_trainer_of_the_page_trains_two_steps(documented, tiny_model, traced, tmp_path):
    database = DynamicDatabase(traced)
    repos = [r for r in database.repositories if "empty" not in r.url][:1]
    with registry.trainers.override("plain", documented["Plain"]):
        trainer = registry.trainers["plain"].create(
            model_name=str(tiny_model), output_dir=str(tmp_path / "out"), batch_size=2,
            warmup=1, trainer_args={"max_steps": 2}, device="cpu",
        )  # fmt: skip
        trainer.train(repos, database, tmp_path / "data")
    state = RunFolder(tmp_path / "out").load()
    assert [step.optimizer_steps for step in state.finished] == [2]
    assert trainer.evaluate(split="train", limit=3).examples == 3


@pytest.fixture
def pairs(tmp_path):
    """Negatives as expert iteration writes them."""
    rows = [
        {"problem": "T.t", "round": 1, "state": f"⊢ x{n} = x{n}", "chosen": "rfl", "rejected": "simp",
         "verdict": "failed"}
        for n in range(8)
    ]  # fmt: skip
    file = tmp_path / "negatives.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.mark.parametrize("lora", [None, {"r": 2, "target_modules": ["q_proj"]}])
def test_preferences_are_learned(documented, pairs, tiny_model, traced, tmp_path, lora):
    database = DynamicDatabase(traced)
    trainer = documented["Preferences"](
        model_name=str(tiny_model), output_dir=str(tmp_path / "out"), batch_size=4, pairs=pairs,
        lr=1e-2, epochs_per_repo=4, lora_config=lora, device="cpu",
        trainer_args={"loss_type": ["sigmoid"], "gradient_checkpointing": False},
    )  # fmt: skip
    trainer.train(database.repositories[:1], database, tmp_path / "data")
    rows = metrics.read_metrics(tmp_path / "out")
    margins = [row["rewards/margins"] for row in rows if "rewards/margins" in row]
    assert abs(margins[0]) < 1e-3  # the model against itself
    assert margins[-1] > (0.1 if lora is None else 0.002)
    assert RunFolder(tmp_path / "out").load().settings["beta"] == 0.1


def test_a_missing_configuration_class_is_named(documented, pairs, tiny_model, traced, tmp_path):
    class Forgot(documented["Preferences"]):
        config_class = TrainingArguments

    database = DynamicDatabase(traced)
    options = {"model_name": str(tiny_model), "pairs": pairs, "device": "cpu"}
    trainer = Forgot(output_dir=str(tmp_path / "out"), **options)
    with pytest.raises(ConfigError, match=r"trainer_args: TrainingArguments.* argument 'beta'"):
        trainer.train(database.repositories[:1], database, tmp_path / "data")
    with pytest.raises(ConfigError, match=r"trainer_args\.beta: .*Set Forgot\.config_class"):
        Forgot(trainer_args={"beta": 0.2}, **options)


def test_a_trainer_from_nothing_trains(documented, traced, tmp_path):
    trainer = documented["Counts"](output_dir=str(tmp_path / "out"))
    database = DynamicDatabase(traced)
    trainer.train(database.repositories, database, tmp_path / "data")
    assert json.loads((tmp_path / "out" / "counts.json").read_text())
