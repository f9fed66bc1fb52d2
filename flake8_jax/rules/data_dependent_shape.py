"""JAX106: see the page of ``data_dependent_shape``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.knowledge.model import FunctionFact
from flake8_jax.rules._binding import bind
from flake8_jax.rules._tracers import contains_tracer, is_none, is_reportable_in_method, quote
from flake8_jax.semantics.domain.masks import holds_traced_mask
from flake8_jax.semantics.domain.values import (
    Array,
    HostArray,
    ListValue,
    Tree,
    TupleValue,
    UnionValue,
    Value,
    holds_tracer,
)
from flake8_jax.semantics.events.events import Indexing, LibraryCall, MethodCall


@rule(
    "JAX106",
    "error",
    fixable="sometimes",
    raises="tracer error",
    only=Subscription(where=frozenset({"staged"}), arrays=True, presumed=True),
)
def data_dependent_shape(event: Indexing | LibraryCall | MethodCall) -> Report | None:
    """Traced code makes an array whose shape depends on the data.

    With `--preview`, the rule also reports functions that the project does not trace but its users probably will.
    These are losses, activations and densities that no code of the project calls, and methods of classes that are
    registered as pytrees and hold arrays. jaxlint recognizes losses, activations and densities by the name of the
    function (`mse_loss`, `gelu`, `log_prob`) or of its module (`losses.py`).

    ## Why is this bad?

    XLA compiles for static shapes, but `x[mask]` has one element for each True in the mask. `jnp.nonzero`,
    `jnp.unique`, `jnp.where` with one argument, and `jnp.repeat` with traced counts also return a shape that depends
    on the data. Under `jax.jit`, `x[mask]` and these functions raise `NonConcreteBooleanIndexError` or
    `ConcretizationTypeError`. The functions do not raise if an argument fixes the length: `total_repeat_length=` for
    `jnp.repeat`, and `size=` for the others.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def positive_mean(x):
        x = jnp.sin(x)
        chosen = x[x > 0]  # expect: data-dependent-shape
        return chosen.sum() / chosen.size


    def demonstrate():
        positive_mean(jnp.arange(4.0))  # raises: NonConcreteBooleanIndexError
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def first_crossing(x):
        (where,) = jnp.nonzero(x > 0.5)  # expect: data-dependent-shape
        return where[0]


    def demonstrate():
        first_crossing(jnp.arange(4.0))  # raises: ConcretizationTypeError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def positive_mean(x):
        x = jnp.sin(x)
        return jnp.mean(x, where=x > 0)


    @jax.jit
    def first_crossing(x):
        (where,) = jnp.nonzero(x > 0.5, size=1, fill_value=-1)
        return where[0]
    ```

    ## Not reported

    jaxlint does not report an integer index (`x[i]`) or `jnp.where` with three arguments, because the shape of the
    result does not depend on the data. It does not report a mask that is known at trace time, or code outside tracing,
    because JAX knows the elements of the mask there and can compute the shape.

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np

    EVEN = np.arange(6) % 2 == 0


    @jax.jit
    def gather(x, i):
        rows = x[i] + x.at[i].add(1.0)
        return jnp.where(rows > 0, rows, 0.0).sum() + x[EVEN].sum()


    @jax.jit
    def spread(x, counts):
        return jnp.repeat(x, counts, total_repeat_length=12)


    def outliers(x):
        return x[jnp.abs(x) > 3.0], jnp.unique(x)
    ```

    ## Limitations

    The rule misses `x[mask]` if jaxlint does not know that `mask` is an array of booleans.

    ## Fix safety

    Unsafe. A reduction gets the mask as its argument `where=`: `x[mask].sum()` becomes `jnp.sum(x, where=mask)`. The
    order of the additions may change, and a maximum or minimum over no elements is infinite instead of an error.

    `len(x[mask])` becomes `jnp.sum(mask)`, which is an array instead of a Python int. `x.at[x < 0].set(0)` becomes
    `jnp.where(x < 0, 0, x)`, which may have another dtype if `x` holds no floats.

    Other expressions, such as `y = x[mask]`, have no fix, because the author has to choose a fixed size and a
    padding.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the expression raises an error such as
    `NonConcreteBooleanIndexError` or `ConcretizationTypeError` while JAX traces.

    ## Since

    0.2.0.

    ## Related rules

    JAX103 (`traced-range`), JAX105 (`traced-shape`), JAX107 (`traced-slice`), JAX108 (`traced-container-index`), JAX407
    (`varying-shape-in-loop`), JAX415 (`growing-array-in-loop`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/errors.html#jax.errors.NonConcreteBooleanIndexError>
    """
    if not is_reportable_in_method(event.context):
        return None
    if isinstance(event, Indexing):
        return _masked(event)
    if event.fact is None:
        return None
    if isinstance(event, LibraryCall):
        return _called(event, event.fact, event.bound, event.args)
    bound = bind(event.fact.params, event.args, event.kwargs)
    return _called(event, event.fact, bound, (event.value, *event.args))


def _masked(event: Indexing) -> Report | None:
    if event.mode not in ("load", "at") or not _is_array_like(event.base) or not holds_traced_mask(event.index):
        return None
    mask = quote(event.context, _mask_among(event.at.index, event.index), "the mask")
    advice = (
        "use the three-argument jnp.where" if event.mode == "at" else "use jnp.where or the `where=` of a reduction"
    )
    return Report(event.at, f"A boolean mask must be concrete at trace time, but {mask} is traced; {advice}")


def _mask_among(node: ir.Expr, index: Value) -> ir.Expr:
    """The mask in ``x[mask, :]``."""
    if isinstance(node, ir.Tuple) and isinstance(index, TupleValue) and len(node.elts) == len(index.elts):
        return next((part for part, value in zip(node.elts, index.elts) if holds_traced_mask(value)), node)
    return node


def _called(
    event: LibraryCall | MethodCall, fact: FunctionFact, bound: Mapping[str, Value], operands: Sequence[Value]
) -> Report | None:
    if not fact.data_dependent or (fact.size_param is not None and not is_none(bound.get(fact.size_param))):
        return None
    if not _depends_on_traced_data(event, fact, bound, operands):
        return None
    fixed = f"; pass {fact.size_param}=" if fact.size_param else "; use jnp.where"
    result = quote(event.context, event.at)
    return Report(event.at, f"The shape of {result} depends on traced data, but XLA needs static shapes{fixed}")


def _depends_on_traced_data(
    event: LibraryCall | MethodCall, fact: FunctionFact, bound: Mapping[str, Value], operands: Sequence[Value]
) -> bool:
    if fact.data_dependent == "traced-argument":
        counts = bound.get(fact.data_dependent_on or "")
        return counts is not None and contains_tracer(counts)
    if fact.data_dependent == "one-argument" and len(event.args) + len(event.kwargs) != 1:
        return False
    return bool(operands) and _is_traced_here(operands[0], ambient=event.context.ambient)


def _is_traced_here(value: Value, *, ambient: bool) -> bool:
    """A tracer, or a captured array that omnistaging makes one as soon as jnp computes with it."""
    return contains_tracer(value) or (ambient and isinstance(value, (Array, HostArray)))


def _is_array_like(base: Value) -> bool:
    """Not a host container: a list or a NumPy array indexed by a tracer is traced-container-index's."""
    if isinstance(base, UnionValue):
        return all(_is_array_like(member) for member in base.members)
    return isinstance(base, (Array, Tree)) or (not isinstance(base, ListValue) and holds_tracer(base))
