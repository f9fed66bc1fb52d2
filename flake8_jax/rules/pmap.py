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

    `pmap` needs a leading axis as long as the number of devices, copies its arguments to every device, does not nest in
    `jit`, and knows one kind of mesh only. `jax.jit` on arrays with a `NamedSharding` needs no change to the function;
    `jax.shard_map` keeps collectives over a named axis. `pmap` still works and gives no warning.

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

    jaxlint does not report the name `jax.pmap` in a string, or collectives under `vmap`.

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

    Unsafe. `pmap` becomes `jax.jit` of `jax.shard_map` over a mesh of all devices, with the same arguments and results, so no
    caller changes. The new code raises if the mapped axis is shorter than the mesh, and in a program with several processes.
    If there is no fix, the message says why (`docs/pmap.md`). `equinox.filter_pmap` has no fix.

    ## How it is verified

    The finding is confirmed as soon as the line runs, because the source code already shows the mistake.

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
