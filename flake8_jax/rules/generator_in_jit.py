"""JAX510: see the page of ``generator_in_jit``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    FunctionValue,
    PartialValue,
    TransformedValue,
    UnionValue,
    Value,
)
from flake8_jax.semantics.events.events import RootMet


@rule("JAX510", "error")
def generator_in_jit(event: RootMet) -> Report | None:
    """A generator function or an `async def` is passed to `jit`, `vmap`, `grad`, `scan` or another transform.

    ## Why is this bad?

    A call of a generator function or of an `async def` function runs no code of the function: it returns a generator
    or a coroutine. JAX traces only functions that return arrays, so the call of the transformed function raises
    `TypeError`.

    ## Example

    ```python
    import jax


    @jax.jit  # expect: generator-in-jit
    def trajectory(x, n):
        for _ in range(3):
            x = x * 0.9
            yield x


    def demonstrate():
        trajectory(1.0, 3)  # raises: TypeError
    ```

    ## Use instead

    ```python
    import jax


    @jax.jit
    def trajectory(x):
        def step(x, _):
            x = x * 0.9
            return x, x

        return jax.lax.scan(step, x, length=3)[1]
    ```

    ## Not reported

    jaxlint does not report a generator function or an `async def` function that calls a jitted function, because JAX
    traces only the jitted function. It does not report a generator inside a traced function (`sum(f(x) for x in xs)`),
    because its elements are values that JAX can trace.

    ```python
    import jax


    @jax.jit
    def step(x):
        def powers(x):
            for k in range(3):
                yield x**k

        return sum(powers(x))


    def trajectory(x, n):
        for _ in range(n):
            x = step(x)
            yield x


    async def serve(x):
        return step(x)
    ```

    ## Limitations

    The rule misses an ordinary function that returns a generator.

    ## Fix safety

    No fix. The author has to rewrite the function so that it returns arrays.

    ## How it is verified

    `jaxlint verify` runs the program that you name. It confirms the finding if the transform, or the first call of
    the function that the transform returned, raises `TypeError`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX705 (`control-flow-signature`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/key-concepts.html#tracing>
    """
    if event.context.presumed or event.context.caught or event.tracing == "none":
        return None
    kind = _kind(event.operand)
    if kind is None:
        return None
    return Report(
        event.at, f"`{event.name}` gets {kind}, but needs a function that returns arrays; use a plain function"
    )


def _kind(value: Value) -> str | None:
    """What a callable is, if calling it does not run it."""
    while isinstance(value, (PartialValue, BoundMethod, TransformedValue)):
        value = value.operand if isinstance(value, TransformedValue) else value.func
    if isinstance(value, UnionValue):
        kinds = {_kind(member) for member in value.members}
        return kinds.pop() if len(kinds) == 1 else None
    if not isinstance(value, FunctionValue):
        return None
    if value.fn.is_async:
        return f"the async function `{value.fn.name}`"
    return f"the generator function `{value.fn.name}`" if value.fn.is_generator else None
