from .codec import (
    dump_item as dump_item,
    dumps as dumps,
    exported_theorem as exported_theorem,
    field as field,
    item_to_json as item_to_json,
    items_from_json as items_from_json,
    path_of as path_of,
    premise_file_from_dict as premise_file_from_dict,
    premise_file_to_dict as premise_file_to_dict,
    read_item as read_item,
    theorem_from_dict as theorem_from_dict,
)
from .errors import (
    MalformedError as MalformedError,
    NotInDatabaseError as NotInDatabaseError,
    located as located,
    missing as missing,
)
from .imports import dependencies_first as dependencies_first
from .lines import one_line as one_line
from .ratings import difficulty as difficulty, easiest_first as easiest_first, rated as rated
from .repository import (
    HEADER_FIELDS as HEADER_FIELDS,
    LIST_FIELDS as LIST_FIELDS,
    Repository as Repository,
    RepositoryKey as RepositoryKey,
    is_address as is_address,
    is_meant as is_meant,
    keep_proofs as keep_proofs,
    log_proof as log_proof,
    metadata_to_json as metadata_to_json,
    name_of_url as name_of_url,
    not_found as not_found,
)
