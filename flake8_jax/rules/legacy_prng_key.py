"""JAX306: raw uint32 keys. Not modelled: keys that other libraries make."""

from __future__ import annotations

from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.events import NameUse


@rule("JAX306", "info", fixable="always", opt_in=True, only=Subscription(names=frozenset({"jax.random.PRNGKey"})))
def legacy_prng_key(event: NameUse) -> Report | None:
    """`jax.random.PRNGKey` makes a raw key; `jax.random.key` makes a typed one.

    Why it bites: a raw key is a plain `uint32` array, so it can be added, indexed and passed where data is meant, and
    `jax.debug_key_reuse` cannot see it. New-style keys carry their type and their implementation with them
    (<https://docs.jax.dev/en/latest/jep/9263-typed-keys.html>).

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    def noise(seed, n):
        return jax.random.normal(jax.random.PRNGKey(seed), (n,))  # expect: legacy-prng-key


    def demonstrate():
        raw = jax.random.PRNGKey(0)  # expect: legacy-prng-key
        assert noise(0, 3).shape == (3,)
        assert raw.dtype == jnp.uint32 and not jnp.issubdtype(raw.dtype, jax.dtypes.prng_key)
    ```

    Good:

    ```python
    import jax


    def noise(seed, n):
        return jax.random.normal(jax.random.key(seed), (n,))
    ```

    Also good: something else of that name.

    ```python
    import jax


    class PRNGKey:
        def __init__(self, seed):
            self.seed = seed


    def noise(n):
        return jax.random.normal(jax.random.key(PRNGKey(0).seed), (n,))
    ```

    Fix: unsafe. `jax.random.PRNGKey` becomes `jax.random.key`; code that looks at the key's shape, dtype or data, and
    checkpoints that hold keys, must follow.

    Proof: none needed.
    """
    if event.is_import or event.name != "jax.random.PRNGKey":
        return None
    return Report(
        event.at,
        f"{quote(event.context, event.at)} makes a raw uint32 key, which JAX cannot check for reuse; use jax.random.key",
    )
