"""JAX202: see the page of ``host_item``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._tracers import is_reportable_in_method, quote, raises_on_host
from flake8_jax.semantics.domain.values import is_traced_array, is_tracer
from flake8_jax.semantics.events.events import MethodCall


@rule(
    "JAX202",
    "error",
    fixable="sometimes",
    raises="tracer error",
    only=Subscription(where=frozenset({"staged"}), presumed=True),
)
def host_item(event: MethodCall) -> Report | None:
    """`.item()` or `.tolist()` is called on a traced array.

    By default, the rule reports a call only if jaxlint infers that JAX traces the code. With `--preview`, the rule
    also assumes that JAX traces the methods and properties of a class that holds arrays and is registered as a pytree,
    because users pass such objects to jitted functions. It does not assume this of a method whose name says that the
    method prints, checks or stores something (`print_summary`, `validate`, `save`).

    ## Why is this bad?

    `.item()` and `.tolist()` copy the value of the array to the host, but a tracer has no value, so they raise
    `ConcretizationTypeError`. Under `jax.grad` without `jit`, `.tolist()` raises this error, too, but `.item()` works.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def pull(values, counts):
        arm = jnp.argmax(values)
        bonus = counts[arm].sum().item()  # expect: host-item
        return values.at[arm].add(bonus)


    def demonstrate():
        pull(jnp.ones(3), jnp.ones(3))  # raises: ConcretizationTypeError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def pull(values, counts):
        arm = jnp.argmax(values)
        return values.at[arm].add(counts[arm].sum())
    ```

    ## Not reported

    jaxlint does not report an array outside tracing or in a callback (a function that `jax.debug.callback` or a
    similar function calls on the host), because the value of the array is known there. It does not report `.item()`
    under `jax.grad` without `jit`, because this call works.

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def audit(x):
        jax.debug.callback(lambda total: total.item(), x.sum())
        return 2 * x


    def report(x):
        return audit(x).sum().item(), x.tolist()


    def signed(x):
        return x if x.item() > 0 else -x


    slope = jax.grad(signed)
    ```

    ## Limitations

    The rule does not report `item` and `tolist` if a class of the project defines these methods itself.

    ## Fix safety

    Unsafe. jaxlint removes `.item()`. The result is then an array instead of a Python number, so it may overflow. For
    an array with several elements, `.item()` raises an error, but the fixed code does not. `.tolist()` has no fix,
    because the code that uses the result needs a list. If the code logs or prints the value, jaxlint offers no fix:
    return the value, and log it in the caller.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the call raises an error such as
    `ConcretizationTypeError` while JAX traces.

    ## Since

    0.2.0.

    ## Related rules

    JAX201 (`host-cast`), JAX203 (`numpy-on-tracer`), JAX204 (`sync-in-staged`), JAX206 (`sync-in-loop`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/errors.html#jax.errors.ConcretizationTypeError>
    """
    context = event.context
    if not is_reportable_in_method(context):
        return None
    item = event.method == "item" and is_traced_array(event.value)
    if not item and not (event.method == "tolist" and is_tracer(event.value) and raises_on_host(event.value)):
        return None
    owner = event.at.func.value if isinstance(event.at.func, ir.Attribute) else None
    subject = quote(context, owner, "the array")
    return Report(
        event.at,
        f".{event.method}() needs a concrete value, but {subject} is traced; keep the array or call "
        "it after the traced function",
    )
