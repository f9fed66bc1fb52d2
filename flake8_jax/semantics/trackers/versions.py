"""Uses of names that came or went with a release of JAX or of a library around it, judged by what the project supports.

Vocabulary
----------
raw name   the name as the code's imports spell it, before any alias: ``jax.tree_map``, where the tables say
           ``jax.tree.map``.
support    the releases that the configuration, the project's requirements, or a script's own (PEP 723) ask for, of
           each library.

What happened to a name is said by ``knowledge.history``. A use is judged once a place, whatever paths lead there, and
never where it is guarded (``guards``). Limitations: names put together at run time, attributes of arrays, star imports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from flake8_jax.core import ir
from flake8_jax.knowledge.history import Change, Histories, History, Support, Version
from flake8_jax.knowledge.requirement import required_in_file
from flake8_jax.semantics.domain.code import path_of
from flake8_jax.semantics.domain.values import (
    BuiltinValue,
    Const,
    External,
    ExternalInstance,
    Opaque,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    canonical_key,
)
from flake8_jax.semantics.events.events import ApiUse, Span, Verdict
from flake8_jax.semantics.machine.tracker import Tracker
from flake8_jax.semantics.trackers.guards import Guards

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.arguments import Call
    from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
    from flake8_jax.semantics.machine.core import Machine

_INHERITED = {"flax.nnx.Optimizer.update": "ModelAndOptimizer"}
"""Methods that a subclass has with other parameters: what is declared as the class may be one."""
_NOTHING = Support(None, ())
_DISTINGUISHES = re.compile(r"\bisinstance\s{0,50}\([^()]{0,500}?\bFrozenDict")
"""A file that looks which of the two it has."""
_FREEZES = re.compile(r"\b(?:freeze|FrozenDict)\(")


@dataclass(frozen=True)
class Required:
    """The versions that a program is for, by import name: those of the whole project, and by path those of its parts that ask
    for others."""

    general: Mapping[str, str]
    by_path: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def of(self, path: str) -> Mapping[str, str]:
        """What holds for a file."""
        return self.by_path.get(path, self.general)


Resolve = Callable[["ir.Expr"], "Value | None"]


class ApiUses(Tracker):
    """versions: the history of libraries against what the project requires; None unless a rule listens. parts: last
    parts of names that have a history. variables: what Flax's ``init`` has returned."""

    def __init__(self, m: Machine) -> None:
        self.variables: set[Value] = set()
        self.versions: Versions | None = None
        self.parts: frozenset[str] = frozenset()

    def open(
        self, histories: Any, required: Required, scopes: list[ModuleScope], wanted: frozenset[str] | None
    ) -> None:
        """Some rule listens to uses of names with a history; see ``Versions``."""
        self.versions = Versions(histories, required, scopes, wanted)
        self.parts = self.versions.parts


def track_variables(m: Machine, cls: str, method: str, result: Value) -> None:
    """Flax's ``init`` has returned variables: once a ``FrozenDict``, now a dict."""
    uses = m.trackers[ApiUses]
    if uses.versions is not None and cls.startswith("flax.linen.") and method in _GIVING_VARIABLES:
        given = result.elts[-1] if isinstance(result, TupleValue) and result.elts else result
        if isinstance(given, Tree):
            uses.variables.add(given)


_GIVING_VARIABLES = frozenset({"init", "init_with_output", "lazy_init"})


def track_method(m: Machine, scope: ModuleScope, node: ir.Call, method: Value) -> None:
    """A method of a pytree is called: perhaps one that variables no longer have."""
    uses = m.trackers[ApiUses]
    owner: Value | None
    if isinstance(method, BuiltinValue):
        owner, name = method.bound, method.name
    elif isinstance(method, Opaque):
        owner, name = method.parent, method.step
    else:
        return
    if name not in _OF_FROZEN:
        return
    while isinstance(owner, Opaque) and canonical_key(owner) not in uses.variables:
        owner = owner.parent
    changed = _CHANGED.get(name)
    if uses.versions is None or not (changed is None or changed(scope, node)):
        return
    if isinstance(owner, Opaque):
        uses.versions.method(m, scope, node, f"flax.linen.Module.init(){name}")
    elif _is_named_variables(node) and uses.versions.uses_variables(scope):
        uses.versions.method(m, scope, node, f"flax.linen.Module.init(){name}", guess=True)


