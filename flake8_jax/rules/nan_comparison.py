"""JAX704: see the page of ``nan_comparison``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.values import Array, External, HostArray, Static, Tree, UnionValue, Unknown, Value
from flake8_jax.semantics.events.events import NanComparison


@rule("JAX704", "error", fixable="sometimes")
def nan_comparison(event: NanComparison) -> Report | None:
    """The code compares a value with NaN, but no value equals NaN, not even NaN itself.

    ## Why is this bad?

    NaN is not equal to itself (IEEE 754), so `x == jnp.nan` is always False and `x != jnp.nan` is always True. A mask
    of missing values that is made with such a comparison silently selects nothing. Use `jnp.isnan(x)`.

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

    jaxlint does not report `x != x`, because it is a common and correct test for NaN.

    ```python
    import jax.numpy as jnp


    def count_missing(x):
        return jnp.sum(x != x)
    ```

    ## Limitations

    The rule misses a comparison with an expression whose value is NaN, such as `x == 0.0 / 0.0`. It knows only names
    and calls that mean NaN, such as `jnp.nan` and `float("nan")`.

    ## Fix safety

    Unsafe. `x == jnp.nan` becomes `jnp.isnan(x)`, and `x != jnp.nan` becomes `~jnp.isnan(x)`. The result of the old
    comparison did not depend on `x`, but the result of `jnp.isnan(x)` does, so the program computes something else.
    `jnp.isnan(x)` also raises an error if `x` is None or a string.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the comparison with NaN runs.

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
    ask = _function(event)
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


def _function(event: NanComparison) -> str:
    """The function that finds NaN in such a value: NumPy's for an array of NumPy, and in a file that does not use JAX's."""
    if isinstance(event.value, Static):
        return "math.isnan"
    named = {value.name: name for name, value in event.context.scope.slots.items() if isinstance(value, External)}
    if "numpy" in named and (isinstance(event.value, HostArray) or not _uses_jax_arrays(event, named)):
        return f"{named['numpy']}.isnan"
    return "jnp.isnan"


def _uses_jax_arrays(event: NanComparison, named: dict[str, str]) -> bool:
    """The value is an array of JAX, or the file imports ``jax.numpy``."""
    return isinstance(event.value, (Array, Tree)) or any(name.startswith("jax.numpy") for name in named)


def _all(value: Value, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, UnionValue):
        return all(isinstance(member, kinds) for member in value.members)
    return isinstance(value, kinds)
