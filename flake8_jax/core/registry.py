"""How rules and fixers declare themselves.

A rule is one function in a file of its own under ``rules/``; a fixer is one under ``fixers/``. Both are found by
walking the package: there is no list to edit.
"""

from __future__ import annotations

import inspect
import traceback
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from flake8_jax.core.findings import Edit, Fix, Level, Refusal, Step

Fixable = Literal["always", "sometimes", "never"]
Where = Literal["eager", "loop", "staged"]
EVERYWHERE: frozenset[Where] = frozenset({"eager", "loop", "staged"})
DEFECTS = (
    AttributeError, TypeError, ValueError, LookupError, AssertionError, ArithmeticError, NameError,
)  # fmt: skip
"""Exceptions that a defect of the interpreter, of a rule or of a fixer raises; it is reported, and the rest goes on."""


def traceback_of(defect: BaseException) -> str:
    """The text that a report of a defect shows."""
    return "".join(traceback.format_exception(type(defect), defect, defect.__traceback__))


class Spanned(Protocol):
    """Anything with offsets: an IR node, an argument, an imported name."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


TRACED_BY = "\ue000"
"""In the message of a report: which transform call traces the code, if that is not near. A rule writes it after the words that
need it."""
COMPILED_BY = "\ue002"
"""The same for words such as "at trace time only", which are not true of a transform that compiles nothing, such as
``jax.grad``: it names the transform call around that does."""
PASSED_AT = "\ue001"
"""In the message of a report: which call passes the value of the parameter that stands before it, if that is not near."""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a rule on events: what is wrong, and where.
    - ``at``: the node at which the finding is reported, or another object with ``start`` and ``end`` (offsets into the text).
    - ``message``: the sentence that the user reads.
    - ``level``: overrides the level of the rule. For example, report ``warning`` if an error is not certain.
    - ``preview``: jaxlint shows the finding only with ``--preview``.
    - ``also_in_preview``: of a rule that is off by default, jaxlint shows the finding with ``--preview``, too.
    - ``uses``: further places that the finding is about. The output shows them below the call chain.
    - ``unless``, ``given``, ``sure_given``: for rules of jaxlint itself. They name a fact that the analysis may record at the
      same place. jaxlint drops the report if the fact of ``unless`` is recorded or if that of ``given`` is not, and makes an
      error a note if that of ``sure_given`` is not."""

    at: Spanned
    message: str
    level: Level | None = None
    preview: bool = False
    unless: str = ""
    given: str = ""
    sure_given: str = ""
    uses: tuple[Step, ...] = ()
    also_in_preview: bool = False


@dataclass(frozen=True, slots=True)
class NodeReport:
    """The result of a rule on nodes: the node, what is wrong with it and, if possible, a fix.
    - ``node``: the LibCST node at which the finding is reported.
    - ``message``: the sentence that the user reads.
    - ``level``: overrides the level of the rule. ``preview``: jaxlint shows the finding only with ``--preview``.
    - ``replacement``: a LibCST node that the fix writes instead of ``node``, or ``cst.RemoveFromParent()``.
    - ``edits``: changes of the text, if a replacement is not enough. ``NodeFacts.span`` returns the offsets of a node.
    - ``fix_message``: what the fix does, in the imperative.
    - ``safe``: whether the fixed code has the same values, dtypes and effects for every caller."""

    node: Any
    message: str
    level: Level | None = None
    preview: bool = False
    replacement: Any = None
    edits: tuple[Edit, ...] = ()
    fix_message: str = ""
    safe: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A report that is about to become a finding: where it stands, the event that it is about, and the places that its
    evidence names. note: what its message says in addition. others: where the reports start that it stands for. preview: it
    becomes a note that jaxlint shows only with ``--preview``."""

    path: str
    start: int
    event: Any
    code: str = ""
    uses: tuple[Step, ...] = ()
    note: str = ""
    others: tuple[int, ...] = ()
    preview: bool = False

    def with_note(self, note: str, others: tuple[int, ...] = ()) -> Candidate:
        """The same with a note on the reports that it stands for."""
        return replace(self, note=note, others=others)


Settle = Callable[[list[Candidate]], list[Candidate]]
"""Which candidates become findings; the others are superseded by one of these."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """Which events a rule gets. A rule that names conditions here costs less time, because jaxlint does not call it for other
    events.
    - ``names``: for ``NameUse`` and ``Discarded``: the rule gets only events with these canonical names; None for all names.
    - ``where``: for ``LibraryCall`` and ``MethodCall``: the rule gets only calls in these kinds of code. ``staged`` is code
      that JAX traces, ``loop`` is a Python loop outside tracing, and ``eager`` is other code outside tracing; None for all.
    - ``arrays``: for ``LibraryCall``: the rule gets only calls with an argument that may contain an array.
    - ``effects``: for ``LibraryCall``: the rule gets only calls of functions with one of these effects: ``time``, ``random``,
      ``io``, ``environment``, ``print`` or ``log`` for the world outside, ``consume`` or ``split`` for a key; None for all.
    - ``presumed``: the rule also gets events of code that no code in the project traces. jaxlint analyzes it as a user of the
      library would trace it, and shows these reports only with ``--preview``."""

    names: frozenset[str] | None = None
    where: frozenset[Where] = EVERYWHERE
    arrays: bool = False
    effects: frozenset[str] | None = None
    presumed: bool = False


ALL_EVENTS = Subscription()


Raises = Literal["nothing", "tracer error", "another error"]
"""What JAX raises where a rule reports an error: one about a tracer, another one, or nothing (the result is wrong)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``doc`` is the manual page (markdown): the docstring of ``check``.

    names, where, arrays, effects, presumed: see ``Subscription``.
    raises: what running the code does where the rule reports an error. The code behind a ``tracer error`` does not run,
        and a handler that catches such errors withdraws the report. Who wrote a notebook has seen either: see ``Raises``.
    settle: for rules whose reports may show one defect twice. It sees the reports of all rules that declare it.
    """

    code: str
    name: str
    level: Level
    fixable: Fixable
    opt_in: bool
    events: tuple[type, ...]
    check: Callable[..., Any]
    doc: str
    names: frozenset[str] | None = None
    where: frozenset[Where] = EVERYWHERE
    arrays: bool = False
    effects: frozenset[str] | None = None
    presumed: bool = False
    raises: Raises = "nothing"
    settle: Settle | None = None

    @property
    def visits_nodes(self) -> bool:
        """Whether the rule listens to nodes of LibCST, not to events of the analysis."""
        return is_node_class(self.events[0])

    @property
    def summary(self) -> str:
        """The first sentence of the manual page."""
        return self.doc.split("\n", 1)[0].strip()


Build = Callable[[Any, Any], "Fix | Refusal | None"]
"""Makes a fix of the event of a finding and the source, or says why there is none, or None."""


@dataclass(frozen=True, slots=True)
class Fixer:
    """One fix, for the findings of the rule called ``rule``."""

    rule: str
    build: Build


_RULE_MARK = "__jaxlint_rule__"
_FIXER_MARK = "__jaxlint_fixer__"


def is_node_class(listened: type) -> bool:
    """Whether this is a class of LibCST's nodes. Answered by its name, so that LibCST is not imported here."""
    return any(f"{base.__module__}.{base.__name__}" == "libcst._nodes.base.CSTNode" for base in listened.__mro__)


