"""Folders and repositories that the clients of a service may name: those given at its start."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import attrs
import click

from lean_dojo_core.errors import UsageError


class NotGivenError(UsageError):
    """A client has named a folder, a file or a repository that the service was not started with."""


def _resolved(folders: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(folder.resolve() for folder in folders))


@attrs.frozen
class ServedFolders:
    """What clients may name: folders with all below them, and repositories by their address."""

    folders: tuple[Path, ...] = attrs.field(default=(), converter=_resolved)
    repositories: Mapping[str, Path] = attrs.field(factory=dict)

    @classmethod
    def of(cls, given: Iterable[str], *more: Path | str | None) -> Self:
        """Read values of ``--folder``, ``DIR`` or ``URL=DIR``; ``UsageError`` if one is missing."""
        folders = [Path(folder) for folder in more if folder is not None]
        repositories: dict[str, Path] = {}
        for text in given:
            url, _, folder = ("", "", text) if Path(text).is_dir() else text.rpartition("=")
            if not Path(folder).is_dir():
                raise UsageError(f"--folder {text}: there is no folder {folder!r}")
            folders.append(Path(folder))
            if url:
                repositories[url] = Path(folder).resolve()
        return cls(folders, repositories)

    def admitted(self, path: str, kind: str, base: Path | None = None) -> Path:
        """Return a path that a client has named, without links and ``..``.

        It may be in any of the folders, or in ``base`` only; else it is a ``NotGivenError``, which
        calls it ``kind``.
        """
        allowed = self.folders if base is None else (base,)
        try:
            found = (Path(path) if base is None else base / path).resolve()
        except (OSError, ValueError, RuntimeError):  # a null byte, a circle of links
            found = None
        if found is None or not any(found.is_relative_to(folder) for folder in allowed):
            raise NotGivenError(
                f"{kind} {path!r:.200} is in no folder that this server was started with "
                "(its option --folder)"
            )
        return found

    def admitted_columns(self, columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """Return the columns of rows to score, with their projects' folders resolved.

        Raises ``NotGivenError`` for what is not served, and ``UsageError`` for what is malformed.
        """
        named = ("project", "url", "file_path")
        places = [columns[name] for name in named if name in columns]
        for value in (value for column in places for value in column):
            if not isinstance(value, str | None):
                raise UsageError(f"columns: {', '.join(named)} must be texts, not {value!r:.80}")
        projects = [
            str(self.admitted(value, "the project")) if value else None
            for value in columns.get("project", ())
        ]
        urls = columns.get("url", ())
        for url in urls:
            if url is not None and url not in self.repositories:
                raise NotGivenError(
                    f"the repository {url!r:.200} is none that this server was started with "
                    "(its option --folder URL=DIR)"
                )
        for number, file in enumerate(columns.get("file_path", ())):
            url = urls[number] if urls else None
            if file is not None and url is None:
                raise UsageError(
                    "columns: a row with 'file_path' needs the 'url' of its repository"
                )
            if file is not None:
                self.admitted(file, "the file", self.repositories[str(url)])
        return {**columns, **({"project": projects} if projects else {})}


folders_option = click.option(
    "--folder",
    "folders",
    metavar="[URL=]DIR",
    multiple=True,
    help="Folder that requests may name, with all that is below it; with URL=, the folder of that "
    "repository. Repeatable.",
)
