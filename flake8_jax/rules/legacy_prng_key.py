"""JAX306: see the page of ``legacy_prng_key``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.events import NameUse


@rule("JAX306", "info", fixable="always", opt_in=True, only=Subscription(names=frozenset({"jax.random.PRNGKey"})))
def legacy_prng_key(event: NameUse) -> Report | None:
    """`jax.random.PRNGKey` makes a raw key; `jax.random.key` makes a typed one.

    ## Why is this bad?

    A raw key is a plain `uint32` array, so code can add it, index it or pass it as data, and `jax.debug_key_reuse` cannot
    check it. A typed key carries its type and implementation.

    ## Example

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

    ## Use instead

    ```python
    import jax


    def noise(seed, n):
        return jax.random.normal(jax.random.key(seed), (n,))
    ```

    ## Not reported

    jaxlint does not report other objects that are called `PRNGKey`, such as a class of the project.

    ```python
    import jax


    class PRNGKey:
        def __init__(self, seed):
            self.seed = seed


    def noise(n):
        return jax.random.normal(jax.random.key(PRNGKey(0).seed), (n,))
    ```

    ## Limitations

    The rule misses raw keys that other libraries make.

    ## Fix safety

    Unsafe. `jax.random.PRNGKey` becomes `jax.random.key`. Code that reads the shape, dtype or data of the key, and
    checkpoints that hold keys, must change too.

    ## How it is verified

    The finding is confirmed as soon as the line runs, because the source code already shows the mistake.

    ## Since

    0.2.0.

    ## Related rules

    JAX301 (`key-reuse`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/jep/9263-typed-keys.html>
    """
    if event.is_import or event.name != "jax.random.PRNGKey":
        return None
    return Report(
        event.at,
        f"{quote(event.context, event.at)} makes a raw uint32 key, which JAX cannot check for reuse; use jax.random.key",
    )