def event_types(function: Callable[..., Any]) -> tuple[type, ...]:
    """The classes in the annotation of the function's first parameter: events, or nodes of LibCST.

    Raises:
        TypeError: the parameter has no annotation, one that is no class, or both events and nodes.
    """
    name = f"{function.__module__}.{function.__qualname__}"
    first = next(iter(inspect.signature(function).parameters), None)
    hint = typing.get_type_hints(function).get(first) if first is not None else None
    if hint is None:
        raise TypeError(f"{name}: annotate {first or 'a first parameter'} with the event it listens to")
    found = typing.get_args(hint) or (hint,)
    if not all(isinstance(one, type) for one in found):
        raise TypeError(f"{name}: the annotation of {first} must name classes of events or of LibCST nodes")
    if len({is_node_class(one) for one in found}) > 1:
        raise TypeError(f"{name}: {first} is annotated with events and nodes; write a rule for each")
    return found


def rule(  # noqa: PLR0913 - data
    code: str,
    level: Level,
    *,
    fixable: Fixable = "never",
    opt_in: bool = False,
    only: Subscription = ALL_EVENTS,
    raises: Raises = "nothing",
    settle: Settle | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare that a function is a rule: ``def traced_branch(event: TruthTest) -> Report | None`` is ``traced-branch``.
    A rule on nodes has the form ``def name(node: cst.Call, facts: NodeFacts) -> NodeReport | None``.
    - ``code``: the code of the rule, such as ``JAX101``.
    - ``level``: ``error``, ``warning`` or ``info`` (a note).
    - ``fixable``: how often the findings have a fix: ``always``, ``sometimes`` or ``never``.
    - ``opt_in``: the rule runs only if the user selects it by its code, its name or ``ALL``.
    - ``only``: which events the rule gets.
    - ``raises``: what JAX raises where the rule reports an error: ``nothing`` if it only computes a wrong result,
      ``tracer error`` or ``another error``. jaxlint drops a report if the code catches this exception.
    - ``settle``: for rules of jaxlint itself, whose reports may show one mistake twice.

    ``only``, ``raises`` and ``settle`` have no effect on a rule on nodes."""

    def mark(check: Callable[..., Any]) -> Callable[..., Any]:
        made = Rule(
            code=code,
            name=check.__name__.replace("_", "-"),
            level=level,
            fixable=fixable,
            opt_in=opt_in,
            events=event_types(check),
            check=check,
            doc=inspect.getdoc(check) or "",
            names=only.names,
            where=only.where,
            arrays=only.arrays,
            effects=only.effects,
            presumed=only.presumed,
            raises=raises,
            settle=settle,
        )
        setattr(check, _RULE_MARK, made)
        return check

    return mark


def mark_fixer(rule_name: str) -> Callable[[Build], Build]:
    """Declare ``def fix(event, source: FixSource) -> Fix | None`` to fix findings of ``rule_name``."""

    def mark(build: Build) -> Build:
        setattr(build, _FIXER_MARK, Fixer(rule_name, build))
        return build

    return mark


def declared_rules(module: object) -> list[Rule]:
    """The rules that a module declares, in the order of definition."""
    return [getattr(v, _RULE_MARK) for v in vars(module).values() if hasattr(v, _RULE_MARK)]


class ClashError(Exception):
    """Two rules have one code, or one name: one of them would take the place of the other in silence."""


def ordered(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules in the order of their codes. Raises ClashError where two have one code or one name."""
    known: dict[str, Rule] = {}
    for one in rules:
        for label in (one.code, one.name):
            other = known.setdefault(label, one)
            if other is not one:
                places = " and ".join(f"{r.check.__module__}.{r.check.__qualname__}" for r in (other, one))
                raise ClashError(f"two rules are called {label}: {places}; give one of them another code and name")
    return tuple(sorted({id(r): r for r in known.values()}.values(), key=lambda r: r.code))


def declared_fixers(module: object) -> list[Fixer]:
    """The fixers that a module declares, in the order of definition."""
    return [getattr(v, _FIXER_MARK) for v in vars(module).values() if hasattr(v, _FIXER_MARK)]
