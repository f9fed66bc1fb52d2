"""JAX308: every lane of a vmap draws the same numbers. Not modelled: lanes told apart by other means than their key."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.events.events import SharedKey


@rule("JAX308", "warning", opt_in=True)
def shared_key_in_vmap(event: SharedKey) -> Report | None:
    """A vmapped or pmapped function consumes a PRNG key that all lanes share.

    Why it bites: a key passed with `in_axes` None, or captured, is the same in every lane, so every lane draws the
    same numbers: an ensemble of equal members, parallel environments that all see the same noise. Sometimes that is
    meant (common random numbers); if it is not, nothing tells. Split the key over the axis, or fold in the lane's
    index.

    Opt-in: of the findings that were judged on public code none was a mistake; shared keys are a common way to compare
    members of a population on equal terms. In preview, the rule also knows functions that nobody knows (see JAX301).

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    def rollout(key, x):
        return x + jax.random.normal(key)


    def ensemble(key, starts):
        return jax.vmap(rollout, in_axes=(None, 0))(key, starts)  # expect: shared-key-in-vmap


    def demonstrate():
        out = ensemble(jax.random.key(0), jnp.zeros(5))
        assert jnp.all(out == out[0])
    ```

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    def jitter(key, xs):
        return jax.vmap(lambda x: x + jax.random.normal(key))(xs)  # expect: shared-key-in-vmap


    def demonstrate():
        out = jitter(jax.random.key(0), jnp.zeros(5))
        assert jnp.all(out == out[0])
    ```

    Good:

    ```python
    import jax


    def rollout(key, x):
        return x + jax.random.normal(key)


    def ensemble(key, starts):
        return jax.vmap(rollout)(jax.random.split(key, starts.shape[0]), starts)
    ```

    Also good: a shared key into which each lane folds its own index.

    ```python
    import jax
    import jax.numpy as jnp


    def rollout(key, lane, x):
        return x + jax.random.normal(jax.random.fold_in(key, lane))


    def ensemble(key, starts):
        return jax.vmap(rollout, in_axes=(None, 0, 0))(key, jnp.arange(starts.shape[0]), starts)
    ```

    Fix: none. Which axis the keys belong to is the author's to say.

    Proof: the lanes are equal.
    """
    if event.context.presumed:
        return None
    short = event.transform.rpartition(".")[2]
    if event.captured:
        shared = f"{quote(event.context, event.at)} uses a captured key"
    else:
        shared = f"{callee(event.context, event.at)} gets one key with in_axes=None"
    elements = "batch element" if short == "vmap" else "device"
    if event.callee:
        message = f"{shared}, so `{event.callee}` gets the same key for every {elements}"
        return Report(event.at, f"{message}; split the key and map over the keys", preview=True)
    return Report(
        event.at,
        f"{shared}, so every {elements} draws the same numbers; split the key and map over the keys",
    )
