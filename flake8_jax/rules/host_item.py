"""JAX202: ``.item()`` or ``.tolist()`` on a traced array. Not modelled: user classes that have such methods."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._tracers import quote, raises_on_host, speaks_of_method
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

    Why it bites: both copy the value to the host, and while JAX traces there is none: `ConcretizationTypeError`
    (<https://docs.jax.dev/en/latest/errors.html#jax.errors.ConcretizationTypeError>). `.tolist()` raises under
    `jax.grad` alone as well; `.item()` works there.

    Bad:

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

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def pull(values, counts):
        arm = jnp.argmax(values)
        return values.at[arm].add(counts[arm].sum())
    ```

    Also good: on arrays outside of a trace, in callbacks, and under `jax.grad` alone.

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

    In preview: methods and properties of pytree classes that hold arrays are taken for staged, unless their names say that they
    print, check or store something.

    Fix: unsafe. `.item()` is dropped where the array is certainly a scalar; the result is an array.

    Proof: calling the staged function raises `ConcretizationTypeError` at the marked line.
    """
    context = event.context
    if not speaks_of_method(context):
        return None
    item = event.method == "item" and is_traced_array(event.value)
    if not item and not (event.method == "tolist" and is_tracer(event.value) and raises_on_host(event.value)):
        return None
    owner = event.at.func.value if isinstance(event.at.func, ir.Attribute) else None
    subject = quote(context, owner, "the array")
    return Report(event.at, f".{event.method}() needs a concrete value, but {subject} is traced; keep it an array")
