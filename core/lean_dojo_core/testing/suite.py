"""What the suites share: the object under test, and running without pytest."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, ClassVar

import attrs

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_core.registry import Entry, Registry


@attrs.frozen
class Finding:
    """The outcome of one check.

    Attributes:
        subject: What was checked, for example ``"reward-function shortness"``.
        check: The check's name.
        problem: What is wrong and what to change; ``None`` if it passed.
    """

    subject: str
    check: str
    problem: str | None = None


class Suite:
    """A class of tests over one object; each ``test_`` method takes no arguments.

    Attributes:
        name: Short or qualified name under which the object is registered.
        without_instance: Tests that need no object, so that they run where nobody can make one.
    """

    name: ClassVar[str] = ""
    without_instance: ClassVar[tuple[str, ...]] = ()
    _registry: ClassVar[Registry[Any, Any]]
    _made: ClassVar[dict[type, Any]] = {}

    @property
    def entry(self) -> Entry[Any, Any]:
        """The registered entry."""
        assert self.name, f"set `name` in {type(self).__name__} to the name you registered"
        return self._registry[self.name]

    def make(self) -> Any:
        """Make the object; override it to give options or an object that is not registered."""
        return self.entry.create()

    @property
    def subject(self) -> Any:
        """The object under test, made once for all tests of the class."""
        made = Suite._made
        if type(self) not in made:
            made[type(self)] = self.make()
        return made[type(self)]

    @classmethod
    def teardown_class(cls) -> None:
        """Close what was made, if it can be closed."""
        close(Suite._made.pop(cls, None))


def close(subject: object) -> None:
    """Call the ``close`` method of an object that has one."""
    method = getattr(subject, "close", None)
    if callable(method) and not inspect.isclass(subject):
        method()


def tests_of(suite: type[Suite]) -> Iterator[str]:
    """List the names of a suite's tests, in the order of the file."""
    seen: set[str] = set()
    for base in reversed(suite.__mro__):
        for name in vars(base):
            if name.startswith("test_") and name not in seen:
                seen.add(name)
                yield name


def run_suite(suite: type[Suite], *, instance: bool = True) -> list[Finding]:
    """Run a suite without pytest.

    Args:
        suite: The suite with its ``name`` (or ``make``) set.
        instance: Whether an object can be made; if not, only the tests that need none are run.

    Returns:
        One finding per check.
    """
    kind = getattr(suite, "_registry", None)
    subject = f"{kind.kind} {suite.name}" if kind is not None else suite.name
    findings = []
    try:
        if instance and (problem := _problem(suite, "subject")):
            return [Finding(subject, "can_be_made", problem)]
        for name in tests_of(suite):
            if instance or name in suite.without_instance:
                problem = _problem(suite, name)
                findings.append(Finding(subject, name.removeprefix("test_"), problem))
    finally:
        suite.teardown_class()
    return findings


def _problem(suite: type[Suite], name: str) -> str | None:
    try:
        found = getattr(suite(), name)
        if name.startswith("test_"):
            found()
    except (AssertionError, LeanDojoError) as error:
        return str(error) or f"the check {name} failed without a message"
    except Exception as error:  # a plugin's code: anything may come out of it
        return f"{type(error).__name__}: {error}"
    return None


def docstring_problem(target: Any) -> str | None:
    """Say what is wrong with an object's docstring, or ``None``."""
    described = target if inspect.isclass(target) or inspect.isroutine(target) else type(target)
    own = vars(described).get("__doc__") if inspect.isclass(described) else described.__doc__
    # attrs and dataclasses write a signature where there is no docstring.
    if own and own.strip() and not own.startswith(f"{described.__name__}("):
        return None
    return (
        f"{described.__module__}.{described.__qualname__} has no docstring; say in it what it "
        "does, its settings, and where the idea comes from: `lean-dojo show` prints it"
    )
