"""JAX507: see the page of ``stale_global``."""

from __future__ import annotations

from flake8_jax.core.registry import COMPILED_BY, Report, rule
from flake8_jax.rules._facts import level_in_notebook
from flake8_jax.rules._wording import as_parameter
from flake8_jax.semantics.domain.values import Array
from flake8_jax.semantics.events.events import GlobalRead
from flake8_jax.semantics.events.facts import CHANGED_HERE


@rule("JAX507", "warning")
def stale_global(event: GlobalRead) -> Report | None:
    """Traced code reads a module variable that other code rebinds, or a list or dict that other code changes.

    jaxlint reports a variable only if the project changes it after a trace. If the project defines a function that
    sets the variable but never calls it, jaxlint assumes that users call this function before the first trace, and
    reports nothing.

    ## Why is this bad?

    JAX reads a module variable at trace time and makes its value part of the compiled program. If the program changes
    the variable later, calls with arguments of the same shapes still use the old value. Pass the value as an
    argument. If Python control flow depends on the value, make this argument static.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp

    settings = {"scale": 1.0}
    offset = 0.0


    @jax.jit
    def forward(x):
        return x * settings["scale"] + offset  # expect: stale-global


    def configure(scale, new_offset):
        global offset
        settings["scale"] = scale
        offset = new_offset


    def demonstrate():
        before = forward(jnp.ones(2))
        configure(10.0, 5.0)
        assert jnp.array_equal(forward(jnp.ones(2)), before)
    ```

    ## Use instead

    ```python
    import jax


    @jax.jit
    def forward(x, scale, offset):
        return x * scale + offset
    ```

    ## Not reported

    jaxlint does not report a variable that never changes, a table that a function fills at its first call, or a dict
    in which decorators register functions at import, because traced code sees the final value of these. It does not
    report a variable that only code outside tracing reads.

    jaxlint does not report a notebook that changes a variable and calls the same function again a few cells later,
    because such a notebook often explains this mistake.

    ```python
    import jax
    import jax.numpy as jnp

    GRAVITY = 9.81
    LAYERS = {"hidden": 2}
    ACTIVATIONS = {}
    results = []
    _table = None


    def register(name):
        def wrap(fn):
            ACTIVATIONS[name] = fn
            return fn

        return wrap


    @register("tanh")
    def tanh(x):
        return jnp.tanh(x)


    def table():
        global _table
        if _table is None:
            _table = tuple(range(4))
        return _table


    @jax.jit
    def forward(x):
        for _ in range(LAYERS["hidden"]):
            x = ACTIVATIONS["tanh"](x) * GRAVITY
        return x + len(table())


    def record(x):
        results.append(forward(x))
        return len(results)
    ```

    ## Limitations

    The rule misses changes of an attribute (`config.scale`) or of a dict of functions, and changes that code outside
    the project makes.

    ## Fix safety

    No fix. The variable has to become an argument that every caller passes.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the line that reads the variable runs
    while JAX traces. It does not check whether the variable changes afterwards.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX409 (`captured-constant`), JAX511 (`stale-static-self`), JAX504 (`impure-call`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#pure-functions>
    """
    is_key = isinstance(event.value, Array) and event.value.dtype == "key"
    problem = f"JAX reads the global `{event.name}` at trace time only{COMPILED_BY}, but other code changes it later"
    return Report(
        event.at,
        f"{problem}; {as_parameter(event.context.inner)}",
        None if is_key else level_in_notebook(event.context),
        unless=CHANGED_HERE,
        given=event.fact,
    )
