"""JAX308: see the page of ``shared_key_in_vmap``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.domain.values import Array
from flake8_jax.semantics.events.events import LibraryCall, SharedKey

_COPYING = frozenset({"flax.jax_utils.replicate", "jax.device_put_replicated"})


@rule("JAX308", "warning", opt_in=True, only=Subscription(arrays=True))
def shared_key_in_vmap(event: SharedKey | LibraryCall) -> Report | None:
    """A function under `vmap` or `pmap` draws from a PRNG key that all batch elements share.

    The rule is off by default: in all findings that we checked in public repositories, the shared key was intended,
    because it is a common way to compare the members of a population under equal conditions. Select the rule if each
    batch element of your program should draw its own numbers.

    With `--preview`, the rule also counts a call of a function whose code jaxlint does not see (`env.reset(key)`) as
    a draw.

    With `--preview`, the rule is on for `flax.jax_utils.replicate(key)` and `jax.device_put_replicated(key, devices)`,
    which give every device the same key. It does not report these calls in a file that uses `fold_in` or `axis_index`,
    or if the name of the key contains `init`.

    ## Why is this bad?

    If a mapped function captures a key or gets it with `in_axes=None`, the key is equal for every batch element, so
    all batch elements draw the same numbers. An ensemble then has equal members, and parallel environments see equal
    noise. JAX raises no error, so the mistake is easy to miss. Split the key and map over the new keys, or fold the
    index of the batch element into the key.

    ## Example

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

    ```python
    import jax
    import jax.numpy as jnp


    def jitter(key, xs):
        return jax.vmap(lambda x: x + jax.random.normal(key))(xs)  # expect: shared-key-in-vmap


    def demonstrate():
        out = jitter(jax.random.key(0), jnp.zeros(5))
        assert jnp.all(out == out[0])
    ```

    With `--preview`, jaxlint reports a key that is copied to every device:

    ```python
    import jax
    import jax.numpy as jnp
    from flax import jax_utils


    def noise(key):
        return jax.random.normal(key, (3,))


    def start(seed):
        key = jax.random.key(seed)
        return jax_utils.replicate(key)  # expect: shared-key-in-vmap


    def demonstrate():
        out = jax.vmap(noise)(start(0))
        assert jnp.all(out == out[0])
    ```

    ## Use instead

    ```python
    import jax


    def rollout(key, x):
        return x + jax.random.normal(key)


    def ensemble(key, starts):
        return jax.vmap(rollout)(jax.random.split(key, starts.shape[0]), starts)
    ```

    ## Not reported

    jaxlint does not report a shared key if each batch element folds its own index into the key
    (`jax.random.fold_in(key, i)`), because the results differ.

    ```python
    import jax
    import jax.numpy as jnp


    def rollout(key, lane, x):
        return x + jax.random.normal(jax.random.fold_in(key, lane))


    def ensemble(key, starts):
        return jax.vmap(rollout, in_axes=(None, 0, 0))(key, jnp.arange(starts.shape[0]), starts)
    ```

    ## Limitations

    The rule does not know whether equal draws are intended, for example to compare several models under equal
    conditions. It reports the shared key in this case, too.

    ## Fix safety

    No fix. Only the author knows over which axis the key should be split.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the mapped function draws from one
    single key for all batch elements.

    ## Since

    0.2.0.

    ## Related rules

    JAX302 (`key-reuse-in-loop`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/random-numbers.html>
    """
    if event.context.presumed:
        return None
    if isinstance(event, LibraryCall):
        return _copied(event) if event.name in _COPYING else None
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


def _copied(event: LibraryCall) -> Report | None:
    """A key is copied to every device: the functions that get the copies draw the same numbers, each on its device."""
    context, node = event.context, event.nodes[0] if event.nodes else None
    key = event.args[0] if event.args else None
    if not isinstance(key, Array) or key.dtype != "key" or not isinstance(node, (ir.Name, ir.Attribute)):
        return None
    text = context.scope.text
    if is_test(context) or "axis_index" in text or "fold_in" in text or "init" in quote(context, node):
        return None
    return Report(
        event.at,
        f"{quote(context, event.at)} gives every device the same key, so all devices draw the same numbers; split the key "
        "into one key for each device",
        preview=True,
        also_in_preview=True,
    )
