"""JAX601: see the page of ``pmap``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.semantics.events.events import NameUse

_MODERN = {
    "jax.pmap": "use jax.shard_map, or jax.jit with NamedSharding",
    "equinox.filter_pmap": "use equinox.filter_jit with equinox.filter_shard",
}


_STATE = {"jax.pmap": "is in maintenance mode", "equinox.filter_pmap": "wraps jax.pmap, which is in maintenance mode"}


@rule("JAX601", "info", fixable="sometimes", only=Subscription(names=frozenset(_MODERN)))
def pmap(event: NameUse) -> Report | None:
    """The code uses `jax.pmap` or `equinox.filter_pmap`, which `jax.jit` with shardings and `jax.shard_map` have replaced.

    ## Why is this bad?

    Every mapped argument of a pmapped function needs a leading axis as long as the number of devices. The function is
    slow if it is called inside `jit`, which JAX605 (`jit-of-pmap`) reports. `pmap` arranges the devices along one axis,
    but a mesh can have several axes.

    You can replace `pmap` in two ways: `jax.jit` on arrays with a `NamedSharding` needs no change to the function, and
    `jax.shard_map` keeps collectives over a named axis, such as `jax.lax.psum(x, "batch")`. `pmap` still works and
    gives no warning.

    ## Example

    ```python
    import functools

    import jax
    import jax.numpy as jnp


    @functools.partial(jax.pmap, axis_name="batch")  # expect: pmap
    def mean_square(x):
        return jax.lax.pmean(jnp.mean(x**2), "batch")


    def demonstrate():
        n = jax.local_device_count()
        assert mean_square(jnp.ones((n, 4))).shape == (n,)
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec


    @jax.jit
    def mean_square(x):
        return jnp.mean(x**2)


    def run(x):
        mesh = Mesh(jax.devices(), ("batch",))
        return mean_square(jax.device_put(x, NamedSharding(mesh, PartitionSpec("batch"))))
    ```

    ## Not reported

    jaxlint does not report the text `jax.pmap` in a string. It does not report a collective such as `jax.lax.psum`
    under `vmap`, because it needs no `pmap`.

    ```python
    import jax


    def center(x):
        return x - jax.lax.pmean(x, "ensemble")


    centered = jax.vmap(center, axis_name="ensemble")
    HINT = "on old releases: jax.pmap(center)"
    ```

    ## Limitations

    The rule does not know which sharding suits the program.

    ## Fix safety

    Unsafe. `pmap(f)` becomes `jax.jit` of `jax.shard_map` over a mesh of all devices. The arguments and results stay
    the same, so no caller changes. The new code raises an error in a program with several processes, or if the mapped
    axis is shorter than the number of devices.

    In the comments of the rewritten statement, jaxlint replaces the word `pmap` by `shard_map`. A variable whose name
    contains `pmap`, such as `pmapped`, keeps its name, and the message of the fix says so.

    If jaxlint offers no fix for a `jax.pmap`, the message of the finding gives the reason. The page about pmap in
    jaxlint's documentation (the file `docs/pmap.md` of jaxlint's repository) lists the reasons, and what to do by hand
    for each. There is no fix for `equinox.filter_pmap`.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding as soon as the line of the finding runs,
    because the source code already shows that it uses `pmap`.

    ## Since

    0.2.0.

    ## Related rules

    JAX605 (`jit-of-pmap`), JAX604 (`missing-gradient-sync`), JAX603 (`unknown-mesh-axis`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/migrate_pmap.html>
    """
    if event.is_import or event.name not in _MODERN:
        return None
    return Report(event.at, f"`{event.spelled}` {_STATE[event.name]}; {_MODERN[event.name]}")