_OF_FROZEN = frozenset({".copy", ".pop", ".pretty_repr", ".unfreeze"})
"""Methods that a ``FrozenDict`` has, and a dict has not or has otherwise."""
_NAMED_VARIABLES = frozenset({"batch_stats", "init_variables", "params", "variables"})


def _is_named_variables(node: ir.Call) -> bool:
    """By its name, what the method is called on holds variables of Flax: ``state.params``."""
    return isinstance(node.func, ir.Attribute) and path_of(node.func.value).rpartition(".")[2] in _NAMED_VARIABLES


def _has_arguments(scope: ModuleScope, node: ir.Call) -> bool:
    return bool(node.args)


def _is_unpacked(scope: ModuleScope, node: ir.Call) -> bool:
    """``rest, value = node``"""
    text = scope.text
    is_pair = _PAIR.search(text, max(0, node.start - _LONGEST), node.start) is not None
    return is_pair and not text[node.end : node.end + _LONGEST].lstrip(" \t").startswith(",")


_LONGEST = 200
_PAIR = re.compile(r"^[ \t]*\(?[\w.]+[ \t]*,[ \t]*[\w.]+\)?[ \t]*=[ \t]*\Z", re.MULTILINE)
_CHANGED: dict[str, Callable[[ModuleScope, ir.Call], bool]] = {".copy": _has_arguments, ".pop": _is_unpacked}
"""Methods that a dict has as well, and which calls of them it refuses."""


def track_member(m: Machine, scope: ModuleScope, node: ir.Attribute, owner: Value) -> None:
    """An attribute of a value is read or written: perhaps one of a library class that has a history."""
    versions = m.trackers[ApiUses].versions
    if type(owner) is ExternalInstance and versions is not None and node.attr in versions.histories.attributes:
        versions.member(m, scope, node, owner.cls)


def _postpones(scope: ModuleScope) -> bool:
    """Python leaves the annotations of the file alone: ``from __future__ import annotations``. Data classes, named tuples and
    the modules of Flax, Haiku and Equinox leave them as strings, too."""
    return any(
        isinstance(statement, ir.ImportFrom)
        and statement.module == "__future__"
        and any(name.name == "annotations" for name in statement.names)
        for statement in scope.tree.body
    )


def span_of(node: Any) -> Span:
    """All of a node."""
    return Span(node.start, node.end)


class _Use(msgspec.Struct, frozen=True, eq=False):
    """A use of a name with a history, in a part of ``node``. keyword: the argument that it is. postponed: an annotation
    that nothing evaluates. guess: only names say what is used."""

    node: Any
    raw: str
    span: Span
    is_import: bool = False
    keyword: ir.Argument | None = None
    postponed: bool = False
    guess: bool = False


