"""JAX205: a traced value is printed or logged. Not modelled: writing to files, which is impure-call's."""

from __future__ import annotations

from flake8_jax.core.findings import Level
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._facts import LOG, PRINT, effect, is_test
from flake8_jax.rules._tracers import contains_tracer
from flake8_jax.rules._wording import callee, traced_argument
from flake8_jax.semantics.events.events import LibraryCall, MethodCall

_SETTING_UP = frozenset({"__init__", "__post_init__", "setup"})


@rule("JAX205", "warning", fixable="sometimes", only=Subscription(where=frozenset({"staged"}), arrays=True))
def print_in_staged(event: LibraryCall | MethodCall) -> Report | None:
    """`print`, `logging` or `warnings.warn` shows a traced value.

    Why it bites: the call runs while JAX traces, that is once per compilation, and shows the tracer:
    `JitTracer(float32[])` instead of a number, and nothing at all on later calls. `jax.debug.print` is compiled into
    the program and prints the value each time.

    Bad:

    ```python
    import contextlib
    import io

    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(w, x):
        loss = jnp.mean((x @ w) ** 2)
        print(f"loss = {loss}")  # expect: print-in-staged
        print("gradient", 2 * loss)  # expect: print-in-staged
        return w - 0.1 * loss


    def demonstrate():
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            for _ in range(3):
                step(jnp.ones(2), jnp.ones((3, 2)))
        assert out.getvalue().count("loss") == 1 and "Tracer" in out.getvalue()
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(w, x):
        loss = jnp.mean((x @ w) ** 2)
        jax.debug.print("loss = {loss}", loss=loss)
        return w - 0.1 * loss
    ```

    Also good: shapes and other static values, to see when a function is compiled; and eager code. In notebooks, and of what a
    constructor logs, jaxlint reports nothing: a tracer is what the reader is to see.

    ```python
    import logging

    import jax
    import jax.numpy as jnp

    log = logging.getLogger("training")


    @jax.jit
    def step(w, x):
        log.info("compiling step for %s", x.shape)
        print("width", w.shape[-1], x.dtype)
        return w - 0.1 * jnp.mean((x @ w) ** 2)


    def train(w, x):
        w = step(w, x)
        print("weights", w)
        return w
    ```

    Fix: `print(f"loss {x}")` becomes `jax.debug.print("loss {x}", x=x)`, where the text is a plain or f-string. Safe where
    every value is traced in every run. Unsafe otherwise: `jax.debug.print` makes an array of a number first. jaxlint offers no
    fix where a value is a shape, a class or an integer that needs 64 bits.

    Proof: the output holds the text of a tracer, on the first call only.
    """
    context = event.context
    if not context.staged or context.presumed or is_test(context):
        return None
    what = effect(event)
    if what not in (PRINT, LOG) or context.scope.cells:
        return None
    if what == LOG and context.inner is not None and context.inner.name in _SETTING_UP:
        return None  # said of an object that is made
    formatted = event.formatted if isinstance(event, LibraryCall) else ()
    if not any(contains_tracer(value) for value in (*event.args, *event.kwargs.values(), *formatted)):
        return None
    called = callee(context, event.at).strip("`")
    subject = traced_argument(event, "")
    shown = f"shows the tracer {subject}, not its value" if subject else "shows a tracer, not its value"
    said = f"{called}() runs at trace time and {shown}" if context.once else f"{called}() {shown}"
    # Of logs of tracers, two in eight were worth a minute: most are meant to show shapes, once per compilation.
    level: Level | None = None if what == PRINT else "info"
    return Report(event.at, f"{said}; use jax.debug.print", level)
