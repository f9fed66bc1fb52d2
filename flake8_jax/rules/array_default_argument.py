"""JAX905: see the page of ``array_default_argument``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Candidate, Report, Subscription, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._merging import first_of_each
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.code import nodes_around
from flake8_jax.semantics.events.events import LibraryCall

_NUMPY = "jax.numpy."


def first_of_each_file(candidates: list[Candidate]) -> list[Candidate]:
    """The first of a file is enough to start JAX."""
    return first_of_each(candidates, lambda candidate: candidate.path)


@rule("JAX905", "info", only=Subscription(where=frozenset({"eager"})), settle=first_of_each_file)
def array_default_argument(event: LibraryCall) -> Report | None:
    """The default of a parameter is computed by JAX, so importing the file starts JAX.

    The rule is on only with `--preview`, because programs that need no settings of JAX notice only a slower import.

    ## Why is this bad?

    Python evaluates the default of a parameter when it runs the `def`, that is, when the file is imported. A call such
    as `jnp.sqrt(2)` there starts JAX: JAX chooses its devices, reserves memory on the GPU, and computes on it. A
    program that sets `XLA_FLAGS` or `JAX_PLATFORMS` after this import, or starts other processes, sets them too late. The
    array is also a constant on one device that all calls share.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def initializer(scale=jnp.sqrt(2)):  # expect: array-default-argument
        return jax.nn.initializers.orthogonal(scale)


    def demonstrate():
        assert isinstance(initializer.__defaults__[0], jax.Array)
    ```

    ## Use instead

    ```python
    import math

    import jax


    def initializer(scale=math.sqrt(2)):
        return jax.nn.initializers.orthogonal(scale)
    ```

    ## Not reported

    jaxlint does not report the defaults of functions inside functions, because an import does not run these. It does
    not report tests and notebooks.

    ```python
    import jax.numpy as jnp
    import numpy as np


    def weighted(x, weights=None, eps=np.finfo(np.float32).eps, dtype=jnp.float32):
        weights = jnp.ones(3) if weights is None else weights

        def apply(y, scale=jnp.sqrt(2.0)):
            return scale * y

        return apply(x * weights + eps).astype(dtype)
    ```

    ## Limitations

    The rule reports functions of `jax.numpy`. It misses a default that a function of the project computes with JAX.

    ## Fix safety

    No fix. A Python number has a weak type, so the dtype of a result may change where the default meets an array of
    lower precision.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding as soon as Python evaluates the default.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX519 (`array-field-default`), JAX903 (`late-configuration`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/gpu_memory_allocation.html>
    """
    context = event.context
    if context.inner is not None or context.presumed or not event.name.startswith(_NUMPY):
        return None
    fact = event.fact
    if fact is None or not fact.returns.startswith("array") or context.scope.cells or is_test(context):
        return None
    owner = _function_with_default(event)
    if not owner:
        return None
    message = (
        f"{quote(context, event.at, 'This default')} is a default of `{owner}`, so importing this file starts JAX and "
        "computes on the device; use a number of Python or NumPy, or compute it in the function"
    )
    return Report(event.at, message, preview=True)


def _function_with_default(event: LibraryCall) -> str:
    """The name of the function that has the call in the default of a parameter, if that is evaluated on import."""
    at, body = event.at, event.context.scope.tree.body
    for node in nodes_around(body, at.start, at.end):
        if isinstance(node, ir.FunctionDef):
            defaults = [p.default for p in node.function.params if p.default is not None]
            inside = any(d.start <= at.start and at.end <= d.end for d in defaults)
            return node.function.name if inside else ""
    return ""
