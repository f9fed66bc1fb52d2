"""JAX110: see the page of ``traced_format``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import is_reportable, quote, raises_on_host
from flake8_jax.semantics.domain.values import Value, holds_tracer
from flake8_jax.semantics.events.events import Formatting

_INTEGER_CONVERSIONS = frozenset("diuxXoc")
_TEXT_CONVERSIONS = frozenset("rsa")


@rule("JAX110", "error", raises="tracer error")
def traced_format(event: Formatting) -> Report | None:
    """A traced value is formatted with a format spec such as `:.3f` or `%.2f`.

    ## Why is this bad?

    A format spec such as `:.3f` needs the number, but a tracer has none. Formatting a tracer raises
    `TypeError: unsupported format string passed to …Tracer.__format__`; the operator `%` raises
    `ConcretizationTypeError`. Both also raise under `jax.grad` without `jit`. Use `jax.debug.print`, which accepts
    format specs and prints the value in every call.

    An f-string without a format spec, such as `print(f"loss {loss}")`, raises no error, but it shows the tracer, and only
    once, at trace time. JAX205 (`print-in-staged`) reports such calls of `print`.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(w, x):
        loss = jnp.mean((x @ w) ** 2)
        label = f"loss {loss:.3f}"  # expect: traced-format
        return w - 0.1 * loss, len(label)


    def demonstrate():
        step(jnp.ones(2), jnp.ones((3, 2)))  # raises: TypeError
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def loss(w):
        value = jnp.sum(w**2)
        note = "loss %.2f" % value  # expect: traced-format
        return value + len(note)


    gradient = jax.grad(loss)


    def demonstrate():
        gradient(jnp.ones(2))  # raises: ConcretizationTypeError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(w, x):
        loss = jnp.mean((x @ w) ** 2)
        jax.debug.print("loss {loss:.3f}", loss=loss)
        return w - 0.1 * loss
    ```

    ## Not reported

    jaxlint does not report a formatted shape or another static value (`f"{x.shape[-1]:04d}"`), because Python knows it
    at trace time. It does not report a tracer without a format spec (`f"{x}"`), because this raises no error. For the
    same reason, it does not report a format spec after `!r` or `!s` (`f"{x!r:>20}"`), which formats the text of the
    tracer.

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def encode(x):
        with jax.named_scope(f"width_{x.shape[-1]:04d}"):
            y = jnp.tanh(x)
        if y.shape != x.shape:
            raise ValueError(f"{x!r:>20} became {y}, of {x.dtype!s:>10}")
        return y


    def report(x):
        return f"{encode(x).mean():.3f}" + "%.2f" % x.sum()
    ```

    ## Limitations

    The rule misses a format string that the program builds at run time (`template % x`).

    ## Fix safety

    No fix. `jax.debug.print` prints text but does not return it, so it cannot replace code that uses the text.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the formatting raises `TypeError` or
    `ConcretizationTypeError` while JAX traces.

    ## Since

    0.2.0.

    ## Related rules

    JAX109 (`traced-hash`), JAX108 (`traced-container-index`), JAX205 (`print-in-staged`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.debug.print.html>
    """
    context = event.context
    if not is_reportable(context) or not _raises(event.value, event.how, event.spec):
        return None
    subject = quote(context, event.at)
    return Report(event.at, f"{subject} is traced, but a format spec needs its value; use jax.debug.print")


def _raises(value: Value, how: str, spec: str) -> bool:
    if how != "percent":
        return raises_on_host(value)
    conversion = spec[-1:]
    if not conversion or conversion in _TEXT_CONVERSIONS:
        return False
    if conversion in _INTEGER_CONVERSIONS:
        return holds_tracer(value)
    return raises_on_host(value)
