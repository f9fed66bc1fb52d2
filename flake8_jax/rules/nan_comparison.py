"""JAX704: comparing with NaN. Not modelled: values that are NaN without being spelled so."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.values import Array, HostArray, Static, Tree, UnionValue, Unknown, Value
from flake8_jax.semantics.events.events import NanComparison


@rule("JAX704", "error", fixable="sometimes")
def nan_comparison(event: NanComparison) -> Report | None:
    """Something is compared with NaN, which is equal to nothing, not even to itself.

    Why it bites: `x == jnp.nan` is False everywhere and `x != jnp.nan` True everywhere, for whatever `x` holds
    (IEEE 754), so a mask of missing values made this way selects nothing, silently. `jnp.isnan(x)` asks the question.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def impute(x):
        return jnp.where(x == jnp.nan, 0.0, x)  # expect: nan-comparison


    def demonstrate():
        assert bool(jnp.isnan(impute(jnp.array([1.0, jnp.nan]))[1]))
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def impute(x):
        return jnp.where(jnp.isnan(x), 0.0, x)


    def without_missing(x, policy="nan"):
        return x if policy == "nan" else jnp.nan_to_num(x, nan=0.0)
    ```

    Also good: `x != x`, which is true for NaN alone.

    ```python
    import jax.numpy as jnp


    def count_missing(x):
        return jnp.sum(x != x)
    ```

    Fix: `x == jnp.nan` becomes `jnp.isnan(x)` and `x != jnp.nan` becomes `~jnp.isnan(x)`. Safe where `x` is an array for
    every caller: it is what was meant. Unsafe otherwise: `isnan` raises for None or a string.

    Proof: the comparison is False for an array that holds NaN.
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
    return Report(event.at, f"{quote(event.context, event.at)} is always {outcome}; use {asked}")


def _all(value: Value, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, UnionValue):
        return all(isinstance(member, kinds) for member in value.members)
    return isinstance(value, kinds)
