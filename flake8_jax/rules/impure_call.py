"""JAX504: see the page of ``impure_call``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import COMPILED_BY, Report, Subscription, rule
from flake8_jax.rules._facts import effect, level_in_notebook
from flake8_jax.rules._tracers import is_reportable, quote
from flake8_jax.rules._wording import spelled
from flake8_jax.semantics.events.events import Context, LibraryCall, MethodCall, Mutation, NameUse
from flake8_jax.semantics.events.facts import WRITTEN

_TIME, _FILES, _ENVIRONMENT = "time", "io", "environment"
_ENVIRON = "os.environ"
_EFFECTS = frozenset({_TIME, _FILES, _ENVIRONMENT})
_HOUSEKEEPING = ("os.path.", "os.mkdir", "os.makedirs", "os.remove", "os.unlink", "os.rename", "os.replace", "shutil.")
_SETTING_UP = frozenset({"__init__", "__post_init__", "setup"})
"""Files and the environment mostly hold what stays as it is: readers of unseen repositories found no such place worth a
minute, and of the clocks three in four."""
_READING = (
    "load",
    "from",
    "genfrom",
    "tree_deserialise",
    "latest",
    "restore",
    "glob",
    "iglob",
    "list",
    "read",
    "scandir",
)
_INSTEAD = {
    _TIME: "measure around the compiled call",
    _FILES: "move it out of the traced code or into jax.experimental.io_callback",
    _ENVIRONMENT: "read it before the compiled call and pass the value in",
}


@rule("JAX504", "info", only=Subscription(where=frozenset({"staged"}), effects=_EFFECTS, names=frozenset({_ENVIRON})))
def impure_call(event: LibraryCall | MethodCall | NameUse | Mutation) -> Report | None:
    """Traced code reads the clock, a file or the environment, or calls `next` on an iterator made before the trace.

    The finding is a warning for a call of `next`. It is a note if traced code reads the clock, a file or
    an environment variable: in public repositories, 6 of 24 such findings were worth a change, and the other 18 were
    preparations that should run only once.

    ## Why is this bad?

    Python runs a traced function only while JAX traces it. A call that reads the clock, a file or an environment
    variable therefore runs once per compilation, and its result becomes a constant of the compiled program. Every
    later call uses the same time, or the same element of the iterator.

    ## Example

    ```python
    import time

    import jax
    import jax.numpy as jnp

    batches = iter([jnp.ones(2), jnp.zeros(2)])


    @jax.jit
    def step(w):
        now = time.perf_counter()  # expect: impure-call
        x = next(batches)  # expect: impure-call
        return w + x, now


    def demonstrate():
        first, now = step(jnp.zeros(2))
        second, later = step(jnp.zeros(2))
        assert now == later and jnp.array_equal(first, second)
    ```

    ## Use instead

    ```python
    import time

    import jax


    @jax.jit
    def step(w, x):
        return w + x


    def fit(w, batches):
        started = time.perf_counter()
        for x in batches:
            w = step(w, x)
        jax.block_until_ready(w)
        return w, time.perf_counter() - started
    ```

    ## Not reported

    jaxlint does not report a call in a callback (a function that `jax.debug.callback` or a similar function calls on
    the host), or under `grad` or `vmap` without `jit`, because Python runs this code in every call. It does not report
    `next(it)` if the traced function makes the iterator `it` itself, because each trace then starts with the first
    element.

    ```python
    import time

    import jax
    import jax.numpy as jnp
    import numpy as np


    def log(x):
        with open("log.txt", "a") as file:
            file.write(f"{time.time()} {x}")


    @jax.jit
    def step(w, x):
        now = jax.pure_callback(lambda: np.float32(time.time()), jax.ShapeDtypeStruct((), jnp.float32))
        jax.debug.callback(log, x)
        rates = iter([0.1, 0.2])
        return w + x * now * next(rates) + next(rates)
    ```

    ## Limitations

    The rule misses a clock or a file that the code reads through an object of a library, such as a data loader. It
    does not report random numbers or printing, because JAX305 (`host-rng-in-staged`) and JAX205 (`print-in-staged`)
    report them.

    ## Fix safety

    No fix. The caller has to read the value and pass it as an argument.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the call runs while JAX traces.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX305 (`host-rng-in-staged`), JAX304 (`constant-key`), JAX507 (`stale-global`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#pure-functions>
    """
    if not is_reportable(event.context) or not event.context.once:
        return None
    if isinstance(event, Mutation):
        if event.how != "next" or not event.once:
            return None
        call, where = quote(event.context, event.at, "next()"), _when(event.context)
        message = f"{call} runs {where}, so later calls reuse that element; pass the element as an argument"
        return Report(event.at, message, level_in_notebook(event.context) or "warning")
    if isinstance(event, NameUse):
        if event.name != _ENVIRON or event.is_import:
            return None
        message = f"`os.environ` is read {_when(event.context)}, not on every call; {_INSTEAD[_ENVIRONMENT]}"
        return Report(event.at, message, unless=WRITTEN)
    found = effect(event)
    if found not in _EFFECTS or (isinstance(event, LibraryCall) and event.name.startswith(_ENVIRON)):
        return None
    inner = event.context.inner
    if inner is not None and (inner.name in _SETTING_UP and found == _FILES):
        return None  # weights, which are read once
    if inner is not None and found == _TIME and (inner.is_generator or inner.name in ("__enter__", "__exit__")):
        return None  # a context manager, which times whatever it is given
    name = event.name if isinstance(event, LibraryCall) else f".{event.method}"
    if name.startswith(_HOUSEKEEPING):
        return None  # to look whether a file is there, and to make room for one, is meant to happen once
    func = event.at.func
    function = func.id if isinstance(func, ir.Name) else spelled(event.context, event.at, name)
    message = f"{function}() runs {_when(event.context)}, not on every call; {_INSTEAD[str(found)]}"
    return Report(event.at, message)


def _when(context: Context) -> str:
    """``only while JAX traces `step` ``."""
    inner = context.inner
    named = f"only while JAX traces `{inner.name}`" if inner is not None and not inner.is_lambda else ""
    return f"{named or 'at trace time only'}{COMPILED_BY}"