class Versions:
    """Hears of every listed name, and tells the rules of those that matter. ``wanted``: the files that it is asked of;
    None for all."""

    def __init__(
        self,
        histories: Histories,
        required: Required,
        scopes: Iterable[ModuleScope],
        wanted: frozenset[str] | None = None,
    ) -> None:
        self.histories = histories
        self.parts = histories.parts
        self.callees = histories.callees
        self._required = required
        self._wanted = wanted
        self._general = histories.supports(required.general)
        self.guards = Guards(scopes)
        self._reported: set[tuple[str, int, str]] = set()
        self._reported_in: set[tuple[str, str]] = set()
        self._met: set[tuple[int, str]] = set()
        self._supports: dict[str, Mapping[str, Support]] = {}
        self._bound: dict[str, dict[str, list[str]]] = {}
        self._private: bool | None = None

    # --- what the interpreter meets ---------------------------------------------------------------

    def is_wanted(self, scope: ModuleScope) -> bool:
        """Whether a rule asks about this file."""
        return self._wanted is None or scope.path in self._wanted

    def is_imported(self, scope: ModuleScope, node: ir.Expr) -> bool:
        """The expression is a name that an import of the file binds, or an attribute of one."""
        while isinstance(node, ir.Attribute):
            node = node.value
        return isinstance(node, ir.Name) and node.id in self._bindings(scope)

    def supports_some(self, scope: ModuleScope, library: str, oldest: Version, newest: Version) -> bool:
        """Some release from ``oldest`` to ``newest`` is one that the file is for. Of a library without a history, all are if
        some release of JAX is."""
        supports = self._supports_of(scope)
        support = supports.get(library)
        if support is None:
            return bool(supports["jax"].highest) and not supports["jax"].early
        return support.reaches(oldest) and (support.lowest is None or support.lowest <= newest)

    def attribute(
        self, m: Machine, scope: ModuleScope, node: ir.Attribute, owner: External, *, postponed: bool = False
    ) -> None:
        """``owner.attr`` is read."""
        if (id(node), owner.name) in self._met or not self.is_wanted(scope):
            return
        self._met.add((id(node), owner.name))
        raw = self._raw_name(m, scope, node, owner)
        history = self.histories.of(raw) if raw is not None else None
        if raw is None or history is None:
            return
        explained = history.change(raw) is not None
        told = _is_told_by_member(history, raw, _MEMBER.match(scope.text, node.end))
        if not told and self._owner_stands(scope, raw, is_explained=explained) and not history.is_new_module(raw):
            self._use(m, scope, _Use(node, raw, span_of(node), postponed=postponed))

    def missing_attribute(self, m: Machine, scope: ModuleScope, node: ir.Attribute, owner: External) -> None:
        """``owner.attr`` is read, and no release has it. Only where the file's imports give the owner that one meaning: a
        parameter, or ``np`` that may be NumPy, is not known."""
        if (id(node), owner.name) in self._met or not self.is_wanted(scope):
            return
        self._met.add((id(node), owner.name))
        base: ir.Expr = node.value
        while isinstance(base, ir.Attribute):
            base = base.value
        if isinstance(base, ir.Name) and len(set(self._bindings(scope).get(base.id, ()))) == 1:
            if self._raw_name(m, scope, node, owner) == f"{owner.name}.{node.attr}":
                self._use(m, scope, _Use(node, f"{owner.name}.{node.attr}", span_of(node)))

    def imported_from(self, m: Machine, scope: ModuleScope, node: ir.ImportFrom, module: str) -> None:
        """``from module import …``."""
        if not self.is_wanted(scope) or m.program.is_project(module.partition(".")[0]):
            return
        history = self.histories.of(module)
        explained = history is not None and all(history.change(f"{module}.{name.name}") for name in node.names)
        if not self._owner_stands(scope, f"{module}.?", is_explained=explained):
            self._module_use(m, scope, node, module)
            return
        for name in node.names:
            if name.name in self.parts or self.histories.never_had(module, name.name):
                if history is not None and _are_members_told(history, scope, f"{module}.{name.name}", name.alias):
                    continue
                self._use(m, scope, _Use(name, f"{module}.{name.name}", span_of(name), is_import=True))

    def imported(self, m: Machine, scope: ModuleScope, name: ir.ImportedName) -> None:
        """``import name``."""
        if self.is_wanted(scope) and not m.program.is_project(
            m.program.absolute(scope, name.name, 0).partition(".")[0]
        ):
            self._module_use(m, scope, name, name.name)

    def called(self, m: Machine, callee: str, at: Call) -> None:
        """A library function is called: by its keyword arguments; of ``jax.config.update``, by the option."""
        scope, node, args = at.frame.scope, at.node, at.args
        if not isinstance(node, ir.Call) or not self.is_wanted(scope):
            return
        if callee == "jax.config.update":
            if args.values and isinstance(args.values[0], Const) and node.args:
                option = node.args[0]
                self._use(m, scope, _Use(node, f"jax.config.{args.values[0].value}", span_of(option)))
            return
        bare = not node.args and not args.values and not args.kwargs  # a ``partial`` may have bound some
        if bare and (history := self.histories.of(callee)) and history.change(f"{callee}()") is not None:
            self._use(m, scope, _Use(node, f"{callee}()", span_of(node)))
        self._incomplete(m, callee, at)
        for argument in node.args:
            if argument.keyword is not None and argument.keyword in args.kwargs:
                use = _Use(node, f"{callee}({argument.keyword}=)", span_of(argument), keyword=argument)
                if not self._is_handed_on(use.raw, args.kwargs[argument.keyword]):
                    self._use(m, scope, use)

    def _incomplete(self, m: Machine, callee: str, at: Call) -> None:
        """A function is called without an argument that it needs since some release."""
        args, history = at.args, self.histories.of(callee)
        if history is None or args.star is not None or args.double_star is not None or args.unknown_rest:
            return
        if callee in _INHERITED and any(_INHERITED[callee] in scope.text for scope in self.guards.scopes):
            return
        for needed in history.needed(callee):
            number = len(args.values) + len(args.kwargs)
            given = number >= int(needed) if needed.isdigit() else needed in args.kwargs
            if not given:
                self._use(m, at.frame.scope, _Use(at.node, f"{callee}(!{needed})", span_of(at.node)))

    def member(self, m: Machine, scope: ModuleScope, node: ir.Attribute, cls: str) -> None:
        """An attribute of an instance of a library class is read or written; said once a file."""
        name = self.histories.attributes[node.attr]
        if not m.program.knowledge.is_subclass(cls, name.rpartition(".")[0]):
            return
        if self.is_wanted(scope) and (scope.path, name) not in self._reported_in:
            self._reported_in.add((scope.path, name))
            self._use(m, scope, _Use(node, name, span_of(node)))

    def _is_handed_on(self, raw: str, value: Value) -> bool:
        """From a parameter that is None by default: JAX warns of other values."""
        history = self.histories.of(raw)
        change = history.change(raw) if history is not None else None
        given = isinstance(value, (Unknown, UnionValue)) or (isinstance(value, Const) and value.value is None)
        return given and change is not None and change.removed is None

    def method(self, m: Machine, scope: ModuleScope, node: ir.Call, name: str, *, guess: bool = False) -> None:
        """A method of what a function returned is called. guess: only names say that the function returned it."""
        history = self.histories.of(name)
        if history is not None and history.change(name) is not None and self.is_wanted(scope):
            text = scope.text
            if not _DISTINGUISHES.search(text) and not any("return_frozendict" in s.text for s in self.guards.scopes):
                self._use(m, scope, _Use(node, name, span_of(node), guess=guess))

    def uses_variables(self, scope: ModuleScope) -> bool:
        """The file uses Flax, and no file of the project makes a ``FrozenDict``."""
        imports = any(raw.partition(".")[0] == "flax" for raws in self._bindings(scope).values() for raw in raws)
        return imports and not any(_FREEZES.search(file.text) for file in self.guards.scopes)

    def factory(self, m: Machine, scope: ModuleScope, node: Any, callee: str) -> None:
        """A transform is called without its function: ``@jax.jit(static_argnames="n")``.

        Another name for it, such as ``pjit``, may need the function all the same.
        """
        if not isinstance(node, ir.Call) or not self.is_wanted(scope):
            return
        if callee in (self._spellings(scope, node.func) or {callee}):
            self._use(m, scope, _Use(node, f"{callee}()", span_of(node)))

    def annotations(self, m: Machine, frame: Frame, nodes: Iterable[ir.Expr | None], value_of: Resolve) -> None:
        """Annotations, which Python evaluates but the interpreter does not. value_of: the object that a name denotes."""
        if self.is_wanted(frame.scope):
            for node in nodes:
                self._annotation(m, frame, node, value_of)

    def _annotation(self, m: Machine, frame: Frame, node: ir.Expr | None, value_of: Resolve) -> None:
        if isinstance(node, ir.Attribute):
            self._annotation(m, frame, node.value, value_of)  # a module that is gone
            if node.attr in self.parts:
                owner = value_of(node.value)
                if isinstance(owner, External):
                    postponed = _postpones(frame.scope)
                    self.attribute(m, frame.scope, node, owner, postponed=postponed)
        elif isinstance(node, ir.Subscript):
            self._annotation(m, frame, node.value, value_of)
            self._annotation(m, frame, node.index, value_of)
        elif isinstance(node, (ir.Tuple, ir.List)):
            for element in node.elts:
                self._annotation(m, frame, element, value_of)
        elif isinstance(node, ir.BinOp):
            self._annotation(m, frame, node.left, value_of)
            self._annotation(m, frame, node.right, value_of)

    # --- judging ----------------------------------------------------------------------------------

    def _use(self, m: Machine, scope: ModuleScope, use: _Use) -> None:
        """Tell the rules of a use, once a place."""
        raw, span = use.raw, use.span
        place = (scope.path, span.start, f"{raw}?" if use.guess else raw)
        if place in self._reported:
            return
        self._reported.add(place)
        change, lacking, support, verdict = self._judge(scope, raw)
        patched = raw.rpartition(".")[2]
        if verdict == "removed-later" and self._is_in_later_module(scope, raw):
            return
        if not verdict or self.guards.guard(scope, span.start, span.end):
            return
        if raw != self.histories.attributes.get(patched) and self.guards.is_patched(patched):
            return
        event = ApiUse(
            m.path.context(scope), use.node, raw, span.start, span.end, verdict, change, lacking, support,
            use.is_import, use.keyword, use.postponed, use.guess,
        )  # fmt: skip
        mark = len(m.bus.emissions)
        m.bus.emit(event)
        # Neither a branch that is run on a guess nor a loop's rehearsal reverts it, and no caller makes it true.
        m.bus.settle(msgspec.structs.replace(emission, chain=()) for emission in m.bus.emissions[mark:])
        del m.bus.emissions[mark:]

    def _module_use(self, m: Machine, scope: ModuleScope, node: Any, module: str) -> None:
        parts = module.split(".")
        for i in range(2, len(parts) + 1):
            prefix = ".".join(parts[:i])
            if parts[i - 1] in self.parts and self._judge(scope, prefix)[3]:
                history = self.histories.of(prefix)
                if history is not None and _are_members_told(history, scope, prefix, prefix):
                    return
                self._use(m, scope, _Use(node, prefix, span_of(node), is_import=True))
                return

    def _owner_stands(self, scope: ModuleScope, raw: str, *, is_explained: bool = False) -> bool:
        """No module around the name is gone itself: that was said where it was imported. is_explained: the tables know what
        became of the name. This is said even if they know nothing better of a module around it than that it is gone."""
        owner, history = raw.rpartition(".")[0], self.histories.of(raw)
        while "." in owner:
            if owner.rpartition(".")[2] in self.parts and self._judge(scope, owner)[3] not in _STANDING:
                if not is_explained or history is None or not history.is_unexplained(owner):
                    return False
            owner = owner.rpartition(".")[0]
        return True

    def _is_in_later_module(self, scope: ModuleScope, raw: str) -> bool:
        """Newer releases lack a module around the name: that was said where it was imported."""
        owner, history = raw.rpartition(".")[0], self.histories.of(raw)
        while "." in owner:
            if owner.rpartition(".")[2] in self.parts and self._judge(scope, owner)[3] == "removed-later":
                return history is None or not history.is_unexplained(owner) or history.change(raw) is None
            owner = owner.rpartition(".")[0]
        return False

    def _judge(
        self, scope: ModuleScope, raw: str
    ) -> tuple[Change | None, Version | None, Support, Verdict | Literal[""]]:
        """What is known of a name, what is supported of its library there, and the verdict."""
        history = self.histories.of(raw)
        if history is None:
            return None, None, _NOTHING, ""
        change, lacking = history.change(raw), history.lacking(raw)
        support = self._supports_of(scope)[raw.partition(".")[0]]
        if self.histories.never_had(*raw.rpartition(".")[::2]):
            return None, None, support, "never-there" if history.lists_names_of(support) else ""
        is_newer = history.is_newer(raw, support) and not support.early
        verdict = _verdict(change, support, is_newer=is_newer)
        if not verdict and change is not None and history.support(None).reaches(change.removed):
            verdict = "removed-later"  # every supported release has it
        return change, lacking, support, verdict

    def _supports_of(self, scope: ModuleScope) -> Mapping[str, Support]:
        """What counts in a file: the requirements of a script are its own."""
        found = self._supports.get(scope.path)
        if found is None:
            asked = required_in_file(scope.text)
            own = asked or scope.path in self._required.by_path
            found = self.histories.supports({**self._required.of(scope.path), **asked}) if own else self._general
            self._supports[scope.path] = found
        return found

    # --- names as they are spelled ------------------------------------------------------------------

    def _raw_name(self, m: Machine, scope: ModuleScope, node: ir.Attribute, owner: External) -> str | None:
        """The qualified name that the file's imports give the attribute; None where an alias may hide it."""
        for spelled in self._spellings(scope, node.value):
            if m.program.knowledge.canonical(spelled) == owner.name:
                return f"{spelled}.{node.attr}"
        if self._private is None:
            self._private = any("jax._src" in other.text for other in self.guards.scopes)
        plain = not self._private and owner.name not in ("jax.export", "jax.lax.linalg")
        return f"{owner.name}.{node.attr}" if plain else None

    def _spellings(self, scope: ModuleScope, node: ir.Expr) -> list[str]:
        """The qualified names that the file's imports give ``name.attribute…``."""
        attributes: list[str] = []
        while isinstance(node, ir.Attribute):
            attributes.append(node.attr)
            node = node.value
        meanings = self._bindings(scope).get(node.id, ()) if isinstance(node, ir.Name) else ()
        return [".".join([meaning, *reversed(attributes)]) for meaning in meanings]

    def _bindings(self, scope: ModuleScope) -> dict[str, list[str]]:
        """What the imports of a file bind, wherever they stand."""
        known = self._bound.get(scope.path)
        if known is None:
            known = self._bound[scope.path] = {}
            todo: list[Any] = [scope.tree]
            while todo:
                node = todo.pop()
                if isinstance(node, ir.Import):
                    for name in node.names:
                        head = name.name.partition(".")[0]
                        known.setdefault(name.alias or head, []).append(name.name if name.alias else head)
                elif isinstance(node, ir.ImportFrom):
                    if node.level == 0:
                        for name in node.names:
                            known.setdefault(name.alias or name.name, []).append(f"{node.module}.{name.name}")
                else:
                    todo += _statements_in(node)
        return known


