"""JAX109: see the page of ``traced_hash``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import is_reportable, quote
from flake8_jax.semantics.domain.values import GRAD, TupleValue, UnionValue, Value, holds_tracer
from flake8_jax.semantics.events.events import Hashing

_WHERE = {
    "dict-key": "be a dict key",
    "set-element": "be an element of a set",
    "membership": "be looked up in a set or dict",
    "dict-lookup": "be looked up in a dict",
}
_INSTEAD = {
    "set-element": "make it a static argument, or use jnp.unique(x, size=n)",
    "membership": "make it a static argument, or compare it with an array of the elements",
    "dict-lookup": "make it a static argument, or select with jax.lax.switch",
}


@rule("JAX109", "error", raises="tracer error")
def traced_hash(event: Hashing) -> Report | None:
    """A traced value is hashed: as a dict key, as an element of a set, or for a lookup.

    ## Why is this bad?

    A dict and a set compare their keys by value, but a tracer has no value at trace time. A tracer therefore has no
    hash: a tracer as a dict key raises `TypeError: unhashable type`, also under `jax.grad` without `jit`.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def distinct(x):
        cell = jnp.round(x[0]).astype(jnp.int32)
        other = jnp.round(x[1]).astype(jnp.int32)
        return len({cell, other})  # expect: traced-hash


    def demonstrate():
        distinct(jnp.arange(2.0))  # raises: TypeError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def distinct(x):
        cells = jnp.round(x[:2]).astype(jnp.int32)
        return 1 + (cells[0] != cells[1])
    ```

    ## Not reported

    jaxlint does not report a tracer that is a value of a dict (`{"loss": x}`), or a shape or dtype that is a key of a
    dict, because Python does not hash a tracer there.

    ```python
    import jax


    @jax.jit
    def stats(x):
        found = {"mean": x.mean(), "max": x.max()}
        by_shape = {x.shape: found["mean"]}
        if x.shape in by_shape and x.dtype.name in {"float32", "float64"}:
            found["mean"] = by_shape[x.shape]
        return found
    ```

    ## Limitations

    The rule misses objects whose class defines its own `__hash__`.

    ## Fix safety

    No fix. The replacement depends on what the dict or set is for. To test whether two elements are equal, compare
    them with `==`. For the distinct values of an array, use `jnp.unique(x, size=n)`. To count equal values, sum a
    one-hot array. To look up a value in a dict, make the key a static argument.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the line of the finding raises
    `TypeError` while JAX traces.

    ## Since

    0.2.0.

    ## Related rules

    JAX108 (`traced-container-index`), JAX110 (`traced-format`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/key-concepts.html#tracing>
    """
    context = event.context
    if event.how not in _WHERE or not is_reportable(context) or not _needs_tracer_hash(event.value):
        return None
    subject = quote(context, event.at.left if isinstance(event.at, ir.Compare) else event.at)
    remedy = _INSTEAD.get(event.how, "make it a static argument")
    return Report(event.at, f"{subject} is traced, and a tracer cannot {_WHERE[event.how]}; {remedy}")


def _needs_tracer_hash(value: Value) -> bool:
    """A tracer or a pytree of them, or a tuple that contains one: hashing a container hashes what it holds."""
    if isinstance(value, TupleValue):
        return any(_needs_tracer_hash(element) for element in value.elts)
    if isinstance(value, UnionValue):
        return all(_needs_tracer_hash(member) for member in value.members)
    return holds_tracer(value, GRAD)
