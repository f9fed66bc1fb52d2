"""JAX303: see the page of ``key_used_after_split``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._keys import (
    already,
    by_convention,
    gets_again,
    is_loop_reuse,
    is_within_call,
    key_on_line,
    level_of_use,
    name_of,
    next_key,
    own_keys,
    passed_before,
    report_where_given,
    unless,
    unless_unused,
    user_of,
    uses_of,
)
from flake8_jax.semantics.events.events import KeyUse


@rule("JAX303", "error", settle=report_where_given)
def key_used_after_split(event: KeyUse) -> Report | None:
    """The code draws from a PRNG key, or splits the key again, after an earlier `split` of this key.

    With `--preview`, the rule also reports two other uses of a key after a `split` of this key. The first is a call of
    a function whose code jaxlint does not see (`env.reset(key)`). The second is `fold_in(key, i)`, because it returns
    the same key as `split(key, n)[i]`. JAX301 (`key-reuse`) reports a `fold_in` that comes before the `split`.

    ## Why is this bad?

    Do not use a key again after `split(key)`. A second `split` of the key returns the same new keys again, even with
    another number of keys: `split(key, 5)[0]` equals `split(key, 2)[0]`. Draws from these new keys then repeat. A draw
    from the old key gives numbers that may be correlated with the draws from the new keys. JAX raises an error in both
    cases only if `jax_debug_key_reuse` is on.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def perturb(key, x):
        noise_key, mask_key = jax.random.split(key)
        x = x + jax.random.normal(noise_key, x.shape)
        mask = jax.random.bernoulli(key, 0.5, x.shape)  # expect: key-used-after-split
        return x * mask, mask_key


    def demonstrate():
        with jax.debug_key_reuse(True):
            perturb(jax.random.key(0), jnp.ones(3))  # raises: KeyReuseError
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def two_draws(key):
        _, first = jax.random.split(key)
        _, second = jax.random.split(key)  # expect: key-used-after-split
        return jax.random.normal(first), jax.random.normal(second)


    def demonstrate():
        a, b = two_draws(jax.random.key(0))
        assert jnp.array_equal(a, b)
    ```

    ## Use instead

    ```python
    import jax


    def perturb(key, x):
        key, noise_key, mask_key = jax.random.split(key, 3)
        x = x + jax.random.normal(noise_key, x.shape)
        return x * jax.random.bernoulli(mask_key, 0.5, x.shape), key
    ```

    ## Not reported

    jaxlint does not report a split that assigns one of the new keys to the name of the old key
    (`key, subkey = jax.random.split(key)`), because later code then uses the new key. It does not report a split in
    one branch of an `if` if only the other branch draws from the key.

    ```python
    import jax


    def two_draws(key):
        key, first = jax.random.split(key)
        key, second = jax.random.split(key)
        return jax.random.normal(first), jax.random.normal(second), key


    def draw(key, n, correlated):
        if correlated:
            shared, own = jax.random.split(key)
            return jax.random.normal(shared) + jax.random.normal(own, (n,))
        return jax.random.normal(key, (n,))
    ```

    ## Limitations

    If the code passes the new keys to another function, the rule does not know whether that function draws with them.
    The rule may then report a later use of the old key although no draw uses the new keys.

    ## Fix safety

    No fix. Only the author knows which new key is intended.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the line of the finding uses a key that
    the program has already used or split.

    ## Since

    0.2.0.

    ## Related rules

    JAX301 (`key-reuse`), JAX302 (`key-reuse-in-loop`), JAX307 (`discarded-split`), JAX309 (`same-constant-key`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/jax.random.html>
    """
    context = event.context
    if (
        event.earlier is None
        or is_loop_reuse(event)
        or event.earlier_effect != "split"
        or context.presumed
        or context.caught
    ):
        return None
    if any(event.callees):
        return by_convention(event, f"{gets_again(event)}; {next_key(event)}{unless_unused(event)}")
    if (passed := passed_before(event)) is not None:
        message = f"{passed}, which split it, so this split may return the same keys; pass a new key there"
        return Report(event.at, message, level=level_of_use(event), given=event.given, uses=uses_of(event))
    advice = own_keys(event) if is_within_call(event) else next_key(event)
    by = user_of(event)
    if event.effect == "split":
        then = f"{by} may return the same keys again"
        advice = _PASS_NEW_KEY if is_within_call(event) and not event.through else advice
        advice = advice.replace("use it here", "split that one here")
        advice += unless(event.intent, " unless both need equal keys" if _are_alike(event) else "")
    elif event.through and name_of(event.through) == name_of(event.first_in, ""):
        then = "this call may draw the same numbers again"
    elif is_within_call(event):
        then = f"{name_of(event.first_in, 'that call')} and this call may draw correlated numbers"
    elif key_on_line(event) is None:
        advice = advice.replace("use it here", "pass that one here")
        then = "its numbers may be correlated with those of the new keys"
    else:
        then = f"{by} may draw numbers correlated with those of the new keys"
    return Report(
        event.at,
        f"{already(event, 'split')}, so {then}; {advice}",
        level=level_of_use(event),
        given=event.given,
        uses=uses_of(event),
    )


_PASS_NEW_KEY = "split it before that call and pass a new key there"


def _are_alike(event: KeyUse) -> bool:
    """Both splits are written alike: ``split(key, 2)`` for a network and for the one that starts as its copy."""
    earlier, at, scope = event.earlier, event.at, event.context.scope
    if earlier is None:
        return False
    texts = [
        one.text[start:end]
        for one, start, end in ((scope, at.start, at.end), (earlier.scope, earlier.start, earlier.end))
    ]
    first, second = ("".join(text.split()) for text in texts)
    return first == second
