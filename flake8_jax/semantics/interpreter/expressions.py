"""Evaluating expressions to abstract values.

Vocabulary
----------
display     ``[a, b]``, ``{k: v}``: an expression that lists what a container holds.
no events   evaluated for its value only: rules get no events (another evaluation emits them).

Limitations: overloaded operators of library classes, string contents beyond constants, sets' elements.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.code import names_read, path_of
from flake8_jax.semantics.domain.dispatching import dispatched_in
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.sizes import is_large
from flake8_jax.semantics.domain.values import (
    CONCRETE,
    GRAD,
    MAYBE,
    NONE,
    Array,
    AtValue,
    BuiltinValue,
    ClassValue,
    Const,
    Deferred,
    DictValue,
    External,
    HostArray,
    Instance,
    ListValue,
    Opaque,
    SliceValue,
    Static,
    StaticKind,
    Tree,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    contents_of,
    holds_tracer,
    known_elements,
)
from flake8_jax.semantics.events.events import (
    ARITHMETIC,
    Discarded,
    ElementAccess,
    Formatting,
    Indexing,
    IndexMode,
    MaskedIndex,
    Slicing,
)
from flake8_jax.semantics.events.refused import ListIndex
from flake8_jax.semantics.interpreter.assignment import emit_hash
from flake8_jax.semantics.interpreter.attributes import field_of_tree
from flake8_jax.semantics.interpreter.calls import call_evaluated
from flake8_jax.semantics.interpreter.comprehensions import evaluate_comprehension
from flake8_jax.semantics.interpreter.conditions import (
    evaluate_bool_op,
    evaluate_compare,
    evaluate_if_exp,
    evaluate_unary_op,
    track_rare,
)
from flake8_jax.semantics.interpreter.containers import item_of
from flake8_jax.semantics.interpreter.definitions import is_context, make_function
from flake8_jax.semantics.interpreter.iteration import iterated
from flake8_jax.semantics.interpreter.operations import (
    _late_global,
    call_method,
    callee_name,
    emit_name,
    load_attribute,
    possible_here,
)
from flake8_jax.semantics.interpreter.operators import binary, is_awaited
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import EVALUATE, evaluate, lookup
from flake8_jax.semantics.trackers.buffers import read
from flake8_jax.semantics.trackers.call_signatures import check_member, may_lack
from flake8_jax.semantics.trackers.captures import MAY_BE_LOADED, track_loaded, track_part, track_variable
from flake8_jax.semantics.trackers.checkpoint_paths import CheckpointPaths
from flake8_jax.semantics.trackers.clocks import DeviceWork, track_yield
from flake8_jax.semantics.trackers.eager_steps import EagerSteps, track_element
from flake8_jax.semantics.trackers.effects import may_wait, track_shown
from flake8_jax.semantics.trackers.freshness import bound_in, track_needs_python
from flake8_jax.semantics.trackers.globals import MAY_CHANGE, emit_global, is_global
from flake8_jax.semantics.trackers.growth import track_index_trick
from flake8_jax.semantics.trackers.host_buffers import HostBuffers, track_waited
from flake8_jax.semantics.trackers.loaders import vary_part
from flake8_jax.semantics.trackers.named_steps import track_named_step
from flake8_jax.semantics.trackers.presumption import Presuming, track_operands
from flake8_jax.semantics.trackers.readiness import track_read
from flake8_jax.semantics.trackers.reads import Reads
from flake8_jax.semantics.trackers.staleness import track_enclosed
from flake8_jax.semantics.trackers.steps import TrainingSteps, keep, look_back
from flake8_jax.semantics.trackers.unrolling import track_pick, track_variety
from flake8_jax.semantics.trackers.variation import Variations, shape_of, vary_binary, vary_item, vary_text
from flake8_jax.semantics.trackers.versions import ApiUses, track_member, track_method

# --- names ----------------------------------------------------------------------------------------

_ARRAYS = frozenset({HostArray, Array})


def _name(m: Machine, frame: Frame, node: ir.Name) -> Value:
    name = node.id
    value: Value | None = frame.slots.get(name)
    if value is None or type(value) is Deferred or (frame.fn is not None and name in frame.fn.global_names):
        value = lookup(m, frame, name)
        if value is None:
            value = m.program.builtin(name) or _late_global(m, frame, name)
    kind, mode = type(value), m.path.mode
    if mode.staged and kind in MAY_CHANGE and name in frame.scope.slots and is_global(frame, name):
        emit_global(m, frame, node, frame.scope, name, value)
    if mode.jitted:
        if kind in _ARRAYS and is_large(value):
            track_variable(m, frame, node, name, value)
        elif kind in MAY_BE_LOADED and name not in frame.slots:
            track_loaded(m, frame, node, value)
        if frame.parent is not None and name not in frame.slots:
            track_enclosed(m, frame, node, value)
    if kind is External:
        _emit_wanted(m, frame, node, value, name)  # type: ignore[arg-type]
    elif (kind is UnionValue and value.conditions is not None) or (kind is Static and value.choices):  # type: ignore[attr-defined]
        return possible_here(m, value)  # type: ignore[arg-type]
    return value


def _emit_wanted(m: Machine, frame: Frame, node: ir.Name | ir.Attribute, value: External, name: str) -> None:
    """Tell the rules that a library object is named, if one asks for that."""
    if m.bus.names_wanted is None or value.name in m.bus.names_wanted:
        emit_name(m, frame, node, value, name)


# --- literals ---------------------------------------------------------------------------------------


_KINDS_OF_LITERALS: dict[str, StaticKind] = {
    "big": "int",
    "complex": "complex",
    "bytes": "str",
    "ellipsis": "ellipsis",
}
"""Literals whose value is not kept."""


def _constant(m: Machine, frame: Frame, node: ir.Constant) -> Value:
    kind = node.kind
    if kind == "none":
        return NONE
    static = _KINDS_OF_LITERALS.get(kind)
    return Static(static) if static is not None else Const(node.value)


def elements_of(m: Machine, frame: Frame, nodes: list[ir.Expr]) -> tuple[list[Value], Value | None]:
    """Values of the elements of a display; the second is what a ``*x`` of unknown length adds."""
    values: list[Value] = []
    rest: Value | None = None
    for node in nodes:
        if isinstance(node, ir.Starred):
            starred = evaluate(m, frame, node.value)
            known = known_elements(starred)
            if known is not None and len(known) <= 32:
                values += known
            else:
                make_element = iterated(m, frame, node.value, starred, "star", None)
                rest = joining.join_all(
                    [v for v in (rest, make_element() if make_element else None) if v is not None] or [Unknown("star")]
                )
        else:
            values.append(evaluate(m, frame, node))
    return values, rest


def _tuple(m: Machine, frame: Frame, node: ir.Tuple) -> Value:
    values, rest = elements_of(m, frame, node.elts)
    if rest is not None:
        return ListValue(None, joining.join_all([*values, rest]), is_tuple=True, made_in=m.path.mode.trace)
    return TupleValue(tuple(values))


def _list(m: Machine, frame: Frame, node: ir.List) -> Value:
    values, rest = elements_of(m, frame, node.elts)
    if rest is not None or len(values) > 64:
        return ListValue(None, joining.join_all([*values, *([rest] if rest else [])]), made_in=m.path.mode.trace)
    return ListValue(tuple(values), made_in=m.path.mode.trace)


def _set(m: Machine, frame: Frame, node: ir.Set) -> Value:
    for element in node.elts:
        value = evaluate(m, frame, element.value if isinstance(element, ir.Starred) else element)
        emit_hash(m, frame, element, value, "set-element")
    return Static("set", made_in=m.path.mode.trace)


def _dict(m: Machine, frame: Frame, node: ir.Dict) -> Value:
    items: dict[Any, Value] = {}
    rest: Value | None = None
    is_open = False
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(m, frame, value_node)
        if key_node is None:
            if isinstance(value, DictValue):
                items.update(value.items())
                is_open = is_open or value.slots["open"]
                more = value.slots.get("*")
            else:
                is_open, more = True, Tree(value.level) if isinstance(value, Tree) else Unknown("**")
            if more is not None:
                rest = more if rest is None else joining.join(rest, more)
            continue
        key = evaluate(m, frame, key_node)
        emit_hash(m, frame, key_node, key, "dict-key")
        if isinstance(key, Const) and len(items) < 64:
            items[key.value] = value
        else:
            is_open = True
            rest = value if rest is None else joining.join(rest, value)
    return DictValue(items, rest, is_open=is_open, made_in=m.path.mode.trace)


def _joined_str(m: Machine, frame: Frame, node: ir.JoinedStr) -> Value:
    held: list[Value] = []
    for part in node.values:
        if isinstance(part, ir.FormattedValue):
            made = _formatted(m, frame, part)
            if isinstance(made, Static):
                held += made.holds
    text = Static("str", tuple(held))
    m.trackers[CheckpointPaths].track_text(node, text)
    if m.trackers[Variations].known:
        vary_text(m, held, text)
    if m.path.loops and m.path.mode.compiled and any(type(value) is Static for value in held):
        track_variety(m)
    return text


def shown(m: Machine, frame: Frame, node: Any, value: Instance, method: str = "__str__") -> Value:
    """The string that an instance is shown as: what its own method returns, where it has one."""
    for name in dict.fromkeys((method, "__repr__")):
        text = call_method(m, frame, node, value, name)
        if text is not None:
            return text if isinstance(text, (Const, Static)) else Static("str")
    return Static("str")


_FORMATTED = (Array, Opaque, UnionValue)


def _formatted(m: Machine, frame: Frame, node: ir.FormattedValue) -> Value:
    value = evaluate(m, frame, node.value)
    for nested in node.spec or ():
        evaluate(m, frame, nested)
    if m.trackers[DeviceWork].timing:
        track_shown(m, frame, node, value)
    if m.trackers[Reads].matter and isinstance(value, Array):
        read(m, frame, node.value, value)
    if m.trackers[HostBuffers].given and may_wait(value):
        track_waited(m)
    has_spec = bool(node.spec_text) or (node.spec is not None and node.spec_text is None)
    if has_spec and not node.conversion and isinstance(value, _FORMATTED) and m.bus.wants(Formatting):
        if holds_tracer(value, GRAD) or is_awaited(m, value):
            m.bus.emit(Formatting(m.path.context(frame.scope), node.value, value, "f-string", node.spec_text or ""))
            track_read(m, (value,))
        return Static("str")
    if isinstance(value, Instance) and not has_spec:
        value = shown(m, frame, node, value, "__repr__" if node.conversion in ("r", "a") else "__str__")
    return Static("str", _held(value))


def _held(value: Value) -> tuple[Value, ...]:
    """The values that a string shows in which this one stands."""
    parts = contents_of(value) if isinstance(value, (TupleValue, ListValue, DictValue)) else None
    traced = any(holds_tracer(part, GRAD) for part in parts or ())
    shows = traced or isinstance(value, (Array, Tree, Static)) or dispatched_in(value)
    return (value, *getattr(value, "holds", ())) if shows else ()


# --- attributes and items -----------------------------------------------------------------------------


def _attribute(m: Machine, frame: Frame, node: ir.Attribute) -> Value:
    value = _member(m, frame, node)
    if type(value) is BuiltinValue and isinstance(value.bound, Tree):
        return field_of_tree(m, value.bound, node.attr) or value
    return value


def _callee(m: Machine, frame: Frame, node: ir.Expr) -> Value:
    """What a call expression calls: of ``stats.mean()`` a method, where ``stats.mean`` by itself may be a field."""
    if not isinstance(node, ir.Attribute):
        return evaluate(m, frame, node)
    value = _member(m, frame, node, called=True)
    if m.observer is not None:
        m.observer(frame, node, value)
    return value


def _member(m: Machine, frame: Frame, node: ir.Attribute, *, called: bool = False) -> Value:
    base = EVALUATE[type(node.value)](m, frame, node.value)
    if m.observer is not None:
        m.observer(frame, node.value, base)
    versions = m.trackers[ApiUses].versions
    if type(base) is External and versions is not None:
        if versions.histories.never_had(base.name, node.attr):
            versions.missing_attribute(m, frame.scope, node, base)
        elif node.attr in m.trackers[ApiUses].parts:
            versions.attribute(m, frame.scope, node, base)
    track_member(m, frame.scope, node, base)
    if may_lack(base, node.attr):
        check_member(m, frame, node, base, called=called)
    if m.trackers[TrainingSteps].taken is not None:
        look_back(m, base)
    value = load_attribute(m, frame, node, base, node.attr)
    if type(value) is External:
        _emit_wanted(m, frame, node, value, node.attr)
    if m.path.mode.jitted and is_large(value):
        track_part(m, frame, node, base, value)
    if (type(value) is UnionValue and value.conditions is not None) or (type(value) is Static and value.choices):
        return possible_here(m, value)
    return value


def _slice(m: Machine, frame: Frame, node: ir.Slice) -> Value:
    return SliceValue(*[None if n is None else evaluate(m, frame, n) for n in (node.lower, node.upper, node.step)])


def _subscript(m: Machine, frame: Frame, node: ir.Subscript) -> Value:
    base = evaluate(m, frame, node.value)
    outer, m.path.index = m.path.index, node.index
    index = evaluate(m, frame, node.index)
    m.path.index = outer
    presumption = m.trackers[Presuming].presumption
    if presumption is not None:
        presumption.use_leaf(base)
    item = load_item(m, frame, node, base, index)
    if m.path.mode.jitted and is_large(item):
        track_part(m, frame, node, base, item)
    if (type(item) is UnionValue and item.conditions is not None) or (type(item) is Static and item.choices):
        return possible_here(m, item)
    return item


def _index_pairs(node: ir.Expr, index: Value) -> list[tuple[ir.Expr, Value]]:
    """Each component of an index with its IR."""
    if isinstance(node, ir.Tuple) and isinstance(index, TupleValue) and len(node.elts) == len(index.elts):
        return list(zip(node.elts, index.elts, strict=True))
    return [(node, index)]


def _emit_index(m: Machine, frame: Frame, node: ir.Subscript, base: Value, index: Value, mode: IndexMode) -> None:
    context = None
    for part_node, part in _index_pairs(node.index, index):
        if isinstance(part, SliceValue) and m.bus.wants(Slicing):
            least = GRAD if m.path.mode.staged else CONCRETE
            if any(v is not None and holds_tracer(v, least) for v in (part.lower, part.upper, part.step)):
                context = context or m.path.context(frame.scope)
                if not isinstance(part_node, ir.Slice):  # ``slice(i, j)``: its bounds stand elsewhere
                    part_node = ir.Slice(part_node.start, part_node.end, None, None, None)
                m.bus.emit(Slicing(context, node, part_node, base, part.lower, part.upper, part.step, mode))
    if m.bus.wants(Indexing) and any(
        isinstance(v, (Array, Tree, UnionValue)) and holds_tracer(v, GRAD) for _, v in _index_pairs(node.index, index)
    ):
        m.bus.emit(Indexing(context or m.path.context(frame.scope), node, base, index, mode))
    if isinstance(index, ListValue) and isinstance(base, Array):
        _emit_list_index(m, frame, node, base, index)
    if mode == "load":
        _emit_host_indexing(m, frame, node, base, index)
        _emit_element(m, frame, node, base, index)
    if mode == "load" and m.trackers[EagerSteps].wanted:
        track_element(m, frame, node, base, index)


def _emit_element(m: Machine, frame: Frame, node: ir.Subscript, base: Value, index: Value) -> None:
    """``x[i]`` of an array that the loop around goes through by a number of Python."""
    if not m.path.loops or m.path.mode.staged or type(base) is not Array or not m.bus.wants(ElementAccess):
        return
    if base.level > MAYBE or base.declared or base.dtype == "key" or base.ndim == 0:
        return
    loop, root = m.path.loops[-1], path_of(node.value).partition(".")[0]
    is_around = loop.scope is frame.scope and loop.node.start <= node.start and node.end <= loop.node.end
    if not root or not is_around or not isinstance(loop.node, _LOOPS):
        return
    bound = bound_in(loop)
    if not bound & names_read(node.index) or any(path.partition(".")[0] == root for path in bound):
        return
    if all(type(part) in (Static, Const) for _, part in _index_pairs(node.index, index)):
        m.bus.emit(ElementAccess(m.path.context(frame.scope), node, base, loop.node))


_LOOPS = (ir.For, ir.While, ir.Comprehension)


def _emit_list_index(m: Machine, frame: Frame, node: ir.Subscript, base: Array, index: ListValue) -> None:
    """``x[[0, 2]]``: unlike NumPy, JAX takes no list for an index, whatever the list holds."""
    declared = base.declared or index.is_tuple or index.slots.get("declared")
    if not declared and not frame.scope.converts_lists and m.bus.wants(ListIndex):
        m.bus.emit(ListIndex(m.path.context(frame.scope), node, index))


def _emit_host_indexing(m: Machine, frame: Frame, node: ir.Subscript, base: Value, index: Value) -> None:
    """A loop indexes an array of NumPy, by an array of JAX for sure: NumPy copies the index to the host. Or it indexes an
    array of JAX by an array."""
    if not m.path.loops or m.path.mode.staged or not isinstance(base, (HostArray, Array)) or base.declared:
        return
    if isinstance(base, Array) and (base.level >= GRAD or base.dtype == "key"):
        return
    kinds = (Array,) if isinstance(base, HostArray) else (Array, HostArray)
    pairs = _index_pairs(node.index, index)
    if any(isinstance(v, kinds) and _is_given(v) and not _is_old(frame, n) for n, v in pairs):
        if m.bus.wants(Indexing):
            m.bus.emit(Indexing(m.path.context(frame.scope), node, base, index, "load"))


def _is_given(index: Array | HostArray) -> bool:
    return not index.declared and (isinstance(index, HostArray) or index.level < GRAD)


def _is_old(frame: Frame, node: ir.Expr) -> bool:
    """An index may be the same in all iterations: the copy is made once. It is none of the loop's, nor of a function's that
    the loop calls."""
    if isinstance(node, ir.Attribute):
        return True
    if not isinstance(node, ir.Name):
        return False
    if frame.loops:
        return node.id not in bound_in(frame.loops[-1])
    return frame.fn is None or node.id not in frame.fn.local_names


_INDEX_TRICKS = frozenset({"r_", "c_", "mgrid", "ogrid", "s_", "index_exp"})
"""Objects of NumPy and of JAX that make something of their index: ``jnp.r_[:3]``."""


def load_item(
    m: Machine, frame: Frame, node: ir.Subscript, base: Value, index: Value, *, without_events: bool = False
) -> Value:
    """``base[index]``."""
    if not without_events and all(isinstance(b, DictValue) for b in joining.members_of(base)):
        emit_hash(m, frame, node.index, index, "dict-lookup")
        without_events = True
    if isinstance(base, External) and base.name.rpartition(".")[2] in _INDEX_TRICKS:
        made = Unknown("index trick")
        if m.path.loops:
            track_index_trick(m, frame, node, base.name, index, made)
        return made
    if isinstance(base, UnionValue):
        reports = len(m.bus.emissions)
        items = [load_item(m, frame, node, b, index, without_events=without_events) for b in base.members]
        if joining.are_unlike(base.members):
            m.bus.drop_errors(reports)  # an array or several: whatever the index is, it is right for one of them
        return joining.union_of(items)
    if not without_events and not isinstance(base, (AtValue, ClassValue, External)):
        _emit_index(m, frame, node, base, index, "load")
    _read_item(m, frame, node, base, index)
    if isinstance(base, AtValue):
        if not without_events:
            _emit_index(m, frame, node, base.base, index, "at")
        return AtValue(base.base, index)
    if isinstance(base, Instance):
        found = call_method(m, frame, node, base, "__getitem__", index)
        return found if found is not None else Unknown("item")
    taken = item_of(m, base, index)
    if type(index) is Array and index.dtype == "bool" and m.path.mode.staged and not m.path.mode.ambient:
        track_needs_python(m)  # grad allows a mask as index, and jit does not
    if m.trackers[Variations].known:
        vary_item(m, base, index, taken)
        vary_part(m, base, taken)
        _emit_mask(m, frame, node, base, taken)
    if type(index) is Static and m.path.loops and m.path.mode.compiled:
        track_pick(m, base, index, taken)
    return taken


def _emit_mask(m: Machine, frame: Frame, node: ir.Subscript, base: Value, taken: Value) -> None:
    """Tell the rules of a mask that selects another number of elements in each iteration of an eager loop."""
    variation = shape_of(m, taken)
    if variation is None or not variation.masked or not m.bus.wants(MaskedIndex) or m.path.mode.staged:
        return
    if isinstance(base, Array) and base.level < GRAD and not any(loop.picked or loop.leaving for loop in m.path.loops):
        m.bus.emit(MaskedIndex(m.path.context(frame.scope), node, node.index, variation))


def _read_item(m: Machine, frame: Frame, node: ir.Subscript, base: Value, index: Value) -> None:
    """An item is taken: of an array that is a read, of other containers where a slice copies them."""
    if m.trackers[TrainingSteps].taken is not None:
        look_back(m, base)
    if m.trackers[Reads].matter and (isinstance(base, (Array, AtValue)) or isinstance(index, SliceValue)):
        read(m, frame, node, base.base if isinstance(base, AtValue) else base, depth=0)


# --- the rest -------------------------------------------------------------------------------------------


def _bin_op(m: Machine, frame: Frame, node: ir.BinOp) -> Value:
    # A chain ``a + b + c + …`` leans to the left: walk down it without recursion.
    chain: list[ir.BinOp] = [node]
    while isinstance(chain[-1].left, ir.BinOp):
        chain.append(chain[-1].left)
    value = evaluate(m, frame, chain[-1].left)
    for link in reversed(chain):
        left, right = value, evaluate(m, frame, link.right)
        if m.trackers[Presuming].presumption is not None:
            track_operands(m, left, link.op, right)
        value = binary(m, frame, link, left, link.op, right)
        if m.trackers[Variations].known:
            vary_binary(m, link.op, left, right, value)
    return value


def _lambda(m: Machine, frame: Frame, node: ir.Lambda) -> Value:
    return make_function(m, frame, node.function)


def _call(m: Machine, frame: Frame, node: ir.Call) -> Value:
    func = _callee(m, frame, node.func)
    if isinstance(node.func, ir.Attribute) and m.trackers[ApiUses].versions is not None:
        track_method(m, frame.scope, node, func)
    value = call_evaluated(m, frame, node, func)
    if type(value) is Unknown:
        track_named_step(m, frame.scope, node, func, value)
    if m.path.loops and type(value) is Static:
        track_rare(m, frame, node, value)
    return value


def evaluate_statement(m: Machine, frame: Frame, node: ir.ExprStmt) -> None:
    """An expression whose value is dropped."""
    if isinstance(node.value, ir.Constant):
        return
    if frame.scope.cells and frame.slots is frame.scope.slots and _is_shown(frame.scope, node):
        evaluate(m, frame, node.value)
        return
    name = ""
    if isinstance(node.value, ir.Call):
        func = _callee(m, frame, node.value.func)
        value = call_evaluated(m, frame, node.value, func, used=frame.attempts > 0)
        name = callee_name(func)
        if isinstance(func, BuiltinValue) and isinstance(func.bound, AtValue):
            name = ".at" + name if is_array_update(m, func.bound) else ""
    else:
        value = evaluate(m, frame, node.value)
        name = ARITHMETIC if isinstance(node.value, ir.BinOp) and frame.fn is not None else ""
    if name and not frame.attempts and (m.bus.discards_wanted is None or name in m.bus.discards_wanted):
        is_pure, is_manager = name == ARITHMETIC or _is_pure(m, name), is_context(m, value)
        m.bus.emit(Discarded(m.path.context(frame.scope), node.value, value, name, is_pure, is_manager))


def _is_shown(scope: ModuleScope, node: ir.ExprStmt) -> bool:
    """The last expression of a notebook's cell is its output, unless a semicolon hides it."""
    cell, body = scope.cell_of(node.start), scope.tree.body
    end = scope.cells[cell] if cell < len(scope.cells) else len(scope.text)
    behind = bisect_left(body, end, key=lambda statement: statement.start)
    is_last = behind > 0 and body[behind - 1] is node
    return is_last and not scope.text[node.end : node.end + 20].lstrip(" \t").startswith(";")


