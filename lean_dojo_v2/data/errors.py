"""Errors of reading a database, with their places."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from lean_dojo_v2.errors import DatabaseError


class NotInDatabaseError(DatabaseError, ValueError):
    """The database does not contain the requested repository or theorem."""


def missing(key: tuple[str, str], path: Path | None) -> NotInDatabaseError:
    """Make the error for a missing repository."""
    return NotInDatabaseError(f"no repository {key[0]} at commit {key[1]}", path=path)


class MalformedError(ValueError):
    """A JSON value has the wrong type for its key.

    Raised while decoding and turned into a :class:`DatabaseError` where the file is known. Its
    place is the key path inside the value that was decoded, for example ``"start"``.
    """

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.place = place

    def inside(self, outer: str) -> "MalformedError":
        """Return the same error, located from the enclosing value."""
        joint = "." if self.place and not self.place.startswith("[") else ""
        return MalformedError(self.message, f"{outer}{joint}{self.place}")


@contextmanager
def located(path: Path | str | None, place: str = "") -> Iterator[None]:
    """Turn decoding errors into a :class:`DatabaseError` that names file and place."""
    try:
        yield
    except orjson.JSONDecodeError as error:
        raise DatabaseError(f"a damaged record: {error}", path=path, place=place) from error
    except MalformedError as error:
        inner = error.inside(place) if place else error
        raise DatabaseError(inner.message, path=path, place=inner.place) from error
