"""The base class of every error that a user may see, and the errors of the plugin contract.

A message says *what* went wrong, *where* (file, line, key, plugin) and *what to do*.
The command line prints only the message and exits with the class's ``exit_code``:
1 for work that failed, 2 for a request that could not be understood.
"""

from pathlib import Path
from typing import ClassVar


class LeanDojoError(Exception):
    """Base class of all errors that this project raises on purpose."""

    exit_code: ClassVar[int] = 1


class UsageError(LeanDojoError):
    """The request itself is wrong: an unknown name, a bad value, a missing file."""

    exit_code = 2


class ConfigError(UsageError):
    """A configuration file or ``--set`` value has an unknown key or a wrong type."""


class PluginError(LeanDojoError):
    """Something about a plugin is wrong; the message names the plugin."""


class InvalidSpecError(PluginError, ValueError):
    """A descriptor has a bad name, target or field."""


class UnknownNameError(UsageError, PluginError, KeyError):
    """No installed plugin offers this name; the message suggests similar ones."""

    __str__ = Exception.__str__  # the message itself; KeyError would print its repr


class AmbiguousNameError(UsageError, PluginError):
    """Several distributions offer this name; the message lists ``distribution:name`` for each."""


class PluginLoadError(PluginError):
    """A descriptor's target cannot be imported, or does not fit its kind."""


class StrictPluginsError(PluginError):
    """``LEAN_DOJO_STRICT_PLUGINS=1`` is set and at least one plugin failed."""


class PluginDeprecationWarning(FutureWarning):
    """A plugin uses something that a later version will not have; the message names the plugin."""


class DataError(LeanDojoError):
    """A data file cannot be read as the expected kind of data.

    Args:
        message: What is wrong and what to do.
        path: The file, if there is one.
        place: Where in it, for example ``"line 12"`` or ``"repositories[0].start"``.
    """

    exit_code = 2

    def __init__(self, message: str, *, path: Path | str | None = None, place: str = "") -> None:
        self.path = None if path is None else Path(path)
        self.place = place
        where = ", ".join(str(part) for part in (path, place) if part)
        super().__init__(f"{where}: {message}" if where else message)
