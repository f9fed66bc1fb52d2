"""JAX306: see the page of ``legacy_prng_key``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.events import NameUse


@rule("JAX306", "info", fixable="always", opt_in=True, only=Subscription(names=frozenset({"jax.random.PRNGKey"})))
def legacy_prng_key(event: NameUse) -> Report | None:
    """`jax.random.PRNGKey` makes a raw key; `jax.random.key` makes a typed one.

    ## Why is this bad?

    A raw key (`jax.random.PRNGKey(0)`) is a plain array of dtype `uint32`, so code can add numbers to it or pass it
    as data by mistake, and `jax.debug_key_reuse` cannot check it. A typed key (`jax.random.key(0)`) has a dtype of
    its own, which says that it is a key and which random number generator it is for.

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

    jaxlint does not report other objects with the name `PRNGKey`, such as a class of the project.

    ```python
    import jax


    class PRNGKey:
        def __init__(self, seed):
            self.seed = seed


    def noise(n):
        return jax.random.normal(jax.random.key(PRNGKey(0).seed), (n,))
    ```

    ## Limitations

    The rule misses raw keys that the code of a library makes.

    ## Fix safety

    Unsafe. `jax.random.PRNGKey` becomes `jax.random.key`. You must also change code that reads the shape, dtype or
    data of the key, and convert checkpoints that hold raw keys.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding as soon as the line of the finding runs,
    because the source code already shows that the key is raw.

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
