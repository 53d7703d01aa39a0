from . import fields as fields
from .fields import about as about, setting as setting
from .schema import json_schema as json_schema
from .structuring import (
    class_in as class_in,
    record_of as record_of,
    structure as structure,
    with_inner as with_inner,
)
from .values import (
    Settings as Settings,
    YamlTextError as YamlTextError,
    construct as construct,
    parse_assignment as parse_assignment,
    parse_yaml as parse_yaml,
    read_settings as read_settings,
    resolve as resolve,
    write_yaml as write_yaml,
)
