"""What calls of transformed functions gave, as far as it shows in how that is used."""

from __future__ import annotations

from typing import Any

import msgspec

from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.values import Array, DictValue, ListValue, Site, TupleValue, Value, known_elements
from flake8_jax.semantics.events.events import TransformMismatch
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import Tracker


class Products(Tracker):
    """made: products by the identity of their value. chosen_at: depth of the call stack at which one of several functions
    is called or transformed."""

    def __init__(self, m: Machine) -> None:
        self.made: dict[int, Product] = {}
        self.chosen_at = -1

    def enter(self) -> int:
        return self.chosen_at

    def leave(self, saved: int, *, finished: bool) -> None:
        if not finished:
            self.chosen_at = saved


class Product(msgspec.Struct, frozen=True, eq=False):
    """What a transform returned. form: what it is, in words; scalar: it is one number, so it cannot be taken apart."""

    value: Value
    name: str
    form: str
    scalar: bool = False


def emit_mismatch(
    m: Machine, scope: ModuleScope, node: Any, name: str, problem: str, applied: Site | None = None
) -> None:
    chosen_at = m.trackers[Products].chosen_at
    if chosen_at >= 0 and all(link.node is node for link in m.path.stack[chosen_at:]):
        return  # one of several functions, maybe transformed twice: what chose it may have chosen the arguments
    m.bus.emit(TransformMismatch(m.path.context(scope), node, name, problem, applied))


def short_name(name: str) -> str:
    return f"`{name.rpartition('.')[2]}`"


def keep_product(m: Machine, product: Product) -> None:
    m.trackers[Products].made[id(product.value)] = product


def check_unpacking(m: Machine, frame: Frame, node: Any, value: Value, count: int, star: int | None) -> bool:
    """A product is taken apart: does it have so many elements? Whether it may."""
    product = m.trackers[Products].made.get(id(value))
    if product is None or product.value is not value or node is None:
        return True
    least = count - 1 if star is not None else count
    wanted = f"at least {least}" if star is not None else str(count)
    known = _length(value)
    if product.scalar:
        problem = (
            f"the value that {short_name(product.name)} returns is a scalar here, which cannot be unpacked; "
            "with has_aux=True it is a pair"
        )
    elif known is not None and (known < least if star is not None else known != count):
        problem = f"{short_name(product.name)} returns {product.form}, but this unpacks {wanted} values"
    else:
        return True
    emit_mismatch(m, frame.scope, node, product.name, problem)
    return False


def _length(value: Value) -> int | None:
    if isinstance(value, DictValue):
        return len(dict(value.items())) if value.is_closed() else None
    if isinstance(value, Array):
        return value.length if value.dtype == "key" else None
    known = known_elements(value)
    return len(known) if known is not None else None


def check_callee(m: Machine, frame: Frame, node: Any, value: Value) -> None:
    """A product is called: only the functions in it can be."""
    product = m.trackers[Products].made.get(id(value))
    if product is None or product.value is not value or node is None:
        return
    if isinstance(value, (Array, TupleValue, DictValue, ListValue)):
        emit_mismatch(
            m,
            frame.scope,
            node,
            product.name,
            f"{short_name(product.name)} returns {product.form}, which is not a function",
        )
