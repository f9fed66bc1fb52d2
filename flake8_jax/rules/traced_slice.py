"""JAX107: see the page of ``traced_slice``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import is_reportable, is_sliceable, quote
from flake8_jax.semantics.domain.code import path_of
from flake8_jax.semantics.domain.values import GRAD, Array, HostArray, ListValue, TupleValue, holds_tracer
from flake8_jax.semantics.events.events import Slicing


@rule("JAX107", "error", fixable="sometimes", raises="tracer error")
def traced_slice(event: Slicing) -> Report | None:
    """A slice has a traced start, stop or step.

    With `--preview`, the rule also reports a slice outside tracing from a JAX array on, such as `x[start : start + 8]`.
    This finding is a note: the slice works, but it waits for the device, and it raises an error once the code is compiled.

    ## Why is this bad?

    The length of `x[i:j]` is a part of a shape, and JAX must know shapes at trace time. With a traced `i` or `j`, an
    array raises `IndexError` ("Slice entries must be static integers"), and a Python list raises
    `TracerIntegerConversionError`. It does not help that `j - i` is always the same number, because JAX sees two
    tracers.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def window(x, i):
        return x[i : i + 4].mean()  # expect: traced-slice


    def demonstrate():
        window(jnp.arange(8.0), 2)  # raises: IndexError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def window(x, i):
        return jax.lax.dynamic_slice_in_dim(x, i, 4).mean()


    @jax.jit
    def mask_tail(row, length):
        return jnp.where(jnp.arange(row.shape[0]) < length, row, 0.0)
    ```

    ## Not reported

    jaxlint does not report a slice whose start, stop and step are known at trace time, or a traced integer index
    (`x[i]`), because the shape of the result is then static.

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def halves(x, i):
        middle = x.shape[0] // 2
        return x[:middle].sum() - x[middle:].sum() + x[i] + x[::2].max()


    def batches(x, size=4):
        return [x[start : start + size] for start in range(0, x.shape[0], size)]
    ```

    ## Limitations

    The rule misses a `slice` object that the function gets as an argument (`x[window]`).

    ## Fix safety

    Unsafe. If `n` is static, `x[i : i + n]` becomes `jax.lax.dynamic_slice_in_dim(x, i, n)`. If `i + n` is beyond the
    end of `x`, a slice outside tracing is shorter than `n`, but the new code starts earlier and returns the last `n`
    elements.

    An update `x.at[i : i + n].set(y)` becomes `x.at[i + jnp.arange(n)].set(y)`. jaxlint offers no fix for an update
    whose start may become negative, as in `x.at[i - 1 : i + 1]`. For `i = 0`, this slice is empty, but the fixed code
    would change the last element, because its index is -1.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the slice raises an error such as
    `IndexError` while JAX traces.

    ## Since

    0.2.0.

    ## Related rules

    JAX103 (`traced-range`), JAX105 (`traced-shape`), JAX106 (`data-dependent-shape`), JAX108 (`traced-container-index`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.lax.dynamic_slice.html>
    """
    context = event.context
    if not context.staged and not context.caught and not context.presumed:
        return _outside_tracing(event)
    if not is_reportable(context) or not is_sliceable(event.base):
        return None
    bounds = ((event.lower, event.slice.lower), (event.upper, event.slice.upper), (event.step, event.slice.step))
    for value, node in bounds:
        if value is not None and holds_tracer(value):
            subject = quote(context, node, "") or f"a bound of {quote(context, event.at, 'this slice')}"
            advice = "use jax.lax.dynamic_slice or a mask"
            if isinstance(value, Array) and value.derived:
                subject, advice = f"{subject}, computed with jnp from static values,", "use math or NumPy for it"
            return Report(event.at, f"Slice bounds must be static integers, but {subject} is traced; {advice}")
    return None


def _outside_tracing(event: Slicing) -> Report | None:
    """``x[:, top : top + size]`` with a random ``top``: the array is read on the host."""
    context = event.context
    if context.inner is None or context.scope.is_test or isinstance(event.base, (HostArray, ListValue, TupleValue)):
        return None
    value, node = event.lower, event.slice.lower
    if node is None or event.slice.upper is None or type(value) is not Array or value.level >= GRAD or value.declared:
        return None  # one bound alone says how many elements there are: no slice of a fixed size replaces it
    if not _begins_with(event.slice.upper, node):
        return None  # its length may vary, too
    problem = f"{quote(context, node)} is a JAX array, so this slice waits for the device and raises under jit"
    return Report(event.at, f"{problem}; use jax.lax.dynamic_slice", level="info", preview=True)


def _begins_with(upper: ir.Expr, lower: ir.Expr) -> bool:
    """``start + size`` begins with ``start``."""
    path = path_of(lower)
    parts = (upper.left, upper.right) if isinstance(upper, ir.BinOp) and upper.op == "+" else ()
    return bool(path) and any(path_of(part) == path for part in parts)
