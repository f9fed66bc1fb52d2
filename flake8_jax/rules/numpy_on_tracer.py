"""JAX203: see the page of ``numpy_on_tracer``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._facts import RANDOM, effect, host_behaviour
from flake8_jax.rules._round_trips import is_round_trip
from flake8_jax.rules._tracers import contains_tracer, contains_unconvertible
from flake8_jax.rules._wording import spelled, traced_argument
from flake8_jax.semantics.domain.values import HostArray, ListValue, TupleValue, Value
from flake8_jax.semantics.events.events import LibraryCall

_HOST_LIBRARIES = frozenset({"numpy", "scipy"})
_SCALAR_TYPES = frozenset({
    "numpy.bool_", "numpy.int8", "numpy.int16", "numpy.int32", "numpy.int64", "numpy.intc", "numpy.intp",
    "numpy.int_", "numpy.longlong", "numpy.short", "numpy.byte", "numpy.uint8", "numpy.uint16", "numpy.uint32",
    "numpy.uint64", "numpy.uintc", "numpy.uintp", "numpy.uint", "numpy.ulonglong", "numpy.ushort", "numpy.ubyte",
    "numpy.float16", "numpy.float32", "numpy.float64", "numpy.half", "numpy.single", "numpy.double",
    "numpy.longdouble", "numpy.complex64", "numpy.complex128", "numpy.csingle", "numpy.cdouble", "numpy.clongdouble",
})  # fmt: skip
"""A dtype is harmless as an argument; called on a tracer, it converts."""


_SIZED = frozenset({
    f"jax.numpy.{name}"
    for name in (
        "argwhere", "compress", "extract", "flatnonzero", "intersect1d", "nonzero", "setdiff1d", "setxor1d", "union1d",
        "unique",
    )
})  # fmt: skip
"""Their results have as many elements as the data say; while JAX traces, they need ``size=``."""


@rule(
    "JAX203",
    "error",
    fixable="sometimes",
    raises="tracer error",
    only=Subscription(where=frozenset({"staged"}), arrays=True, presumed=True),
)
def numpy_on_tracer(event: LibraryCall) -> Report | None:
    """A NumPy or SciPy function is called on a traced value.

    With `--preview`, the rule also looks at functions that no code of the project traces. It reports a NumPy call on a
    parameter that is annotated as a JAX array, if the result of the call then becomes an argument of a JAX function, as
    in `jnp.stack([np.roll(x, k) for k in ks])`. Outside tracing, such code copies the data to the host and back.

    ## Why is this bad?

    A NumPy function reads the data of its argument, but a tracer has no data, so the call raises
    `TracerArrayConversionError`, also under `jax.grad` without `jit`. A call of a scalar type, such as
    `np.float32(x)`, raises too. Use the function of `jax.numpy` with the same name.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    def distance(a, b):
        return np.linalg.norm(a - b)  # expect: numpy-on-tracer


    @jax.jit
    def morse(points):
        r = distance(points[0], points[1])
        return (1.0 - jnp.exp(1.0 - r)) ** 2


    def demonstrate():
        morse(jnp.ones((2, 3)))  # raises: TracerArrayConversionError
    ```

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    def loss(w):
        scale = np.float32(jnp.max(w))  # expect: numpy-on-tracer
        return jnp.sum(w**2) / scale


    gradient = jax.grad(loss)


    def demonstrate():
        gradient(jnp.ones(3))  # raises: TracerArrayConversionError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def morse(points):
        r = jnp.linalg.norm(points[0] - points[1])
        return (1.0 - jnp.exp(1.0 - r)) ** 2
    ```

    ## Not reported

    jaxlint does not report NumPy functions of shapes and constants (`np.prod(x.shape)`), or a dtype such as
    `np.float32` as an argument, because these are not traced. Without `--preview`, it does not report code outside
    tracing.

    jaxlint does not report `np.sum`, `np.mean`, `np.argmax`, `np.reshape`, `np.shape` and similar functions if their
    first argument is a tracer: NumPy then uses the method or attribute of the tracer with the same name (`x.sum()`,
    `x.shape`), which works.

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np

    HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


    @jax.jit
    def gaussian(x, scale):
        n = np.prod(x.shape)
        weights = np.sqrt(np.arange(x.shape[0], dtype=np.float32) + 1.0)
        if np.ndim(x) != 1 or not np.issubdtype(x.dtype, np.floating):
            raise TypeError(np.shape(x))
        return -0.5 * np.sum(weights * (x / scale) ** 2) - n * HALF_LOG_2PI + np.argmax(x)


    def save(x):
        return np.asarray(gaussian(x, 1.0)), np.sin(x)
    ```

    ## Limitations

    The rule does not report a Python operator between a NumPy array and a tracer (`table * x`), because JAX computes
    it.

    ## Fix safety

    `np.f(x)` becomes `jnp.f(x)` if `jax.numpy` has the function `f`. jaxlint adds the import and converts lists, which
    `jax.numpy` does not accept. `np.asarray(jnp.f(x))` becomes `jnp.f(x)`. The fix is safe if `jnp.f` accepts the
    arguments and every run passes a tracer, because the NumPy call then always raises an error. Otherwise it is unsafe:
    a caller outside tracing gets a JAX array in JAX's default precision instead of a NumPy array.

    jaxlint offers no fix if `jnp.f` rejects an option of the call, such as `out=`, `order="F"` or `where=`.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the call raises an error such as
    `TracerArrayConversionError` while JAX traces.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX201 (`host-cast`), JAX202 (`host-item`), JAX204 (`sync-in-staged`), JAX206 (`sync-in-loop`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerArrayConversionError>
    """
    context = event.context
    root = event.name.partition(".")[0]
    if root not in _HOST_LIBRARIES or not context.staged or context.caught or not _converts(event):
        return None
    if context.presumed and not is_round_trip(event):
        return None
    short = spelled(context, event.at, event.name)
    equivalent = event.fact.equivalent if event.fact is not None else None
    advice = "use a JAX function or jax.pure_callback"
    if equivalent:
        size = " with size=" if equivalent in _SIZED else ""
        advice = f"use {equivalent.replace('jax.numpy.', 'jnp.', 1)}{size}"
    subject = traced_argument(event, "its argument")
    return Report(event.at, f"{short}() converts {subject} to a NumPy array, but {_again(subject)} is traced; {advice}")


def _again(subject: str) -> str:
    """A second mention of a quoted expression: a name is repeated."""
    return subject if subject.strip("`").isidentifier() else "it"


def _converts(event: LibraryCall) -> bool:
    """The call reads the data of a tracer. Shape arguments and host randomness have rules of their own."""
    if event.name in _SCALAR_TYPES:
        return any(contains_unconvertible(value) for value in event.args)
    if effect(event) == RANDOM and event.context.staged:
        return False
    data = _data_arguments(event)
    behaviour = host_behaviour(event)
    if behaviour == "converts":
        return any(contains_unconvertible(value) for value in data)
    if behaviour != "dispatches" or not event.args:
        return False
    first = event.args[0]
    if isinstance(first, (TupleValue, ListValue)):  # np.sum([x, y]): a list has no method that NumPy could call
        return contains_unconvertible(first)
    # np.searchsorted(table, x): the first argument decides that NumPy runs, and it converts the others.
    return isinstance(first, HostArray) and not first.declared and any(contains_tracer(value) for value in data[1:])


def _data_arguments(event: LibraryCall) -> list[Value]:
    """The arguments but for shapes and axes, which are traced-shape's."""
    if event.fact is not None and event.bound:
        left_out = frozenset(event.fact.shape_params) | frozenset(event.fact.axis_params)
        return [value for name, value in event.bound.items() if name not in left_out]
    return [*event.args, *event.kwargs.values()]
