"""A traced repository: its theorems, its premises, and recorded proofs."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, get_args

import attrs

from lean_dojo_core.records import PremiseFile, Theorem
from lean_dojo_v2.data import codec
from lean_dojo_v2.data.errors import MalformedError, NotInDatabaseError
from lean_dojo_v2.data.ratings import difficulty, rated

TheoremList: TypeAlias = Literal[
    "proven_theorems", "sorry_theorems_proved", "sorry_theorems_unproved", "other_proofs"
]
THEOREM_LISTS: tuple[TheoremList, ...] = get_args(TheoremList)
LIST_FIELDS = (*THEOREM_LISTS, "premise_files", "files_traced")
"""Its lists."""
RepositoryKey: TypeAlias = tuple[str, str]
"""``(url, commit)``."""

HEADER_FIELDS = ("url", "name", "commit", "lean_version", "lean_dojo_version")
"""Its texts, as they are stored."""
COUNTS = (
    "total_theorems", "num_proven_theorems", "num_sorry_theorems", "num_sorry_theorems_proved",
    "num_sorry_theorems_unproved", "num_premise_files", "num_premises", "num_files_traced",
)  # fmt: skip

LEAN_DOJO_VERSION = "4.20.0"
"""The data format's version, as LeanDojo-v2 1.x wrote it."""
_SCP_ADDRESS = re.compile(r"[\w.-]+@[\w.-]+:(?!//)")


