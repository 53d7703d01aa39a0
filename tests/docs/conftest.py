"""The code blocks of the documentation, and small stand-ins for the large things they name."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import attrs
import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = {
    "README.md": ROOT / "README.md",
    **{
        str(path.relative_to(DOCS)): path
        for path in sorted(DOCS.rglob("*.md"))
        # Templates, and pages whose Python is signatures.
        if "tools" not in path.parts and "<!-- Written by" not in path.read_text("utf-8")
    },
}
_FENCE = re.compile(
    r"(?:^[ \t]*<!-- test: (?P<note>[^\n]*?) -->\n)?"
    r"^(?P<indent>[ \t]*)```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n"
    r"(?P<code>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)

TRAINS = {
    "README.md", "quickstart.md", "proving.md", "trainers/index.md", "trainers/sft.md",
    "trainers/grpo.md", "trainers/retrieval.md", "trainers/progress.md", "environment.md",
}  # fmt: skip
"""Pages whose Python trains models: they are run among the slow tests."""


@attrs.frozen
class Block:
    """One fenced code block.

    Attributes:
        page: The page's name.
        line: Where it stands.
        language: ``python``, ``sh``, …
        title: The file that it shows, if it does.
        note: What its comment says to the tests.
        code: The text.
    """

    page: str
    line: int
    language: str
    title: str
    note: str
    code: str = attrs.field(repr=False)

    @property
    def skipped(self) -> bool:
        return self.note.startswith("skip")

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(page: str) -> list[Block]:
    """Read a page's code blocks."""
    text = PAGES[page].read_text(encoding="utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, match.start("language")) + 1,
            match["language"],
            match["title"] or "",
            match["note"] or "",
            dedent(match["code"]),
        )
        for match in _FENCE.finditer(text)
    ]


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def shell_lines(block: Block) -> Iterator[str]:
    """Give the commands of a shell block, without comments, with continued lines joined."""
    for line in block.code.replace("\\\n", " ").splitlines():
        if text := re.sub(r"(^|\s)#.*", "", line).strip():
            yield text


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "block_page" in metafunc.fixturenames:
        params = []
        for page in PAGES:
            blocks = [b for b in BLOCKS if b.page == page and b.language == "python"]
            main = [b for b in blocks if b.note != "script"]
            if main:
                marks = [pytest.mark.slow] if page in TRAINS else []
                params.append(pytest.param(main, id=page, marks=marks))
        metafunc.parametrize("block_page", params)
    if "script_block" in metafunc.fixturenames:
        scripts = [
            pytest.param(b, id=str(b), marks=pytest.mark.slow) for b in BLOCKS if b.note == "script"
        ]
        metafunc.parametrize("script_block", scripts)
    if "shell_line" in metafunc.fixturenames:
        metafunc.parametrize(
            "shell_line",
            [
                pytest.param(line, id=f"{block}-{line[:60]}")
                for block in BLOCKS
                if block.language == "sh" and not block.skipped
                for line in shell_lines(block)
            ],
        )
    for language in ("yaml", "json", "toml"):
        if f"{language}_block" in metafunc.fixturenames:
            found = [block for block in BLOCKS if block.language == language]
            metafunc.parametrize(f"{language}_block", found, ids=str)


@pytest.fixture(scope="session")
def all_blocks() -> list[Block]:
    return BLOCKS


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run examples in, with a small database of the sample."""
    from lean_dojo_v2.sample import sample_database_path

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAID_DIR", raising=False)
    monkeypatch.delenv("LEANPROGRESS_MODEL", raising=False)
    database = json.loads(sample_database_path().read_text(encoding="utf-8"))
    for repository in database["repositories"]:
        repository["proven_theorems"] = repository["proven_theorems"][:24]
        repository["sorry_theorems_unproved"] = repository["sorry_theorems_unproved"][:1]
    (tmp_path / "dynamic_database.json").write_text(json.dumps(database), encoding="utf-8")
    return tmp_path


@pytest.fixture
def verdict_server() -> Iterator[str]:
    """The address of a running ``lean-dojo serve``."""
    from serving import running

    with running() as server:
        yield server.url


LEAN_FILE = """\
theorem both (p q : Prop) (h : p ∧ q) : q ∧ p := by
  constructor
  exact h.2
  exact h.1

theorem first (p q : Prop) (h : p ∧ q) : p := by
  exact h.1

theorem plus (n m : Nat) : n + m = m + n := by
  rw [Nat.add_comm]

theorem wish (p : Prop) (h : p) : p := by
  sorry
"""


@pytest.fixture(scope="session")
def lean_repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A git repository with a small Lean project: its address and commit."""
    folder = tmp_path_factory.mktemp("lean") / "lean4-example"
    folder.mkdir()
    (folder / "lakefile.toml").write_text('name = "Example"\n\n[[lean_lib]]\nname = "Example"\n')
    (folder / "lean-toolchain").write_text("leanprover/lean4:v4.28.0\n")
    (folder / "Example.lean").write_text(LEAN_FILE, encoding="utf-8")
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Example"]):
        subprocess.run([*git, *command], check=True)
    shown = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return str(folder), shown.stdout.strip()


@pytest.fixture(scope="session")
def small_tool_caller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of two layers with the chat template of one that calls tools."""
    import trl

    from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model

    texts = ["<|im_start|>user <|im_end|> <tool_call>", "⊢ p ∧ q", "intro h"] * 8
    folder = build_tiny_model(
        texts, tmp_path_factory.mktemp("caller"), hidden_size=32, layers=2, max_length=4096
    )
    template = Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja"
    (folder / "chat_template.jinja").write_text(template.read_text(encoding="utf-8"))
    return folder


@pytest.fixture(scope="session")
def small_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A local model of two layers for each hub model that the pages name."""
    import torch
    from small_worlds import save_bert
    from transformers import T5Config, T5EncoderModel

    from lean_dojo_plugins.causal_lm.tiny_model import build_tiny_model

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("models")
    texts = ["⊢ p ∧ q", "exact h.1", "constructor", "intro h", "rw [Nat.add_comm]"] * 8
    causal = build_tiny_model(
        texts,
        folder / "causal",
        hidden_size=32,
        layers=2,
        vocab_size=400,
        max_length=1024,
    )
    bert = save_bert(folder / "bert", texts)
    config = T5Config(vocab_size=384, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=2)
    T5EncoderModel(config).save_pretrained(folder / "t5")
    return {
        "deepseek-ai/DeepSeek-Prover-V2-7B": causal,
        "bert-base-uncased": bert,
        "kaiyuy/leandojo-lean4-retriever-byt5-small": folder / "t5",
    }
