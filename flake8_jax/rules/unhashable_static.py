"""JAX403: a static argument that has no hash. Not modelled: hashes of classes."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.values import NO_BIRTH, Array, DictValue, HostArray, ListValue, UnionValue, Value
from flake8_jax.semantics.events.events import TransformCall


@rule("JAX403", "error", fixable="sometimes", raises="another error")
def unhashable_static(event: TransformCall) -> Report | None:
    """A list, dict or array is passed to a static argument of a jitted function.

    Why it bites: `jit` looks compiled code up by the values of the static arguments, so they need a hash. A list, a
    dict or an array has none, and the call raises `ValueError: Non-hashable static arguments`
    (<https://docs.jax.dev/en/latest/_autosummary/jax.jit.html>). Pass a tuple or a frozen dataclass.

    Bad:

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, static_argnames="axes")
    def standardise(x, axes):
        return x - x.mean(tuple(axes), keepdims=True)


    def prepare(x):
        return standardise(x, axes=[0, 1])  # expect: unhashable-static


    def demonstrate():
        prepare(jnp.ones((2, 2)))  # raises: ValueError
    ```

    Good:

    ```python
    from functools import partial

    import jax


    @partial(jax.jit, static_argnames="axes")
    def standardise(x, axes):
        return x - x.mean(axes, keepdims=True)


    def prepare(x):
        return standardise(x, axes=(0, 1))
    ```

    Also good: a list for an argument that is traced.

    ```python
    import jax


    @jax.jit
    def total(arrays):
        return sum(a.sum() for a in arrays)


    def both(a, b):
        return total([a, b])
    ```

    Fix: a list literal becomes a tuple. Safe where the function only iterates over it, counts it, reads one element, or passes
    it on as a shape or an axis. Unsafe where it does something else with it. jaxlint offers no fix where the function compares
    it with a list, adds a list to it or calls a method of lists, or where an element has no hash.

    Proof: the call raises `ValueError`.
    """
    context = event.context
    if context.presumed or context.caught or event.statics is None or not event.name.endswith(".jit"):
        return None
    positions, names = event.statics
    for i, value in enumerate(event.args):
        if i in positions and has_no_hash(value):
            return _report(event, event.nodes[i] if i < len(event.nodes) else None)
    for name, value in event.kwargs.items():
        if name in names and has_no_hash(value):
            return _report(event, event.keyword_nodes.get(name))
    return None


def _report(event: TransformCall, node: ir.Expr | None) -> Report:
    subject = quote(event.context, node, "the value")
    return Report(
        node if node is not None else event.at, f"{subject} has no hash, and the argument is static; pass a tuple"
    )


def has_no_hash(value: Value) -> bool:
    """Hashing the value raises for sure. What only an annotation says of it proves nothing: many a ``list[int]`` is a tuple."""
    if isinstance(value, UnionValue):
        return all(has_no_hash(member) for member in value.members)
    if isinstance(value, HostArray):
        return value.ndim is not None and value.ndim > 0 and not value.declared
    if isinstance(value, DictValue):
        return "frozen" not in value.slots and not (value.slots["open"] and value.born == NO_BIRTH)
    if isinstance(value, ListValue):
        return not value.is_tuple and not (value.slots["n"] is None and value.born == NO_BIRTH)
    return isinstance(value, Array) and not value.declared
