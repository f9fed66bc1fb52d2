"""JAX708: see the page of ``integer_grad``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.values import (
    Array,
    Const,
    DictValue,
    HostArray,
    ListValue,
    Static,
    TupleValue,
    UnionValue,
    Value,
)
from flake8_jax.semantics.events.events import TransformCall


@rule("JAX708", "error", fixable="sometimes", raises="another error")
def integer_grad(event: TransformCall) -> Report | None:
    """`jax.grad` or a similar transform differentiates with respect to an integer or boolean argument.

    ## Why is this bad?

    An integer has no derivative, so `jax.grad(f)(3)` raises `TypeError: grad requires real- or complex-valued inputs`.
    Pass a float, differentiate with respect to another argument (`argnums`), or set `allow_int=True` to get gradients
    of dtype `float0`.

    ## Example

    ```python
    import jax


    def energy(x):
        return 0.5 * x**2


    def force():
        return -jax.grad(energy)(3)  # expect: integer-grad


    def demonstrate():
        force()  # raises: TypeError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def energy(x, n):
        return 0.5 * n * jnp.sum(x**2)


    def force():
        return -jax.grad(energy)(jnp.arange(3.0), 3), jax.grad(energy, allow_int=True)(jnp.arange(3), 1)
    ```

    ## Limitations

    The rule misses integers in the fields of an object whose class is registered as a pytree.

    ## Fix safety

    Unsafe. An integer literal in the call, such as `3`, becomes a float (`3.0`). The function may need an integer, for
    example as a shape.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the differentiated function
    (`jax.grad(f)`) raises `TypeError` when the program calls it.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX709 (`zero-gradient-argument`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.grad.html>
    """
    if event.context.presumed or event.context.caught or not event.differentiated:
        return None
    allowed = event.options.get("allow_int")
    if allowed is not None and not (isinstance(allowed, Const) and allowed.value is False):
        return None
    for position in event.differentiated:
        if -len(event.args) <= position < len(event.args) and is_whole(event.args[position]):
            place = position % len(event.args)
            node = event.nodes[place] if place < len(event.nodes) else None
            what = quote(event.context, node, f"Argument {place}")
            return Report(event.at, f"{what} is an integer or a boolean, which has no derivative; pass a float")
    return None


def is_whole(value: Value, depth: int = 4) -> bool:
    """The value, or a leaf of it, surely is an integer or a boolean."""
    if isinstance(value, UnionValue):
        return all(is_whole(member, depth) for member in value.members)
    if isinstance(value, (Array, HostArray)):
        return value.dtype in ("int", "bool") and not value.declared
    if isinstance(value, Const):
        return type(value.value) in (int, bool)
    if isinstance(value, Static):
        return value.kind in ("int", "bool")
    if depth and isinstance(value, TupleValue):
        return any(is_whole(element, depth - 1) for element in value.elts)
    if depth and isinstance(value, ListValue):
        return any(is_whole(element, depth - 1) for element in value.known() or ())
    if depth and isinstance(value, DictValue):
        return any(is_whole(item, depth - 1) for _, item in value.items())
    return False
