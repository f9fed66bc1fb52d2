"""JAX704: see the page of ``nan_comparison``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.values import Array, HostArray, Static, Tree, UnionValue, Unknown, Value
from flake8_jax.semantics.events.events import NanComparison


@rule("JAX704", "error", fixable="sometimes")
def nan_comparison(event: NanComparison) -> Report | None:
    """The code compares a value with NaN, which is not equal to anything, not even to itself.

    ## Why is this bad?

    `x == jnp.nan` is always False and `x != jnp.nan` is always True (IEEE 754). A mask of missing values made this way
    silently selects nothing. Use `jnp.isnan(x)`.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def impute(x):
        return jnp.where(x == jnp.nan, 0.0, x)  # expect: nan-comparison


    def demonstrate():
        assert bool(jnp.isnan(impute(jnp.array([1.0, jnp.nan]))[1]))
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def impute(x):
        return jnp.where(jnp.isnan(x), 0.0, x)


    def without_missing(x, policy="nan"):
        return x if policy == "nan" else jnp.nan_to_num(x, nan=0.0)
    ```

    ## Not reported

    `x != x`, which is True for NaN only.

    ```python
    import jax.numpy as jnp


    def count_missing(x):
        return jnp.sum(x != x)
    ```

    ## Limitations

    The rule does not find values that are NaN but are not written as NaN.

    ## Fix safety

    `x == jnp.nan` becomes `jnp.isnan(x)`, and `x != jnp.nan` becomes `~jnp.isnan(x)`. The fix is unsafe: before it,
    the first was False and the second True for every `x`, so the program computes something else. `isnan` raises an
    error for None or a string.

    ## How it is verified

    The comparison is False for an array that holds NaN.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX703 (`unstable-expression`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.numpy.isnan.html>
    """
    if event.context.presumed:
        return None
    outcome = "True" if event.op in ("!=", "not in") else "False"
    ask = "math.isnan" if isinstance(event.value, Static) else "jnp.isnan"
    kinds = (Array, Tree, HostArray, Static, Unknown)
    if not _all(event.value, kinds):
        return None
    if event.op in ("in", "not in"):
        wrong = f"{quote(event.context, event.at)} never finds NaN, because NaN is not equal to itself"
        return Report(event.at, f"{wrong}; use {ask}")
    compared = quote(event.context, event.value_node, "").strip("`")
    asked = f"{ask}({compared})" if compared else ask
    return Report(
        event.at,
        f"{quote(event.context, event.at)} is always {outcome}, because NaN is not equal to itself; use {asked}",
    )


def _all(value: Value, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, UnionValue):
        return all(isinstance(member, kinds) for member in value.members)
    return isinstance(value, kinds)
