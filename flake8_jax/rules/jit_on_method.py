"""JAX405: see the page of ``jit_on_method``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.semantics.events.events import JittedMethod


@rule("JAX405", "error")
def jit_on_method(event: JittedMethod) -> Report | None:
    """`jax.jit` decorates a method of a class that is not a pytree, so JAX cannot trace `self`.

    With `--preview`, the rule also reports, as a warning, `eqx.filter_jit` on such a method if the method uses a model that is
    an attribute of the object.

    ## Why is this bad?

    The jitted function gets `self` as an ordinary argument. An object of an ordinary class is neither an array nor a
    pytree, so the call raises `TypeError`. Jit a function of the arrays that the method needs, register the class as
    a pytree, or make `self` static if the object is immutable and hashable.

    A module of Flax linen or Haiku is not a pytree either: its parameters are not in the object. Remove `jit` from
    the method, and jit the function that calls `module.apply(params, x)`.

    `eqx.filter_jit` raises no error, because it takes `self` as a static argument. But then JAX compiles the parameters of a
    model in `self` into the program, as constants: the program takes long to compile and needs the memory twice, and a call
    after `self.model = new_model` still uses the old parameters. Derive the class from `eqx.Module`, or pass the model to the
    jitted function.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    class Layer:
        def __init__(self, w):
            self.w = w

        @jax.jit  # expect: jit-on-method
        def apply(self, x):
            return x @ self.w


    def demonstrate():
        try:
            Layer(jnp.eye(2)).apply(jnp.ones(2))
        except TypeError as error:
            assert "Layer" in str(error)
        else:
            raise AssertionError
    ```

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            return self.scaled(nn.Dense(3)(x))

        @jax.jit  # expect: jit-on-method
        def scaled(self, x):
            return 2 * x


    def demonstrate():
        Net().init(jax.random.key(0), jnp.ones(2))  # raises: TypeError
    ```

    ```python
    import equinox as eqx
    import jax
    import jax.numpy as jnp


    class Predictor:
        def __init__(self, model: eqx.nn.Linear):
            self.model = model

        @eqx.filter_jit  # expect: jit-on-method
        def predict(self, x):
            return self.model(x)


    def demonstrate():
        first, second = (eqx.nn.Linear(2, 2, key=jax.random.key(seed)) for seed in (0, 1))
        predictor = Predictor(first)
        before = predictor.predict(jnp.ones(2))
        predictor.model = second
        assert (predictor.predict(jnp.ones(2)) == before).all()
    ```

    ## Use instead

    ```python
    import jax


    @jax.tree_util.register_pytree_node_class
    class Layer:
        def __init__(self, w):
            self.w = w

        @jax.jit
        def apply(self, x):
            return x @ self.w

        def tree_flatten(self):
            return (self.w,), None

        @classmethod
        def tree_unflatten(cls, aux, children):
            return cls(*children)
    ```

    ```python
    import equinox as eqx


    class Predictor(eqx.Module):
        model: eqx.nn.Linear

        @eqx.filter_jit
        def predict(self, x):
            return self.model(x)
    ```

    ## Not reported

    jaxlint does not report a static method, or a method whose `self` is a static argument (`static_argnums=0`),
    because JAX does not trace `self` there. It does not report a bound method that the constructor jits
    (`self.step = jax.jit(self._step)`), because `self` is then not an argument. It does not report an abstract method,
    which only raises an error, because subclasses replace it.

    ```python
    from functools import partial

    import jax


    class Layer:
        def __init__(self, w):
            self.w = w
            self.fast = jax.jit(self.apply)

        @staticmethod
        @jax.jit
        def scale(x):
            return 2 * x

        @jax.jit
        def loss(self, x):
            raise NotImplementedError

        @partial(jax.jit, static_argnums=0)
        def shift(self, x):
            return x + 1

        def apply(self, x):
            return x @ self.w
    ```

    ## Limitations

    The rule reports nothing for a class that has a base class from another package, because the base class may
    register it as a pytree. The exceptions are `abc.ABC`, `typing.Protocol` and the modules of Flax linen and Haiku:
    jaxlint knows that these base classes register nothing.

    ## Fix safety

    No fix. The author has to decide whether to register the class as a pytree, to make `self` static or to jit a
    plain function.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if a call of the method raises `TypeError`
    or `ValueError` because of `self`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX403 (`unhashable-static`), JAX404 (`static-arg-mismatch`), JAX406 (`static-arg-in-loop`), JAX413
    (`non-array-argument`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/faq.html#how-to-use-jit-with-methods>
    """
    if event.context.presumed:
        return None
    if event.model:
        problem = f"`filter_jit` takes `self` of `{event.method}` as static"
        effect = f"so the arrays of `self.{event.model}` become constants of the program"
        remedy = f"derive `{event.name}` from eqx.Module, or pass `{event.model}`"
        return Report(event.at, f"{problem}, {effect}; {remedy}", "warning", preview=True)
    remedy = "register the class as a pytree or jit a plain function"
    if event.is_module:
        remedy = "remove `jit` here, and jit the function that calls the module"
    return Report(
        event.at,
        f"`jit` traces `self` of `{event.method}`, but `{event.name}` is not a pytree, so calls raise TypeError; {remedy}",
    )
