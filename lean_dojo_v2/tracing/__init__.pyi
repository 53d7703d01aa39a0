from .project.repository import (
    LeanGitRepo as LeanGitRepo,
)
from .tracer import (
    FileDone as FileDone,
)
from .tracer import (
    trace_repository as trace_repository,
)
