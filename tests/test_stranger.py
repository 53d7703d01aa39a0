"""Somebody with the wheel and docs/plugins.md writes, tests, publishes and uses a reward.

The commands are those of the page, run by a shell in a clean environment, in the page's order. They
need no network: packages come from a local index, and build backends from this environment.
"""

from __future__ import annotations

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from email import message_from_bytes
from pathlib import Path

import pytest
from packaging.metadata import Metadata

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
NAME = "shortness-bonus"

IDEA = '''\
        goals = kwargs.get("problem") or [""] * len(completions)
        pairs = zip(completions, goals, strict=True)
        return [self.best * names_one(tactic, goal) for tactic, goal in pairs]


def names_one(tactic: str, goal: str) -> bool:
    """Whether a tactic names a hypothesis of the goal."""
    return any(f"{word} :" in goal for word in tactic.split())
'''

pytestmark = pytest.mark.slow


def block(holding: str, language: str = "sh") -> str:
    """Give the page's code block with these words."""
    fences = re.findall(rf"^```{language}[^\n]*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    [found] = [code for code in fences if holding in code]
    return str(found)


class Stranger:
    """A person at a shell, with one environment and one folder."""

    def __init__(self, home: Path, folder: Path, variables: dict[str, str]) -> None:
        self.folder = folder
        self.variables = {
            **variables,
            "PATH": f"{home / 'bin'}{os.pathsep}{variables['PATH']}",
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "HF_HUB_OFFLINE": "1",
        }

    def tries(self, script: str, **changes: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=self.folder,
            env={**self.variables, **changes},
            capture_output=True,
            text=True,
            check=False,
        )

    def does(self, script: str, **changes: str) -> str:
        done = self.tries(script, **changes)
        assert done.returncode == 0, f"{script}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout


@pytest.fixture
def stranger(
    wheel_home: Path, tmp_path: Path, environment: Callable[..., dict[str, str]]
) -> Iterator[Stranger]:
    somebody = Stranger(wheel_home, tmp_path, environment())
    yield somebody
    somebody.does(f"pip uninstall --yes {NAME}")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of an index (PEP 503), and its folder for this distribution's files."""
    files = tmp_path / "index" / "simple" / NAME
    files.mkdir(parents=True)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(tmp_path / "index"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple", files
        server.shutdown()


def here(script: str) -> str:
    """Leave out `-e`: editable builds want a backend of their own, which no index gives here."""
    return script.replace("install -e ", "install --no-build-isolation ")


def replace(file: Path, *pairs: tuple[str, str]) -> None:
    text = file.read_text(encoding="utf-8")
    for old, new in pairs:
        assert text.count(old) == 1, (old, text)
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")


def change_ten_lines(project: Path) -> None:
    """An idea of one's own: tactics that name a hypothesis of the goal."""
    replace(
        project / "src" / "shortness_bonus" / "reward.py",
        ("Rewards tactics of few words: 1 for one word, half of it for two, and so on.", "Names."),
        ('(["rfl", "exact h"])', '(["rfl", "exact h"], problem=["h : p"] * 2)'),
        ("[1.0, 0.5]", "[0.0, 1.0]"),
        (
            "        return [self.best / max(1, len(tactic.split())) for tactic in completions]\n",
            IDEA,
        ),
    )
    tests = project / "tests" / "test_shortness_bonus.py"
    kept, _, _ = tests.read_text(encoding="utf-8").partition("@pytest.mark.parametrize")
    own = (
        "def test_a_name_earns() -> None:\n"
        f'    reward = registry.reward_functions["{NAME}"].create()\n'
        '    assert reward(["exact h"], problem=["h : p"]) == [1.0]\n'
    )
    tests.write_text(kept.replace("import pytest\n", "") + own, encoding="utf-8")


def test_from_the_scaffold_to_the_users(stranger: Stranger, index: tuple[str, Path]) -> None:
    project = stranger.folder / NAME
    said = stranger.does(block("plugins new"))
    start = block("cd shortness-bonus")
    assert said.startswith(start.replace('"', "'")), "the program and the page say the same"
    assert "passed" in stranger.does(here(start))
    assert NAME in stranger.does(block(f"plugins check {NAME}"))

    change_ten_lines(project)
    stranger.does(f"pip uninstall --yes {NAME}")
    assert "passed" in stranger.does(here(start))
    assert stranger.does(f"lean-dojo plugins check {NAME}").endswith("checks passed.\n")

    build = next(line for line in block("twine check").splitlines() if "-m build" in line)
    stranger.does(f"cd {NAME} && {build} --no-isolation")
    built = sorted((project / "dist").iterdir())
    assert [file.suffix for file in built] == [".whl", ".gz"] or len(built) == 2
    check_metadata(built)

    address, published = index
    for file in built:
        shutil.copy(file, published)
    stranger.does(f"pip uninstall --yes {NAME}")
    assert stranger.tries(f"lean-dojo show {NAME}").returncode == 2
    online = {"PIP_NO_INDEX": "", "PIP_INDEX_URL": address}
    stranger.does(f"pip install {NAME}", **online)
    assert f"{NAME} 0.1.0" in stranger.does("lean-dojo --version")
    use(stranger)

    replace(project / "pyproject.toml", ('version = "0.1.0"', 'version = "0.2.0"'))
    stranger.does(f"cd {NAME} && {build} --no-isolation && cp dist/*0.2.0* {published}")
    stranger.does(f"pip install --upgrade {NAME}", **online)
    assert f"{NAME} 0.2.0" in stranger.does("lean-dojo --version")

    off = {"LEAN_DOJO_DISABLE_PLUGINS": NAME}
    assert "disabled" in stranger.does("lean-dojo plugins --failed", **off)
    refused = stranger.tries(f"lean-dojo reward score {NAME} completions.jsonl", **off)
    assert refused.returncode == 2
    assert f"Not loaded: {NAME}:{NAME} (disabled)" in refused.stderr


def use(stranger: Stranger) -> None:
    """Score without training, train for two steps, and call it from Python."""
    (stranger.folder / "completions.jsonl").write_text(block("exact h", "json"))
    (stranger.folder / "try_it.py").write_text(block("build_tiny_model", "python"))
    plain, as_json = block("reward score").splitlines()
    assert stranger.does(plain).split() == ["SCORE", "COMPLETION", "1", "exact", "h"]
    assert json.loads(stranger.does(as_json)) == [{"score": 2.0, "completion": "exact h"}]
    trained = stranger.tries(block("try_it.py"))
    assert trained.returncode == 0, trained.stderr
    assert trained.stdout == ""
    assert not re.search(r"\d%\||Warning", trained.stderr), "bars and warnings stay out of logs"
    rows = (stranger.folder / "outputs-try" / "metrics.jsonl").read_text().splitlines()
    assert f"rewards/{NAME}/mean" in json.loads(rows[0])
    code = (
        "from lean_dojo_core import registry\n"
        f"reward = registry.reward_functions['{NAME}'].create(best=3)\n"
        "print(reward(['exact h'], problem=['h : p']))"
    )
    assert stranger.does(f'python -c "{code}"') == "[3.0]\n"


def check_metadata(built: list[Path]) -> None:
    """Look at what an index looks at; `twine check` does the same and renders the README."""
    import tarfile
    import zipfile

    for file in built:
        if file.suffix == ".whl":
            with zipfile.ZipFile(file) as wheel:
                [name] = [n for n in wheel.namelist() if n.endswith("METADATA")]
                raw = wheel.read(name)
        else:
            with tarfile.open(file) as sdist:
                [member] = [m for m in sdist.getmembers() if m.name.endswith("PKG-INFO")]
                content = sdist.extractfile(member)
                assert content is not None
                raw = content.read()
        metadata = Metadata.from_email(raw)
        assert metadata.name == NAME
        assert metadata.summary == "Rewards tactics of few words."
        assert metadata.description_content_type == "text/markdown"
        assert message_from_bytes(raw).get_all("Requires-Dist", [])[0].startswith("lean-dojo-v2<3")
