"""Calls of library functions that raise TypeError before the function runs: their arguments do not fit its parameters. And
attributes that objects of libraries do not have.

Vocabulary
----------
mismatch    such a call: no release that the tables know takes its arguments.

A call is judged only if all of its arguments are known, and if an import of the file names the function or, outside of loops, a
``partial`` holds it. A function that a variable holds is often one of several, and what chooses it chooses the arguments. The
same holds for layers in loops. An object is judged if its class is certain.

Limitations: releases that the tables do not know. Nothing is reported if the project asks for older ones only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from flake8_jax.core import ir
from flake8_jax.knowledge.call_signatures import Problem, Signatures
from flake8_jax.knowledge.history import Version
from flake8_jax.semantics.domain.classes import find_in_class
from flake8_jax.semantics.domain.values import (
    MAYBE,
    NONE,
    Array,
    ClassValue,
    Const,
    External,
    ExternalInstance,
    ExternalMethod,
    HostArray,
    Instance,
    Opaque,
    Static,
    TupleValue,
    UnionValue,
    Value,
)
from flake8_jax.semantics.events.events import CallMismatch
from flake8_jax.semantics.events.refused import MissingMember
from flake8_jax.semantics.machine.tracker import Tracker
from flake8_jax.semantics.trackers.products import Products
from flake8_jax.semantics.trackers.versions import ApiUses, Versions

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.arguments import Call
    from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
    from flake8_jax.semantics.machine.core import Machine


class CallSignatures(Tracker):
    """names: the functions whose signatures are known; empty unless a rule listens. previews: whether anyone sees what is only
    a preview."""

    def __init__(self, m: Machine) -> None:
        self.previews = False
        self._set_somewhere: dict[str, bool] = {}
        self.names: frozenset[str] = frozenset()
        self._tables: Mapping[str, Signatures] = {}

    def open(self, tables: Mapping[str, Signatures]) -> None:
        """Some rule listens to mismatches."""
        self._tables = tables
        self.names = frozenset[str]().union(*[table.names for table in tables.values()])

    def newest(self, library: str) -> Version:
        """The newest release that the table of a library knows."""
        return self._tables[library].newest

    def check(self, m: Machine, name: str, at: Call) -> None:
        """A library function of ``names`` is called."""
        node, args = at.node, at.args
        if not isinstance(node, ir.Call) or not _all_known(node, at):
            return
        table = self._tables[name.partition(".")[0]]
        problem = _without_lookup(name, at) or table.problem(name, len(args.values), args.kwargs)
        versions, scope = m.trackers[ApiUses].versions, at.frame.scope
        if problem is None or versions is None or m.program.is_project(name.partition(".")[0]):
            return
        if m.trackers[Products].chosen_at == len(m.path.stack):
            return
        if not versions.is_imported(scope, node.func) and (m.path.loops or not _is_partial(node, at)):
            return
        if not _is_for(versions, scope, name, table) or _has_history(versions, name, problem):
            return
        problem = _as_passed(name, problem)
        if not versions.guards.guard(scope, node.start, node.end):
            newest = table.of(name)[0]
            left = newest.by_name.difference(args.kwargs, newest.positional[: len(args.values)])
            m.bus.emit(CallMismatch(m.path.context(scope), node, name, problem, table.title, table.newest, left))

    def check_method(self, m: Machine, name: str, receiver: Value, at: Call) -> None:
        """A method of ``names`` is called, or an object of a library."""
        node, args = at.node, at.args
        if not isinstance(node, ir.Call) or not _all_known(node, at) or not _is_certain(receiver):
            return
        if isinstance(receiver, Array) and m.program.defines_member(name.rpartition(".")[2]):
            return
        if name.endswith(".__call__"):
            if m.path.loops and not isinstance(node.func, (ir.Attribute, ir.Call)):
                return
        elif not isinstance(node.func, ir.Attribute) or node.func.attr != name.rpartition(".")[2]:
            return
        table, scope, versions = self._tables[name.partition(".")[0]], at.frame.scope, m.trackers[ApiUses].versions
        problem = _without_lookup(name, at) or table.problem(name, len(args.values), args.kwargs)
        if problem is None or versions is None or m.trackers[Products].chosen_at == len(m.path.stack):
            return
        problem = _as_passed(name, problem)
        if problem.kind == "unknown" and name in _TAKE_FIELDS and isinstance(receiver, (Instance, ClassValue)):
            return
        if m.program.is_project(name.partition(".")[0]) or not _is_for(versions, scope, name, table):
            return
        if not _has_history(versions, name, problem) and not versions.guards.guard(scope, node.start, node.end):
            newest = table.of(name)[0]
            left = newest.by_name.difference(args.kwargs, newest.positional[: len(args.values)])
            m.bus.emit(CallMismatch(m.path.context(scope), node, name, problem, table.title, table.newest, left))

    def is_set_somewhere(self, m: Machine, attribute: str) -> bool:
        """Some code of the project assigns to an attribute of that name, or names it in a text, as for ``hasattr``."""
        if attribute not in self._set_somewhere:
            sets = re.compile(
                rf"\.{attribute}\b[^\n()=]{{0,80}}(?<![=!<>])=(?!=)|[\"']{attribute}[\"']|^ +{attribute}\b ?[:=]|\bsetattr\(",
                re.MULTILINE,
            )
            self._set_somewhere[attribute] = any(sets.search(scope.text) for scope in m.program.by_name.values())
        return self._set_somewhere[attribute]

    def members(self, cls: str) -> Mapping[str, bool] | None:
        """The attributes of the objects of a class of a library, and whether each may be a method."""
        table = self._tables.get(cls.partition(".")[0])
        return table.members(cls) if table is not None else None

    def knows(self, m: Machine, scope: ModuleScope, cls: str) -> str:
        """The title of the library of a class, if its table is for the project."""
        table, versions = self._tables[cls.partition(".")[0]], m.trackers[ApiUses].versions
        if versions is None or m.program.is_project(cls.partition(".")[0]):
            return ""
        return table.title if _is_for(versions, scope, cls, table) else ""


HAVE_MEMBERS = frozenset({Array, ExternalInstance, ExternalMethod, Instance, TupleValue, UnionValue})
"""The values whose attributes may be known."""
_PASSED = {"flax.training.train_state.TrainState.create": frozenset({"opt_state", "step"})}
"""Arguments that a method passes on by itself, beside those that it is given."""
_TAKE_FIELDS = frozenset(
    f"flax.training.train_state.TrainState.{name}" for name in ("apply_gradients", "create", "replace")
)
"""Methods that take the fields of a class of the project as well."""
_LOOKED_UP = {"flax.training.train_state.TrainState.create": "params"}
"""An argument in which the function looks for a name (``"…" in params``). Flax does so since 0.7.5."""
_LOOKUPS = ("__contains__", "__iter__", "__getitem__")
"""Methods of which ``in`` needs one."""
_PLAIN_BASES = frozenset({"flax.struct.PyTreeNode", "equinox.Module", "builtins.object", "typing.Generic", "abc.ABC"})
"""Bases that have none of them."""
_MODULES = frozenset({"flax.linen.Module", "flax.nnx.Module", "equinox.Module"})
"""Bases of modules, whose own attributes the tables name."""
_UNCLEAR = frozenset({"metaclass", "altered", "enum", "namedtuple"})
_LIKE = {"optax.GradientTransformation": ("optax.GradientTransformationExtraArgs", "optax.MultiSteps")}
"""Classes whose objects may stand where the tables name a class."""
_OF_MAPPINGS = frozenset({"items", "keys", "values", "get", "pop", "update", "replace"})
"""Of an array that passes for a tree, they say that it is one."""
_METHOD = "method"
"""Stands for the class of a method, which has no attributes of its own."""


def _as_passed(name: str, problem: Problem) -> Problem:
    """An argument that the method passes on by itself is a problem of its own kind."""
    own = _PASSED.get(name, frozenset()).intersection(problem.names)
    return Problem("own", tuple(sorted(own))) if own and problem.kind == "unknown" else problem


def _without_lookup(name: str, at: Call) -> Problem | None:
    """An object of the project is passed in which nothing can be looked for, and the function does so."""
    value = at.args.kwargs.get(_LOOKED_UP.get(name, ""))
    if not isinstance(value, Instance) or not value.exact:
        return None
    cls = value.cls
    is_plain = "frozen" in cls.traits or not _PLAIN_BASES.isdisjoint(cls.external_bases)
    if not is_plain or cls.has_unknown_base or cls.traits & _UNCLEAR or not _PLAIN_BASES.issuperset(cls.external_bases):
        return None
    if any(find_in_class(cls, method) is not None for method in _LOOKUPS):
        return None
    return Problem("no-lookup", (cls.node.name, _LOOKED_UP[name]))


def may_lack(base: Value, attribute: str) -> bool:
    """Something is known of the attributes of the value, or the attribute says what the value is."""
    return type(base) in HAVE_MEMBERS or (attribute == _SPLIT and isinstance(base, Opaque))


def _check_split(m: Machine, frame: Frame, node: ir.Attribute, *, called: bool) -> None:
    """``x.split(2, axis=-1)`` of a value that is not known: neither a string nor an array of PyTorch takes an ``axis``."""
    signatures, text = m.trackers[CallSignatures], frame.scope.text
    if not called or not _WITH_AXIS.match(text, node.end) or m.program.defines_member(node.attr):
        return
    if not _OTHER_ARRAYS.search(text) and (title := signatures.knows(m, frame.scope, "jax.Array")):
        m.bus.emit(MissingMember(m.path.context(frame.scope), node, "jax.Array", title, True, False, guess=True))


_SPLIT = "split"
_WITH_AXIS = re.compile(r"\s{0,9}\([^(),=]{1,80},\s{0,9}axis\s{0,9}=")
"""One argument before it: a module's function takes the array first."""
_OTHER_ARRAYS = re.compile(r"\bimport (?:mlx|xarray|torch|tensorflow|cupy|dask|pandas|mxnet|paddle)")


