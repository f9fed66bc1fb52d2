"""Arguments of library calls that show a mistake by their values: floats in shapes, keys that were one array before."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.semantics.domain.arguments import Call
from flake8_jax.semantics.domain.values import Const, ListValue, Static, TupleValue, Value
from flake8_jax.semantics.events.arguments import FloatSize, JoinedKeys
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.application import DescribedCall

_SIZES = ("shape", "num", "N", "num_classes")
"""Parameters that take one int or several, and no float: not even `2.0`."""
_JOINING = frozenset({"jax.numpy.array", "jax.numpy.asarray", "jax.numpy.stack"})


def emit_float(m: Machine, app: DescribedCall) -> None:
    """Tell the rules of a float in a shape."""
    if not app.name.startswith(("jax.numpy.", "jax.random.", "jax.nn.")) or not m.bus.wants(FloatSize):
        return
    for name in _SIZES:
        value, node = app.bound.get(name), app.nodes.get(name)
        found = _float_in(value, node) if value is not None and node is not None else None
        if found is not None and isinstance(app.at.node, ir.Call):
            m.bus.emit(FloatSize(m.path.context(app.at.frame.scope), app.at.node, app.name, name, found))
            return


def emit_joined_keys(m: Machine, name: str, at: Call) -> None:
    """Tell the rules of keys that were one array before, and are joined again."""
    if name not in _JOINING or not at.args.values or not at.args.nodes:
        return
    value, node = at.args.values[0], at.args.nodes[0]
    apart = value.slots.get("apart") if isinstance(value, ListValue) else None
    if apart is None or node is None or not isinstance(value, ListValue) or value.slots.get("*") is not apart:
        return
    if isinstance(at.node, ir.Call) and m.bus.wants(JoinedKeys):
        m.bus.emit(JoinedKeys(m.path.context(at.frame.scope), at.node, name, node))


def _float_in(value: Value, node: ir.Expr) -> ir.Expr | None:
    """The part of the expression that surely is a Python float."""
    if isinstance(value, TupleValue):
        nodes: list[ir.Expr] = node.elts if isinstance(node, (ir.Tuple, ir.List)) else []
        written = nodes if len(nodes) == len(value.elts) else [node] * len(value.elts)
        found = (_float_in(element, part) for element, part in zip(value.elts, written, strict=True))
        return next((part for part in found if part is not None), None)
    if isinstance(value, Const):
        return node if type(value.value) is float else None
    divided = isinstance(node, ir.BinOp) and node.op == "/"
    return node if divided and isinstance(value, Static) and value.kind == "float" else None
