"""Whether the installed TRL is one whose inside we know.

Some of what we do with TRL has no public way: it overrides private methods. What they are stands in
a module ``trl_internals`` of each trainer, with a hash of their source. On a newer TRL none of it
is used: trainers run the plain way, which is slower.
"""

import logging
from functools import cache
from importlib import metadata

from lean_dojo_core.errors import ConfigError

BEFORE = "1.17"
"""The first version of TRL that was not tested; the upper bound in ``pyproject.toml``."""
_log = logging.getLogger(__name__)


def installed_trl() -> str:
    """Return the installed version of TRL."""
    return metadata.version("trl")


def knows_trl() -> bool:
    """Whether TRL's private methods are those that were tested; if not, a message says so, once."""
    return _knows(installed_trl())


@cache
def _knows(version: str) -> bool:
    from packaging.version import Version

    if Version(version).release < Version(BEFORE).release:
        return True
    _log.warning(
        "TRL %s is newer than the versions that were tested (trl<%s). Training runs without what "
        "depends on TRL's private methods, which is slower", version, BEFORE,
    )  # fmt: skip
    return False


def require_known_trl(setting: str) -> None:
    """Refuse a setting that depends on TRL's private methods, if TRL is newer than tested."""
    if not knows_trl():
        raise ConfigError(
            f"{setting} depends on private methods of TRL, which TRL {installed_trl()} may have "
            f"changed; install 'trl<{BEFORE}'"
        )
