"""JAX903: see the page of ``late_configuration``."""

from __future__ import annotations

import re

from flake8_jax.core.findings import Level, Positions
from flake8_jax.core.registry import Report, rule
from flake8_jax.semantics.events.environment import meant_variable
from flake8_jax.semantics.events.events import Setting
from flake8_jax.semantics.events.facts import SUPERSEDED, is_on

_RAISING = frozenset({"jax.distributed.initialize", "jax_num_cpu_devices"})


@rule("JAX903", "warning", fixable="sometimes")
def late_configuration(event: Setting) -> Report | None:
    """The code changes a setting of JAX after JAX has read it.

    The finding is an error for `jax.distributed.initialize()` and `jax_num_cpu_devices`, because JAX raises
    `RuntimeError` there. It is a note if the program asks for JAX's devices first and makes the setting
    depend on the answer (`if jax.devices()[0].platform == "cpu": …`), because the setting then usually equals the one
    that JAX already uses. It is a note, too, if the code calls a function in which a test decides whether it makes the
    setting.

    With `--preview`, the rule also reports a variable that JAX does not read, but whose name is almost that of one that
    JAX reads, such as `JAX_PLATFORM` or `JAX_BACKEND` instead of `JAX_PLATFORMS`, and a `CUDA_VISIBLE_DEVICES` that the
    code sets after JAX has started. It reports `numpyro.set_platform` and `numpyro.set_host_device_count` if they come
    after that. It reports `jax_enable_x64` if the code enables it after JAX has made arrays, because
    these arrays stay in 32 bits.

    ## Why is this bad?

    JAX reads the environment variables `JAX_…` once, when the program imports JAX. It reads `XLA_FLAGS`,
    `XLA_PYTHON_CLIENT_…` and the platform when the program makes the first array, calls the first compiled function or
    asks for the devices. JAX ignores a setting that comes later: the program silently runs in 32 bits, on the wrong
    platform or with one device. Set the variable before the import, or call `jax.config.update` right after the
    import.

    ## Example

    ```python
    import os

    import jax
    import jax.numpy as jnp

    os.environ["JAX_ENABLE_X64"] = "1"  # expect: late-configuration
    GRID = jnp.linspace(0.0, 1.0, 5)
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"  # expect: late-configuration


    def demonstrate():
        before = jax.device_count()
        jax.config.update("jax_platforms", "nowhere")  # expect: late-configuration
        assert GRID.dtype == jnp.float32
        assert jax.device_count() == before
    ```

    ```python
    import jax
    import jax.numpy as jnp

    GRID = jnp.linspace(0.0, 1.0, 5)
    jax.config.update("jax_enable_x64", True)  # expect: late-configuration


    def demonstrate():
        assert GRID.dtype == jnp.float32
    ```

    ## Use instead

    ```python
    import os

    os.environ["JAX_ENABLE_X64"] = "1"

    import jax

    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
    jax.config.update("jax_platforms", "cpu")
    ```

    ## Not reported

    jaxlint does not report an option that JAX reads again each time, such as `jax_default_matmul_precision`, because a
    later setting has an effect. It does not report an environment variable that JAX does not read (`RUN_NAME`), or a
    variable that the code sets for another process before `subprocess.run(…)`.

    ```python
    import os
    import subprocess
    import sys

    import jax
    import jax.numpy as jnp

    SCALE = jnp.ones(3)
    jax.config.update("jax_default_matmul_precision", "highest")
    os.environ["RUN_NAME"] = "baseline"


    def evaluate(script):
        os.environ["JAX_PLATFORMS"] = "cpu"
        subprocess.run([sys.executable, script], check=True)
    ```

    ## Limitations

    The rule misses environment variables and options that JAX does not read but another library does. It also misses
    variables that one file sets for a process that another file starts.

    ## Fix safety

    Unsafe. jaxlint moves the setting up, before the import or the computation that comes too early. The setting then
    has an effect, so results may change. Variables of JAX and XLA that the lines directly around it set move with it. A
    comment above the setting stays where it is if it describes the next statement.

    jaxlint offers no fix in these cases:

    - The setting is in another block or function than the code that comes too early.
    - The setting needs a name that the code defines between the two places.
    - The `__init__.py` of the package sets the same variable or option. Python runs it first.
    - The file is a module of a package, and it is not a script, a test or a configuration file. The setting would then
      have an effect on every program that imports the module.
    - Another line of the file gives the same variable or option another value.
    - A word in the value of `XLA_FLAGS` does not begin with `--`: XLA would stop the program.
    - The code restores a checkpoint or loads a model before the first computation that jaxlint sees. This code may start
      JAX as well, and the setting would still come too late.
    - The setting demands a platform other than the CPU: JAX would raise an error on machines without this platform.

    ## How it is verified

    `jaxlint verify` runs the program that you name. It confirms the finding if JAX is already imported, or has already
    chosen its devices, when the setting runs.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX904 (`leftover-debug`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/config_options.html>
    """
    if not event.late:
        return _misnamed(event)
    if event.name in ("jax_enable_x64", "numpyro.enable_x64"):
        return _enabled_late(event)
    error = event.name in _RAISING and event.direct and not event.conditional and not event.context.caught
    level: Level | None = "error" if error else "info" if _is_of_little_use(event) else None
    preview = event.name in _OF_DRIVER or event.name.startswith(_OF_NUMPYRO)
    return Report(event.at, _message(event), level=level, preview=preview, unless=SUPERSEDED)


