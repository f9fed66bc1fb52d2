"""JAX602: see the page of ``unbound_axis_name``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._wording import callee, listed, passed_in
from flake8_jax.semantics.events.events import UnboundAxis
from flake8_jax.semantics.events.facts import bound_axis_fact


@rule("JAX602", "error", raises="another error")
def unbound_axis_name(event: UnboundAxis) -> Report | None:
    """A collective (`psum`, `pmean`, `axis_index` …) uses an axis name that no enclosing transform binds.

    ## Why is this bad?

    `jax.lax.pmean(x, "batch")` must run inside a `vmap`, `pmap` or `shard_map` that gives an axis the name `"batch"`.
    If only `jit` encloses the collective, tracing raises `NameError: unbound axis name`. If you use `jax.jit` on
    sharded arrays, remove the collective, because the compiler inserts the communication between the devices.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def train_step(w, x):
        g = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - 0.1 * jax.lax.pmean(g, "batch")  # expect: unbound-axis-name


    def demonstrate():
        train_step(jnp.ones(2), jnp.ones((3, 2)))  # raises: NameError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def train_step(w, x):
        g = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - 0.1 * jax.lax.pmean(g, "batch")


    parallel_step = jax.jit(jax.vmap(train_step, in_axes=(None, 0), axis_name="batch"))
    ```

    ## Not reported

    jaxlint does not report an axis name that is an argument of the function (`axis_name=None`), because the caller
    chooses it. It does not report a function that the project does not trace, because its users may bind the axis.

    ```python
    import jax


    def normalise(x, axis_name=None):
        mean = x.mean(axis=0)
        if axis_name is not None:
            mean = jax.lax.pmean(mean, axis_name)
        return x - mean


    def rank():
        return jax.lax.axis_index("replica")


    single = jax.jit(normalise)
    ```

    ## Limitations

    The rule does not know the axes that code outside the project binds, so it may report a collective that such code
    runs correctly.

    ## Fix safety

    No fix. The author has to decide which transform gives the axis its name.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the collective raises an error such as
    `NameError: unbound axis name`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX604 (`missing-gradient-sync`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.lax.psum.html>
    """
    context = event.context
    if context.presumed or context.caught or not context.staged:
        return None
    advice = (
        f"use a bound name ({listed(event.bound)})"
        if event.bound
        else f"call this code under jax.vmap(…, axis_name={event.axis!r})"
    )
    return Report(
        event.at,
        f"No enclosing vmap, pmap or shard_map binds axis {_axis(event)} of {callee(context, event.at)}, so tracing raises "
        f"NameError; {advice}",
        unless=bound_axis_fact(event.axis),
    )


def _axis(event: UnboundAxis) -> str:
    """The name where the call spells it; else the name, and the expression that holds it."""
    context, node = event.context, _axis_argument(event.at)
    if node is None or event.axis in context.scope.text[event.at.start : event.at.end]:
        return f"`{event.axis}`"
    inner = context.inner
    own = (
        [one for one in inner.params if isinstance(node, ir.Name) and one.name == node.id] if inner is not None else []
    )
    default = own[0].default if own else None
    is_default = isinstance(default, ir.Constant) and default.value == event.axis
    if is_default:
        return f"{event.axis!r} (the default of {quote(context, node)})"
    return f"{event.axis!r} as {quote(context, node)}{passed_in(context, node)}"


def _axis_argument(call: ir.Node) -> ir.Expr | None:
    """The argument of a collective that names the axis: ``axis_name=``, else the last one by position."""
    if not isinstance(call, ir.Call):
        return None
    named = next((one.value for one in call.args if one.keyword == "axis_name"), None)
    plain = [one.value for one in call.args if one.keyword is None and not one.star]
    return named if named is not None else plain[1] if len(plain) > 1 else plain[0] if plain else None
