"""Parse goals as Lean prints them, and reopen them in Lean.

A traced ``state_before`` is text. Most of it can be read back: its hypotheses become the binders of
a statement. Some cannot: a printed ``⋯`` hides a proof, coercions and implicit arguments are
omitted, several goals may share metavariables. Then :class:`GoalTextError` is raised, and the
caller replays the theorem from its file (:func:`.points.theorem_point`).
"""

import re
from collections.abc import Mapping, Sequence

import attrs

from lean_dojo_core.records import NO_GOALS, remove_marks
from lean_dojo_v2.lean.client.records import INACCESSIBLE, Goal, GoalState, Variable
from lean_dojo_v2.lean.client.server import Server
from lean_dojo_v2.lean.errors import EngineLostError, EngineUnavailableError, LeanError

_WORD = re.compile(r"«[^»]*»|(?<![\w.'!?«])[^\W\d][\w'!?✝¹²³⁴⁵⁶⁷⁸⁹⁰]*")
_NAMES = re.compile(r"(?:«[^»]*»|[^\s«])+")
_CASE = re.compile(r"case (?P<tag>\S+)")
_HYPOTHESIS = re.compile(
    r"(?P<names>(?:«[^»]*»|[^\s:⊢(«])(?:«[^»]*»|[^:⊢«])*?) :(?!=) (?P<rest>.*)", re.DOTALL
)
_NAME = re.compile(r"[^\W\d][\w'!?.]*[✝¹²³⁴⁵⁶⁷⁸⁹⁰]+")
_LEVEL = re.compile(r"\b(?:Sort|Type) (?:\(?)(?:max |imax )?([a-z]\w*)|\bu_\d+\b")
_HIDDEN = re.compile(r"⋯|\?m[\w.✝]|\?_|\bsorry\b|‹|_fvar|\[mdata")


class GoalTextError(LeanError):
    """The text is not sufficient to open the goal; replay the theorem from its file."""


def parse_state(text: str) -> list[Goal]:
    r"""Read a state as Lean prints it, without premise marks; its goals have no engine's ids.

    >>> [goal] = parse_state("case inl\nn m : Nat\nh : n = m\n⊢ m = n")
    >>> goal.name, [v.name for v in goal.variables], goal.target
    ('inl', ['n', 'm', 'h'], 'm = n')
    """
    text = remove_marks(text).strip("\n")
    if text.strip() in {NO_GOALS, ""}:
        return []
    return [_parse_goal(block) for block in re.split(r"\n\s*\n", text) if block.strip()]


def _parse_goal(block: str) -> Goal:
    items = re.split(r"\n(?![ \t])", block)  # an indented line continues the one before it
    case = None
    if match := _CASE.fullmatch(items[0]):
        case = match["tag"]
        items = items[1:]
    if not items or not items[-1].startswith("⊢ "):
        raise GoalTextError(f"no line that starts with '⊢' in the goal {block!r:.200}")
    variables = [variable for item in items[:-1] for variable in _parse_hypothesis(item)]
    return Goal("", variables, _one_line(items[-1][2:]), name=case)


def _parse_hypothesis(item: str) -> list[Variable]:
    match = _HYPOTHESIS.fullmatch(item)
    if match is None:
        raise GoalTextError(f"cannot read the hypothesis {item!r:.200}")
    names = _NAMES.findall(match["names"])
    kind, assigned, value = match["rest"].partition(" := ")
    if assigned and len(names) == 1:
        return [Variable(_one_line(kind), _one_line(value), names[0])]
    return [Variable(_one_line(match["rest"]), None, name) for name in names]


def _one_line(text: str) -> str:
    return re.sub(r"\s*\n\s*", " ", text).strip()


def statement(goal: Goal) -> tuple[str, list[str]]:
    r"""Turn a printed goal into a closed expression, and the universe levels that it names.

    >>> statement(parse_state("n : Nat\nh : n = 0\n⊢ 0 = n")[0])
    ('∀ (n : Nat), ∀ (h : n = 0), 0 = n', [])
    """
    texts = [goal.target, *(f"{v.t} {v.v or ''}" for v in goal.variables)]
    for text in texts:
        if hidden := _HIDDEN.search(text):
            raise GoalTextError(f"the printed goal hides something: {hidden[0]!r} in {text!r:.200}")
    names = _writable(goal.variables)
    binders = []
    for variable in goal.variables:
        name = names.get(variable.name or "_", variable.name or "_")
        kind = _substitute(variable.t, names)
        if variable.v is not None:
            binders.append(f"let {name} : {kind} := {_substitute(variable.v, names)}; ")
        elif variable.name and variable.name.startswith("inst") and INACCESSIBLE in variable.name:
            binders.append(f"∀ [{name} : {kind}], ")
        else:
            binders.append(f"∀ ({name} : {kind}), ")
    expression = "".join(binders) + _substitute(goal.target, names)
    levels = [match[1] or match[0] for text in texts for match in _LEVEL.finditer(text)]
    return expression, list(dict.fromkeys(levels))


