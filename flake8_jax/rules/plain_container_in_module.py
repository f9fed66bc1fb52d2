"""JAX520: see the page of ``plain_container_in_module``."""

from __future__ import annotations

from flake8_jax.core.registry import Candidate, Report, rule
from flake8_jax.rules._merging import first_of_each
from flake8_jax.semantics.events.refused import PlainContainer

_HOLDERS = {"list": "nnx.List", "dict": "nnx.Dict", "tuple": "nnx.data"}


def first_of_each_attribute(candidates: list[Candidate]) -> list[Candidate]:
    """One report of each attribute: one container holds all of it."""
    return first_of_each(candidates, lambda c: (c.path, c.event.owner, c.event.name))


@rule("JAX520", "error", settle=first_of_each_attribute)
def plain_container_in_module(event: PlainContainer) -> Report | None:
    """A `flax.nnx` module keeps modules or arrays in a list, a tuple or a dict of Python, which Flax 0.12 refuses.

    The rule is on only with `--preview`, because few public repositories with such code have been read so far.

    ## Why is this bad?

    Since Flax 0.12, an attribute of a `flax.nnx` module that is a list, a tuple or a dict of Python is static: it must
    not hold modules, variables or arrays. If it holds one, the constructor of the module raises `ValueError`. Write
    `nnx.List([…])` or `nnx.Dict({…})` instead, or mark the attribute with `nnx.data(…)`.

    ## Example

    ```python
    from flax import nnx


    class Network(nnx.Module):
        def __init__(self, width, depth, *, rngs: nnx.Rngs):
            self.layers = [nnx.Linear(width, width, rngs=rngs) for _ in range(depth)]  # expect: plain-container-in-module

        def __call__(self, x):
            for layer in self.layers:
                x = nnx.relu(layer(x))
            return x


    def demonstrate():
        Network(2, 3, rngs=nnx.Rngs(0))  # raises: ValueError
    ```

    ## Use instead

    ```python
    from flax import nnx


    class Network(nnx.Module):
        def __init__(self, width, depth, *, rngs: nnx.Rngs):
            self.layers = nnx.List([nnx.Linear(width, width, rngs=rngs) for _ in range(depth)])

        def __call__(self, x):
            for layer in self.layers:
                x = nnx.relu(layer(x))
            return x
    ```

    ## Not reported

    jaxlint does not report a container of numbers, strings or functions, which is allowed. It does not report a
    project whose requirements keep Flax below 0.12, a class with `pytree=False`, or an attribute that
    the class declares with `nnx.data` or `nnx.Data`.

    ```python
    from flax import nnx


    class Network(nnx.Module):
        layers: list[nnx.Linear] = nnx.data()

        def __init__(self, widths, *, rngs: nnx.Rngs):
            self.widths = [2, 4, 8]
            self.functions = [nnx.relu, nnx.tanh]
            self.layers = [nnx.Linear(w, w, rngs=rngs) for w in self.widths]
    ```

    ## Limitations

    The rule misses modules that a function puts into a container after the assignment, unless the constructor itself
    calls `append` of the attribute.

    ## Fix safety

    No fix. Older releases of Flax may lack `nnx.List`, and code that tests for a `list` may have to change.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if Flax raises `ValueError` at the line of
    the finding, or in the constructor that contains it.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX517 (`frozen-attribute`), JAX518 (`missing-compact`), JAX801 (`removed-api`).

    ## Further reading

    <https://flax.readthedocs.io/en/latest/guides/pytree.html>
    """
    if event.context.presumed or event.context.caught:
        return None
    return Report(
        event.at,
        f"`{event.name}` is a {event.kind} that holds modules or arrays, which Flax 0.12 refuses in the nnx module "
        f"`{event.owner}`, so the constructor raises; use {_HOLDERS[event.kind]}",
        preview=True,
    )
