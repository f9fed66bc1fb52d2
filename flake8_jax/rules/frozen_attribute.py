"""JAX517: see the page of ``frozen_attribute``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.events import FrozenStore

_KINDS = {
    "equinox.Module": ("an Equinox module", "make a changed copy with eqx.tree_at"),
    "flax.linen.Module": ("a flax.linen module", "set it in setup, or use self.variable for state"),
    "flax.struct.dataclass": ("a flax.struct dataclass", "make a changed copy with .replace"),
}
"""By the class that freezes an object: what it is, and what to do."""


@rule("JAX517", "error", raises="another error")
def frozen_attribute(event: FrozenStore) -> Report | None:
    """The code assigns to an attribute of a frozen Equinox module, `flax.linen` module or `flax.struct` object.

    ## Why is this bad?

    Equinox modules, `flax.linen` modules (not `flax.nnx` modules) and `flax.struct` objects are frozen: an assignment
    to an attribute raises an error, so that no attribute changes while JAX traces.

    An Equinox module accepts values only in its constructor, and only for the fields that its class declares. A
    `flax.linen` module may set new attributes in `setup`, but not the fields that its class declares, because these
    are the arguments of its constructor.

    Make a changed copy instead: with `eqx.tree_at` for Equinox, with `state.replace(…)` for `flax.struct` objects such
    as `TrainState`, and with `module.clone(field=…)` for a `flax.linen` module.

    ## Example

    ```python
    import equinox as eqx
    import jax
    import jax.numpy as jnp


    class Counter(eqx.Module):
        count: jax.Array

        def __init__(self):
            self.count = jnp.zeros(())
            self.limit = 10  # expect: frozen-attribute

        def step(self):
            self.count = self.count + 1  # expect: frozen-attribute


    def demonstrate():
        Counter()  # raises: AttributeError
    ```

    ```python
    from flax.training.train_state import TrainState


    def reset(state: TrainState, params):
        state.params = params  # expect: frozen-attribute
        return state


    def demonstrate():
        import optax

        state = TrainState.create(apply_fn=None, params={}, tx=optax.sgd(0.1))
        reset(state, {})  # raises: AttributeError
    ```

    ## Use instead

    ```python
    import equinox as eqx
    import jax
    import jax.numpy as jnp


    class Counter(eqx.Module):
        count: jax.Array
        limit: int

        def __init__(self):
            self.count = jnp.zeros(())
            self.limit = 10

        def step(self):
            return eqx.tree_at(lambda counter: counter.count, self, self.count + 1)
    ```

    ```python
    from flax.training.train_state import TrainState


    def reset(state: TrainState, params):
        return state.replace(params=params)
    ```

    ## Not reported

    jaxlint does not report an assignment in a method that the constructor or `setup` calls, because the object is not
    frozen yet. It does not report a class that defines `__setattr__`, because this method may allow the assignment.

    ```python
    import equinox as eqx
    import flax.linen as nn


    class Model(eqx.Module):
        width: int
        depth: int = 2

        def __init__(self, width):
            self._configure(width)

        def _configure(self, width):
            self.width = width


    class Network(nn.Module):
        width: int = 2

        def setup(self):
            self.layer = nn.Dense(self.width)

        def __call__(self, x):
            return self.layer(x)
    ```

    ## Limitations

    The rule misses an assignment with `setattr(module, name, value)`. In `flax.linen` modules, it checks only `setup`,
    `__call__` and the methods that `__call__` calls.

    ## Fix safety

    No fix. A changed copy must replace the object in all code that uses it.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the assignment raises the error of the
    library: `FrozenInstanceError` or `AttributeError` for Equinox and `flax.struct`, `SetAttributeFrozenModuleError`
    or `SetAttributeInModuleSetupError` for `flax.linen`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX503 (`self-write`), JAX506 (`discarded-update`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/pytrees.html>
    """
    if event.context.presumed or event.context.caught:
        return None
    subject = quote(event.context, event.at, event.name)
    if event.how == "undeclared":
        message = (
            f"`{event.owner}` is an Equinox module, which allows only declared fields, so assigning to {subject} raises; "
            f"declare `{event.name}: …` in the class body"
        )
    elif event.how == "setup":
        message = (
            f"`{event.name}` is a constructor argument of the flax.linen module `{event.owner}`, so assigning to it in setup "
            "raises; use another name"
        )
    else:
        kind = "equinox.Module" if event.library.startswith("equinox.") else event.library
        what, remedy = _KINDS.get(kind, _KINDS["flax.struct.dataclass"])
        if event.context.inner is not None and event.context.inner.name == "__init__":
            remedy = f"declare `{event.name}` as a field and pass its value to the constructor"
        message = f"`{event.owner}` is {what}, whose objects are frozen, so assigning to {subject} raises; {remedy}"
    return Report(event.at, message)
