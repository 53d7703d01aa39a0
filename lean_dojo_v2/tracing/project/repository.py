"""A Lean repository at one commit: address, name and files."""

from functools import cached_property
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit

import attrs

from lean_dojo_core.errors import UsageError
from lean_dojo_v2.data import is_address, name_of_url
from lean_dojo_v2.errors import TraceError
from lean_dojo_v2.sample import packaged_project
from lean_dojo_v2.tracing.project import content, git
from lean_dojo_v2.tracing.project.lakefile import LakeProject, project_of_file, read_project


class UnknownSourceError(UsageError, TraceError):
    """The name given for a Lean repository is neither a folder nor an address."""


def _as_url(url: str | Path) -> str:
    """Make folders absolute, so that an address is valid everywhere."""
    text = str(url)
    if is_address(text):
        return text.rstrip("/")
    return str(local_file(text) or local_folder(text) or text)


def local_folder(url: str) -> Path | None:
    """Return the local folder of an address, if any; samples' folders are in the package."""
    if packaged := packaged_project(url):
        return packaged
    if url.startswith("file://"):
        folder = Path(unquote(urlsplit(url).path))
    elif is_address(url):
        return None
    else:
        folder = Path(url).expanduser()
    return folder.absolute() if folder.is_dir() else None


def local_file(url: str) -> Path | None:
    """Return the local Lean file of an address, if any."""
    file = Path(url).expanduser()
    return file.absolute() if file.suffix == ".lean" and file.is_file() else None


def _or_default(commit: str | None) -> str:
    return commit or ""


def _resolve(url: str, commit: str) -> str:
    """Resolve a revision to a full commit, using the network only if necessary."""
    folder, file = local_folder(url), local_file(url)
    if file is not None:
        return _unchanged(file, commit, project_of_file(file))
    if folder is None and content.is_content(commit):
        raise TraceError(
            f"{git.without_password(url)} was traced from a folder whose files were those of no "
            f"commit ({commit[:12]}); name that folder with --project, or trace it again"
        )
    if folder is not None and (content.is_content(commit) or not git.is_repository(folder)):
        return _unchanged(folder, commit, read_project(folder))
    if git.FULL_COMMIT.match(commit):
        return commit
    if folder is not None:
        found = git.find_commit(folder, commit or "HEAD")
        if found is None:
            raise git.no_such_commit(url, commit or "HEAD")
        return found
    if not is_address(url):
        raise UnknownSourceError(f"no such folder or git address: {url}")
    return git.resolve(url, commit or "HEAD")


def _unchanged(place: Path, asked: str, project: LakeProject) -> str:
    """Return the name of the current content, if it is the requested one."""
    found = content.name_of(content.sources_of(project))
    if asked not in {"", found}:
        raise TraceError(
            f"the files of {place} are no longer those of {asked[:12]} (they are {found[:12]}); "
            "trace it again"
        )
    return found


@attrs.frozen(slots=False)
class LeanGitRepo:
    """A Lean repository at one commit.

    Attributes:
        url: Any address that git clones, a folder, or one Lean file.
        commit: The full commit. A branch, a tag, a short commit or nothing (the default branch)
            may be given and is looked up, which may clone; a full commit is taken as it is, so
            that making the object needs no network. For a file, and a folder whose sources
            are no commit's, it is the name of the content, ``files-`` and 40 hexadecimal digits
            (see :mod:`.content`); it is read in place, while its content is unchanged.

    Raises:
        TraceError: If there is no such repository or commit.
    """

    url: str = attrs.field(converter=_as_url)
    commit: str = attrs.field(default="", converter=_or_default)
    _folder: Path | None = attrs.field(default=None, eq=False, repr=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self._folder is None:
            object.__setattr__(self, "commit", _resolve(self.url, self.commit))

    @classmethod
    def from_path(cls, path: str | Path, *, url: str | None = None) -> Self:
        """Use a folder in place, without cloning or copying it.

        The commit is git's if the folder is the root of a git repository and its sources are those
        of the commit; else it is the name of its content.

        The ``url`` is the address to record; default: ``origin`` of a git repository with
        unchanged sources, else the folder. A folder that does not exist or is not a Lean project
        is a TraceError.
        """
        folder = Path(path).expanduser().absolute()
        if not folder.is_dir():
            raise UnknownSourceError(f"no such folder: {folder}")
        sources = content.sources_of(read_project(folder))
        head = content.commit_of(folder, sources)
        address = url or (git.origin(folder) if head else None) or str(folder)
        return cls(address, head or content.name_of(sources), folder=folder)

    @property
    def name(self) -> str:
        """``owner/repository`` of an address, or the folder's name.

        >>> LeanGitRepo("https://github.com/lean-dojo/lean4-example.git", "0" * 40).name
        'lean-dojo/lean4-example'
        """
        return name_of_url(self.url)

    @cached_property
    def path(self) -> Path:
        """Folder with the files; the first use clones and checks out into ``raid/repos``.

        Raises:
            TraceError: If that fails.
        """
        if self._folder is not None:
            return self._folder
        if file := local_file(self.url):
            return project_of_file(file).root
        folder = local_folder(self.url)
        if folder is not None and content.is_content(self.commit):
            return folder
        return git.checkout(self.url, self.commit, near=folder)

    @cached_property
    def project(self) -> LakeProject:
        """Its toolchain, libraries and dependencies; if it is not a Lean project: a TraceError."""
        file = None if self._folder is not None else local_file(self.url)
        return read_project(self.path) if file is None else project_of_file(file)

    @property
    def lean_version(self) -> str:
        """The Lean version that the project asks for, for example ``v4.28.0``; may be empty."""
        return self.project.lean_version

    def __str__(self) -> str:
        return f"{git.without_password(self.url)}@{self.commit[:12]}"
