"""JAX108: see the page of ``traced_container_index``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import contains_tracer, is_host_container, is_reportable, quote
from flake8_jax.semantics.domain.values import UNKNOWN_TRACE, HostArray, ListValue, Value
from flake8_jax.semantics.events.events import Indexing


@rule("JAX108", "error", fixable="sometimes", raises="tracer error")
def traced_container_index(event: Indexing) -> Report | None:
    """A Python list, tuple or string, or a NumPy array, is indexed by a traced value.

    The finding is a note if the container is a NumPy array, because jaxlint is often wrong about this: in
    all 7 such findings in public repositories, the container was a tracer when the code ran, so JAX raised no error.
    If jaxlint knows only from an annotation (`table: list[int]`) what the container is, the rule reports the index
    only with `--preview`.

    ## Why is this bad?

    The index of a Python list or of a NumPy array must be an integer that is known at trace time, but a traced index
    has a value only when the compiled program runs. A list raises `TracerIntegerConversionError`; a NumPy array raises
    `TracerArrayConversionError`. A typical case is the body of `jax.lax.fori_loop` that indexes a NumPy array by the
    loop index (`table[i]`).

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def apply_layers(weights, x):
        layers = [weights["first"], weights["second"]]

        def layer(i, x):
            return jnp.tanh(layers[i] @ x)  # expect: traced-container-index

        return jax.lax.fori_loop(0, 2, layer, x)


    def demonstrate():
        eye = jnp.eye(3)
        apply_layers({"first": eye, "second": eye}, jnp.ones(3))  # raises: TracerIntegerConversionError
    ```

    ```python
    import jax
    import numpy as np

    GAIN = np.linspace(0.0, 1.0, 5)


    @jax.jit
    def gain(level):
        return GAIN[level]  # expect: traced-container-index


    def demonstrate():
        gain(2)  # raises: TracerArrayConversionError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np

    GAIN = np.linspace(0.0, 1.0, 5)


    @jax.jit
    def gain(level):
        return jnp.asarray(GAIN)[level]


    @jax.jit
    def apply_layers(weights, x):
        layers = jnp.stack([weights["first"], weights["second"]])
        return jax.lax.fori_loop(0, 2, lambda i, x: jnp.tanh(layers[i] @ x), x)
    ```

    ## Not reported

    jaxlint does not report an index that is known at trace time, such as the variable of a Python `for` loop.

    ```python
    import jax
    import jax.numpy as jnp

    SHIFTS = [(-1, 0), (1, 0), (0, -1), (0, 1)]


    @jax.jit
    def neighbors(u):
        total = jnp.zeros_like(u)
        for k in range(len(SHIFTS)):
            total = total + jnp.roll(u, SHIFTS[k], axis=(0, 1))
        return total / u.shape[0]
    ```

    ## Limitations

    The rule misses objects whose class defines `__getitem__`.

    ## Fix safety

    Unsafe. If `table` is a NumPy array, or a list or tuple of numbers, `table[i]` becomes `jnp.asarray(table)[i]`. The
    new code raises no error if the index is out of range: JAX then returns the first or the last item. The result has
    the dtype of `jnp.asarray(table)`, so expressions that use it may have another dtype. Strings and sequences of
    other objects have no fix.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the index raises an error such as
    `TracerIntegerConversionError` or `TracerArrayConversionError` while JAX traces.

    ## Since

    0.2.0.

    ## Related rules

    JAX103 (`traced-range`), JAX105 (`traced-shape`), JAX106 (`data-dependent-shape`), JAX107 (`traced-slice`), JAX109
    (`traced-hash`), JAX110 (`traced-format`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerIntegerConversionError>
    """
    context = event.context
    if event.mode != "load" or not is_reportable(context):
        return None
    if not is_host_container(event.base) or not contains_tracer(event.index):
        return None
    subject = quote(context, event.at.index, "the index")
    declared = _is_only_declared(event.base)
    if isinstance(event.base, HostArray):
        array = quote(context, event.at.value, "the array")
        message = f"{subject} is traced, so it cannot index the NumPy array {array}; convert {array} with jnp.asarray"
        return Report(event.at, message, level="info", preview=declared)
    base = quote(context, event.at.value, "a Python sequence")
    message = f"{subject} is traced, so it cannot index the Python sequence {base}; use jnp.stack or jax.lax.switch"
    return Report(event.at, message, preview=declared)


def _is_only_declared(base: Value) -> bool:
    """Nothing but an annotation says what the container is: many a ``List[int]`` is an array."""
    if isinstance(base, HostArray):
        return base.declared
    if not isinstance(base, ListValue) or base.slots["n"] is not None:
        return False
    return "declared" in base.slots or base.made_in == UNKNOWN_TRACE
