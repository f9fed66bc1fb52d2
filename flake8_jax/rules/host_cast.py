"""JAX201: see the page of ``host_cast``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._tracers import is_reportable_in_method, quote, raises_on_host
from flake8_jax.semantics.domain.values import Array, UnionValue, Value, holds_tracer
from flake8_jax.semantics.events.events import LibraryCall

_NEVER_CONCRETE = frozenset({"builtins.float", "builtins.complex"})
"""These raise on the tracers of ``grad`` too; ``int`` and ``bool`` read their value."""
_CASTS = _NEVER_CONCRETE | {"builtins.int", "builtins.bool"}


@rule(
    "JAX201",
    "error",
    fixable="sometimes",
    raises="tracer error",
    only=Subscription(where=frozenset({"staged"}), arrays=True, presumed=True),
)
def host_cast(event: LibraryCall) -> Report | None:
    """`float()`, `int()`, `bool()` or `complex()` is called on a traced value.

    By default, the rule reports a cast only if jaxlint infers that JAX traces the code. With `--preview`, the rule
    also assumes that JAX traces the methods and properties of a class that holds arrays and is registered as a pytree,
    because users pass such objects to jitted functions. It does not assume this of a method whose name says that the
    method prints, checks or stores something (`print_summary`, `validate`, `save`).

    ## Why is this bad?

    `float(x)` needs the number at trace time, but a traced value exists only when the compiled program runs, so the
    call raises `ConcretizationTypeError`. Under `jax.grad` without `jit`, `float()` and `complex()` raise this error,
    too. `int()` and `bool()` work there, so jaxlint does not report them.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(w, x):
        loss = jnp.mean((x @ w) ** 2)
        rate = 0.1 / (1.0 + float(loss))  # expect: host-cast
        return w - rate * w


    def demonstrate():
        step(jnp.ones(2), jnp.ones((3, 2)))  # raises: ConcretizationTypeError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(w, x):
        loss = jnp.mean((x @ w) ** 2)
        return w - 0.1 / (1.0 + loss) * w
    ```

    ## Not reported

    jaxlint does not report a cast of a static value, such as `float(x.shape[0])`, or a cast of an array outside
    tracing, because the number is known there.

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, static_argnames="fraction")
    def top(x, fraction):
        k = int(fraction * x.shape[0])
        return jax.lax.top_k(x, k)[0] * float(x.size)


    def report(x):
        best = top(x, 0.5)
        return float(best[0]), int(jnp.argmax(x)), bool(jnp.all(best > 0))
    ```

    ## Limitations

    The rule misses implicit casts, such as the one in `operator.index(x)`.

    ## Fix safety

    Unsafe. `float(x)` becomes `x.astype(float)`; `int`, `bool` and `complex` change in the same way. The result is an
    array with JAX's rules for promotion and overflow instead of a Python number. For NaN, `int(x)` raises an error in
    Python, but `x.astype(int)` gives some number. If the code logs or prints the value, as in
    `wandb.log({"loss": float(loss)})`, jaxlint offers no fix: return the value, and log it in the caller.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the cast raises an error such as
    `ConcretizationTypeError`.

    ## Since

    0.2.0.

    ## Related rules

    JAX202 (`host-item`), JAX203 (`numpy-on-tracer`), JAX204 (`sync-in-staged`), JAX206 (`sync-in-loop`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/errors.html#jax.errors.ConcretizationTypeError>
    """
    context = event.context
    if event.name not in _CASTS or not is_reportable_in_method(context) or not event.args:
        return None
    value = event.args[0]
    raises = raises_on_host(value) if event.name in _NEVER_CONCRETE else holds_tracer(value)
    if not raises or (event.name == "builtins.int" and _is_derived(value)):
        return None
    subject = quote(context, event.nodes[0] if event.nodes else None)
    short = event.name.rpartition(".")[2]
    return Report(
        event.at,
        f"{short}() needs a concrete value, but {subject} is traced; keep it an array or use .astype({short})",
    )


def _is_derived(value: Value) -> bool:
    """Rounded arithmetic on shapes: traced-shape says what to do about it."""
    if isinstance(value, UnionValue):
        return all(_is_derived(member) for member in value.members)
    return isinstance(value, Array) and bool(value.derived)
