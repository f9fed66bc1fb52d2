"""JAX205: see the page of ``print_in_staged``."""

from __future__ import annotations

from flake8_jax.core.registry import TRACED_BY, Report, Subscription, rule
from flake8_jax.rules._facts import LOG, PRINT, effect, is_test
from flake8_jax.rules._tracers import contains_tracer
from flake8_jax.rules._wording import callee, traced_argument
from flake8_jax.semantics.events.events import LibraryCall, MethodCall

_SETTING_UP = frozenset({"__init__", "__post_init__", "setup"})


@rule("JAX205", "info", fixable="sometimes", only=Subscription(where=frozenset({"staged"}), arrays=True))
def print_in_staged(event: LibraryCall | MethodCall) -> Report | None:
    """`print`, `logging` or `warnings.warn` shows a traced value.

    The finding is a note, because most of these calls are left over from debugging.

    ## Why is this bad?

    A `print` in traced code runs at trace time, once per compilation, and shows the tracer (`JitTracer(float32[])`)
    instead of a number. Later calls print nothing. `jax.debug.print` is part of the compiled program and prints the
    value each time.

    ## Example

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

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(w, x):
        loss = jnp.mean((x @ w) ** 2)
        jax.debug.print("loss = {loss}", loss=loss)
        return w - 0.1 * loss
    ```

    ## Not reported

    jaxlint does not report a printed shape or another static value, because the text is right and shows when JAX
    compiles the function. It does not report code outside tracing.

    jaxlint does not report code in a notebook, or a log message of a constructor (`__init__`), because such code often
    shows a tracer on purpose.

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

    ## Limitations

    The rule does not report code that writes to a file, such as `log.write(text)`, because JAX504 (`impure-call`) reports
    it.

    ## Fix safety

    `print(f"loss {x}")` becomes `jax.debug.print("loss {x}", x=x)` if the text is a plain string or an f-string. Calls
    of `logging` and `warnings.warn` have no fix, because `jax.debug.print` has no log level. The fix of `print` is
    safe if all printed values are tracers each time the `print` runs. Otherwise it is unsafe: `jax.debug.print` first
    converts a Python number to an array, so it prints a float in single precision.

    The fix is also unsafe in a project that uses `jax.export`, because `jax.export` rejects functions that call
    `jax.debug.print`. It is also unsafe in a project that traces functions without running them, for example with
    `jax.eval_shape`, because `jax.debug.print` prints nothing there.

    jaxlint offers no fix if one of the printed values is a shape, a class or an integer that needs 64 bits. It also
    offers no fix if the text of the `print`, the name of the function or a comment in it mentions tracing, compilation
    or side effects.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the `print` runs while JAX traces.

    ## Since

    0.2.0.

    ## Related rules

    JAX110 (`traced-format`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/debugging/print_breakpoint.html>
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
    said = f"{called}() runs at trace time{TRACED_BY} and {shown}" if context.once else f"{called}() {shown}"
    # Of ten prints drawn from unseen repositories one was worth a minute, of seven behind a flag none, of eight logs two: they
    # are left over from debugging, or meant to show shapes, once per compilation.
    return Report(event.at, f"{said}; use jax.debug.print")
