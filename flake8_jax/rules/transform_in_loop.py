"""JAX410: see the page of ``transform_in_loop``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._fresh import loop_of, made_of, of_loop, short, stores, this_function
from flake8_jax.rules._keys import at_place, is_inside, is_near
from flake8_jax.rules._steps import is_without_jit_on_purpose, report_gradients_first
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._wording import callee, listed
from flake8_jax.semantics.domain.code import all_statements, bound_paths, names_read, paths_read
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    ExternalMethod,
    FunctionValue,
    PartialValue,
    Site,
    Unknown,
    Value,
)
from flake8_jax.semantics.events.events import Repetition


@rule("JAX410", "warning", settle=report_gradients_first)
def transform_in_loop(event: Repetition) -> Report | None:
    """Each iteration of a loop outside tracing runs `grad` or `vmap` without `jit`, or `scan` on a new function.

    The finding is a warning for a loop with `grad`, because such a loop usually trains a model and has many
    iterations. It is a note for a loop with `vmap`, or with a new body of `scan` or a similar function,
    because such loops are often short. With `--preview`, the rule also reports `grad` of a function that is jitted
    itself, such as `jax.grad(jitted_loss)(w, x)`. This finding is a note: JAX runs compiled code, but it differentiates
    the compiled function again in every iteration. With `--preview`, it also reports `grad` of a function or method that
    stores values in an object or a list (`self.fake = …`), or that draws numbers with `random` or `numpy.random`. Jitted code
    would do both only once. So the function has to return the values first, and the numbers have to be arguments.

    With `--preview`, the rule also reports `grad` of a function that jaxlint does not know, such as a parameter, and loops
    with 21 to 100 iterations that call `grad`, loops that train a model of Flax NNX in
    place, and loops behind a test in another loop (`if len(buffer) > 1000`).

    ## Why is this bad?

    `scan`, `cond`, `while_loop` and `fori_loop` compile the functions that they get, and JAX finds the compiled code
    only for the same function object. If each iteration passes a new lambda or a new local `def`, JAX compiles the
    function in each iteration. `grad` and `vmap` compile nothing: outside `jit`, every call runs the Python function
    again and sends its operations to the device one by one. Jit a function that does the whole work of one iteration.
    For a network of four small layers, `jax.grad(jax.jit(loss))` took seven times as long as
    `jax.jit(jax.grad(loss))`.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def loss(w, x):
        return jnp.mean((x @ w - 1.0) ** 2)


    def train(w, batches):
        for x in batches:
            value, g = jax.value_and_grad(loss)(w, x)  # expect: transform-in-loop
            w = w - 0.1 * g
        return w


    def decay(w, rates):
        for rate in rates:
            w = jax.lax.fori_loop(0, 10, lambda i, w: w * rate, w)  # expect: transform-in-loop
        return w


    def demonstrate():
        compiled = []

        def listen(event, seconds, **details):
            if event.endswith("backend_compile_duration"):
                compiled.append(details.get("fun_name"))

        jax.monitoring.register_event_duration_secs_listener(listen)
        decay(jnp.ones(2), [0.1, 0.2, 0.3, 0.4])
        assert compiled.count("jit(scan)") == 4
        ran, original = [], loss

        def counted(w, x):
            ran.append(1)
            return original(w, x)

        globals()["loss"] = counted
        train(jnp.ones(2), [jnp.ones((3, 2))] * 5)
        globals()["loss"] = original
        assert len(ran) == 5
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def loss(w, x):
        return jnp.mean((x @ w - 1.0) ** 2)


    @jax.jit
    def step(w, x):
        value, g = jax.value_and_grad(loss)(w, x)
        return jax.lax.fori_loop(0, 10, lambda i, w: w * 0.99, w - 0.1 * g)


    def train(w, batches):
        for x in batches:
            w = step(w, x)
        return w
    ```

    ## Not reported

    jaxlint does not report a body of `scan` that the code defines once, before the loop, because JAX finds the
    compiled body in its cache. It does not report code that runs once, or a loop that is known to have at most 100
    iterations (with `--preview`, at most 20 for `grad`), because such a loop costs little.
    For a new body of `scan` or a similar function, the limit is 4
    iterations, as for `jit` (JAX401), because JAX compiles that body in each iteration.

    There is one exception: if a loop calls `vmap` and each iteration depends on the one before, as in `x = step(x)` or
    `solver.tell(x, f(x))`, jaxlint reports the loop from 21 iterations on.

    jaxlint does not report code that a setting of the program chooses, as in `if jit: … else: …`, because the program
    then has a compiled form of the loop, too.

    ```python
    import jax
    import jax.numpy as jnp


    def body(total, x):
        return total + x, total


    def cumulative(arrays):
        return [jax.lax.scan(body, 0.0, x)[1] for x in arrays]


    def slope(x):
        return jax.grad(lambda x: jnp.sum(x**2))(x)


    def descend(x, steps, use_jit):
        gradient = jax.grad(lambda x: jnp.sum(x**2))
        if use_jit:
            return jax.lax.fori_loop(0, steps, lambda _, x: x - 0.1 * gradient(x), x)
        for _ in range(steps):
            x = x - 0.1 * gradient(x)
        return x


    def energy(x):
        return jnp.sum(jnp.tanh(x) ** 2)


    def table():
        force = jax.grad(energy)
        for x in jnp.array([0.0, 0.5, 1.0]):
            print(x, force(x))
    ```

    ## Limitations

    The rule does not know how much work the function does. Without `--preview`, it does not report a function that stores
    values in an object or a list. If jaxlint cannot infer the number of iterations, the rule
    may report a short loop.

    ## Fix safety

    No fix. The author has to decide which statements of the loop belong to the jitted step.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if JAX traces or compiles the same
    function again in the loop, or if Python runs it again in every iteration. It cannot confirm a finding on `grad` of a
    jitted function, because JAX then runs neither.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX401 (`jit-in-loop`), JAX402 (`jit-per-call`), JAX605 (`jit-of-pmap`), JAX414 (`eager-step`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/jit-compilation.html>
    """
    if event.how in ("compiled", "looked up") or is_test(event.context):
        return None
    if is_without_jit_on_purpose(event.context, event.at):
        return None
    step = "the whole step" if event.own else this_function(event)
    inner = event.context.inner
    if event.slight and (storing := _function(event.operand)) is not None:
        step = f"a function that returns what `{storing.fn.name}` stores"
    elif not event.own and inner is not None and stores(inner):
        step = f"a function that returns what {step} stores"
    if event.how == "body":
        problem = f"`{short(event.name)}` compiles {made_of(event.operand)}"
        method = _bound_method(event)
        if method:
            problem = f"`{short(event.name)}` compiles the bound method {method} again, a new object each time,"
        made = "define that function" if isinstance(event.operand, FunctionValue) else "make it"
        made = f"store {method} in a variable" if method else made
        advice = f"{made} once{' before the loop' if event.own else ''}, or jit {step}"
        if event.name == "jax.lax.map":
            problem, advice = "`map` traces and compiles its function", f"jit {step}"
    else:
        repeated = "traces its function"
        if event.how == "differentiated":
            repeated = f"differentiates {'its' if isinstance(event.operand, Unknown) else 'the compiled'} function"
        function = callee(event.context, event.at, f"`{short(event.name)}`")
        problem = f"{function}{_made(event, function)} is not jitted, so JAX {repeated} again"
        advice = f"jit it once {'before the loop' if event.own else 'outside'}, or jit {step}"
        if event.slight or _reads_locals(event):  # it can only be compiled where its variables are
            advice = f"jit {step}"
        changing = _changing_attributes(event.operand)
        if changing:
            advice = f"make {listed(changing)} an argument, then jit it once"
        if event.draws:
            advice = "draw its random numbers outside and pass them in, then jit it"
    when = f"in every iteration{of_loop(event)}" if event.own else f"in every iteration of {loop_of(event)}"
    trains = event.how == "traced" and not event.slight and short(event.name) in _GRADIENTS
    trains = trains and not event.presumed
    preview = event.slight or event.presumed or event.how == "differentiated"
    return Report(
        event.at, f"{problem} {when}; {advice}", None if trains else "info", unless=event.unless, preview=preview
    )


def _made(event: Repetition, function: str) -> str:
    """``, made by `grad` on line 5,``: what the name of the function does not say, and where that is out of sight."""
    by = "" if short(event.name) in function else f" by `{short(event.name)}`"
    is_seen = event.made is None or is_near(event.made, event.context, event.at)
    if event.made is None or is_seen or is_inside(event.made, Site(event.context.scope, event.at.start, event.at.end)):
        return f", made{by}," if by else ""
    return f", made{by} {at_place(event.made, event.context)},"


def _function(operand: Value) -> FunctionValue | None:
    """The function of the program that is passed to the transform, by itself, as a method or in a partial."""
    while isinstance(operand, (BoundMethod, PartialValue)):
        operand = operand.func
    return operand if isinstance(operand, FunctionValue) else None


def _changing_attributes(operand: Value) -> list[str]:
    """The attributes that a method reads and that other methods of its class assign: a jitted method keeps the first value."""
    while isinstance(operand, PartialValue):
        operand = operand.func
    method = _function(operand) if isinstance(operand, BoundMethod) else None
    if method is None or method.owner is None or not method.fn.params:
        return []
    own = f"{method.fn.params[0].name}."
    functions = [s.function for s in method.owner.node.body if isinstance(s, ir.FunctionDef)]
    after = [function for function in functions if function.name not in _MAKING]
    assigned = {path for function in after for s in all_statements(function.body) for path in bound_paths(s)}
    read = set().union(*[paths_read(part) for part in method.fn.body])
    return sorted(path for path in assigned & read if path.startswith(own))[:_NAMED]


_MAKING = frozenset({"__init__", "__post_init__", "setup"})
_NAMED = 2


def _reads_locals(event: Repetition) -> bool:
    """The transformed function is made in the code that runs again, and reads variables of that."""
    inner, operand = event.context.inner, event.operand
    if inner is None or not isinstance(operand, FunctionValue):
        return False
    function = operand.fn
    read = set().union(*[names_read(part) for part in function.body]) - set(function.local_names)
    around = set(inner.local_names) if not event.own else bound_paths(event.loop)
    is_inside = function.qualname.startswith(f"{inner.qualname}.<locals>.")
    return is_inside and not read.isdisjoint(around - {function.name})


def _bound_method(event: Repetition) -> str:
    """The method that is passed to the transform, as the code spells it, in backquotes; empty for other functions."""
    call = event.at
    node = call.args[0].value if isinstance(call, ir.Call) and call.args else None
    is_method = isinstance(event.operand, (BoundMethod, ExternalMethod)) and isinstance(node, ir.Attribute)
    return quote(event.context, node, "") if is_method else ""


_GRADIENTS = frozenset({"grad", "value_and_grad"})
"""A loop that differentiates trains something, and runs often. Of the others most run a few times: readers of unseen
repositories found four in five of these worth a minute, and one in five of the others."""
