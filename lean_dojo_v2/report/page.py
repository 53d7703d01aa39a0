"""Write the page."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from lean_dojo_v2.atomic import atomic_write_text
from lean_dojo_v2.report.collect import collect

REPORT_FILE = "report.html"


def write_report(folder: Path, output: Path | None = None) -> Path:
    """Write one self-contained HTML page about a run; it loads nothing from elsewhere.

    Args:
        folder: The run's output folder.
        output: The page; ``report.html`` in the folder if not given.

    Returns:
        The page.

    Raises:
        UsageError: If no run is in the folder.
        DataError: If a file of it cannot be read.
    """
    environment = Environment(
        loader=PackageLoader("lean_dojo_v2.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = output or folder / REPORT_FILE
    atomic_write_text(page, environment.get_template("page.html.j2").render(run=collect(folder)))
    return page