def _is_pure(m: Machine, name: str) -> bool:
    """A library function without side effects, as the tables say."""
    known = m.program.knowledge.entry(name)
    owner = m.program.knowledge.entry(name.rpartition(".")[0])
    of_module = owner.function is None and owner.transform is None
    fact = known.function if known.function is not None else known.namespace if of_module else None
    return known.transform is None and fact is not None and fact.pure


def is_array_update(m: Machine, update: AtValue) -> bool:
    """``x.at[i].set`` of what surely is an array."""
    base = update.base
    if isinstance(base, UnionValue):
        return all(is_array_update(m, AtValue(member)) for member in base.members)
    return isinstance(base, Array) or (isinstance(base, Tree) and not m.program.pytree_with("at"))


def _starred(m: Machine, frame: Frame, node: ir.Starred) -> Value:
    return evaluate(m, frame, node.value)


def _await(m: Machine, frame: Frame, node: ir.Await) -> Value:
    if m.trackers[DeviceWork].timing:
        track_yield(m, frame, node)
    return evaluate(m, frame, node.value)


def _yield(m: Machine, frame: Frame, node: ir.Yield) -> Value:
    frame.yields.append(evaluate(m, frame, node.value) if node.value is not None else NONE)
    if m.trackers[DeviceWork].timing:
        track_yield(m, frame, node)
    if m.trackers[TrainingSteps].taken is not None:
        keep(m, frame.yields[-1])
    return Unknown("sent")


