from .project.lakefile import project_of as project_of
from .project.repository import LeanGitRepo as LeanGitRepo, local_file as local_file
from .reading.records import TracedFile as TracedFile
from .tracer import (
    ELSEWHERE_KEY as ELSEWHERE_KEY,
    ERRORS_KEY as ERRORS_KEY,
    LEFT_OUT_KEY as LEFT_OUT_KEY,
    OUTSIDE_KEY as OUTSIDE_KEY,
    STEPS_KEY as STEPS_KEY,
    FileDone as FileDone,
    trace_repository as trace_repository,
)
