"""JAX604: see the page of ``missing_gradient_sync``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.events.events import MissingSync


@rule("JAX604", "warning")
def missing_gradient_sync(event: MissingSync) -> Report | None:
    """A step that runs on every device updates parameters with gradients that are not averaged over the devices.

    With `--preview`, the rule also looks at a `vmap` with a named axis inside a `pmap`. It reports a step that averages
    gradients over the axis of the `pmap` but uses no collective over the axis of the `vmap`. Average the gradients over
    both axes: `pmean(grads, ("batch", "device"))`.

    ## Why is this bad?

    Under `pmap` with a named axis, or under `shard_map(…, check_vma=False)`, every device computes the gradient of
    its own part of the batch. Without `jax.lax.pmean(grads, axis)`, each device updates its copy of the parameters
    with its own gradient. The copies silently diverge, as if each device trained on its part of the batch alone.

    ## Example

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

    ## Use instead

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

    ## Limitations

    If the step averages any value over the devices, the rule reports nothing, because it does not know whether this
    value contains the gradients, as in `pmean((loss, grads), axis)`. It therefore misses a step that averages only the
    loss.

    ## Fix safety

    No fix. Only the author knows whether the devices should average or sum, and which values: this depends on the
    loss.

    ## How it is verified

    `jaxlint verify` runs the program that you name on several devices and confirms the finding if their copies of the
    parameters differ after a step.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX601 (`pmap`), JAX605 (`jit-of-pmap`), JAX602 (`unbound-axis-name`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.lax.pmean.html>
    """
    if event.context.presumed:
        return None
    gradient = callee(event.context, event.at)
    if event.mapped_axis:
        return Report(
            event.at,
            f"Gradients from {gradient} are averaged only over `{event.over}`, so each element of `{event.mapped_axis}` "
            f"applies its own; use jax.lax.pmean over `{event.over}` and `{event.mapped_axis}`",
            preview=True,
        )
    mapped = f"`{event.transform.rpartition('.')[2]}`"
    return Report(
        event.at,
        f"Under {mapped}, each device applies its own gradient from {gradient}, so the copies of the parameters diverge; "
        "average it with jax.lax.pmean",
    )