def _yield_from(m: Machine, frame: Frame, node: ir.YieldFrom) -> Value:
    value = evaluate(m, frame, node.value)
    if m.trackers[DeviceWork].timing:
        track_yield(m, frame, node)
    make_element = iterated(m, frame, node.value, value, "for", None)
    if make_element is not None:
        frame.yields.append(make_element())
    return Unknown("sent")


def _named(m: Machine, frame: Frame, node: ir.NamedExpr) -> Value:
    value = evaluate(m, frame, node.value)
    owner = frame
    while owner.fn is None and owner.owner is None and owner.parent is not None:
        owner = owner.parent
    m.journal.write(owner.slots, node.target.id, value)
    return value


EVALUATE.update(
    {
        ir.Constant: _constant,
        ir.Name: _name,
        ir.Attribute: _attribute,
        ir.Call: _call,
        ir.Subscript: _subscript,
        ir.Slice: _slice,
        ir.BinOp: _bin_op,
        ir.UnaryOp: evaluate_unary_op,
        ir.BoolOp: evaluate_bool_op,
        ir.Compare: evaluate_compare,
        ir.IfExp: evaluate_if_exp,
        ir.Lambda: _lambda,
        ir.Tuple: _tuple,
        ir.List: _list,
        ir.Set: _set,
        ir.Dict: _dict,
        ir.Starred: _starred,
        ir.Comprehension: evaluate_comprehension,
        ir.FormattedValue: _formatted,
        ir.JoinedStr: _joined_str,
        ir.Await: _await,
        ir.Yield: _yield,
        ir.YieldFrom: _yield_from,
        ir.NamedExpr: _named,
    }
)
