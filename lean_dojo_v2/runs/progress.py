"""The latest progress message of this process, which a long command prints when it is silent."""

_message = ""


def report_progress(progress: str) -> None:
    """Record the progress of the work, such as ``12 of 240 files``; nothing is printed."""
    global _message  # noqa: PLW0603
    _message = progress


def latest_progress() -> str:
    """Return the last recorded progress."""
    return _message
