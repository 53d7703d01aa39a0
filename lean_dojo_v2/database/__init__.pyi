from .database import (
    DynamicDatabase as DynamicDatabase,
    NotInDatabaseError as NotInDatabaseError,
    Repository as Repository,
    difficulty as difficulty,
)
from .export.read import read_corpus as read_corpus, read_theorems as read_theorems
from .export.splits import (
    HELD_OUT_SPLITS as HELD_OUT_SPLITS,
    name_across_commits as name_across_commits,
    split_of as split_of,
    unit_hash as unit_hash,
)
from .export.tables import export_tables as export_tables
from .export.write import export_merged_data as export_merged_data, write_theorems as write_theorems
