"""Modules of Flax linen that Flax refuses to make or to call.

Vocabulary
----------
submodule   a module that a method of another module makes. Flax lets ``setup`` and methods decorated with ``nn.compact`` make
            them, and what these call on the same object; else it raises AssignSubModuleError.
frozen      a layer that normalizes by stored statistics and so does not compute new ones.
merged      an argument that the constructor or the call has to give, such as ``deterministic`` of ``nn.Dropout``; if neither
            does, Flax raises ValueError.

This was run on Flax 0.12.8.

Limitations: submodules that functions make which are not methods; methods with other decorators; lifted transforms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.knowledge.call_signatures import Problem
from flake8_jax.semantics.domain.classes import mro_of
from flake8_jax.semantics.domain.values import Const, ExternalInstance, Instance, Value
from flake8_jax.semantics.events.events import CallMismatch
from flake8_jax.semantics.events.facts import STATISTICS_COMPUTED, STATISTICS_FROZEN
from flake8_jax.semantics.events.refused import StraySubmodule
from flake8_jax.semantics.trackers.call_signatures import CallSignatures
from flake8_jax.semantics.trackers.products import Products
from flake8_jax.semantics.trackers.versions import ApiUses

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.arguments import Arguments, Call
    from flake8_jax.semantics.domain.scopes import Frame
    from flake8_jax.semantics.domain.values import ClassValue
    from flake8_jax.semantics.machine.core import Machine

_MODULE = "flax.linen.Module"
_NORM, _STORED = "flax.linen.BatchNorm", "use_running_average"
_MERGED = {
    "flax.linen.Dropout": ("deterministic", ""),
    "flax.linen.BatchNorm": ("use_running_average", ""),
    "flax.linen.MultiHeadAttention": ("deterministic", "dropout_rate"),
    "flax.linen.MultiHeadDotProductAttention": ("deterministic", "dropout_rate"),
    "flax.linen.SelfAttention": ("deterministic", "dropout_rate"),
}
"""By class: the argument, and the field that has to be a number above zero for it to matter."""


def check_submodule(m: Machine, frame: Frame, node: Any, made: str | ClassValue, args: Arguments) -> None:
    """A library class, or a class of the project, is called."""
    if not m.bus.wants(StraySubmodule) or not m.path.stack or not isinstance(node, ir.Call):
        return
    if isinstance(made, str):
        is_module = made.startswith("flax.linen.") and m.program.knowledge.is_subclass(made, _MODULE)
    else:
        is_module = _is_linen(m, made)
    if not is_module or "parent" in args.kwargs or args.star is not None or args.double_star is not None:
        return
    receiver = m.path.stack[-1].receiver
    if not isinstance(receiver, Instance) or not _is_linen(m, receiver.cls):
        return
    methods = [link.fn for link in m.path.stack if link.receiver is receiver]
    outermost = methods[0]
    if outermost is None or outermost.name != "__call__":
        return
    found = [_definition(receiver.cls, fn) for fn in methods if fn is not None and fn.name != "setup"]
    if len(found) < len(methods) or any(definition is None or definition.decorators for definition in found):
        return
    if found[0] is not None and m.path.stack[-1].fn is not None and _is_in(frame.scope.tree, found[0]):
        m.bus.emit(StraySubmodule(m.path.context(frame.scope), node, found[0], receiver.cls.node.name))


def _is_linen(m: Machine, cls: ClassValue) -> bool:
    if cls.has_unknown_base or "altered" in cls.traits or any(owner.node.decorators for owner in mro_of(cls)):
        return False
    return any(m.program.knowledge.is_subclass(base, _MODULE) for base in cls.external_bases)


def _definition(cls: ClassValue, fn: ir.Function) -> ir.FunctionDef | None:
    """The statement of a class body that defines the method."""
    for owner in mro_of(cls):
        for statement in owner.node.body:
            if isinstance(statement, ir.FunctionDef) and statement.function is fn:
                return statement
    return None


def _is_in(tree: ir.Module, definition: ir.FunctionDef) -> bool:
    """The definition stands in a class of this file."""
    return any(node is definition for statement in tree.body for node in walk(statement))


def track_statistics(m: Machine, func: ExternalInstance, at: Call) -> None:
    """An object of a library class is called: does a batch normalization of a model compute new statistics?"""
    if func.cls != _NORM:
        return
    outer = next(
        (link for link in m.path.stack if isinstance(link.receiver, Instance) and _is_linen(m, link.receiver.cls)), None
    )
    if outer is None or not isinstance(outer.node, ir.Call):
        return
    own = at.args.kwargs.get(_STORED, at.args.values[1] if len(at.args.values) > 1 else func.slots.get(_STORED))
    is_frozen = isinstance(own, Const) and own.value is True
    m.bus.record_fact(STATISTICS_FROZEN if is_frozen else STATISTICS_COMPUTED, outer.scope, outer.node.start)


def check_merged(m: Machine, func: ExternalInstance, at: Call) -> None:
    """An object of a library class is called."""
    known = _MERGED.get(func.cls)
    versions, signatures = m.trackers[ApiUses].versions, m.trackers[CallSignatures]
    if known is None or not signatures.names or versions is None or not isinstance(at.node, ir.Call):
        return
    if m.trackers[Products].chosen_at == len(m.path.stack):
        return  # one of several layers: what chose it may have chosen the arguments
    name, field = known
    fact, args = m.program.knowledge.method(func.cls, "__call__"), at.args
    if fact is None or args.star is not None or args.double_star is not None or args.unknown_rest:
        return
    place = fact.params.index(name)
    by_position = args.values[place] if place < len(args.values) and "*" not in fact.params[:place] else None
    if not all(_is_none(value) for value in (func.slots.get(name), by_position, args.kwargs.get(name))):
        return
    if (field and not _is_positive(func.slots.get(field))) or not versions.is_wanted(at.frame.scope):
        return
    context = m.path.context(at.frame.scope)
    problem = Problem("unset", (name,))
    m.bus.emit(CallMismatch(context, at.node, func.cls, problem, "Flax", signatures.newest("flax"), frozenset()))


def _is_none(value: Any) -> bool:
    """There is no value, or it surely is None."""
    return value is None or (isinstance(value, Const) and value.value is None)


def _is_positive(value: Value | None) -> bool:
    return isinstance(value, Const) and isinstance(value.value, float) and value.value > 0
