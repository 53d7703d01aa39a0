from .atomic import (
    atomic_write_bytes as atomic_write_bytes,
    atomic_write_text as atomic_write_text,
    atomic_writer as atomic_writer,
    flush as flush,
    require_writable as require_writable,
)
from .json_files import (
    append_lines as append_lines,
    parse_json as parse_json,
    read_json as read_json,
    read_lines as read_lines,
    read_records as read_records,
    write_lines as write_lines,
)
from .paths import (
    CACHE_VARIABLE as CACHE_VARIABLE,
    COPY_FILE as COPY_FILE,
    METADATA_FILE as METADATA_FILE,
    RAID_VARIABLE as RAID_VARIABLE,
    STATE_FILE as STATE_FILE,
    cache_dir as cache_dir,
    checkpoint_dir as checkpoint_dir,
    copy_metadata as copy_metadata,
    data_dir as data_dir,
    log_dir as log_dir,
    merged_data_dir as merged_data_dir,
    raid_dir as raid_dir,
    read_named as read_named,
    repos_dir as repos_dir,
    safe_name as safe_name,
    user_cache as user_cache,
)