def check_member(m: Machine, frame: Frame, node: ir.Attribute, base: Value, *, called: bool) -> None:
    """An attribute of an object is read. called: and called."""
    signatures = m.trackers[CallSignatures]
    if not signatures.names or node.attr.startswith("_") or node.attr in _OF_MAPPINGS:
        return
    if isinstance(base, (Instance, Opaque)):
        if isinstance(base, Opaque) and signatures.previews:
            _check_split(m, frame, node, called=called)
        elif isinstance(base, Instance) and signatures.previews:
            _check_own_member(m, frame, node, base)
        return
    members = [v for v in base.members if v is not NONE] if isinstance(base, UnionValue) else [base]
    exists = [_has(signatures, value, node.attr, called=called) for value in members]
    if None in exists or not exists:
        return
    cls = _class_of(members[0])
    if cls == "jax.Array" and m.program.defines_member(node.attr):
        return  # it may be an object of that class
    title = "JAX" if cls == _METHOD else signatures.knows(m, frame.scope, cls)
    if not title:
        return
    context, equivalent = m.path.context(frame.scope), f"jax.numpy.{node.attr}" in signatures.names
    m.bus.emit(MissingMember(context, node, cls, title, equivalent, exists[0] is True))


def _check_own_member(m: Machine, frame: Frame, node: ir.Attribute, base: Instance) -> None:
    """An attribute of a module of the project, whose class is known with all of its bases: ``model.parameters()``."""
    cls, signatures = base.cls, m.trackers[CallSignatures]
    modules = _MODULES.intersection(cls.external_bases)
    if len(modules) != 1 or not base.exact or cls.has_unknown_base or cls.traits & _UNCLEAR or node.attr in base.slots:
        return
    if not (_MODULES | _PLAIN_BASES).issuperset(cls.external_bases) or _is_of_self(node.value):
        return
    (library,) = modules
    members = signatures.members(library)
    if members is None or node.attr in members or any(f.name == node.attr for f in cls.fields):
        return
    if any(find_in_class(cls, name) is not None for name in (node.attr, "__getattr__", "__getattribute__")):
        return
    title = signatures.knows(m, frame.scope, library)
    if title and not signatures.is_set_somewhere(m, node.attr):
        context = m.path.context(frame.scope)
        m.bus.emit(MissingMember(context, node, library, title, False, False, owner=cls.node.name))


