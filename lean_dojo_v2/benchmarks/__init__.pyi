from .attempts import RUN_FILE as RUN_FILE, Attempt as Attempt, AttemptFolder as AttemptFolder
from .database import (
    HeldOutBenchmark as HeldOutBenchmark,
    SampleBenchmark as SampleBenchmark,
    SorryBenchmark as SorryBenchmark,
    problems_of as problems_of,
    sorry_theorems as sorry_theorems,
    training_theorems as training_theorems,
)
from .jsonl import (
    ExaminedStatements as ExaminedStatements,
    JsonlBenchmark as JsonlBenchmark,
    Statement as Statement,
    benchmark_named as benchmark_named,
    columns_of as columns_of,
    distinctly_named as distinctly_named,
    examine_statements as examine_statements,
    normalised_statement as normalised_statement,
    problems_or_raise as problems_or_raise,
    split_theorem as split_theorem,
    statement_from as statement_from,
)
from .rows import (
    RowProblem as RowProblem,
    problem_of as problem_of,
    problem_of_row as problem_of_row,
    project_of as project_of,
)
from .runner import (
    SERVER_TIMEOUT as SERVER_TIMEOUT,
    Bench as Bench,
    engines_for as engines_for,
    engines_kept as engines_kept,
    local_server as local_server,
    start_together as start_together,
)
from .statistics import Comparison as Comparison, Share as Share
from .summary import (
    AUTOMATION as AUTOMATION,
    CURVE as CURVE,
    PROVER as PROVER,
    Compared as Compared,
    Report as Report,
    Summary as Summary,
    draw_summary as draw_summary,
    proved_by as proved_by,
    read_report as read_report,
)
