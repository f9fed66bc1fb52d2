"""JAX401: see the page of ``jit_in_loop``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._fresh import is_method_of_element, made_of, of_loop, short
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.code import bound_paths, names_read, paths_read
from flake8_jax.semantics.domain.values import BoundMethod, FunctionValue
from flake8_jax.semantics.events.events import Repetition

_PMAPS = frozenset({"jax.pmap"})


@rule("JAX401", "warning", fixable="sometimes")
def jit_in_loop(event: Repetition) -> Report | None:
    """A loop applies `jit` to a new function object in every iteration and calls the result.

    The finding is a note in most loops, because such a loop is often a benchmark, which compiles one
    program for each array size on purpose. It is a warning in three cases:

    - The jitted function is a bound method.
    - The loop is a `while` loop.
    - The loop passes a result of the compiled function to the next call of this function (`w = step(w, x)`).

    Even in these cases, the finding is a note if the jitted function reads a variable that the loop assigns, because
    the author would first have to make this variable an argument.

    With `--preview`, the rule also reports `jax.jit(f)(x)` in a loop if `f` is the same function in each iteration. JAX then
    finds the compiled code, but it looks it up in Python: on a CPU with JAX 0.10.2, such a call of a small function took
    0.5 ms, and a call of `compiled = jax.jit(f)` 0.005 ms. If `f` is a method of an object that jaxlint does not know
    (`jax.jit(strategy.ask)`), JAX compiles it again in each iteration.

    ## Why is this bad?

    JAX caches compiled code by function identity: it finds the code only for the same function object. A lambda, a
    local `def`, a `partial`, a bound method or the result of `grad` or `vmap` is a new object in each iteration, so
    every iteration traces and compiles again. Tracing and compiling take about a thousand times as long as a call.
    Apply `jit` before the loop, and pass the values that differ between iterations as arguments.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def loss(w, x):
        return jnp.mean((x @ w - 1.0) ** 2)


    def fit(w, batches, rate):
        for x in batches:
            step = jax.jit(lambda w, x: w - rate * jax.grad(loss)(w, x))  # expect: jit-in-loop
            w = step(w, x)
        return w


    def demonstrate():
        compiled = []

        def listen(event, seconds, **details):
            if event.endswith("backend_compile_duration") and details.get("fun_name") == "jit(<lambda>)":
                compiled.append(seconds)

        jax.monitoring.register_event_duration_secs_listener(listen)
        fit(jnp.ones(2), [jnp.ones((3, 2))] * 6, 0.1)
        assert len(compiled) == 6
    ```

    ## Use instead

    Apply `jit` once, before the loop, so that each iteration calls the same function object.

    ```python
    import jax
    import jax.numpy as jnp


    def loss(w, x):
        return jnp.mean((x @ w - 1.0) ** 2)


    @jax.jit
    def step(w, x, rate):
        return w - rate * jax.grad(loss)(w, x)


    def fit(w, batches, rates):
        for rate in rates:
            for x in batches:
                w = step(w, x, rate)
        return w
    ```

    ## Not reported

    Without `--preview`, jaxlint does not report `jit` of the same function object in each iteration, because JAX finds the
    compiled code in its cache. It does not report functions that the program compiles once and keeps, for example in a dict. It
    does not report a loop that is known to have at most 4 iterations.

    ```python
    import jax
    import jax.numpy as jnp


    def by_power(arrays, powers):
        compiled = {}
        for x, power in zip(arrays, powers):
            if power not in compiled:
                compiled[power] = jax.jit(lambda x: jnp.sum(x**power))
            yield compiled[power](x)
    ```

    ## Limitations

    If jaxlint cannot infer how many iterations the loop has, the rule may report a loop that compiles only a few
    times.

    ## Fix safety

    Unsafe. The fix moves `jit` and its function before the loop. JAX then traces the function once, so a `print` in
    the function runs once. jaxlint offers no fix if the loop may change a variable that the function reads.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if JAX compiles the same function again
    in the loop.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX402 (`jit-per-call`), JAX410 (`transform-in-loop`), JAX605 (`jit-of-pmap`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/jit-compilation.html#jit-and-caching>
    """
    if event.how == "looked up":
        return _report_looked_up(event)
    if event.how != "compiled" or not event.own or event.name in _PMAPS or event.slight or is_test(event.context):
        return None
    if is_method_of_element(event):
        return None
    return Report(
        event.at,
        f"Each iteration{of_loop(event)} passes {made_of(event.operand)} to `{short(event.name)}`, so JAX recompiles it; "
        f"{_advice(event)}",
        level=None if _counts(event) and not _captures_iteration(event) else "info",
        given=event.given,
        unless=event.unless,
    )


def _report_looked_up(event: Repetition) -> Report | None:
    """``jit(f)(x)`` of the same function in each iteration."""
    if is_test(event.context):
        return None
    function = quote(event.context, event.at.args[0].value, "the function") if isinstance(event.at, ir.Call) else "it"
    again = "looks up the compiled code in Python each time"
    if not isinstance(event.operand, FunctionValue):
        again = f"compiles {function} each time if it is a method of an object"
    problem = f"Each iteration{of_loop(event)} applies `jit` to {function} again, so JAX {again}"
    return Report(event.at, f"{problem}; apply `jit` before the loop", "info", unless=event.unless, preview=True)


def _counts(event: Repetition) -> bool:
    """A bound method is compiled, what the compiled function returns goes into its next call, or the loop runs until
    something holds.

    Readers of unseen repositories found 9 of 9 bound methods and all such steps worth a minute, and 4 of 26 others: those build
    a program for each size or backend that a benchmark compares, or run two or three times.
    """
    if isinstance(event.operand, BoundMethod) or isinstance(event.loop, ir.While):
        return True
    assigned = [node for node in walk(event.loop) if isinstance(node, ir.Assign)] if event.loop is not None else []
    names = set().union(*[bound_paths(node) for node in assigned if node.value is event.at])
    return any(
        isinstance(node.value, ir.Call)
        and (node.value.func is event.at or not names.isdisjoint(names_read(node.value.func)))
        and not bound_paths(node).isdisjoint(names_read(node.value))
        for node in assigned
    )


def _advice(event: Repetition) -> str:
    """What to do; a field of an object that the function reads would keep the value that it has before the loop."""
    operand, jit = event.operand, short(event.name)
    if isinstance(operand, FunctionValue):
        changed = bound_paths(event.loop)
        fields = sorted(path for path in paths_read(operand.fn) if path.startswith("self.") and path.count(".") == 1)
        if fields:
            named = next((path for path in fields if path in changed), fields[-1])
            return f"apply `{jit}` before the loop and pass what changes, such as `{named}`, as an argument"
    names = [name for name in sorted(_names_of_iteration(event)) if name.isidentifier()]
    if names and names[0] in _defined_in(event):
        return f"define `{names[0]}` and apply `{jit}` before the loop, and pass what changes as an argument"
    if names:
        return f"apply `{jit}` before the loop and pass `{names[0]}` as an argument (static if it is not an array)"
    if _captures_iteration(event):
        return f"apply `{jit}` before the loop and pass what changes as an argument"
    return f"apply `{jit}` before the loop"


def _defined_in(event: Repetition) -> set[str]:
    """The names of the functions that the loop defines."""
    nodes = walk(event.loop) if event.loop is not None else ()
    return {node.function.name for node in nodes if isinstance(node, ir.FunctionDef)}


def _names_of_iteration(event: Repetition) -> set[str]:
    """Variables of the loop that the function reads, or that the call passes to it where it is made."""
    if event.loop is None:
        return set()
    bound = bound_paths(event.loop)
    if isinstance(event.operand, FunctionValue):
        function = event.operand.fn
        read = set().union(*[names_read(part) for part in function.body]) - set(function.local_names)
        return read & (bound - {function.name})
    made = event.at.args[0].value if isinstance(event.at, ir.Call) and event.at.args else None
    given = made.args if isinstance(made, ir.Call) else []
    return set().union(*[names_read(argument.value) for argument in given]) & bound


def _captures_iteration(event: Repetition) -> bool:
    """The function reads variables that the loop binds: it can only be hoisted if they become arguments, and where their
    shapes change it compiles anyway."""
    function = event.operand.fn if isinstance(event.operand, FunctionValue) else None
    if event.loop is None:
        return False
    if function is None:
        return _is_made_of_iteration(event)
    read = set().union(*[names_read(part) for part in function.body]) - set(function.local_names)
    read |= set().union(*[names_read(p.default) for p in function.params if p.default is not None])
    return not read.isdisjoint(bound_paths(event.loop) - {function.name})


def _is_made_of_iteration(event: Repetition) -> bool:
    """What is staged has a name that the loop binds, to something that it makes of what differs between iterations:
    ``f = make(batch)``, ``partial(g, solution=solution)``."""
    if not isinstance(event.at, ir.Call) or event.loop is None:
        return False
    bound = bound_paths(event.loop)
    names = set().union(*[names_read(argument.value) for argument in event.at.args]) & bound
    for node in walk(event.loop):
        if not isinstance(node, ir.Assign) or names.isdisjoint(bound_paths(node)):
            continue
        if not bound.isdisjoint(names_read(node.value) - names):
            return True
    return False