def _is_of_self(node: ir.Expr) -> bool:
    return isinstance(node, ir.Name) and node.id in ("self", "cls")


def check_called(m: Machine, func: Array | TupleValue, at: Call) -> None:
    """An array or a tuple is called. One that a transform returned is told of elsewhere (``products``)."""
    signatures, products, cls = m.trackers[CallSignatures], m.trackers[Products], _class_of(func)
    if not isinstance(at.node, ir.Call) or not cls or not signatures.names or signatures.members(cls) is None:
        return
    if products.chosen_at == len(m.path.stack) or id(func) in products.made or _is_leaf(func, at.node):
        return
    if title := signatures.knows(m, at.frame.scope, cls):
        problem, newest = Problem("uncallable"), signatures.newest(cls.partition(".")[0])
        context = m.path.context(at.frame.scope)
        m.bus.emit(CallMismatch(context, at.node, cls, problem, title, newest, frozenset()))


def _is_leaf(func: Array | TupleValue, node: ir.Call) -> bool:
    """An attribute of a traced pytree passes for an array, but it may be a method: ``rngs.noise()`` of ``flax.nnx.Rngs``."""
    is_traced = isinstance(func, Array) and func.level > MAYBE and func.recipe is None
    return is_traced and isinstance(node.func, ir.Attribute)


