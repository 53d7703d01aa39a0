"""The settings of a plugin object: the parameters of its constructor.

The command line, ``lean-dojo show``, YAML files and the documentation all read the same list, so a
parameter is written down once, where it is used.
"""

import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Self

import attrs

from lean_dojo_core.discovery import import_target


@attrs.frozen(kw_only=True)
class Setting:
    """One constructor parameter.

    Attributes:
        name: Its name, which is the key in a YAML file.
        annotation: Its type; ``typing.Any`` if the annotation is missing or cannot be resolved.
        type_text: Its type as text, for people.
        resolved: Whether ``annotation`` is what the author wrote, or :meth:`opened` gives that.
        default: Its default value; ``attrs.NOTHING`` if it is required.
        help: Help text; empty if the author gave none.
    """

    name: str
    annotation: Any
    type_text: str
    resolved: bool
    default: Any = attrs.NOTHING
    help: str = ""
    _open: Callable[[], Any] | None = attrs.field(default=None, repr=False, eq=False)

    def opened(self) -> Self:
        """Return it with its type, importing what the metadata ``types`` of its field names.

        A field whose type is slow to import, and imported under ``TYPE_CHECKING`` only, says where
        it is: ``metadata={"types": {"LoraConfig": "peft:LoraConfig"}}``. Until it is opened, its
        ``annotation`` is ``Any``.
        """
        return (
            self if self._open is None else attrs.evolve(self, annotation=self._open(), open=None)
        )

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is attrs.NOTHING

    @property
    def computed(self) -> bool:
        """Whether its default depends on other settings."""
        return isinstance(self.default, attrs.Factory)  # type: ignore[arg-type]

    @property
    def shown(self) -> str:
        """Its type and default, for people: ``"float = 0.5"``, ``"str (required)"``."""
        if self.required:
            return f"{self.type_text} (required)"
        return f"{self.type_text} = {'computed' if self.computed else repr(self.default)}"


def settings_of(target: Any) -> tuple[Setting, ...]:
    """List the settings of a class, in the order of its constructor.

    For an attrs class these are its fields, with the help of ``metadata["help"]``; for any other
    class the parameters of ``__init__``. Where there is no help in the metadata, the docstring's
    ``Args:`` or ``Attributes:`` section gives it. A function or an instance has no settings.

    >>> import attrs
    >>> @attrs.define
    ... class Bonus:
    ...     weight: float = attrs.field(default=0.5, metadata={"help": "Size of the bonus."})
    >>> [(s.name, s.type_text, s.default, s.help) for s in settings_of(Bonus)]
    [('weight', 'float', 0.5, 'Size of the bonus.')]
    """
    if not inspect.isclass(target):
        return ()
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):  # a class written in C
        return ()
    documented = _documented(target)
    own = {one.alias or one.name: one for one in attrs.fields(target)} if attrs.has(target) else {}
    found = []
    for parameter in parameters:
        if parameter.kind in {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
            continue
        name, field = parameter.name, own.get(parameter.name)
        if field is None:
            written, default, text = parameter.annotation, parameter.default, ""
            default = attrs.NOTHING if default is inspect.Parameter.empty else default
        else:  # attrs annotates __init__ with the converter's type
            name, written, default = field.name, field.type, field.default
            text = str(field.metadata.get("help", ""))
            if isinstance(default, attrs.Factory) and not default.takes_self:  # type: ignore[arg-type]
                default = default.factory()
        missing = written is None or written is inspect.Parameter.empty
        types = {} if field is None else dict(field.metadata.get("types", {}))
        if later := bool(types) and isinstance(written, str):
            hint, resolved = Any, True
        else:
            hint, resolved = (Any, False) if missing else _resolve(written, target, name)
        text_of = hint if resolved and not later else written
        found.append(
            Setting(
                name=parameter.name,
                annotation=hint,
                type_text="any" if missing else type_text(text_of),
                resolved=resolved,
                default=default,
                help=text or documented.get(name, ""),
                open=partial(_opened, written, target, name, types) if later else None,
            )
        )
    return tuple(found)


def type_text(annotation: Any) -> str:
    """Write a type without the names of modules, for example ``"dict[str, float] | None"``."""
    written = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"(?<![\w'\"])(?:[^\W\d]\w*\.)+(?=\w)", "", written)


def _opened(written: str, target: type, name: str, types: Mapping[str, str]) -> Any:
    return _resolve(written, target, name, {one: import_target(types[one]) for one in types})[0]


def _resolve(
    written: Any, target: type, name: str, more: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Any, bool]:
    """Resolve the annotation of ``name`` by the names that are visible where it was written."""
    if not isinstance(written, str):
        return written, True
    places = [base for base in target.__mro__ if name in inspect.get_annotations(base)]
    places += [base for base in target.__mro__ if "__init__" in vars(base)]
    module = sys.modules.get(places[0].__module__)
    holder = types.SimpleNamespace(__annotations__={"it": written})
    visible = {**(vars(module) if module else {}), **more}
    try:
        return typing.get_type_hints(holder, globalns=visible)["it"], True
    except (NameError, AttributeError, TypeError, SyntaxError):
        # A name that is imported under TYPE_CHECKING only; `lean-dojo plugins check` reports it.
        return Any, False


def _documented(target: type) -> Mapping[str, str]:
    """Read the ``Args:`` or ``Attributes:`` section of Google-style docstrings."""
    found: dict[str, str] = {}
    init = inspect.getdoc(target.__init__) if "__init__" in vars(target) else None  # type: ignore[misc]
    for text in (inspect.getdoc(target), init):
        section = re.search(
            r"^(?:Args|Attributes):\n((?:[ \t]+.*\n?|\n)+)", text or "", re.MULTILINE
        )
        if section is None:
            continue
        indent = section[1][: -len(section[1].lstrip(" \t"))]
        item = rf"^{indent}(\w+)(?: \([^)]*\))?:[ \t]*((?:.*\n?)(?:{indent}[ \t]+.*\n?)*)"
        for match in re.finditer(item, section[1], re.MULTILINE):
            found.setdefault(match[1], " ".join(match[2].split()))
    return found
