"""JAX507: staged code reads a module-level variable that changes later.

Not modelled: attributes of objects, changes by code that is not part of the project, tables of functions.
"""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import level_in_notebook
from flake8_jax.semantics.domain.values import Array
from flake8_jax.semantics.events.events import GlobalRead
from flake8_jax.semantics.events.facts import CHANGED_HERE


@rule("JAX507", "warning")
def stale_global(event: GlobalRead) -> Report | None:
    """Staged code reads a module-level variable that other code rebinds, or a list or dict that it changes.

    Why it bites: the value is read while JAX traces and becomes part of the compiled program. A later change has no
    effect on calls with the same shapes: the program goes on with the old value. Pass it as an argument (a static one,
    where it decides about Python control flow). jaxlint reports a variable that the project changes after a trace: a
    setter that nobody calls is for users, who make their settings first.

    Bad:

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

    Good:

    ```python
    import jax


    @jax.jit
    def forward(x, scale, offset):
        return x * scale + offset
    ```

    Also good: constants, a registry of functions, what is filled when it is first asked for, what only eager code reads, and
    a cell of a notebook that does all of this to show it.

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

    Fix: none. The value has to become an argument, through every caller.

    Proof: the change has no effect on the next call.
    """
    is_key = isinstance(event.value, Array) and event.value.dtype == "key"
    return Report(
        event.at,
        f"`{event.name}` is read at trace time only, but other code changes it later; pass it as an argument",
        None if is_key else level_in_notebook(event.context),
        unless=CHANGED_HERE,
        given=event.fact,
    )
