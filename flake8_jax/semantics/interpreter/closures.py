"""What a function closes over, and what the way to a call has taught of it.

Vocabulary
----------
free names  those that a function reads but does not bind.
captured    their values in enclosing functions; globals are not among them.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import names_read
from flake8_jax.semantics.domain.conditions import normal_condition
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import Condition, FunctionValue, Instance, Opaque, TupleValue, Value
from flake8_jax.semantics.machine.core import Machine


def free_names(m: Machine, fn: ir.Function) -> tuple[str, ...]:
    """Names that a function reads but does not bind: its possible captures."""
    found = m.program.free_names.get(id(fn))
    if found is None:
        local = set(fn.local_names)
        found = tuple(sorted(n for n in names_read(fn) if n not in local))
        m.program.free_names[id(fn)] = found
    return found


def captured_values(m: Machine, func: FunctionValue) -> dict[str, Value]:
    """What a function closes over, from enclosing functions (not globals)."""
    if func.closure is None:
        return {}
    captures: dict[str, Value] = {}
    for name in free_names(m, func.fn):
        frame: Frame | None = func.closure
        while frame is not None:
            value = frame.slots.get(name)
            if value is not None:
                captures[name] = value
                break
            frame = frame.parent
    return captures


def held_of_captures(m: Machine, func: FunctionValue) -> frozenset[Condition]:
    """What the way to this call has taught of the values that the function closes over."""
    captured = {id(v) for v in captured_values(m, func).values()}
    return frozenset(c for c in m.path.conditions if not captured.isdisjoint(mentioned(m, c)))


MAX_CONDITIONS = 16
"""So many of the latest tests may bear on the arguments of a call."""
MAX_SLOTS = 60
"""An object of more attributes says nothing of what the way to a call has taught of them."""


def held_of_arguments(m: Machine, bound: dict[str, Value]) -> frozenset[Condition]:
    """What the way to this call has taught of its arguments, of their attributes (``self.parallel``), and of the attributes of
    those (``self.setup.parallel``)."""
    tested = [(c, mentioned(m, c)) for c in m.path.conditions[-MAX_CONDITIONS:]]
    wanted = frozenset().union(*[values for _, values in tested])
    found: set[int] = set()
    layer: list[Any] = list(bound.values())
    for depth in range(3):
        inner: list[Any] = []
        for value in layer:
            if id(value) in wanted:
                found.add(id(value))
            if depth < 2 and isinstance(value, Instance) and len(value.slots) <= MAX_SLOTS:
                inner += value.slots.values()
        layer = inner
    return frozenset(c for c, values in tested if not found.isdisjoint(values)) if found else frozenset()


def mentioned(m: Machine, condition: Condition) -> set[int]:
    """Identities of the values that a condition is about, and of those that they are parts of."""
    found: set[int] = set()
    for part in normal_condition(condition)[0][1:]:
        if type(part) is tuple and part[0] == "v":
            value = m.path.identified.get(part[1])
            while value is not None:
                found.add(id(value))
                value = value.parent if isinstance(value, Opaque) else None
    return found


MAX_FOUND = 30
"""So many functions are looked for behind one that is called."""


def functions_behind(m: Machine, func: Value) -> list[FunctionValue]:
    """Functions that a call of ``func`` may call: what it closes over, also in tuples, and what those close over."""
    found: list[FunctionValue] = []
    todo: list[Value] = [func]
    while todo and len(found) < MAX_FOUND:
        value = todo.pop(0)
        if isinstance(value, FunctionValue) and value not in found:
            found.append(value)
            todo += captured_values(m, value).values()
        elif isinstance(value, TupleValue) and len(value.elts) <= MAX_FOUND:
            todo += value.elts
    return found
