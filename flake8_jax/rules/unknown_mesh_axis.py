"""JAX603: see the page of ``unknown_mesh_axis``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._wording import listed
from flake8_jax.semantics.events.events import MeshMismatch


@rule("JAX603", "error", fixable="sometimes", raises="another error")
def unknown_mesh_axis(event: MeshMismatch) -> Report | None:
    """A `PartitionSpec` names an axis that its mesh does not have, or names one axis twice.

    ## Why is this bad?

    JAX looks up the axis names of a `PartitionSpec` in the mesh when the program makes the sharding
    (`NamedSharding(mesh, spec)`). A name that the mesh does not have raises `ValueError`. One name for two dimensions
    of an array raises `DuplicateSpecError`.

    ## Example

    ```python
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    mesh = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("data", "model"))


    def place(x):
        return jax.device_put(x, NamedSharding(mesh, P(None, "modle")))  # expect: unknown-mesh-axis


    def demonstrate():
        place(np.ones((2, 2)))  # raises: ValueError
    ```

    ## Use instead

    ```python
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    mesh = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("data", "model"))


    def place(x):
        return jax.device_put(x, NamedSharding(mesh, P(None, "model")))
    ```

    ## Not reported

    jaxlint does not report a `PartitionSpec` for a mesh whose axis names it does not know, such as a mesh that is a
    parameter of the function.

    ```python
    import jax
    from jax.sharding import NamedSharding, PartitionSpec as P


    def place(x, mesh, axis="rows"):
        return jax.device_put(x, NamedSharding(mesh, P(axis)))
    ```

    ## Limitations

    The rule misses a `PartitionSpec` whose mesh is set with `with mesh:` or `jax.set_mesh(mesh)`.

    ## Fix safety

    Unsafe. jaxlint replaces a name that the mesh does not have by the axis of the mesh that is closest in spelling,
    which may not be the intended axis. An axis that is named twice has no fix, because only the author knows which of
    the two dimensions to shard.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the line of the finding raises an error
    such as `ValueError` or `DuplicateSpecError`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX601 (`pmap`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/notebooks/Distributed_arrays_and_automatic_parallelization.html>
    """
    if event.context.presumed or event.context.caught:
        return None
    spec = quote(event.context, event.at, "This spec")
    if event.twice:
        return Report(
            event.at,
            f"{spec} uses axis `{event.axis}` for two dimensions, but a mesh axis can shard only one; remove one",
        )
    called = quote(event.context, event.mesh, "its mesh")
    mesh = f"{called} has only {listed(event.axes)}" if event.axes else f"{called} has no named axes"
    advice = "use one of those" if event.axes else "name the axes of the mesh"
    message = f"{spec} shards over axis `{event.axis}`, but {mesh}, so JAX raises an error; {advice}"
    return Report(event.at, message)
