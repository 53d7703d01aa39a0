from .callbacks import (
    Callbacks as Callbacks,
    callbacks_setting as callbacks_setting,
    resolve_callbacks as resolve_callbacks,
)
from .curriculum import (
    ByPosition as ByPosition,
    CurriculumStep as CurriculumStep,
    CurriculumTrainer as CurriculumTrainer,
    Fitting as Fitting,
)
from .data import (
    CHUNK_SIZE as CHUNK_SIZE,
    PLACE_COLUMNS as PLACE_COLUMNS,
    SPLITS as SPLITS,
    DatabaseSource as DatabaseSource,
    DataSource as DataSource,
    SplitDataset as SplitDataset,
    Stage as Stage,
    checked_repositories as checked_repositories,
    chunks as chunks,
    formatted_rows as formatted_rows,
    is_in_share as is_in_share,
    place_of as place_of,
    repository_name as repository_name,
    split_file as split_file,
)
from .devices import (
    PROCESS_TIMEOUT as PROCESS_TIMEOUT,
    Device as Device,
    choose_device as choose_device,
    cpu_has_bf16 as cpu_has_bf16,
    sharding as sharding,
)
from .hub import (
    check_model_name as check_model_name,
    fetch as fetch,
    fetch_tokenizer as fetch_tokenizer,
    has_tokenizer as has_tokenizer,
    require_model as require_model,
    resolve_model as resolve_model,
)
from .hub_set import HubBenchmark as HubBenchmark
from .length_groups import GroupingTrainer as GroupingTrainer, LengthGroups as LengthGroups
from .loop import Loop as Loop
from .model_card import write_model_card as write_model_card
from .reporting import (
    NOTHING_TO_LEARN as NOTHING_TO_LEARN,
    PICTURE_FILE as PICTURE_FILE,
    CurriculumProgress as CurriculumProgress,
    TooLong as TooLong,
    bars_on_terminals_only as bars_on_terminals_only,
    errors_only as errors_only,
    nothing_fits as nothing_fits,
    say as say,
    without_their_deprecations as without_their_deprecations,
)
from .run_folder import (
    FinishedStep as FinishedStep,
    RunFolder as RunFolder,
    RunState as RunState,
    check_same_run as check_same_run,
    check_same_trainer as check_same_trainer,
    run_lock as run_lock,
    trained_settings as trained_settings,
)
from .settings import (
    ARGUMENTS as ARGUMENTS,
    FIXED_ARGUMENTS as FIXED_ARGUMENTS,
    LORA as LORA,
    check_trainer_args as check_trainer_args,
    check_values as check_values,
    default_settings as default_settings,
    lora_of as lora_of,
    opened as opened,
    plain_settings as plain_settings,
    to_json_value as to_json_value,
    under_new_names as under_new_names,
)
from .statements import (
    STATEMENT_COLUMNS as STATEMENT_COLUMNS,
    Statements as Statements,
    StatementSource as StatementSource,
    TrainsOnStatements as TrainsOnStatements,
    statements_of as statements_of,
)
from .transformers_callbacks import NoFinalCheckpoint as NoFinalCheckpoint
from .trl_version import knows_trl as knows_trl, require_known_trl as require_known_trl
