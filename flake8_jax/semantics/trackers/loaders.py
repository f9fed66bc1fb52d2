"""Loaders that yield batches of one size and, last, what is left over: PyTorch's ``DataLoader`` without ``drop_last``.

Vocabulary
----------
loader      the value that the constructor gave, known by its label, which wrappers such as ``tqdm`` pass on.
batch       what the loader yields in one iteration of a loop, and every part of it: its leading axis is ragged (see
            ``variation``).

A class of the project that derives from a loader is one, too, if it calls the constructor of the loader by ``super()``; its
objects keep a mark among their attributes.

Limitations: an ``__iter__`` of such a class, samplers, batches that are taken by ``next``, other libraries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain.classes import find_in_class
from flake8_jax.semantics.domain.values import (
    BATCH,
    LOADER,
    NONE,
    Const,
    Instance,
    Opaque,
    TupleValue,
    Unknown,
    Value,
)
from flake8_jax.semantics.domain.varying import Variation
from flake8_jax.semantics.events.events import LibraryCall
from flake8_jax.semantics.trackers.variation import Variations, look_at_size, shape_of, vary

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.arguments import Call
    from flake8_jax.semantics.domain.stack import LoopState
    from flake8_jax.semantics.machine.core import Machine

_LOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})
_CHOOSING = ("drop_last", "sampler", "batch_sampler")
_SIZE_AT = 1
_WORKERS_AT = 5
_MAX_POSITIONS = 3
_KEEPING = frozenset({
    "numpy", "cpu", "cuda", "to", "detach", "float", "double", "half", "long", "int", "view", "reshape", "permute",
    "transpose", "squeeze", "unsqueeze", "flatten", "astype", "contiguous", "type", "copy", "clone", "pin_memory",
})  # fmt: skip
"""Methods of arrays and tensors that leave the leading axis as it is."""


def track_loader(m: Machine, at: Call, name: str, result: Value) -> None:
    """A library class was called: is the result a loader that keeps the last batch?"""
    if name in _LOADERS and isinstance(result, Unknown) and _keeps_all(at) and _has_batches(at):
        result.label = LOADER


def is_loader(name: str) -> bool:
    """A library class whose objects yield batches."""
    return name in _LOADERS


def track_inherited_loader(m: Machine, at: Call, cls: str, self_value: Value) -> None:
    """A class of the project calls the constructor of the loader that it derives from."""
    if cls not in _LOADERS or not isinstance(self_value, Instance):
        return
    _emit_made(m, at, cls)
    if _keeps_all(at) and _has_batches(at):
        m.journal.write(self_value.slots, LOADER, Unknown(LOADER))


def _emit_made(m: Machine, at: Call, cls: str) -> None:
    """Tell the rules of the call that makes an object of a derived class, as if it were a call of the library's class."""
    link = m.path.stack[-1] if m.path.stack else None
    if link is None or link.fn is None or link.fn.name != "__init__" or not isinstance(link.node, ir.Call):
        return
    rules = [rule for rule in m.bus.subscribers(LibraryCall) if not rule.arrays and rule.effects is None]
    args = at.args
    workers = args.kwargs.get("num_workers", args.values[_WORKERS_AT] if len(args.values) > _WORKERS_AT else None)
    given = {"num_workers": workers} if workers is not None else {}
    if args.double_star is None and args.star is None and rules:
        m.bus.emit(
            LibraryCall(
                context=m.path.context(link.scope), at=link.node, name=cls, args=(), kwargs=given, nodes=(),
                keyword_nodes=args.keyword_nodes, bound={}, bound_nodes={}, used=True, fact=None, namespace=None,
                formatted=(), fixed=False,
            ),
            rules,
        )  # fmt: skip


def is_inherited_loader(value: Instance) -> bool:
    """The object yields batches of which the last one is what is left over."""
    return LOADER in value.slots and find_in_class(value.cls, "__iter__") is None


def _keeps_all(at: Call) -> bool:
    """No option drops the last batch, or makes the batches."""
    values, kwargs = at.args.values, at.args.kwargs
    if at.args.star is not None or at.args.double_star is not None or len(values) > _MAX_POSITIONS:
        return False
    chosen = [kwargs[option] for option in _CHOOSING if option in kwargs]
    return all(isinstance(value, Const) and value.value in (None, False) for value in chosen)


def _has_batches(at: Call) -> bool:
    """The batches hold several rows, but not surely all of them."""
    values, kwargs = at.args.values, at.args.kwargs
    size = kwargs.get("batch_size", values[_SIZE_AT] if len(values) > _SIZE_AT else NONE)
    node = at.args.keyword_nodes.get("batch_size", at.args.nodes[_SIZE_AT] if len(at.args.nodes) > _SIZE_AT else None)
    one = isinstance(size, Const) and size.value in (None, 1)
    everything = isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id == "len"
    return not one and not everything


def track_batch(m: Machine, loop: LoopState, element: Value) -> None:
    """A loop got an element: a batch of a loader, or a tuple that holds one."""
    for part in element.elts if isinstance(element, TupleValue) else (element,):
        if isinstance(part, Unknown) and part.label == BATCH and not m.path.mode.staged:
            vary(m, part, Variation(loop, of_shape=True, ragged=True, batch=True))


def vary_part(m: Machine, batch: Value, part: Value) -> None:
    """``part`` may be a part of a batch, by a name or a number that is known."""
    if isinstance(part, Opaque) and part.parent is batch:
        vary_alike(m, batch, part)


def vary_alike(m: Machine, batch: Value, result: Value) -> None:
    """``result`` has the leading axes of what may be a batch."""
    variation = shape_of(m, batch)
    if variation is not None and variation.batch and isinstance(result, Opaque):
        vary(m, result, variation)


def vary_parts(m: Machine, batch: Value, parts: list[Value]) -> None:
    """A tuple was taken apart."""
    for part in parts if m.trackers[Variations].known else ():
        vary_part(m, batch, part)


def vary_by_method(m: Machine, func: Any, result: Value) -> None:
    """The method of an unknown object was called."""
    if isinstance(func, Unknown) and func.parent is not None:
        name = func.step.lstrip(".")
        if name in _KEEPING:
            vary_alike(m, func.parent, result)
        elif name == "size":
            look_at_size(m, func.parent)
