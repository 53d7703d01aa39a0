"""Common code of the suites: the object under test, and running without pytest."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, NoReturn

import attrs

from lean_dojo_core.errors import LeanDojoError
from lean_dojo_core.foreign import OutOfTimeError, watched
from lean_dojo_core.protocols import Closes
from lean_dojo_core.registry import Entry, Registry
from lean_dojo_core.settings import settings_of


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
        entries: The kind's registry, in which the name is looked up.
    """

    name: ClassVar[str] = ""
    entries: ClassVar[Registry[Any, Any]]
    _made: ClassVar[dict[type, Any]] = {}

    @property
    def entry(self) -> Entry[Any, Any]:
        """The registered entry."""
        assert self.name, f"set `name` in {type(self).__name__} to the name you registered"
        return self.entries[self.name]

    @classmethod
    def can_make(cls, target: Any) -> bool:  # noqa: ARG003 - for kinds that override it
        """Whether the object can be made without the author's help."""
        return True

    def make(self) -> Any:
        """Make the object; override this to pass options or use an unregistered object."""
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


class DescribedSuite(Suite):
    """Checks of a kind that ``lean-dojo show`` describes by its docstring."""

    @property
    def described(self) -> Any:
        """The object, or its class, that must have a docstring."""
        subject = self.subject
        return subject if inspect.isclass(subject) or inspect.isroutine(subject) else type(subject)

    def test_has_a_docstring(self) -> None:
        """It has a docstring."""
        described = self.described
        own = vars(described).get("__doc__") if inspect.isclass(described) else described.__doc__
        # attrs and dataclasses write a signature where there is no docstring.
        if not own or not own.strip() or own.startswith(f"{described.__name__}("):
            raise AssertionError(
                f"{described.__module__}.{described.__qualname__} has no docstring; describe what "
                "it does, its settings, and where the idea comes from: `lean-dojo show` prints this"
            )


class ClassSuite(DescribedSuite):
    """Checks of a kind whose targets are classes, with settings in their constructors."""

    @classmethod
    def can_make(cls, target: Any) -> bool:
        """Whether it needs no settings."""
        return not any(setting.required for setting in settings_of(target))

    @property
    def target(self) -> Any:
        """The registered class."""
        return self.entry.load()

    described = target

    def test_settings_are_typed(self) -> None:
        """YAML files and ``--set`` are checked against the annotations."""
        loose = [setting.name for setting in settings_of(self.target) if not setting.resolved]
        assert not loose, (
            f"the annotations of {', '.join(loose)} are missing or cannot be resolved; annotate "
            "each setting, and import the names at module level, not under TYPE_CHECKING"
        )

    def test_settings_have_help(self) -> None:
        """``lean-dojo show`` explains every setting."""
        silent = [setting.name for setting in settings_of(self.target) if not setting.help]
        assert not silent, (
            f"the settings {', '.join(silent)} have no help; add "
            "attrs.field(metadata={'help': '…'}), or an 'Args:' section to the docstring"
        )


def close(subject: object) -> None:
    """Close an object that can be closed."""
    if isinstance(subject, Closes) and not inspect.isclass(subject):
        subject.close()


@contextmanager
def explained(what: str, advice: str) -> Iterator[None]:
    """Turn an error of the object into a failed check with advice."""
    try:
        yield
    except Exception as error:
        raise AssertionError(f"{what} ({type(error).__name__}: {error}); {advice}") from error


def run_suite(
    suite: type[Suite], *, instance: bool = True, timeout: float | None = None
) -> list[Finding]:
    """Run a suite, whose ``name`` or ``make`` is set, without pytest; return a finding per check.

    If no ``instance`` can be made, tests that need one are left out. A slow check is reported; one
    that takes more than ``timeout`` seconds is the last, since the next ones would hang, too.
    """
    kind = getattr(suite, "entries", None)
    subject = f"{kind.kind} {suite.name}" if kind is not None else suite.name
    names = dict.fromkeys(name for base in reversed(suite.__mro__) for name in vars(base))
    tests = [name for name in names if name.startswith("test_")]
    checks = {"can_be_made": "subject"} | {name.removeprefix("test_"): name for name in tests}
    if not instance:
        suite = type(suite.__name__, (suite,), dict.fromkeys(("make", "make_in"), _no_object))
    findings = []
    try:
        for check, name in checks.items():
            run = functools.partial(_problem, suite, name)
            try:
                problem = watched(run, f"{subject}: {check.replace('_', ' ')}", timeout)
            except _NoObject:
                continue
            if name in tests or problem is not None:
                findings.append(Finding(subject, check, problem))
            if name not in tests and problem is not None:
                break  # without the object, every test would fail in the same way
    except OutOfTimeError as error:
        advice = "give it less to do, or raise --timeout (no further checks of it)"
        findings.append(Finding(subject, check, f"it {error}; {advice}"))
    finally:
        suite.teardown_class()
    return findings


class _NoObject(BaseException):  # not an error: no test may catch it
    """A test asked for an object that cannot be made."""


def _no_object(*_: object) -> NoReturn:
    raise _NoObject


def _problem(suite: type[Suite], name: str) -> str | None:
    try:
        found = getattr(suite(), name)
        if name.startswith("test_"):
            found()
    except (AssertionError, LeanDojoError) as error:
        return str(error) or f"the check {name} failed without a message"
    except (Exception, SystemExit) as error:  # plugin code may raise anything
        return f"{type(error).__name__}: {error}"
    return None
