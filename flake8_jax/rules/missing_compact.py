"""JAX518: see the page of ``missing_compact``."""

from __future__ import annotations

from flake8_jax.core.registry import Candidate, Report, rule
from flake8_jax.rules._merging import first_of_each, place_of
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.events import Span
from flake8_jax.semantics.events.refused import StraySubmodule


def report_first(candidates: list[Candidate]) -> list[Candidate]:
    """One report of each method: one decorator mends all of it."""
    return first_of_each(candidates, lambda candidate: place_of(candidate.event.context, candidate.start))


@rule("JAX518", "error", raises="another error", settle=report_first)
def missing_compact(event: StraySubmodule) -> Report | None:
    """The `__call__` method of a Flax linen module makes another module, but it is not decorated with `nn.compact`.

    ## Why is this bad?

    Flax must know which parameters belong to a submodule. Therefore it lets a module make submodules only in `setup`
    or in a method decorated with `nn.compact`. In any other method, Flax raises `AssignSubModuleError` as soon as
    `init` or `apply` runs the method.

    ## Example

    ```python
    import flax
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Net(nn.Module):
        features: int

        def __call__(self, x):  # expect: missing-compact
            return nn.relu(nn.Dense(self.features)(x))


    def demonstrate():
        try:
            Net(3).init(jax.random.key(0), jnp.ones(2))
        except flax.errors.AssignSubModuleError as error:
            assert "compact" in str(error)
        else:
            raise AssertionError
    ```

    ## Use instead

    ```python
    import flax.linen as nn


    class Net(nn.Module):
        features: int

        @nn.compact
        def __call__(self, x):
            return nn.relu(nn.Dense(self.features)(x))


    class Declared(nn.Module):
        features: int

        def setup(self):
            self.dense = nn.Dense(self.features)

        def __call__(self, x):
            return nn.relu(self.dense(x))
    ```

    ## Not reported

    jaxlint does not report a method that a method with `nn.compact` calls on the same object.

    ```python
    import flax.linen as nn


    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            return self.block(self.block(x))

        def block(self, x):
            return nn.relu(nn.Dense(3)(x))
    ```

    ## Limitations

    The rule checks `__call__` and the methods that it calls. It reports nothing for a method with a decorator that is
    not `nn.compact`, for a class with a decorator, or for a submodule that gets `parent=`.

    ## Fix safety

    No fix. The author has to choose between `nn.compact` and `setup`. A module can have only one method with
    `nn.compact`.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if Flax raises `AssignSubModuleError`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX517 (`frozen-attribute`), JAX804 (`library-call-mismatch`).

    ## JAX documentation

    <https://flax.readthedocs.io/en/latest/api_reference/flax.errors.html>
    """
    if event.context.presumed or event.context.caught:
        return None
    made = quote(event.context, event.at.func, "a module")
    start = event.method.name_start
    return Report(
        Span(start, start + len("__call__")),
        f"`__call__` of `{event.owner}` makes {made} outside `setup` and `nn.compact`, so Flax raises AssignSubModuleError; "
        "decorate `__call__` with `nn.compact`",
    )
