"""JAX111: see the page of ``builtin_on_tracer``."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._facts import host_behaviour
from flake8_jax.rules._tracers import contains_unconvertible, is_array_or_number, is_reportable, quote
from flake8_jax.rules._wording import spelled, traced_argument
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    GRAD,
    Array,
    Const,
    GeneratorValue,
    ListValue,
    TupleValue,
    Value,
    holds_tracer,
    is_traced_array,
)
from flake8_jax.semantics.events.events import LibraryCall

_COMPARING = {"builtins.max": "jnp.maximum", "builtins.min": "jnp.minimum", "builtins.sorted": "jnp.sort"}
_OVER_AXIS = {"builtins.max": "jnp.max", "builtins.min": "jnp.min", "builtins.sorted": "jnp.sort"}
_TESTING = {"builtins.any": "jnp.any", "builtins.all": "jnp.all"}
_OF_TWO = ("builtins.max", "builtins.min")
_MATH = "math."


@rule(
    "JAX111",
    "error",
    fixable="sometimes",
    raises="tracer error",
    only=Subscription(where=frozenset({"staged"}), arrays=True),
)
def builtin_on_tracer(event: LibraryCall) -> Report | None:
    """`max`, `min`, `sorted`, `any`, `all` or a function of `math` is called on traced values.

    With `--preview`, the rule also reports `max`, `min` and `sorted` on values that `jax.grad` differentiates, and `max`
    and `min` on other JAX arrays in a function under `jax.grad`, even if no `jit` compiles the code. This finding is a
    note: the call works, but it waits for the device for each comparison, and it raises an error once the code is
    compiled.

    ## Why is this bad?

    `max(a, b)` tests `b > a`, and `any(xs)` tests the truth value of each element. Tracers have no truth value at
    trace time, so both raise `TracerBoolConversionError`. The functions of `math` convert their argument to a Python
    float and raise `ConcretizationTypeError` or `TypeError`, also under `jax.grad` without `jit`. The functions of
    `jax.numpy` that compute the same, such as `jnp.maximum` and `jnp.sqrt`, work with tracers.

    ## Example

    ```python
    import math

    import jax
    import jax.numpy as jnp


    @jax.jit
    def relu(x):
        return max(jnp.sum(x), 0.0)  # expect: builtin-on-tracer


    def norm(x):
        return math.sqrt(jnp.sum(x**2))  # expect: builtin-on-tracer


    slope = jax.grad(norm)


    def demonstrate():
        try:
            slope(jnp.ones(3))
        except jax.errors.ConcretizationTypeError:
            relu(jnp.ones(3))  # raises: TracerBoolConversionError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def relu(x):
        return jnp.maximum(jnp.sum(x), 0.0)


    slope = jax.grad(lambda x: jnp.sqrt(jnp.sum(x**2)))
    ```

    ## Not reported

    jaxlint does not report `abs`, `sum` and `pow`, because they use only operators that arrays have. It does not
    report any builtin on a static value, such as `max(x.shape)`.

    ```python
    import math

    import jax
    import jax.numpy as jnp


    @jax.jit
    def describe(x, parts):
        rows, columns = divmod(jnp.sum(x), 5)
        widest = max(x.shape) + sorted(parts)[0].count("a") + math.prod(x.shape)
        return abs(rows) + round(columns, 1) + pow(rows, 2) + sum([rows, columns]) + math.sqrt(widest)


    def best(losses):
        return max(jnp.tanh(loss) for loss in losses)
    ```

    ## Limitations

    The rule misses a call such as `max(items, key=f)` in which the function `f` returns a traced value.

    ## Fix safety

    Unsafe. jaxlint writes the `jax.numpy` function: `max(a, b)` becomes `jnp.maximum(a, b)`, `math.sqrt(x)` becomes
    `jnp.sqrt(x)` and `any(mask)` becomes `jnp.any(mask)`. The result is an array instead of a Python number. If an
    argument is NaN, `jnp.maximum` returns NaN, but Python's `max` may return the other argument.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the call raises
    `TracerBoolConversionError`, `ConcretizationTypeError` or `TypeError` at trace time.

    ## Since

    0.2.0.

    ## Related rules

    JAX101 (`traced-branch`), JAX102 (`traced-while`), JAX112 (`where-on-static`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerBoolConversionError>
    """
    context = event.context
    if not is_reportable(context):
        return None
    if event.name.startswith(_MATH):
        return _converted(event)
    elements = _operands(event.args, event.nodes)
    short = event.name.rpartition(".")[2]
    if event.name in _COMPARING and "key" not in event.kwargs and _compares(elements):
        equivalent = (_COMPARING if len(event.args) > 1 else _OVER_AXIS)[event.name]
        several = len(event.args) > 1
        otherwise = (
            "an argument" if several else quote(context, event.nodes[0] if event.nodes else None, "its argument")
        )
        subject = traced_argument(event, otherwise)
        compared = (
            f"the value of {subject}, but it is traced" if several else f"the values in {subject}, but they are traced"
        )
        return Report(event.at, f"{short}() needs {compared}; use {equivalent}")
    if event.name in _COMPARING and "key" not in event.kwargs and _compares(elements, GRAD):
        equivalent = (_COMPARING if len(event.args) > 1 else _OVER_AXIS)[event.name]
        message = (
            f"{short}() compares values that grad differentiates, so it waits for the device, and raises under jit"
        )
        return Report(event.at, f"{message}; use {equivalent}", level="info", preview=True)
    if event.name in _OF_TWO and len(event.args) > 1 and "key" not in event.kwargs and not context.once:
        return _compared(event)
    if event.name in _TESTING and _tests(elements, stops_at=event.name == "builtins.any"):
        equivalent = _TESTING[event.name]
        subject = traced_argument(event, quote(context, event.nodes[0] if event.nodes else None, "its argument"))
        return Report(event.at, f"{short}() tests the elements of {subject}, but they are traced; use {equivalent}")
    return None


def _compared(event: LibraryCall) -> Report | None:
    """``max(volume, 0)`` under ``grad``, where it is not known whether the volume hangs on what ``grad`` differentiates by."""
    if not any(is_array_or_number(value) for value in event.args):
        return None
    short = event.name.rpartition(".")[2]
    message = f"{short}() compares JAX arrays in Python, so it waits for the device, and raises under jit"
    return Report(event.at, f"{message}; use {_COMPARING[event.name]}", level="info", preview=True)


def _converted(event: LibraryCall) -> Report | None:
    if host_behaviour(event) != "converts":
        return None
    if not any(contains_unconvertible(value) for value in (*event.args, *event.kwargs.values())):
        return None
    equivalent = event.fact.equivalent if event.fact is not None else None
    advice = f"use {equivalent.replace('jax.numpy', 'jnp')}" if equivalent else "use jax.numpy"
    function, subject = spelled(event.context, event.at, event.name), traced_argument(event, "its argument")
    return Report(event.at, f"{function}() needs a Python number, but {subject} is traced; {advice}")


def _operands(args: Sequence[Value], nodes: Sequence[ir.Expr | None]) -> tuple[Value, ...]:
    """What the builtin walks over: its arguments, or the elements of its only one."""
    if len(args) == 1 and (not nodes or nodes[0] is not None):
        return _elements(args[0])
    return tuple(args)


def _elements(value: Value) -> tuple[Value, ...]:
    """The elements, in order; two stand for a number that is not known."""
    if isinstance(value, TupleValue):
        return value.elts
    if isinstance(value, ListValue):
        known = value.known()
        rest = value.slots.get("*")
        return known if known is not None else () if rest is None else (rest, rest)
    if isinstance(value, GeneratorValue):
        return (value.element, value.element)
    if isinstance(value, Array) and is_traced_array(value) and value.ndim != 0:
        return (value,) if value.length == 1 else (value, value)
    return ()


def _compares(elements: Sequence[Value], minimum: int = ABSTRACT) -> bool:
    """Whatever a traced pytree is, an array or a container, comparing it needs the truth of a tracer or fails."""
    return len(elements) > 1 and any(holds_tracer(element, minimum) for element in elements)


def _tests(elements: Sequence[Value], *, stops_at: bool) -> bool:
    """A traced element is reached before a constant that decides the answer."""
    for element in elements:
        if is_traced_array(element):
            return True
        if isinstance(element, Const) and bool(element.value) is stops_at:
            return False
    return False