def _writable(variables: Sequence[Variable]) -> dict[str, str]:
    """Map every inaccessible name to a fresh accessible one."""
    taken = {v.name for v in variables}
    names: dict[str, str] = {}
    for variable in variables:
        name = variable.name or ""
        if INACCESSIBLE in name:
            base = name.partition(INACCESSIBLE)[0].replace(".", "_")
            index = 1
            while (fresh := f"{base}_{index}") in taken:
                index += 1
            taken.add(fresh)
            names[name] = fresh
    return names


def _substitute(text: str, names: dict[str, str]) -> str:
    return _NAME.sub(lambda match: names.get(match[0], match[0]), text)


@attrs.frozen
class Start:
    """The start of a proof of a printed goal: a closed statement with its universe levels.

    The ``intros`` are tactics that reintroduce its hypotheses, under their names if accessible.
    """

    expression: str
    levels: tuple[str, ...]
    intros: tuple[str, ...] = ()
    goal: Goal | None = attrs.field(default=None, eq=False, repr=False)

    def open(self, server: Server) -> GoalState:
        """Open it as :func:`open_goal` does."""
        try:
            state = server.goal_start(self.expression, levels=self.levels)
            for tactic in self.intros:
                state = server.goal_tactic(state, tactic)
        except (EngineLostError, EngineUnavailableError):
            raise  # not about the text
        except LeanError as error:
            raise GoalTextError(f"Lean cannot read the printed goal again: {error}") from error
        # A new goal's record repeats the given text, so Lean must print it.
        printed = () if self.intros else server.goal_print(state).get("goals", ())
        opened = state.goals if self.intros else [Goal.parse(goal, {}) for goal in printed]
        if self.goal is not None and [*map(canonical, opened)] != [canonical(self.goal)]:
            raise GoalTextError("the printed goal, read again, is another one")
        return state


def start_of(text: str, *, first_only: bool = False) -> Start:
    r"""Return the start of a proof of a printed state; arguments as of :func:`open_goal`.

    >>> start_of("n : Nat\nh✝ : n = 0\n⊢ 0 = n").intros
    ('intro n', 'intro')
    """
    goals = parse_state(text)
    if not goals:
        raise GoalTextError("the state has no goals")
    if len(goals) > 1 and not first_only:
        raise GoalTextError(f"{len(goals)} goals may share metavariables")
    expression, levels = statement(goals[0])
    intros = ("intro" if v.inaccessible else f"intro {v.name}" for v in goals[0].variables)
    return Start(expression, tuple(levels), tuple(intros), goals[0])


def open_goal(server: Server, text: str, *, first_only: bool = False) -> GoalState:
    """Start a proof from a printed state, for example the column ``problem`` of a dataset.

    The state has one goal, its hypotheses introduced. It must print as the given one does, up to
    names. With ``first_only``, the first goal of several is opened; otherwise several are refused.

    Raises:
        GoalTextError: If the text is not sufficient.
        EngineLostError: If the engine dies or the time is up.
    """
    return start_of(text, first_only=first_only).open(server)


def canonical(goal: Goal) -> str:
    """Normalise a goal's text, equal for goals printed alike up to names.

    It checks whether an opened state is the requested one; steps are never judged by it.

    >>> a = Goal("1", [Variable("Nat", name="n")], "n = n")
    >>> canonical(a) == canonical(Goal("2", [Variable("Nat", name="k")], "k = k", name="inl"))
    True
    """
    # A shadowed name denotes the youngest variable with it.
    names = {v.name: f"‹{index}›" for index, v in enumerate(goal.variables) if v.name}
    lines = [f"{_rename(v.t, names)} := {_rename(v.value or '', names)}" for v in goal.variables]
    return "\n".join([*lines, _rename(goal.target, names)])


def reads_as(state: GoalState, text: str) -> bool:
    """Whether the first goals of a state and of a text are printed alike, up to names.

    Different terms may be printed alike; so this is for data that has only the text, no digest.
    """
    if not state.goals:
        return False
    printed = state.goals[0].pp or str(state.goals[0])
    first = re.split(r"\n\s*\n", remove_marks(text).strip("\n"), maxsplit=1)[0]
    if _one_line(printed) == _one_line(first):
        return True
    wanted, shown = parse_state(first), parse_state(printed)
    return bool(wanted) and canonical(shown[0]) == canonical(wanted[0])


def _rename(text: str, names: Mapping[str, str]) -> str:
    return _WORD.sub(lambda match: names.get(match[0], match[0]), text) if names else text
