"""JAX904: see the page of ``leftover_debug``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.code import nodes_around
from flake8_jax.semantics.domain.values import Const
from flake8_jax.semantics.events.events import Setting
from flake8_jax.semantics.events.facts import OFF, is_on

_COSTS = {
    "jax_debug_nans": "JAX waits for every result and reruns a function that gives NaN without jit",
    "jax_debug_infs": "JAX waits for every result and reruns a function that gives inf without jit",
    "jax_disable_jit": "JAX compiles nothing",
    "jax_check_tracer_leaks": "JAX traces functions again on every call",
    "jax_enable_checks": "JAX checks its internals in every trace",
}


@rule("JAX904", "warning", opt_in=True)
def leftover_debug(event: Setting) -> Report | None:
    """A breakpoint, `disable_jit` or `jax_debug_nans` is left in the program.

    The rule is off by default, because the author may still need the debugging aid. With `--preview`, the rule is on for
    breakpoints and options in Python files, and for `XLA_PYTHON_CLIENT_ALLOCATOR=platform`. With this value, JAX asks the
    driver for the memory of each array, and gives it back after each use.

    ## Why is this bad?

    `jax.debug.breakpoint()` stops the program and waits for input in the terminal. The option `jax_debug_nans` makes
    JAX wait for every result, to check it for NaN. The option `jax_disable_jit` makes JAX compile nothing. Both
    options print nothing, but they make the program slow. Remove the breakpoint and the options, or enable them only
    if the user passes a command-line flag.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(x):
        return x / jnp.sum(x)


    def fit(x):
        jax.config.update("jax_disable_jit", True)  # expect: leftover-debug
        y = step(x)
        jax.debug.breakpoint()  # expect: leftover-debug
        return y


    def main(x):
        with jax.debug_nans(True):  # expect: leftover-debug
            return step(x)


    def demonstrate():
        try:
            main(jnp.zeros(2))
        except FloatingPointError:
            return
        raise AssertionError
    ```

    ## Use instead

    Enable the debugging option only if the user passes a command-line flag.

    ```python
    import argparse

    import jax


    def main():
        parser = argparse.ArgumentParser()
        parser.add_argument("--debug", action="store_true")
        args = parser.parse_args()
        jax.config.update("jax_debug_nans", args.debug)
        if args.debug:
            jax.config.update("jax_disable_jit", True)
    ```

    ## Not reported

    jaxlint does not report a `jax.config.update` that the code reverts later. It does not report a `with` block, such
    as `with jax.disable_jit()`, in a function that no script of the project calls. In both cases, the option slows
    down only a part of the program. It does not report options of JAX that are not for debugging.

    ```python
    import jax


    def operations(function, *args):
        with jax.disable_jit():
            return jax.make_jaxpr(function)(*args)


    def find_nan(step, state):
        jax.config.update("jax_debug_nans", True)
        state = step(state)
        jax.config.update("jax_debug_nans", False)
        return state


    jax.config.update("jax_default_matmul_precision", "highest")
    ```

    ## Limitations

    The rule does not report Python's `breakpoint()` and other debugging tools, because other linters report them.

    ## Fix safety

    No fix. Only the author knows whether the debugging aid is still needed.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding as soon as the line of the finding runs,
    because the source code already shows the mistake.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX903 (`late-configuration`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/debugging/flags.html>
    """
    context = event.context
    if event.late or event.conditional or context.presumed or is_test(context) or _is_temporary(event):
        return None
    if event.kind == "context" and _is_discarded(event):
        return None
    if event.kind == "call":
        if event.name != "jax.debug.breakpoint":
            return None
        message = "jax.debug.breakpoint() stops the program and waits for terminal input; remove it"
        return Report(event.at, message, also_in_preview=not context.scope.cells)
    if event.name == "XLA_PYTHON_CLIENT_ALLOCATOR":
        return _slow_allocator(event)
    cost = _COSTS.get(event.name.lower())
    setting = quote(context, event.at) if event.kind == "context" else f"`{event.name}`"
    # In a library's function, a block without jit is meant.
    if cost is None or not is_on(event.value) or (event.kind == "context" and not event.by_program):
        return None
    return Report(
        event.at,
        f"{setting} is still enabled, so {cost}; disable it",
        unless=OFF if event.kind != "context" else "",
        also_in_preview=event.kind != "context" and not context.scope.cells,
    )


def _slow_allocator(event: Setting) -> Report | None:
    """``os.environ["XLA_PYTHON_CLIENT_ALLOCATOR"] = "platform"``."""
    if not isinstance(event.value, Const) or event.value.value != "platform":
        return None
    message = (
        f"`{event.name}` is `platform`, so JAX asks the driver for the memory of each array, which is very slow; remove it, "
        "unless you look for the cause of an out-of-memory error"
    )
    return Report(event.at, message, preview=True, also_in_preview=True)


def _is_discarded(event: Setting) -> bool:
    """No code enters the context manager, so that it changes nothing: this is a finding of ``discarded-result``."""
    around = nodes_around(event.context.scope.tree.body, event.at.start, event.at.end)
    return any(isinstance(node, ir.ExprStmt) and node.value is event.at for node in around)


def _is_temporary(event: Setting) -> bool:
    """A context manager or a fixture switches it on for the time being."""
    inner = event.context.inner
    return inner is not None and (inner.is_generator or inner.name in ("__enter__", "setUp", "setup_method"))
