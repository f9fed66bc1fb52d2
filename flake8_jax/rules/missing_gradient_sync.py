"""JAX604: replicas that drift apart. Not modelled: which value a collective takes the mean of."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.events.events import MissingSync


@rule("JAX604", "warning")
def missing_gradient_sync(event: MissingSync) -> Report | None:
    """A step that runs on every device updates parameters by gradients that the devices never bring together.

    Why it bites: under `pmap` with a named axis, or `shard_map` without replication checks, every device differentiates
    its own part of the batch. Without `jax.lax.pmean(grads, axis)` each updates its copy of the parameters by its own
    gradient: the copies drift apart, silently, and the batch is effectively as small as one device's part.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, PartitionSpec as P

    mesh = Mesh(jax.devices(), ("batch",))


    def loss(w, x, y):
        return jnp.mean((x @ w - y) ** 2)


    def step(w, x, y):
        return w - 0.1 * jax.grad(loss)(w, x, y)  # expect: missing-gradient-sync


    update = jax.shard_map(
        step, mesh=mesh, in_specs=(P(), P("batch"), P("batch")), out_specs=P(), check_vma=False
    )


    def demonstrate():
        n = jax.device_count()
        x, y = jnp.arange(2.0 * n).reshape(n, 2), jnp.ones(n)
        mean = jax.grad(loss)(jnp.zeros(2), x, y)
        assert n == 1 or not jnp.allclose(update(jnp.zeros(2), x, y), -0.1 * mean)
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    def loss(w, x, y):
        return jnp.mean((x @ w - y) ** 2)


    def mean_over(tree, axis):
        return jax.tree.map(lambda leaf: jax.lax.pmean(leaf, axis), tree)


    def step(w, x, y):
        return w - 0.1 * mean_over(jax.grad(loss)(w, x, y), "batch")


    @jax.jit
    def on_one_device(w, x, y):
        return w - 0.1 * jax.grad(loss)(w, x, y)
    ```

    In preview, the rule also reports a step that a `vmap` with a named axis runs inside of the `pmap`, where no collective uses
    that axis and gradients are averaged over the devices alone: `pmean(grads, ("batch", "device"))`.

    Fix: none. Mean or sum, and of what, depends on the loss.

    Proof: after one step the copies of the parameters differ.
    """
    if event.context.presumed:
        return None
    gradient = callee(event.context, event.at)
    if event.lanes:
        return Report(
            event.at,
            f"Gradients from {gradient} are averaged only over `{event.over}`, so each element of `{event.lanes}` "
            "applies its own; use jax.lax.pmean over both axes",
            preview=True,
        )
    return Report(
        event.at,
        f"Each device applies its own gradient from {gradient}, so the replicas diverge; average it with jax.lax.pmean",
    )
