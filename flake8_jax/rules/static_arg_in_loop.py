"""JAX406: see the page of ``static_arg_in_loop``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._variation import arguments, compiles, runs_compiled, varying_part
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.domain.code import is_named_step
from flake8_jax.semantics.domain.values import FunctionValue, PartialValue, Static, TransformedValue, Value
from flake8_jax.semantics.events.context import Context
from flake8_jax.semantics.events.events import TransformCall
from flake8_jax.semantics.events.facts import is_called_again, iterates


@rule("JAX406", "info")
def static_arg_in_loop(event: TransformCall) -> Report | None:
    """A loop passes a different value of a static argument to a jitted function in every iteration.

    The findings are notes: none of three findings in public repositories was worth a change. In these programs,
    the function used the static argument to index a Python list, or the argument took few values.

    With `--preview`, the rule also reports a static argument that the loop computes from its old value with `int`,
    `float`, `round`, `max` or `min`, as in `k = max(int(0.9 * k), 8)`. Such an argument may keep its value in some
    iterations.

    With `--preview`, the rule also reports a static argument that is a new function object in each iteration, or in each call
    of a function that the project calls again: a lambda, a `functools.partial`, the result of `jax.grad`, or a function that
    is defined there.

    ## Why is this bad?

    `jit` compiles one program for each value of a static argument and keeps all these programs. If the argument is a
    step counter, or a learning rate that depends on the step, every iteration traces and compiles again, which takes
    far longer than the step itself. Pass the value as an ordinary argument. If the function has an `if` on this
    argument, use `jnp.where` or `jax.lax.cond` there. If the argument is a length, pad to a fixed length.

    ## Example

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, static_argnames="lr")
    def sgd(w, g, lr):
        return w - lr * g


    def fit(w, grads, steps):
        for step in range(steps):
            lr = 0.1 * 0.99**step
            w = sgd(w, grads, lr=lr)  # expect: static-arg-in-loop
        return w


    def demonstrate():
        fit(jnp.ones(2), jnp.ones(2), 6)
        assert sgd._cache_size() == 6  # one compilation for every step
    ```

    With `--preview`, jaxlint also reports a static argument that the loop decays down to a limit:

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, static_argnames="k")
    def best(x, k):
        return jnp.sort(x)[-k:].mean()


    def anneal(x, epochs):
        k, found = 64, []
        for _ in range(epochs):
            found.append(best(x, k))  # expect: static-arg-in-loop
            k = max(int(0.9 * k), 8)
        return found


    def demonstrate():
        anneal(jnp.arange(64.0), 40)
        assert best._cache_size() == 17
    ```

    With `--preview`, jaxlint also reports a function that is new in each iteration:

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, static_argnums=0)
    def advance(rate, x):
        return x + 0.1 * rate(x)


    def simulate(x, steps, decay):
        for _ in range(steps):
            x = advance(lambda x: -decay * x, x)  # expect: static-arg-in-loop
        return x


    def demonstrate():
        simulate(jnp.ones(2), 6, 0.5)
        assert advance._cache_size() == 6
    ```

    ## Use instead

    ```python
    import jax


    @jax.jit
    def sgd(w, g, lr):
        return w - lr * g


    def fit(w, grads, steps):
        for step in range(steps):
            w = sgd(w, grads, 0.1 * 0.99**step)
        return w
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def best(x, k):
        chosen = jnp.arange(x.shape[0]) >= x.shape[0] - k
        return jnp.sum(jnp.sort(x), where=chosen) / k


    def anneal(x, epochs):
        k, found = 64, []
        for _ in range(epochs):
            found.append(best(x, k))
            k = max(int(0.9 * k), 8)
        return found
    ```

    ```python
    from functools import partial

    import jax


    @partial(jax.jit, static_argnums=0)
    def advance(rate, x, *args):
        return x + 0.1 * rate(x, *args)


    def decaying(x, decay):
        return -decay * x


    def simulate(x, steps, decay):
        for _ in range(steps):
            x = advance(decaying, x, decay)
        return x
    ```

    ## Not reported

    jaxlint does not report a loop over at most 4 values that are written in the source code, such as
    `for order in (1, 2, 3)`. It does not report a remainder, such as `step % 2`, which takes only a few values. In
    both cases, JAX compiles only a few programs.

    ```python
    from functools import partial

    import jax


    @partial(jax.jit, static_argnames=("order", "phase"))
    def smooth(x, order, phase=0):
        return x**order + phase


    def sweep(x, steps):
        for order in (1, 2, 3):
            x = smooth(x, order)
        for step in range(steps):
            x = smooth(x, 2, phase=step % 2)
        return x
    ```

    ## Limitations

    The rule does not report a loop over values that jaxlint does not know, such as `for rate in config.rates`, because
    there may be few values. Loops over `range(n)` and `enumerate(…)` are an exception: the rule reports them even if it
    does not know how long they are.

    The rule misses jitted functions that a library calls, as in `library.run(jitted_step)`.

    ## Fix safety

    No fix. The function has to work with a tracer, so the author has to rewrite it.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if JAX compiles the same function again
    in the loop.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX403 (`unhashable-static`), JAX404 (`static-arg-mismatch`), JAX405 (`jit-on-method`), JAX413 (`non-array-argument`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/jit-compilation.html#marking-arguments-as-static>
    """
    context = event.context
    if context.staged or context.presumed or is_test(context) or event.statics is None:
        return None
    if runs_compiled(event) and (report := _report_function(event)) is not None:
        return report
    if not compiles(event):
        return None
    positions, names = event.statics
    filtered = event.name.endswith((".filter_jit", ".filter_pmap"))
    for where, value, node in arguments(event):
        if filtered:  # equinox: what is no array is static
            variation = event.varying.get(value) if isinstance(value, Static) else None
        elif where in positions or where in names:
            variation = varying_part(event, value, of_shape=False)
        else:
            continue
        if variation is not None and (variation.distinct or variation.drifts) and not variation.of_shape:
            advice = _OF_TEXT if isinstance(value, Static) and value.kind == "str" else _OF_NUMBER
            return _report(event, node, iterates(variation.loop), advice, drifts=variation.drifts)
    return None


def _report_function(event: TransformCall) -> Report | None:
    """A static argument that is a new function in each iteration, or in each call of the function around."""
    context = event.context
    assert event.statics is not None
    positions, names = event.statics
    for where, value, node in arguments(event):
        if (where not in positions and where not in names) or node is None or not _is_new(context, value, node):
            continue
        is_here = context.loop > 0 and isinstance(node, (ir.Lambda, ir.Call))
        inner = context.inner
        if not is_here and (inner is None or inner.name in _ONCE):
            continue
        again = "" if is_here or context.loop_ids or (inner is not None and is_named_step(inner.name)) else inner
        when = "Each iteration" if is_here or inner is None else f"Each call of `{inner.name}`"
        subject, function = quote(context, node, "of this call"), callee(context, event.at, "this function")
        problem = f"{when} passes a new function, {subject}, as a static argument, so {function} is compiled again"
        apart = "before the loop" if is_here else "outside, and pass what it captures as an argument"
        given = is_called_again(again) if again else ""
        return Report(node, f"{problem}; make it once {apart}", given=given, preview=True)
    return None


_ONCE = frozenset({"main", "__init__", "__post_init__", "setup"})


def _is_new(context: Context, value: Value, node: ir.Expr) -> bool:
    """Each run of the call gets another function object: a lambda, a partial, what ``grad`` returns, or a function that the
    running function defines."""
    if isinstance(node, ir.Lambda):
        return True
    if isinstance(node, ir.Call):
        return isinstance(value, (PartialValue, TransformedValue))
    inner = context.inner
    if not isinstance(node, ir.Name) or not isinstance(value, FunctionValue) or inner is None or value.cached:
        return False
    return value.fn.qualname.startswith(f"{inner.qualname}.<locals>.")


_OF_NUMBER = "make it traced, or, if a shape or a Python branch needs it, use few values"
_OF_TEXT = "pass what the text stands for, such as the parameters of one layer, not their name"


def _report(event: TransformCall, node: ir.Expr | None, given: str, advice: str, *, drifts: bool) -> Report:
    subject, function = quote(event.context, node, "of this call"), callee(event.context, event.at, "this function")
    changes = "is computed again in a loop" if drifts else "changes in every iteration"
    return Report(
        node if node is not None else event.at,
        f"Static argument {subject} of {function} {changes}, so each new value recompiles; {advice}",
        given=given,
        preview=drifts,
    )