_MEMBER = re.compile(r"\.(\w+)")
_STANDING = frozenset({"", "too-new", "removed-later"})
"""Verdicts on a module that some supported release has."""


def _is_told_by_member(history: History, raw: str, member: re.Match[str] | None) -> bool:
    """Of a module it is only known that it is gone, but of the member that the code uses, what became of it."""
    return member is not None and history.is_unexplained(raw) and history.change(f"{raw}.{member[1]}") is not None


def _are_members_told(history: History, scope: ModuleScope, raw: str, alias: str | None) -> bool:
    """The file uses a member of such a module. alias: what the file calls the module, if not by its last name."""
    if not history.is_unexplained(raw):
        return False
    called = re.escape(alias or raw.rpartition(".")[2])
    uses = re.finditer(rf"\b{called}\.(\w+)", scope.text)
    return any(history.change(f"{raw}.{use[1]}") is not None for use in uses)


def _statements_in(node: Any) -> list[Any]:
    """The compound and import statements directly in a statement, a function's or a handler's."""
    kind = type(node)
    if kind is ir.FunctionDef:
        return [s for s in node.function.body if type(s) in _STATEMENTS]
    found = [s for s in node.body if type(s) in _STATEMENTS] if kind is not ir.Match else []
    for name in _FURTHER.get(kind, ()):
        found += [s for s in getattr(node, name) if type(s) in _STATEMENTS]
    return found


_FURTHER: dict[Any, tuple[str, ...]] = {
    ir.If: ("orelse",), ir.For: ("orelse",), ir.While: ("orelse",), ir.Match: ("cases",),
    ir.Try: ("handlers", "orelse", "finalbody"),
}  # fmt: skip
_STATEMENTS = frozenset(
    {
        ir.FunctionDef, ir.ClassDef, ir.If, ir.For, ir.While, ir.Try, ir.ExceptHandler, ir.With, ir.Match, ir.MatchCase,
        ir.Import, ir.ImportFrom,
    }
)  # fmt: skip


def _verdict(change: Change | None, support: Support, *, is_newer: bool) -> Verdict | Literal[""]:
    """What becomes of a name in the releases in use, if anything."""
    if change is not None and support.reaches(change.removed):
        return "removed"
    if is_newer:
        return "too-new"
    if change is not None and support.reaches(change.deprecated):
        return "deprecated" if change.since is None or support.all_have(change.since) else ""
    return ""