@attrs.define(eq=False, slots=False, repr=False)
class Repository:
    """A traced repository at one commit. Two are equal if their url and commit are.

    Attributes:
        url: Its address, or a local path.
        commit: The commit's hash.
        name: ``owner/repo``; follows from the url if not given.
        lean_version: For example ``"v4.28.0"``.
        lean_dojo_version: Version of the data format.
        metadata: Anything; ``date_processed`` (ISO date) decides which record of a theorem is
            exported if several commits have it.
        proven_theorems: Theorems that came with a proof.
        sorry_theorems_proved: Theorems that were ``sorry`` and have been proven since.
        sorry_theorems_unproved: Theorems that are still ``sorry``.
        premise_files: Files of the corpus, with their premises.
        files_traced: Paths of the files that were traced.
        pr_url: The pull request that offers the proofs found, if there is one.
        other_proofs: Proofs outside theorems: in a ``def``, an ``instance``, an ``example``.
            Trainers learn from them; they are neither problems nor counted as theorems.
    """

    url: str
    commit: str
    name: str = attrs.field(default=attrs.Factory(lambda self: name_of_url(self.url), True))
    lean_version: str = ""
    lean_dojo_version: str = LEAN_DOJO_VERSION
    metadata: dict[str, Any] = attrs.field(factory=dict)
    proven_theorems: list[Theorem] = attrs.field(factory=list)
    sorry_theorems_proved: list[Theorem] = attrs.field(factory=list)
    sorry_theorems_unproved: list[Theorem] = attrs.field(factory=list)
    premise_files: list[PremiseFile] = attrs.field(factory=list)
    files_traced: list[str] = attrs.field(factory=list)
    pr_url: str | None = None
    other_proofs: list[Theorem] = attrs.field(factory=list)

    @property
    def key(self) -> RepositoryKey:
        """``(url, commit)``, which identifies a repository."""
        return (self.url, self.commit)

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Repository) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<repository {self.url} at {self.commit[:12]}: {self.total_theorems} theorems>"

    def __str__(self) -> str:
        """Return a name that is safe as a folder's and differs for each commit."""
        readable = re.sub(r"[^A-Za-z0-9._-]+", "_", f"{self.name}-{self.commit[:12]}").strip("._-")
        digest = sha256("\n".join(self.key).encode("utf-8", "surrogatepass")).hexdigest()
        return f"{readable[:100] or 'repository'}-{digest[:8]}"

    @property
    def date_processed(self) -> datetime:
        """When it was traced; the beginning of time if unknown. Naive dates count as UTC.

        A malformed date is a ``MalformedError``.
        """
        return date_from_metadata(self.metadata)

    @property
    def total_theorems(self) -> int:
        """Number of theorems, proven or not."""
        with self.snapshot():
            return self.num_proven_theorems + self.num_sorry_theorems

    @property
    def num_proven_theorems(self) -> int:
        """Number of theorems that came with a proof."""
        return self._count("proven_theorems")

    @property
    def num_sorry_theorems(self) -> int:
        """Number of theorems that are or were ``sorry``."""
        with self.snapshot():
            return self.num_sorry_theorems_proved + self.num_sorry_theorems_unproved

    @property
    def num_sorry_theorems_proved(self) -> int:
        """Number of ``sorry`` theorems proven since."""
        return self._count("sorry_theorems_proved")

    @property
    def num_sorry_theorems_unproved(self) -> int:
        """Number of theorems that are still ``sorry``."""
        return self._count("sorry_theorems_unproved")

    @property
    def num_premise_files(self) -> int:
        """Number of files in its corpus."""
        return self._count("premise_files")

    @property
    def num_premises(self) -> int:
        """Number of premises in its corpus."""
        return sum(len(file.premises) for file in self.iter_list("premise_files"))

    @property
    def num_files_traced(self) -> int:
        """Number of files that were traced."""
        return self._count("files_traced")

    def _count(self, collection: str) -> int:
        return len(getattr(self, collection))

    def difficulty_counts(self) -> Mapping[float | None, int]:
        """Return the number of theorems of each difficulty."""
        return Counter(difficulty(theorem) for theorem in self.iter_theorems())

    @property
    def get_all_theorems(self) -> list[Theorem]:
        """All theorems in one list (a property, as in LeanDojo-v2 1.x).

        :meth:`iter_theorems` yields the same one by one.
        """
        with self.snapshot():
            return list(self.iter_theorems())

    def iter_theorems(self) -> Iterator[Theorem]:
        """Return the proven theorems, the proven and unproved ``sorry`` ones, and other proofs.

        With SQLite they are read lazily, so a theorem whose proof is recorded meanwhile may be
        missed; :attr:`get_all_theorems` reads a consistent snapshot.
        """
        return chain.from_iterable(map(self.iter_list, THEOREM_LISTS))

    def iter_list(self, name: str, path: str | None = None) -> Iterator[Any]:
        """Yield the items of one of its lists, if ``path`` is given only those of that file."""
        for item in getattr(self, name):
            if path in {None, codec.path_of(item)}:
                yield item

    def snapshot(self) -> AbstractContextManager[object]:
        """Let everything read inside the block be of one moment, despite concurrent writers."""
        return nullcontext()

    def in_memory(self) -> "Repository":
        """Return a copy in memory that shares no list, with its theorems rated."""
        fields = [field.name for field in attrs.fields(Repository)]
        copied = {name: getattr(self, name) for name in fields if name not in LIST_FIELDS}
        copied["metadata"] = dict(self.metadata)
        with self.snapshot():
            copied |= {name: list(self.iter_list(name)) for name in LIST_FIELDS}
        for name in THEOREM_LISTS:
            copied[name] = list(map(rated, copied[name]))
        return Repository(**copied)

    def get_theorem(self, full_name: str, file_path: str | Path) -> Theorem | None:
        """Find a theorem by name and file; None if there is none."""
        theorems = chain(*(self.iter_list(name, str(file_path)) for name in THEOREM_LISTS))
        return next((theorem for theorem in theorems if theorem.full_name == full_name), None)

    def get_premise_file(self, path: str | Path) -> PremiseFile | None:
        """Find a file of the corpus by its path; None if there is none."""
        return next(self.iter_list("premise_files", str(path)), None)

    def update_theorem(self, theorem: Theorem) -> None:
        """Replace the record of a theorem, in its list; a ``NotInDatabaseError`` if it has none."""
        found, index = self._locate(theorem, THEOREM_LISTS)
        getattr(self, found)[index] = rated(theorem)

    def change_sorry_to_proven(self, theorem: Theorem, log_file: str | Path | None = None) -> None:
        """Record that an unproved ``sorry`` theorem is proven; its record holds the proof.

        This changes the object; :meth:`DynamicDatabase.update_repository` stores it, and
        :meth:`DynamicDatabase.record_proof` does both at once. A line about it is appended to the
        ``log_file``, if given. Any other theorem is a ``NotInDatabaseError``.
        """
        _, index = self._locate(theorem, ("sorry_theorems_unproved",))
        self.sorry_theorems_unproved.pop(index)
        self.sorry_theorems_proved.append(rated(theorem))
        if log_file is not None:
            log_proof(log_file, theorem)

    def _locate(self, theorem: Theorem, lists: tuple[TheoremList, ...]) -> tuple[TheoremList, int]:
        """Find a theorem by its identity, else by file and name alone."""
        for key in (attrgetter("identity"), attrgetter("full_name", "file_path")):
            wanted = key(theorem)
            for name in lists:
                for index, candidate in enumerate(getattr(self, name)):
                    if key(candidate) == wanted:
                        return name, index
        raise not_found(theorem, self, lists)

    def stored_lists(self) -> list[str]:
        """Return the lists of ``dynamic_database.json``; 1.x has no other proofs."""
        return [name for name in LIST_FIELDS if name != "other_proofs" or self._count(name)]

    def header_to_dict(self) -> codec.Json:
        """Everything but theorems, premises and files, in the keys of ``dynamic_database.json``."""
        data: codec.Json = {name: getattr(self, name) for name in HEADER_FIELDS}
        data["metadata"] = metadata_to_json(self.metadata)
        return data | {name: getattr(self, name) for name in (*COUNTS, "pr_url")}

    def to_dict(self) -> codec.Json:
        """Return the repository in the schema of ``dynamic_database.json``."""
        data = self.header_to_dict()
        with self.snapshot():
            for name in self.stored_lists():
                data[name] = [codec.item_to_json(item) for item in self.iter_list(name)]
        data["pr_url"] = data.pop("pr_url")  # last, as 1.x writes it
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read a repository of a ``dynamic_database.json``; its counts follow from the lists.

        A ``MalformedError`` (a ValueError) names the key path of what is wrong.
        """
        codec.require_object(data)
        header: dict[str, Any] = {
            key: codec.field(data, key, codec.text_from_json)
            for key in HEADER_FIELDS
            if key in {"url", "commit"} or data.get(key) is not None
        }
        metadata = codec.field(data, "metadata", codec.require_object, {})
        date_from_metadata(metadata)
        read = partial(codec.read_item, url=header["url"], commit=header["commit"])
        lists: dict[str, Any] = {
            name: list(codec.field(data, name, codec.items_from_json(partial(read, name)), ()))
            for name in LIST_FIELDS
        }
        pr_url = codec.field(data, "pr_url", codec.text_from_json, None)
        return cls(**header, **lists, metadata=dict(metadata), pr_url=pr_url)


def is_address(url: str) -> bool:
    """Whether a text is an address, not a path.

    >>> is_address("git@github.com:owner/name.git"), is_address("/home/me/name")
    (True, False)
    """
    return "://" in url or _SCP_ADDRESS.match(url) is not None


def name_of_url(url: str) -> str:
    """Return ``owner/repo`` for a repository's address, or the last folder of a local path.

    >>> name_of_url("https://github.com/durant42040/lean4-example.git")
    'durant42040/lean4-example'
    """
    parts = [part for part in re.split(r"[/\\:]+", url.removesuffix(".git")) if part]
    is_remote = is_address(url) and not url.startswith("file:")
    return "/".join(parts[-2:] if is_remote else parts[-1:]) or url


def is_meant(url: str, commit: str, text: str) -> bool:
    """Whether ``owner/name[@commit]``, or an address in place of the name, denotes a repository.

    A prefix of the commit is enough; case does not matter.

    >>> is_meant("https://github.com/owner/name.git", "b14fef", "Owner/Name@b14")
    True
    >>> is_meant("https://github.com/owner/name.git", "b14fef", "https://github.com/owner/name")
    True
    """
    place, _, start = text.partition("@") if not text.startswith("git@") else (text, "", "")
    known = {_bare(url), name_of_url(url).lower()}
    return _bare(place) in known and commit.startswith(start)


def _bare(address: str) -> str:
    return address.rstrip("/").removesuffix(".git").lower()


def date_from_metadata(metadata: Mapping[str, Any]) -> datetime:
    """Read ``date_processed``; the beginning of time if missing, an error if not an ISO date."""
    value = metadata.get("date_processed")
    if value is None or value == "":
        return datetime.min.replace(tzinfo=UTC)
    try:
        date = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise MalformedError(f"not an ISO date: {value!r}", "metadata.date_processed") from error
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def metadata_to_json(metadata: Mapping[str, Any]) -> codec.Json:
    """Return metadata with its dates as ISO strings."""
    return {
        key: value.isoformat() if isinstance(value, datetime) else value
        for key, value in metadata.items()
    }


def log_proof(log_file: str | Path, theorem: Theorem) -> None:
    """Append a line about a proof that was found."""
    path = Path(log_file)
    path.parent.mkdir(parents=True, exist_ok=True)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    with path.open("a", encoding="utf-8") as stream:
        stream.write(
            f"{when} {theorem.url} {theorem.commit}: {theorem.full_name} "
            f"({theorem.file_path}) changed from sorry to proven\n"
        )


def keep_proofs(proved: Iterable[Theorem], new: Repository) -> tuple[list[Theorem], list[Theorem]]:
    """Return the proved and the unproved ``sorry`` theorems of an updated repository.

    A theorem among ``proved``, those recorded so far, that is unproved in ``new`` stays proved.
    """
    proofs = {theorem.identity: theorem for theorem in proved}
    newer = list(new.iter_list("sorry_theorems_proved"))
    known = {theorem.identity for theorem in newer}
    unproved = list(new.iter_list("sorry_theorems_unproved"))
    kept = [one.identity for one in unproved if one.identity in proofs.keys() - known]
    return (
        [*newer, *map(proofs.__getitem__, kept)],
        [one for one in unproved if one.identity not in proofs],
    )


def not_found(
    theorem: Theorem, repository: Repository, lists: tuple[TheoremList, ...]
) -> NotInDatabaseError:
    """Make the error for a theorem missing in a repository."""
    among = "" if len(lists) == len(THEOREM_LISTS) else f" among its {lists[0]}"
    return NotInDatabaseError(
        f"{repository.name} at {repository.commit[:12]} has no theorem {theorem.full_name} "
        f"of {theorem.file_path}{among}"
    )
