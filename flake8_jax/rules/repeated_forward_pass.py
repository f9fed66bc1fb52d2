"""JAX424: see the page of ``repeated_forward_pass``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._units import calls_in, library_name
from flake8_jax.semantics.domain.code import (
    bound_paths,
    is_always_evaluated,
    last_name,
    nodes_around,
    path_of,
    paths_read,
)
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import FunctionValue, TransformedValue, Value
from flake8_jax.semantics.events.events import Context, TransformCall

_GRADIENTS = frozenset({"jax.grad", "equinox.filter_grad"})
_KEEPING = frozenset({"jax.jit", "equinox.filter_jit"})
_CARRYING = {"jax.lax.scan": 0, "jax.lax.fori_loop": 1}
"""Loops of JAX, by the parameter of their body that holds the carry."""


@rule("JAX424", "info")
def repeated_forward_pass(event: TransformCall) -> Report | None:
    """A loop computes a gradient, and calls the differentiated function itself with the same arguments.

    The rule is on only with `--preview`, because the code gives the right result and only takes more time.

    ## Why is this bad?

    `jax.grad(loss)(params)` first computes `loss(params)`, the forward pass, but does not return its value. If a loop
    also calls `loss(params)`, the forward pass runs twice in each iteration. `jax.value_and_grad(loss)(params)` returns
    the value and the gradient of one forward pass.

    Some loops call `loss` with the updated parameters. The next iteration computes the gradient for the same
    parameters, and so runs the same forward pass again. With `jax.value_and_grad`, the loop gets each of these values
    one iteration later. In a `scan` of 30 steps through four layers, the second forward pass took a quarter of the time
    (JAX 0.10.2 on a CPU).

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def loss(params, x):
        return jnp.sum((jnp.tanh(x @ params) - 1.0) ** 2)


    def train(params, x):
        gradient = jax.jit(jax.grad(loss))
        value = jax.jit(loss)
        values = []
        for _ in range(100):
            grads = gradient(params, x)
            values.append(value(params, x))  # expect: repeated-forward-pass
            params = params - 0.1 * grads
        return params, values


    def demonstrate():
        params, x = jnp.ones(3), jnp.ones((4, 3))
        value, grads = jax.value_and_grad(loss)(params, x)
        assert jnp.allclose(value, loss(params, x))
        assert jnp.allclose(grads, jax.grad(loss)(params, x))
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def loss(params):
        return jnp.sum(jnp.tanh(params) ** 2)


    def descend(params, _):
        params = params - 0.1 * jax.grad(loss)(params)
        return params, loss(params)  # expect: repeated-forward-pass


    def minimize(params):
        return jax.lax.scan(descend, params, None, length=100)


    def demonstrate():
        assert minimize(jnp.ones(3))[1].shape == (100,)
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def loss(params):
        return jnp.sum(jnp.tanh(params) ** 2)


    def descend(params, _):
        value, grads = jax.value_and_grad(loss)(params)
        return params - 0.1 * grads, value


    def minimize(params):
        return jax.lax.scan(descend, params, None, length=100)
    ```

    ## Not reported

    jaxlint does not report a call in an `if` or in another loop, because it may run seldom. It does not report a call
    with other arguments, such as those of a validation set, or with parameters that the next iteration replaces. It
    does not report both calls with the same arguments in one compiled function, because XLA removes the second forward
    pass.

    ```python
    import jax
    import jax.numpy as jnp


    def loss(params, x):
        return jnp.sum((jnp.tanh(x @ params) - 1.0) ** 2)


    gradient, value = jax.jit(jax.grad(loss)), jax.jit(loss)


    @jax.jit
    def both(params, x):
        return jax.grad(loss)(params, x), loss(params, x)


    def train(params, batches, validation):
        for step, x in enumerate(batches):
            params = params - 0.1 * gradient(params, x)
            values = value(params, validation), value(params, x)
            if step % 100 == 0:
                print(value(params, x))
        return params, values
    ```

    ## Limitations

    The rule compares the arguments as the code spells them. It misses the calls if both are not in the same block of a
    loop, or in the body of a `scan` or `fori_loop`.

    ## Fix safety

    No fix. The value of the updated parameters is only known one iteration later.

    ## How it is verified

    jaxlint cannot confirm the finding, because a run does not show that two forward passes are the same.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX410 (`transform-in-loop`), JAX423 (`per-example-gradients`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.value_and_grad.html>
    """
    context, call = event.context, event.at
    if is_test(context) or context.presumed or not isinstance(call, ir.Call) or not _is_plain(call):
        return None
    loss = _differentiated(event)
    if loss is None:
        return None
    body = context.inner.body if context.inner is not None else context.scope.tree.body
    loop = _loop_around(body, call)
    if context.staged != (loop is None):
        return None
    block = loop.body if loop is not None else body
    first = _statement_of(block, call)
    if first is None:
        return None
    for second, same in _same_calls(context.scope, block, call, loss):
        if _is_repeated(context, loop, call, (first, second)):
            is_updated = bool(_read_by(call) & _bound_in(block[first:second]))
            return _report(context, same, call, "in the next iteration " if is_updated else "")
    return None


def _report(context: Context, same: ir.Call, call: ir.Call, when: str) -> Report:
    shown, gradient = quote(context, same, "the function"), quote(context, call, "its gradient")
    return Report(
        same,
        f"{shown} runs the forward pass again that {gradient} runs {when}for the same arguments; use jax.value_and_grad",
        preview=True,
    )


def _is_plain(call: ir.Call) -> bool:
    """The arguments are no ``*args``, and no calls, which may give something else each time."""
    return all(not a.star and not any(isinstance(n, ir.Call) for n in walk(a.value)) for a in call.args)


def _differentiated(event: TransformCall) -> FunctionValue | None:
    """The function whose gradient is called."""
    name, operand = event.name, event.operand
    while name in _KEEPING and isinstance(operand, TransformedValue):
        name, operand = operand.name, operand.operand
    operand = _without_jit(operand) if name in _GRADIENTS else operand
    return operand if name in _GRADIENTS and isinstance(operand, FunctionValue) else None


def _without_jit(value: Value) -> Value:
    while isinstance(value, TransformedValue) and value.name in _KEEPING:
        value = value.operand
    return value


def _loop_around(body: list[ir.Stmt], call: ir.Call) -> ir.For | ir.While | None:
    """The innermost loop of the function around a call."""
    found = None
    for node in nodes_around(body, call.start, call.end):
        if isinstance(node, (ir.FunctionDef, ir.ClassDef)):
            return None
        if isinstance(node, (ir.For, ir.While)):
            found = node
    return found


def _statement_of(block: list[ir.Stmt], call: ir.Call) -> int | None:
    """Where the statement of a block stands that always runs the call, itself and not in a block of its own."""
    for i, statement in enumerate(block):
        if statement.start <= call.start and call.end <= statement.end:
            return i if is_always_evaluated(statement, call) else None
    return None


def _same_calls(
    scope: ModuleScope, block: list[ir.Stmt], call: ir.Call, loss: FunctionValue
) -> list[tuple[int, ir.Call]]:
    """The calls of the function with the same arguments, as they are spelled, each with the place of its statement."""
    wanted = _spelled(call, scope)
    found = [
        (i, other)
        for i, statement in enumerate(block)
        for other in calls_in(statement)
        if other is not call and _spelled(other, scope) == wanted and is_always_evaluated(statement, other)
    ]
    names = _names_of(scope, loss) if found else set()
    return [(i, other) for i, other in found if path_of(other.func) in names]


def _names_of(scope: ModuleScope, loss: FunctionValue) -> set[str]:
    """What the file calls the function: its own name, and those of its compiled forms."""
    names = {loss.fn.name} if loss.fn.name.isidentifier() else set()
    for node in (n for statement in scope.tree.body for n in walk(statement)):
        if isinstance(node, ir.Assign) and isinstance(node.value, ir.Call) and node.value.args:
            if library_name(node.value.func, scope) in _KEEPING and last_name(node.value.args[0].value) in names:
                names |= {target.id for target in node.targets if isinstance(target, ir.Name)}
    return names | {name for name, value in scope.slots.items() if _without_jit(value) is loss}


def _spelled(call: ir.Call, scope: ModuleScope) -> list[str]:
    return ["".join(scope.text[a.start : a.end].split()) for a in call.args]


def _bound_in(block: list[ir.Stmt]) -> set[str]:
    return set().union(*[bound_paths(statement) for statement in block])


def _is_repeated(context: Context, loop: ir.For | ir.While | None, call: ir.Call, places: tuple[int, int]) -> bool:
    """Both calls get the same values: in one iteration, or the gradient gets them in the next one. loop: None in the body of a
    loop of JAX."""
    block = loop.body if loop is not None else context.inner.body if context.inner is not None else []
    read = _read_by(call)
    first, second = places
    between = block[min(places) : max(places)]
    if any(_calls_method_of(statement, read) for statement in between):
        return False
    if not read & _bound_in(between):
        return loop is not None
    if second <= first or read & _bound_in(block[second:]):
        return False
    before = read & _bound_in(block[:first])
    if loop is not None:
        return not before and not read & (bound_paths(loop) - _bound_in(block))
    carried = _carried(context)
    given = {parameter.name for parameter in context.inner.params} if context.inner is not None else set()
    return bool(carried) and before | read & _bound_in(between) | read & given <= carried


def _read_by(call: ir.Call) -> set[str]:
    """The variables and attributes in the arguments."""
    return set().union(*[paths_read(argument.value) for argument in call.args])


def _calls_method_of(statement: ir.Stmt, read: set[str]) -> bool:
    """A method of what the arguments read may change it."""
    functions = (call.func for call in calls_in(statement))
    return any(isinstance(func, ir.Attribute) and path_of(func.value) in read for func in functions)


def _carried(context: Context) -> set[str]:
    """The variables that the body of a ``scan`` or ``fori_loop`` takes out of the carry and puts back into the same place."""
    function = context.inner
    position = _position_of_carry(context.scope, function) if function is not None else None
    if function is None or position is None or len(function.params) <= position:
        return set()
    name, last = function.params[position].name, function.body[-1]
    value = last.value if isinstance(last, ir.Return) else None
    if position == 0 and isinstance(value, ir.Tuple) and value.elts:
        value = value.elts[0]
    given_back = _names_in(value)
    taken = [name] if isinstance(value, ir.Name) else _unpacked(function.body, name)
    return {t for t, g in zip(taken, given_back) if t == g} if len(taken) == len(given_back) else set()


def _position_of_carry(scope: ModuleScope, function: ir.Function) -> int | None:
    """Which parameter holds the carry, if the file passes the function to a loop of JAX."""
    for call in (c for statement in scope.tree.body for c in calls_in(statement)):
        position = _CARRYING.get(library_name(call.func, scope))
        if position is not None and any(path_of(a.value) == function.name for a in call.args):
            return position
    return None


def _names_in(value: ir.Expr | None) -> list[str]:
    """``["w", "state"]`` of ``(w, state)`` and ``["w"]`` of ``w``; an empty string for any other part."""
    parts = value.elts if isinstance(value, ir.Tuple) else [value] if value is not None else []
    return [part.id if isinstance(part, ir.Name) else "" for part in parts]


def _unpacked(body: list[ir.Stmt], name: str) -> list[str]:
    """The variables of ``w, state = carry``."""
    for statement in body:
        if isinstance(statement, ir.Assign) and path_of(statement.value) == name and len(statement.targets) == 1:
            return _names_in(statement.targets[0])
    return []
