"""Errors of the host; those of the plugin contract are in ``lean_dojo_core.errors``."""

from lean_dojo_core.errors import DataError, LeanDojoError, UsageError


class UnreadableFileError(UsageError, DataError):
    """A file that the user named or keeps cannot be read as the expected kind of file."""


class DatabaseError(DataError):
    """A database is corrupt, locked by another process, or lacks the requested data."""


class EmptyDatasetError(DataError, ValueError):
    """Nothing is left to train on, for example because every theorem is ``sorry``."""

    exit_code = 1


class TraceError(LeanDojoError):
    """A Lean repository could not be fetched or traced."""


class TrainingError(LeanDojoError):
    """A training run cannot start or continue."""


class CheckpointError(TrainingError):
    """A checkpoint is missing, incomplete or of the wrong kind."""


class RewardError(TrainingError):
    """A reward function raised or returned something that is not one number per completion."""
