"""Traced data in files: the database, splits, curriculum and exports."""

import lazy_loader

from lean_dojo_v2.data import NotInDatabaseError, Repository, difficulty

__getattr__, _dir, _own = lazy_loader.attach_stub(__name__, __file__)
__all__ = [*_own, "NotInDatabaseError", "Repository", "difficulty"]  # noqa: PLE0604


def __dir__() -> list[str]:
    return __all__
