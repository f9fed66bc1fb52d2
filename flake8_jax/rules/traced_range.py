"""JAX103: see the page of ``traced_range``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._tracers import is_reportable, quote
from flake8_jax.rules._wording import it_or_name, static_remedy
from flake8_jax.semantics.domain.code import nodes_around
from flake8_jax.semantics.domain.values import holds_tracer
from flake8_jax.semantics.events.events import Context, LibraryCall


@rule(
    "JAX103",
    "error",
    fixable="sometimes",
    raises="tracer error",
    only=Subscription(where=frozenset({"staged"}), arrays=True),
)
def traced_range(event: LibraryCall) -> Report | None:
    """`range()` gets a traced bound.

    ## Why is this bad?

    `range(n)` needs a Python integer, but a tracer has no value, so the call raises `TracerIntegerConversionError`.
    JAX traces every argument of a jitted function that is not static, even if the caller passes a Python integer.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def power_sum(x, n):
        total = jnp.zeros_like(x)
        for k in range(n):  # expect: traced-range
            total = total + x**k
        return total


    def demonstrate():
        power_sum(jnp.ones(3), 4)  # raises: TracerIntegerConversionError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def power_sum(x, n):
        return jax.lax.fori_loop(0, n, lambda k, total: total + x**k, jnp.zeros_like(x))
    ```

    ## Not reported

    jaxlint does not report `range(n)` if `n` is known at trace time, such as a shape (`range(x.shape[0])`) or a
    static argument.

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, static_argnames="n")
    def power_sum(x, n):
        total = jnp.zeros_like(x)
        for k in range(n):
            total = total + x**k
        return total


    @jax.jit
    def diagonal(x):
        return jnp.stack([x[i, i] for i in range(min(x.shape))])
    ```

    ## Limitations

    The rule checks only `range`. It misses other functions that need an integer, such as `itertools.repeat(x, n)`.

    ## Fix safety

    Unsafe. If the body of the loop only assigns variables, the loop becomes `jax.lax.fori_loop`. The variables then
    hold arrays of fixed shape and dtype, and JAX cannot compute a reverse-mode gradient of the loop.

    For other bodies, jaxlint adds the bound to `static_argnames` if the bound is a parameter of a function that is
    jitted in the same file. JAX then compiles the function again for every value of the bound.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the call of `range` raises an error
    such as `TracerIntegerConversionError`.

    ## Since

    0.2.0.

    ## Related rules

    JAX105 (`traced-shape`), JAX106 (`data-dependent-shape`), JAX107 (`traced-slice`), JAX108 (`traced-container-index`),
    JAX104 (`traced-iteration`), JAX408 (`unrolled-loop`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerIntegerConversionError>
    """
    context = event.context
    if event.name != "builtins.range" or not is_reportable(context):
        return None
    for value, node in zip(event.args, event.nodes, strict=False):
        if holds_tracer(value):
            subject = quote(context, node, "a bound")
            is_named = isinstance(node, (ir.Name, ir.Attribute))
            static = (
                f"make {it_or_name(node)} {static_remedy(node)}"
                if is_named
                else f"compute {subject} from static values"
            )
            advice = static if _is_in_comprehension(context, event.at) else f"use jax.lax.fori_loop or {static}"
            return Report(event.at, f"range() needs a Python int, but {subject} is traced; {advice}")
    return None


def _is_in_comprehension(context: Context, call: ir.Node) -> bool:
    """The comprehension around goes over the range, which no loop of JAX replaces."""
    around = nodes_around(context.scope.tree.body, call.start, call.end)
    comprehensions = [node for node in around if isinstance(node, ir.Comprehension)]
    return any(generator.iter is call for node in comprehensions for generator in node.generators)