def _has(signatures: CallSignatures, value: Value, attr: str, *, called: bool) -> bool | None:
    """None if the attribute may be there, and may be called if the code does so. Else whether it is there."""
    cls = _class_of(value)
    if not cls:
        return None
    if cls == _METHOD:
        return False
    if isinstance(value, ExternalInstance) and attr in value.slots:
        return None  # the code has set it
    for name in (cls, *_LIKE.get(cls, ())):
        members = signatures.members(name)
        if members is None or members.get(attr, False):
            return None
        if attr in members:  # no method
            return True if called and isinstance(value, Array) else None
    return False


def _class_of(value: Value) -> str:
    """The class of a library that an object surely is of; empty if there is none."""
    if isinstance(value, Array):  # a sequence of Haiku's keys passes for one key
        return "" if value.declared or value.dtype == "key" or not _is_of_arrays(value) else "jax.Array"
    if isinstance(value, ExternalInstance):
        return value.cls if value.exact else ""
    if isinstance(value, ExternalMethod):
        return _METHOD
    return value.cls.name if isinstance(value, TupleValue) and isinstance(value.cls, External) else ""


_DEEPEST = 6


def _is_of_arrays(value: Array, depth: int = _DEEPEST) -> bool:
    """No operator has met anything unknown, whose class may define the operator: ``x * unit`` may be no array."""
    recipe = value.recipe
    if recipe is None or recipe.name.isidentifier():
        return True
    if depth == 0:
        return False
    return all(
        _is_of_arrays(operand, depth - 1) if isinstance(operand, Array) else isinstance(operand, _PLAIN)
        for operand in recipe.operands
    )


_PLAIN = (Const, Static, HostArray)
"""What an operator makes an array of, together with an array."""


def _is_certain(receiver: Value) -> bool:
    """The object that a method belongs to is surely of the class that the method is of, or of one of the project."""
    return isinstance(receiver, (Instance, ClassValue)) or bool(_class_of(receiver))


def _all_known(node: ir.Call, at: Call) -> bool:
    """What the call passes is what the program writes, with what a ``partial`` has bound before. Else something calls the
    function on its own account, as ``map`` does."""
    args = at.args
    if args.star is not None or args.double_star is not None or args.unknown_rest or at.decorating:
        return False
    if any(argument.star for argument in node.args):
        return False
    written = {argument.keyword for argument in node.args if argument.keyword is not None}
    by_position = sum(argument.keyword is None for argument in node.args)
    return written <= args.kwargs.keys() and by_position <= len(args.values)


def _is_partial(node: ir.Call, at: Call) -> bool:
    """A ``partial`` has bound arguments before the call passes its own."""
    return len(at.args.values) + len(at.args.kwargs) > len(node.args)


def _is_for(versions: Versions, scope: ModuleScope, name: str, table: Signatures) -> bool:
    """The project supports a release that the table knows."""
    library = name.partition(".")[0]
    return versions.is_wanted(scope) and versions.supports_some(scope, library, table.oldest, table.newest)


def _has_history(versions: Versions, name: str, problem: Problem) -> bool:
    """Another rule says what became of the argument."""
    history = versions.histories.of(name)
    if history is None:
        return False
    told = {*history.needed(name), *(a for a in problem.names if history.change(f"{name}({a}=)") is not None)}
    return bool(told.intersection(problem.names)) or history.change(f"{name}()") is not None
