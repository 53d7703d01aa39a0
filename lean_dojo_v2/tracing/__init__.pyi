from .project.repository import LeanGitRepo as LeanGitRepo
from .tracer import (
    FileDone as FileDone,
    trace_repository as trace_repository,
)
