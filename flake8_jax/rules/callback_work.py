"""JAX521: see the page of ``callback_work``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._wording import spelled
from flake8_jax.semantics.domain.code import all_statements, below, last_name, nodes_around, path_of
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    Const,
    External,
    FunctionValue,
    PartialValue,
    Static,
    Value,
)
from flake8_jax.semantics.events.events import LibraryCall

_FIRST = {"jax.debug.callback": 1, "jax.experimental.io_callback": 2, "jax.pure_callback": 2}
"""Functions that call back, and the position of the first argument that they hand over."""
_COMPUTING = ("jax.numpy", "jax.lax", "jax.nn", "jax.random", "jax.scipy")
_REDUCING = frozenset({"all", "any", "argmax", "argmin", "max", "mean", "min", "std", "sum", "var"})
_OF_HOST = frozenset({"shape", "ndim", "size", "dtype", "item", "tolist", "items", "keys", "values", "get"})
_ASKING = frozenset({"is", "is not", "in", "not in"})
_STATEMENTS: tuple[Any, ...] = get_args(ir.Stmt)
_CHOOSING = frozenset({"cond", "switch", "when"})


@rule("JAX521", "info", only=Subscription(where=frozenset({"eager", "loop", "staged"})))
def callback_work(event: LibraryCall) -> list[Report] | None:
    """Compiled code calls a Python function back that computes with JAX, or that mostly does nothing.

    The rule is on only with `--preview`. It looks at the functions that `jax.debug.callback`, `io_callback` and
    `jax.pure_callback` get, and reports two mistakes:

    - The function computes with its arguments while they are JAX arrays, as in `info["returns"][info["done"]]`,
      `step % 100 == 0` or `jnp.mean(loss)`. The finding is at the first such expression of the function.
    - The function acts only if a test of its arguments is true (`if step % 100 == 0: …`). The finding is at the callback.

    ## Why is this bad?

    The arguments of the Python function are JAX arrays. Each operation on them is dispatched to the device by itself, while
    the compiled program waits for the function or still runs. This is slow, and it can deadlock if the device has no free
    thread. JAX forbids it for `pure_callback`. Convert the arguments with NumPy first: `x = np.asarray(x)`, or
    `info = jax.tree.map(np.asarray, info)` for a dict.

    A callback costs a copy of its arguments to the host and a call of Python, in each step of a `scan` or of a training
    loop. If the function mostly does nothing, test the condition in the compiled code: `jax.lax.cond` runs the callback only
    in the steps that need it.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def report(info):
        returns = info["returns"][info["done"]]  # expect: callback-work
        print(returns)


    @jax.jit
    def step(x):
        jax.debug.callback(report, {"returns": x, "done": x > 0})
        return x + 1


    def demonstrate():
        seen = []
        jax.jit(lambda x: jax.debug.callback(seen.append, x))(jnp.ones(2))
        jax.effects_barrier()
        assert isinstance(seen[0], jax.Array)
    ```

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    def log(step, loss):
        if np.asarray(step) % 100 == 0:
            print(step, loss)


    def body(w, step):
        loss = jnp.sin(w)
        jax.debug.callback(log, step, loss)  # expect: callback-work
        return w - 0.1 * loss, loss


    @jax.jit
    def train(w):
        return jax.lax.scan(body, w, jnp.arange(1000))


    def demonstrate():
        calls = []
        jax.lax.fori_loop(0, 1000, lambda i, x: (jax.debug.callback(calls.append, i), x)[1], 0.0)
        jax.effects_barrier()
        assert len(calls) == 1000
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    def report(info):
        info = jax.tree.map(np.asarray, info)
        print(info["returns"][info["done"]])


    def log(step, loss):
        print(step, loss)


    def body(w, step):
        loss = jnp.sin(w)
        jax.lax.cond(step % 100 == 0, lambda: jax.debug.callback(log, step, loss), lambda: None)
        return w - 0.1 * loss, loss
    ```

    ## Not reported

    jaxlint does not report operations on what NumPy, `float` or `.item()` has made of an argument, and a callback inside
    `jax.lax.cond` or `jax.lax.switch`. It does not report a function in another file than the callback.

    ```python
    import jax
    import numpy as np


    def log(name, x):
        x = np.asarray(x)
        print(name, x.mean(), x[x > 0], float(x[0]) * 2)


    @jax.jit
    def step(x):
        jax.debug.callback(log, "x", x)
        return x + 1
    ```

    ## Limitations

    The rule does not see operations in functions that the called function calls.

    ## Fix safety

    No fix. NumPy and JAX differ in dtypes and in what an index out of bounds does.

    ## How it is verified

    jaxlint cannot confirm the finding, because the time that a callback takes depends on the machine, and a program
    deadlocks only sometimes.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX205 (`print-in-staged`), JAX206 (`sync-in-loop`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/external-callbacks.html>
    """
    context = event.context
    if event.name not in _FIRST or not event.args or not event.nodes or is_test(context):
        return None
    function = _function_of(event.args[0])
    if function is None or function.scope is not context.scope:
        return None
    given = _handed_over(event, function)
    reports = [*_computing(event, function, given), *_idle(event, function, given)]
    return reports or None


def _function_of(value: Value) -> FunctionValue | None:
    while isinstance(value, (BoundMethod, PartialValue)):
        value = value.func
    return value if isinstance(value, FunctionValue) and not value.altered else None


def _handed_over(event: LibraryCall, function: FunctionValue) -> set[str]:
    """The parameters of the function that get arrays of the compiled code."""
    names = [p.name for p in function.fn.params if p.kind in ("posonly", "positional")]
    named = {name for name, value in event.kwargs.items() if name in {p.name for p in function.fn.params}}
    callback, skipped = event.args[0], 0
    while isinstance(callback, (BoundMethod, PartialValue)):
        skipped += 1 if isinstance(callback, BoundMethod) else len(callback.args)
        callback = callback.func
    values = event.args[_FIRST[event.name] :]
    known = {
        name for name, value in zip(names[skipped:], values, strict=False) if not isinstance(value, (Const, Static))
    }
    return known | named


def _computing(event: LibraryCall, function: FunctionValue, given: set[str]) -> Iterator[Report]:
    """The first operation of the function on an array of the device."""
    taint, scope = set(given), function.scope
    for statement in all_statements(function.fn.body):
        own = _own_parts(statement)
        found = next((node for part in own for node in _within(part) if _is_operation(node, taint, scope)), None)
        if found is not None:
            name, caller = function.fn.name, spelled(event.context, event.at, event.name)
            owner = f"`{name}`" if not function.fn.is_lambda else "The function"
            problem = f"{owner} runs the JAX operation {quote(event.context, found)} inside `{caller}`"
            advice = "convert the arguments with np.asarray first"
            yield Report(found, f"{problem}, which is slow and can deadlock; {advice}", preview=True)
            return
        if isinstance(statement, ir.Assign):
            bound = {n.id for target in statement.targets for n in _within(target) if isinstance(n, ir.Name)}
            taint = taint | bound if _is_device(statement.value, taint, scope) else taint - bound


def _idle(event: LibraryCall, function: FunctionValue, given: set[str]) -> Iterator[Report]:
    """All that the function does depends on a test of its arguments."""
    acting = [s for s in function.fn.body if not isinstance(s, (ir.Assign, ir.Pass)) and not _is_docstring(s)]
    tests = [s for s in acting if isinstance(s, ir.If) and not s.orelse and not given.isdisjoint(_names(s.test))]
    if not acting or len(tests) < len(acting) or function.fn.is_lambda or _is_chosen(event):
        return
    name, test = function.fn.name, quote(event.context, tests[0].test)
    problem = f"The callback runs in every step, but `{name}` only acts if {test}"
    yield Report(event.at, f"{problem}; test that in the compiled code and call back under jax.lax.cond", preview=True)


def _is_chosen(event: LibraryCall) -> bool:
    """``cond`` or ``switch`` decides whether the callback runs."""
    scope, inner = event.context.scope, event.context.inner
    around = nodes_around(scope.tree.body, event.at.start, event.at.end)
    if any(isinstance(node, ir.Call) and last_name(node.func) in _CHOOSING for node in around):
        return True
    calls = (
        n for s in scope.tree.body for n in _within(s) if isinstance(n, ir.Call) and last_name(n.func) in _CHOOSING
    )
    return inner is not None and any(inner.name in _names(argument.value) for call in calls for argument in call.args)


def _own_parts(statement: Any) -> list[Any]:
    """What a statement computes itself, without the statements inside of it."""
    return [part for part in below(statement) if not isinstance(part, _STATEMENTS)]


def _within(node: Any) -> Iterator[Any]:
    """The nodes of an expression, outermost first, without inner functions."""
    if isinstance(node, ir.Node):
        yield node
    if isinstance(node, (ir.Lambda, ir.FunctionDef)):
        return
    for part in below(node):
        yield from _within(part)


def _names(node: Any) -> set[str]:
    return {part.id for part in _within(node) if isinstance(part, ir.Name)}


def _is_docstring(statement: ir.Stmt) -> bool:
    return isinstance(statement, ir.ExprStmt) and isinstance(statement.value, ir.Constant)


def _is_operation(node: Any, taint: set[str], scope: ModuleScope) -> bool:
    """The expression makes JAX compute something of what it was given."""
    if isinstance(node, ir.BinOp):
        return _is_device(node.left, taint, scope) or _is_device(node.right, taint, scope)
    if isinstance(node, ir.Compare):
        compared = any(_is_device(part, taint, scope) for part in (node.left, *node.comparators))
        return compared and _ASKING.isdisjoint(node.ops)
    if isinstance(node, ir.Subscript):
        is_mask = isinstance(node.index, ir.Tuple) or _is_device(node.index, taint, scope)
        return is_mask and _is_device(node.value, taint, scope)
    if not isinstance(node, ir.Call):
        return False
    if (
        isinstance(node.func, ir.Attribute)
        and node.func.attr in _REDUCING
        and _is_device(node.func.value, taint, scope)
    ):
        return True
    return _is_of_jax(node.func, scope) and any(_is_device(a.value, taint, scope) for a in node.args)


def _is_device(node: Any, taint: set[str], scope: ModuleScope) -> bool:
    """The expression is an array of the device, or holds some: a parameter, a part of one, or a result of JAX."""
    if isinstance(node, ir.Name):
        return node.id in taint
    if isinstance(node, ir.Attribute):
        return node.attr not in _OF_HOST and _is_device(node.value, taint, scope)
    if isinstance(node, ir.Subscript):
        return _is_device(node.value, taint, scope)
    return isinstance(node, (ir.BinOp, ir.Compare, ir.Call)) and _is_operation(node, taint, scope)


def _is_of_jax(func: ir.Expr, scope: ModuleScope) -> bool:
    """``jnp.mean``."""
    root, _, rest = path_of(func).partition(".")
    value = scope.slots.get(root)
    name = (
        f"{value.name}.{rest}"
        if isinstance(value, External) and rest
        else value.name
        if isinstance(value, External)
        else ""
    )
    return name.startswith(_COMPUTING)
