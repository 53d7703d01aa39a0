from .long_commands import long_command as long_command
from .output import (
    emit_json as emit_json,
    json_option as json_option,
    note as note,
    paragraph as paragraph,
    table as table,
)
from .parameters import (
    ANY_FILE as ANY_FILE,
    EXISTING_FILE as EXISTING_FILE,
    EXISTING_FOLDER as EXISTING_FOLDER,
    FOLDER as FOLDER,
    NEW_FOLDER as NEW_FOLDER,
    NUMBER as NUMBER,
    argument as argument,
    complete_reward as complete_reward,
    engine_option as engine_option,
    group as group,
    option as option,
    options as options,
    shared as shared,
    with_options as with_options,
)
from .plugins_manage import timeout_option as timeout_option
from .program import COMMANDS as COMMANDS, cli as cli, main as main
from .provers import ProverChoice as ProverChoice
