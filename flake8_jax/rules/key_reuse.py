"""JAX301: see the page of ``key_reuse``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._kept_keys import kept_key
from flake8_jax.rules._key_walk import keys_passed_twice
from flake8_jax.rules._keys import (
    ADVICE,
    OUTCOMES,
    already,
    by_convention,
    gets_again,
    is_common_pick,
    is_iterated,
    is_loop_reuse,
    is_within_call,
    key_on_line,
    level_of_use,
    name_of_key,
    new_name,
    own_keys,
    report_where_given,
    start_alike,
    unless,
    unless_unused,
    uses_of,
)
from flake8_jax.semantics.events.events import FileRead, KeyUse, LibraryCall
from flake8_jax.semantics.events.facts import draws_from


@rule(
    "JAX301",
    "error",
    fixable="sometimes",
    settle=report_where_given,
    only=Subscription(effects=frozenset({"consume", "split"})),
)
def key_reuse(event: KeyUse | LibraryCall | FileRead) -> Report | list[Report] | None:
    """Two random draws on one path through the program use the same PRNG key.

    The finding is a warning for two calls of `choice` with one key: they pick elements at the same places of two
    arrays of the same length, which may be intended.

    The finding is a note if only some paths through the program make both draws. It is also a note if the
    code around the draws shows a reason for equal numbers, for example in these cases:

    - A function makes the key itself from a constant seed.
    - One function changes an image and its mask with the same key.
    - The code compares the results of the two draws.
    - The code only prints, plots or saves each of the two results by itself.
    - One key is used for two collections of Flax (`rngs={"params": key, "dropout": key}`).

    With `--preview`, the rule also counts a call of a function whose code jaxlint does not see (`env.reset(key)`,
    `dist.sample(seed=key)`, `model(key, x)`) as a use of the key. It does not count a call if the name of the function
    says that it stores a key or copies it to a device. It does not count a single `init` or `apply` of Flax, because
    Flax makes a new key for each layer. If one key is passed to the `init` of two networks, the rule reports the second
    call: layers of equal names and shapes start with equal parameters. It does not report target networks and other
    copies, if their names say what they are.

    With `--preview`, the rule also reads each function by itself, for keys that jaxlint knows only by their names, such as
    `key`, `rng` or `self.rng`. It reports, as a note, a key that the function passes to two calls (`env.reset(rng)`, then
    `policy.act(obs, rng)`, or `mcmc.run(rng_key)` and, in a later cell, `Predictive(model, samples)(rng_key)`), or passes to
    a call and then splits. It also reports a call that gets the key which the code goes on with, if the code has split off a
    key for this call and never uses it (`rng, sub = jax.random.split(rng)`, then `act(obs, rng)`). Of the places within eight
    lines of a function or cell, it reports the first.

    With `--preview`, the rule also reports a dict of keys that two calls of `apply` of Flax get (`rngs=rngs`), because
    one module then draws the same dropout mask twice.

    If code uses one key several times, the rule reports the second use. With `--preview`, it also reports further uses that
    are more than eight lines apart.

    With `--preview`, the rule also reports a `split` of a key after a `fold_in` of this key, because `fold_in` may
    return a key that `split` returns, too.

    With `--preview`, the rule also reports two keys that stay the same for the next call:

    - A method draws from a key of its object (`self.key`) or splits it, and no code of the file stores another key there.
    - A function draws from a parameter or splits it, and then returns this same key in a tuple (`return x, key`).

    In a notebook, a cell may use a key again whose earlier results no later cell reads. jaxlint reports this with
    `--preview` only, as a note, once for each key.

    In public repositories, 22 of 30 findings that JAX301 (`key-reuse`), JAX302 (`key-reuse-in-loop`) and JAX303
    (`key-used-after-split`) make only with `--preview` were worth a change.

    ## Why is this bad?

    JAX's random functions are pure: the same key gives the same numbers. Two draws with one key are correlated and
    often equal. JAX raises no error, so the result is silently wrong. Split the key and use each new key once.

    A draw in a called function counts like a draw in the calling function. If a function draws from a key and then
    returns the same key, the next draw from the returned key is a reuse. The same holds for a loop that draws from a
    key and carries it into the next iteration.

    `normal`, `uniform` and most other samplers use the same random bits of the key, so their numbers repeat. Other
    pairs of uses, such as `randint` and `normal`, or a draw and a `split`, show no repeated numbers, but JAX
    guarantees independence only for different keys. jaxlint therefore reports these pairs as well.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def init(key, width):
        w = jax.random.normal(key, (width,))
        b = jax.random.normal(key, (width,))  # expect: key-reuse
        return w, b


    def demonstrate():
        w, b = init(jax.random.key(0), 4)
        assert jnp.array_equal(w, b)
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def noise(k, x):
        return x + jax.random.normal(k, x.shape)


    def augment(key, x):
        shifted = noise(key, x)
        scaled = x * jax.random.normal(key, x.shape)  # expect: key-reuse
        return shifted, scaled


    def demonstrate():
        shifted, scaled = augment(jax.random.key(0), jnp.ones(3))
        assert jnp.allclose(shifted - 1.0, scaled, atol=1e-6)
    ```

    With `--preview`, jaxlint reports two networks that start with one key:

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Actor(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(2)(nn.relu(nn.Dense(8)(x)))


    class Critic(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(1)(nn.relu(nn.Dense(8)(x)))


    def start(key, x):
        actor_params = Actor().init(key, x)
        critic_params = Critic().init(key, x)  # expect: key-reuse
        return actor_params["params"], critic_params["params"]


    def demonstrate():
        actor_params, critic_params = start(jax.random.key(0), jnp.ones((1, 4)))
        assert jnp.array_equal(actor_params["Dense_0"]["kernel"], critic_params["Dense_0"]["kernel"])
    ```

    With `--preview`, jaxlint reports a method that never stores a new key:

    ```python
    import jax
    import jax.numpy as jnp


    class Policy:
        def __init__(self, key):
            self.key = key

        def act(self, logits):
            return jax.random.categorical(self.key, logits)  # expect: key-reuse


    def demonstrate():
        policy, logits = Policy(jax.random.key(0)), jnp.zeros(100)
        first = policy.act(logits)
        second = policy.act(logits)
        assert first == second
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def walk(key, n):
        path = [jnp.zeros(2)]
        for _ in range(n):
            key, subkey = jax.random.split(key)  # expect: key-reuse
            path.append(path[-1] + jax.random.normal(key, (2,)))
        return path


    def demonstrate():
        with jax.debug_key_reuse(True):
            walk(jax.random.key(0), 2)  # raises: KeyReuseError
    ```

    ## Use instead

    ```python
    import jax


    def init(key, width):
        w_key, b_key = jax.random.split(key)
        w = jax.random.normal(w_key, (width,))
        b = jax.random.normal(b_key, (width,))
        return w, b
    ```

    ## Not reported

    jaxlint does not report two draws if only one of them runs (in the two branches of an `if`), or if the code assigns
    a new key to the variable between them. It does not report two calls of `fold_in` with different data, or two
    different elements of an array of keys, because the keys differ.

    jaxlint does not report code that reads a key but draws no numbers, such as `key.shape`. It does not report a draw
    from `jax.random.clone(key)`, because this call says that equal numbers are intended. Without
    `--preview`, it does not report two calls of `permutation` with one key, because such code shuffles two arrays in the
    same order on purpose.

    ```python
    import jax


    def draw(key, heavy, n):
        if heavy:
            return jax.random.cauchy(key, (n,))
        return jax.random.normal(key, (n,))


    def chain(key, n):
        key, sub = jax.random.split(key)
        x = jax.random.normal(sub, (n,))
        key, sub = jax.random.split(key)
        return x + jax.random.normal(sub, (n,)), key


    def layers(key, n):
        first = jax.random.normal(jax.random.fold_in(key, 0), (n,))
        second = jax.random.normal(jax.random.fold_in(key, 1), (n,))
        keys = jax.random.split(jax.random.fold_in(key, 2), 2)
        return first, second, jax.random.normal(keys[0]), jax.random.normal(keys[1])


    def replay(key, n):
        report = (jax.random.key_impl(key), jax.random.key_data(key), key.shape)
        return jax.random.normal(key, (n,)), jax.random.normal(jax.random.clone(key), (n,)), report
    ```

    ## Limitations

    The rule misses a key that the code makes again from the numbers of an old key (`jax.random.wrap_key_data`), and
    two calls of `fold_in` with equal data, which return equal keys.

    ## Fix safety

    Unsafe. jaxlint splits the key before its first use and passes a new key to each use, so the draws change. If the
    code already makes a key that nothing uses, one of the two uses gets this key.

    If three or more calls get the same key, the fix gives each of them a key of its own. The keys come from the split
    that made the key, or from a new split above the first call. If neither is possible, there is no fix.

    jaxlint offers no fix if equal draws seem intended: if the code subtracts or compares two calls of one function, if
    the second draw is the first with the opposite sign, if the same statement draws the points of two integrals, or if a
    name or comment says that the draws are equal. It also
    offers no fix if nothing reads one of the draws, if a comment says that a split is not needed, or if each iteration
    of a loop would split the same key. jaxlint never
    splits an array of keys, an object that holds a key, or a variable such as `seed` that may be an integer.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the line of the finding uses a key that
    the program has already used.

    ## Since

    0.2.0.

    ## Related rules

    JAX302 (`key-reuse-in-loop`), JAX303 (`key-used-after-split`), JAX307 (`discarded-split`), JAX309 (`same-constant-key`),
    JAX306 (`legacy-prng-key`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/jax.random.html>
    """
    if isinstance(event, LibraryCall):
        return kept_key(event)
    if isinstance(event, FileRead):
        return keys_passed_twice(event)
    context = event.context
    if (
        event.earlier is None
        or is_loop_reuse(event)
        or event.earlier_effect == "split"
        or context.presumed
        or context.caught
    ):
        return None
    key = name_of_key(event)
    if event.collections is not None:
        first, second = event.collections
        message = f"{key} seeds both `{first}` and `{second}`, so both may draw the same numbers; split it first"
        return Report(event.at, message, level="info", given=draws_from(second))
    if any(event.callees):
        splits = event.effect == "split" and not event.through
        advice = _before_this_split(event) if splits and is_iterated(event) else ADVICE[event.intent]
        return by_convention(
            event, f"{gets_again(event)}; {advice}{'' if start_alike(event) else unless_unused(event)}"
        )
    if event.same_call or event.in_loop:
        message = f"{key} is used twice in this call{OUTCOMES[event.shares]}; split it first"
        return Report(event.at, message, level=level_of_use(event), given=event.given)
    uses = uses_of(event)
    # This line has a split: the draw before it needs one of its keys.
    late = event.effect == "split" and not event.through
    if event.carried:
        message = f"{already(event, 'used')}, so {_related(event)}; {_in_each_iteration(key, late=late)}"
        return Report(event.at, message, level=level_of_use(event), given=event.given, uses=uses)
    if is_common_pick(event):
        outcome = "both calls may pick the same elements"
        message = f"{already(event, 'used')}, so {outcome}; split it first unless that is intended"
        return Report(event.at, message, level="info" if event.intent else "warning", given=event.given, uses=uses)
    verb = "split" if event.was_split else "used"
    outcome = f", so {_related(event)}" if late and event.shares != "unread" else OUTCOMES[event.shares]
    advice = _before_this_split(event) if late else _advice(event)
    return Report(
        event.at, f"{already(event, verb)}{outcome}; {advice}", level=level_of_use(event), given=event.given, uses=uses
    )


def _related(event: KeyUse) -> str:
    """What the earlier use has in common with this one, where one of the two is a split or an iteration has both."""
    if event.effect != "split" or event.through:
        return "its numbers may repeat or be correlated"
    return (
        "this split may return the same keys"
        if event.was_split
        else "the keys of this split may be correlated with that draw"
    )


def _in_each_iteration(key: str, *, late: bool) -> str:
    """What to do about a key that an iteration uses and leaves for the next one."""
    name = key.strip("`")
    if late or not name.isidentifier():
        return "draw with one of the new keys and keep another for the next iteration"
    return f"split it in each iteration: {name}, {new_name(name)} = jax.random.split({name})"


def _before_this_split(event: KeyUse) -> str:
    """What to do about a use before this split."""
    if is_iterated(event):
        return _in_each_iteration("", late=True)
    advice = (
        "split it before that call and pass a new key"
        if is_within_call(event)
        else "split it before that draw and use a new key there"
    )
    return f"{advice}{unless(event.intent)}" if event.was_split or event.intent in _NOT_EQUAL else advice


_NOT_EQUAL = frozenset({"alternatives", "apart", "discarded", "template"})
"""Reasons that hold for a draw and a split, which give no equal numbers."""


def _advice(event: KeyUse) -> str:
    """What to do about a use that comes after another one. Where one of them is a split already, another split is not what is
    missing."""
    advice = ADVICE[event.intent]
    if key_on_line(event) is None:
        return advice.replace("split it first", own_keys(event))
    return advice.replace("split it first", own_keys(event)) if event.was_split else advice
