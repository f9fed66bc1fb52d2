"""JAX418: see the page of ``repeated_transfer``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Candidate, Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._merging import earliest_of_each_function
from flake8_jax.rules._units import Unit, calls_in, imports_jax, library_name, own_expressions, units_of
from flake8_jax.rules._variation import arguments, runs_compiled
from flake8_jax.rules._wording import callee, listed
from flake8_jax.semantics.domain.code import all_statements, bound_paths, nodes_around, path_of
from flake8_jax.semantics.domain.joining import members_of
from flake8_jax.semantics.domain.values import DictValue, HostArray, ListValue, TupleValue, Value
from flake8_jax.semantics.events.events import Context, FileRead, TransformCall

_FEW = 20
"""So many copies are not worth a thought."""
_SHOWN = 2
_DEPTH = 3
_CHANGING = frozenset({"copyto", "fill", "partition", "permute", "put", "readinto", "resize", "shuffle", "sort"})
"""Functions and methods that write into an array."""


def first_of_each_function(candidates: list[Candidate]) -> list[Candidate]:
    """Return the first report of each function: the array that a step gets is often what the evaluation gets as well."""
    read = [candidate for candidate in candidates if isinstance(candidate.event, FileRead)]
    return [*earliest_of_each_function([c for c in candidates if not isinstance(c.event, FileRead)]), *read]


@rule("JAX418", "info", settle=first_of_each_function)
def repeated_transfer(event: TransformCall | FileRead) -> Report | list[Report] | None:
    """A loop passes the same NumPy array to a compiled function in every iteration.

    The rule is on only with `--preview`, because the code gives the right result, and the copies take little time for
    small arrays.

    It also reports a loader that copies a part of the same data to the device in each call or epoch
    (`jnp.array(self.batches[i])`), as in the second example. If all data fit on the device, copy them once.

    ## Why is this bad?

    A compiled function computes on the device. If it gets a NumPy array, JAX copies the array to the device in each
    call. A float64 array is also converted to float32 each time, unless 64-bit mode is on. Copy the array once, before
    the loop: `x = jnp.asarray(x)`, or `x = jax.device_put(x, sharding)` for several devices. For an array of 80 MB on a
    CPU with JAX 0.10.2, a call took 0.1 s longer with the NumPy array than with the JAX array. On a GPU, the array
    also has to cross the bus between host and device.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def train_step(w, x, y):
        return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)


    def fit(w, steps):
        x, y = np.ones((1000, 3)), np.ones(1000)
        for _ in range(steps):
            w = train_step(w, x, y)  # expect: repeated-transfer
        return w


    def demonstrate():
        w = jnp.ones(3)
        with jax.transfer_guard_host_to_device("disallow"):
            try:
                fit(w, 2)
            except Exception as refused:
                assert "host-to-device transfer" in str(refused)
            else:
                raise AssertionError("no copy")
    ```

    ```python
    import jax.numpy as jnp
    import numpy as np


    class Loader:
        def __init__(self, x, size):
            self.batches = np.array_split(x, len(x) // size)

        def get(self, i):
            return jnp.array(self.batches[i])  # expect: repeated-transfer


    def demonstrate():
        assert Loader(np.ones(8), 4).get(0).shape == (4,)
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def train_step(w, x, y):
        return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)


    def fit(w, steps):
        x, y = jnp.asarray(np.ones((1000, 3))), jnp.asarray(np.ones(1000))
        for _ in range(steps):
            w = train_step(w, x, y)
        return w
    ```

    ## Not reported

    jaxlint does not report an array that changes in the loop, such as a batch, and numbers of NumPy such as
    `np.float32(0.1)`. It does not report a loop that is known to have at most 20 iterations, a call that only some
    iterations make (`if step % 100 == 0`), and a call in a loop over epochs.

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def train_step(w, x, rate):
        return w - rate * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)


    def fit(w, steps):
        x, test = np.ones((1000, 3)), np.ones((200, 3))
        rng = np.random.default_rng(0)
        for step in range(steps):
            rng.shuffle(x)
            w = train_step(w, x, np.float32(0.1))
            if step % 100 == 0:
                print(train_step(w, test, 0.0))
        return w
    ```

    ## Limitations

    The rule does not know how large the array is. It does not see arrays in objects, and a loop in another function
    than the call.

    ## Fix safety

    No fix. The rest of the code may need the NumPy array, for example to change its elements.

    ## How it is verified

    jaxlint cannot confirm the finding, because the time that a copy takes depends on the machine and on the size of the
    array.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX206 (`sync-in-loop`), JAX414 (`eager-step`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.device_put.html>
    """
    if isinstance(event, FileRead):
        return [*_batches_of_objects(event), *_batches_of_loops(event)]
    context = event.context
    if event.statics is None or not _repeats(context) or is_test(context) or not runs_compiled(event):
        return None
    around = list(nodes_around(context.scope.tree.body, event.at.start, event.at.end))
    loop = next((node for node in reversed(around) if isinstance(node, (ir.For, ir.While))), None)
    if loop is None:
        return None
    positions, names = event.statics
    passed = [(node, value) for where, value, node in arguments(event) if where not in positions and where not in names]
    changed = _changed(loop)
    copied = dict([pair for node, value in passed for pair in _copied(node, value, changed)])
    if not copied:
        return None
    several = len(copied) > 1 or any(copied.values())
    subject = (
        f"NumPy array{'s' if several else ''} {'in ' if any(copied.values()) else ''}{listed(list(copied)[:_SHOWN])}"
    )
    function, them = callee(context, event.at, "the compiled function"), "them" if several else "it"
    problem = f"Each iteration copies the {subject} to the device for {function}"
    how = "jnp.asarray" if not any(copied.values()) else "jax.device_put"
    how = "jax.device_put and a sharding" if event.name.endswith("pmap") else how
    return Report(event.at, f"{problem}; copy {them} once before the loop, with {how}", preview=True)


def _batches_of_objects(event: FileRead) -> list[Report]:
    """``jnp.array(self.batches[i])`` in a method, of data that no method changes."""
    scope = event.context.scope
    if is_test(event.context) or scope.is_test or not imports_jax(scope):
        return []
    found: list[Report] = []
    for unit in units_of(scope):
        if unit.owner is None or unit.function is None or not _HANDING_OUT.search(unit.function.name):
            continue
        changing = _changed_in_class(unit.owner)
        copies = [(call, base) for s in unit.statements for call, base in _copies(unit, s) if base.startswith("self.")]
        kept = [(call, base) for call, base in copies if base not in changing and _is_stored(unit, base)]
        if kept:
            call, base = kept[0]
            message = f"Each call of `{unit.function.name}` copies a part of `{base}` to the device again"
            found.append(
                Report(call, f"{message}; if it fits there, copy `{base}` once with jnp.asarray", preview=True)
            )
    return found


_HANDING_OUT = re.compile(r"next|^__(?:getitem|iter|call)__$|get|batch|item|sample|load|data")


def _is_stored(unit: Unit, path: str) -> bool:
    """A method stores it, and none of them makes an array of JAX of it."""
    assert unit.owner is not None
    bound = [
        s
        for method in unit.owner.body
        if isinstance(method, ir.FunctionDef)
        for s in all_statements(method.function.body)
        if isinstance(s, (ir.Assign, ir.AnnAssign)) and path in bound_paths(s)
    ]
    values = [s.value for s in bound if s.value is not None]
    made = [c for value in values for c in calls_in(value) if library_name(c.func, unit.scope).startswith("jax.")]
    return bool(values) and not made and not any(isinstance(value, (ir.List, ir.Dict)) for value in values)


def _changed_in_class(owner: ir.ClassDef) -> set[str]:
    """What a method writes elements of, or adds to."""
    found: set[str] = set()
    for node in walk(owner):
        if isinstance(node, (ir.Assign, ir.AugAssign)):
            targets = node.targets if isinstance(node, ir.Assign) else [node.target]
            found |= {path_of(target.value) for target in targets if isinstance(target, ir.Subscript)}
        elif isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
            if node.func.attr in _CHANGING | {"append", "extend", "add", "pop", "popleft", "appendleft", "insert"}:
                found |= {path_of(node.func.value), *(path_of(a.value) for a in node.args)}
    return found


def _batches_of_loops(event: FileRead) -> list[Report]:
    """``jnp.array(data[i * n : (i + 1) * n])`` in a loop in a loop, of data that the outer loop does not change."""
    scope = event.context.scope
    if is_test(event.context) or scope.is_test or not imports_jax(scope):
        return []
    found: list[Report] = []
    for unit in units_of(scope):
        bound = {path: s for s in unit.statements if isinstance(s, ir.Assign) for path in bound_paths(s)}
        for outer in unit.statements:
            if not isinstance(outer, (ir.For, ir.While)) or unit.loops_around(outer):
                continue
            changed = _changed(outer)
            inner = [s for s in all_statements(outer.body) if len(unit.loops_around(s)) > 1]
            for call, base in (pair for s in inner for pair in _copies(unit, s)):
                maker = bound.get(base)
                made = calls_in(maker.value) if maker is not None else ()
                if base in changed or any(library_name(c.func, scope).startswith("jax.") for c in made):
                    continue
                message = f"Each iteration of the outer loop copies the same parts of `{base}` to the device again"
                found.append(
                    Report(call, f"{message}; if it fits there, copy `{base}` once with jnp.asarray", preview=True)
                )
                break
    return found


def _copies(unit: Unit, statement: ir.Stmt) -> Iterator[tuple[ir.Call, str]]:
    """``jnp.array(x[rows])``, with the path of ``x``."""
    for call in (node for node in own_expressions(statement) if isinstance(node, ir.Call)):
        if library_name(call.func, unit.scope) not in ("jax.numpy.array", "jax.numpy.asarray", "jax.device_put"):
            continue
        value = call.args[0].value if call.args else None
        if isinstance(value, ir.Subscript) and not isinstance(value.index, ir.Constant) and path_of(value.value):
            yield call, path_of(value.value)


def _repeats(context: Context) -> bool:
    """Eager code in a loop of its own function, in nearly every iteration, and no epoch."""
    if context.staged or context.presumed or context.guarded or context.first or context.epoch or not context.loop:
        return False
    return not 0 < context.iterations <= _FEW


def _changed(loop: ir.For | ir.While) -> set[str]:
    """The variables and attributes that the loop binds, or whose elements it writes."""
    found = bound_paths(loop)
    for statement in loop.body:
        for node in walk(statement):
            if isinstance(node, ir.Call) and _last_name(node.func) in _CHANGING:
                held = node.func.value if isinstance(node.func, ir.Attribute) else None
                found |= {path_of(part) for part in (held, *(a.value for a in node.args)) if part is not None}
            elif isinstance(node, ir.Call):
                found |= {path_of(a.value) for a in node.args if a.keyword == "out"}
            elif isinstance(node, ir.ExprStmt) and isinstance(node.value, ir.Call):  # perhaps to fill them
                found |= {path_of(a.value) for a in node.value.args}
    return found


def _last_name(func: ir.Expr) -> str:
    return func.attr if isinstance(func, ir.Attribute) else func.id if isinstance(func, ir.Name) else ""


def _copied(node: Any, value: Value, changed: set[str]) -> Iterator[tuple[str, bool]]:
    """The names of the NumPy arrays in an argument that the loop does not change, and whether they are containers of such."""
    if isinstance(node, (ir.Tuple, ir.List)) and isinstance(value, (TupleValue, ListValue)):
        elements = value.elts if isinstance(value, TupleValue) else value.known() or ()
        for part, element in zip(node.elts, elements, strict=False):
            yield from _copied(part, element, changed)
        return
    base, key = node, ""
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Constant):
        base, key = node.value, f"[{node.index.value!r}]"
    parts = path_of(base).split(".")
    if parts[0] and changed.isdisjoint(".".join(parts[: i + 1]) for i in range(len(parts))) and _is_of_numpy(value):
        yield f"{path_of(base)}{key}", isinstance(value, (TupleValue, DictValue))


def _is_of_numpy(value: Value, depth: int = _DEPTH) -> bool:
    """An array of NumPy for sure, or a tuple or dict that holds one."""
    if isinstance(value, TupleValue) and depth:
        return any(_is_of_numpy(element, depth - 1) for element in value.elts)
    if isinstance(value, DictValue) and value.is_closed() and depth:
        return any(_is_of_numpy(item, depth - 1) for _, item in value.items())
    members = members_of(value)
    return all(isinstance(member, HostArray) and member.ndim != 0 and not member.declared for member in members)