_OF_DRIVER = frozenset({"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"})
_OF_NUMPYRO = "numpyro."
"""Functions that set an option of JAX, or write ``XLA_FLAGS``."""


def _enabled_late(event: Setting) -> Report | None:
    """``jax.config.update("jax_enable_x64", True)`` after the code has made arrays."""
    since = event.since
    if since is None or not is_on(event.value) or event.context.scope.is_test:
        return None
    started = since.scope.text[since.start : since.end]
    if _QUESTION.search(started) or started.startswith(("import ", "from ")):
        return None  # what the import makes may be no array
    where = ""
    if since.scope is event.context.scope:
        where = f" on line {Positions(since.scope.tree.line_starts).row(since.start)}"
    message = f"{_subject(event)} comes after JAX has made arrays{where}, which stay in 32 bits; move it right after the import"
    return Report(event.at, message, level="info", preview=True, unless=SUPERSEDED)


def _misnamed(event: Setting) -> Report | None:
    """``os.environ["JAX_BACKEND"] = "gpu"``."""
    right = meant_variable(event.name) if event.kind == "variable" and event.direct else ""
    if not right:
        return None
    return Report(event.at, f"JAX does not read `{event.name}`, so this has no effect; use {right}", preview=True)


def _is_of_little_use(event: Setting) -> bool:
    """It sets what is in force, JAX may start again before it, or a call sets it for some arguments or settings only."""
    return _is_conditional_call(event) or _asks_first(event) or _is_in_other_cell(event)


def _is_conditional_call(event: Setting) -> bool:
    """A test in the called code decides whether it sets anything."""
    return event.conditional and not event.direct


def _is_in_other_cell(event: Setting) -> bool:
    """JAX read it in another cell of the notebook. Cells may belong to sessions that were started again between them."""
    since, scope = event.since, event.context.scope
    if since is None or since.scope is not scope or not scope.cells:
        return False
    return scope.cell_of(since.start) != scope.cell_of(event.at.start)


def _asks_first(event: Setting) -> bool:
    """``if jax.devices()[0].platform == "gpu":`` sets what is in force: what the devices are decides what is set."""
    since = event.since
    if not event.conditional or since is None or since.scope is not event.context.scope:
        return False
    return bool(_QUESTION.search(since.scope.text[since.start : since.end]))


_QUESTION = re.compile(r"\b(?:local_)?devices\(|\bdefault_backend\(|device_count\(")


def _message(event: Setting) -> str:
    where, by_import = "", False
    if event.since is not None and event.since.scope is event.context.scope:
        # The module that is imported there computes, and its own lines say where.
        scope, start = event.since.scope, event.since.start
        by_import = event.point != "imported" and scope.text.startswith(("import ", "from "), start)
        where = f" on line {Positions(scope.tree.line_starts).row(start)}"
    earlier = "before that line" if where else "before that"
    if event.point == "imported":
        remedy = f'set it before the import or use `jax.config.update("{event.name.lower()}", …)`'
        if event.started and _OF_DEVICES.search(event.name):  # no option changes the devices of a backend that runs
            remedy = "set it before the import, or use jax.default_device, because JAX has started its backend"
        return f"{_subject(event)} has no effect, because JAX read it at import{where}; {remedy}"
    computed = f"the import{where} starts JAX" if by_import else f"the first computation is{where or ' earlier'}"
    if event.name in _RAISING:
        return f"`{event.name}` raises an error after the first JAX computation, but {computed}; move it {earlier}"
    return f"{_subject(event)} has no effect, because JAX already read it: {computed}; set it {earlier}"


_OF_DEVICES = re.compile(r"PLATFORM|NUM_CPU_DEVICES|CUDA_VISIBLE|BACKEND")


def _subject(event: Setting) -> str:
    if event.kind == "call" and event.direct:
        return f"`{event.name}` here"
    if _is_conditional_call(event):
        return f"If this call sets `{event.name}`, that"
    return f"Setting `{event.name}` here" if event.direct else f"This call, which sets `{event.name}`,"
