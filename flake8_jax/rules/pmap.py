"""JAX601: ``pmap``. Not modelled: which sharding replaces it. The fixer says in the message why there is no fix."""

from __future__ import annotations

from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.semantics.events.events import NameUse

_MODERN = {
    "jax.pmap": "use jax.jit with NamedSharding, or jax.shard_map if it uses the axis name",
    "equinox.filter_pmap": "use equinox.filter_jit with equinox.filter_shard",
}


@rule("JAX601", "info", fixable="sometimes", only=Subscription(names=frozenset(_MODERN)))
def pmap(event: NameUse) -> Report | None:
    """`jax.pmap` or `equinox.filter_pmap` is used; `jax.jit` with shardings and `jax.shard_map` have replaced it.

    Why it bites: `pmap` wants a leading axis as long as the number of devices, copies its arguments to every device,
    does not nest in `jit`, and knows only one kind of mesh. `jax.jit` over arrays with a `NamedSharding` needs no
    change to the function; `jax.shard_map` keeps collectives over a named axis
    (<https://docs.jax.dev/en/latest/migrate_pmap.html>). `pmap` still works and gives no warning.

    Bad:

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

    Good:

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

    Also good: the name in a text, and collectives under `vmap`.

    ```python
    import jax


    def center(x):
        return x - jax.lax.pmean(x, "ensemble")


    centered = jax.vmap(center, axis_name="ensemble")
    HINT = "on old releases: jax.pmap(center)"
    ```

    Fix: `jax.jit` of `jax.shard_map` over a mesh of all devices, with the same arguments and results, so no caller changes.
    Unsafe: it raises an error where the mapped axis is shorter than the mesh, and in a program of several processes. Where
    there is no fix, the message says why (`docs/pmap.md`). `equinox.filter_pmap` has no fix.

    Proof: none needed: it is a move to the supported interface.
    """
    if event.is_import or event.name not in _MODERN:
        return None
    return Report(event.at, f"`{event.spelled}` is superseded; {_MODERN[event.name]}")
