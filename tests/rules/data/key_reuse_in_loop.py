"""Keys from outside of a loop, consumed in it."""

import jax
import jax.numpy as jnp


def for_loop(key, n):
    total = 0.0
    for _ in range(n):
        total += jax.random.normal(key)  # expect: key-reuse-in-loop
    return total


def while_loop(key):
    total = 0.0
    while total < 10:
        total += 1 + jax.random.uniform(key)  # expect: key-reuse-in-loop
    return total


def comprehension(key, n):
    return [jax.random.normal(key) for _ in range(n)]  # expect: key-reuse-in-loop


def split_in_loop(key, n):
    out = []
    for _ in range(n):
        _, sub = jax.random.split(key)  # expect: key-reuse-in-loop
        out.append(jax.random.normal(sub))
    return out


def scan(key, xs):
    def body(total, x):
        return total + x * jax.random.normal(key), None  # expect: key-reuse-in-loop

    return jax.lax.scan(body, 0.0, xs)[0]


def fori(key, n):
    return jax.lax.fori_loop(0, n, lambda i, v: v + jax.random.normal(key), 0.0)  # expect: key-reuse-in-loop


def draw(key):
    return jax.random.normal(key)


def through_a_helper(key, n):
    return jnp.stack([draw(key) for _ in range(n)])  # expect: key-reuse-in-loop


# runs: for_loop(jax.random.key(0), 2), comprehension(jax.random.key(0), 2), scan(jax.random.key(0), jnp.ones(2))
# runs: fori(jax.random.key(0), 2), through_a_helper(jax.random.key(0), 2)


# --- never flagged -------------------------------------------------------------


def refreshed(key, n):
    total = 0.0
    for _ in range(n):
        key, sub = jax.random.split(key)
        total += jax.random.normal(sub)
    return total, key


def folded(key, n):
    return [jax.random.normal(jax.random.fold_in(key, i)) for i in range(n)]


def own_keys(key, n):
    return [jax.random.normal(k) for k in jax.random.split(key, n)]


def indexed(key, n):
    keys = jax.random.split(key, n)
    return [jax.random.normal(keys[i]) for i in range(n)]


def zipped(key, names):
    keys = jax.random.split(key, len(names))
    return {name: jax.random.normal(k) for name, k in zip(names, keys)}


def carried(key, xs):
    def body(carry, x):
        key, total = carry
        key, sub = jax.random.split(key)
        return (key, total + x * jax.random.normal(sub)), None

    return jax.lax.scan(body, (key, 0.0), xs)[0]


def scanned_keys(key, n):
    return jax.lax.scan(lambda c, k: (c + jax.random.normal(k), None), 0.0, jax.random.split(key, n))[0]


def folded_index(key, n):
    return jax.lax.fori_loop(0, n, lambda i, v: v + jax.random.normal(jax.random.fold_in(key, i)), 0.0)


def handed_back(key, n):
    for _ in range(n):
        key, value = refreshed_once(key)
    return value


def refreshed_once(key):
    key, sub = jax.random.split(key)
    return key, jax.random.normal(sub)


def ends(key, names):
    for name in names:
        if name == "noise":
            return jax.random.normal(key)
    for name in names:
        if name == "other":
            value = jax.random.uniform(key)
            break
    else:
        value = 0.0
    return value


def seeded(n):
    return [jax.random.normal(jax.random.key(i)) for i in range(n)]


class Stream:
    def __init__(self, seed):
        self._key = jax.random.key(seed)

    @property
    def key(self):
        return self._key

    @key.setter
    def key(self, key):
        self._key = key

    def seed(self, seed):
        self.key = jax.random.key(seed)

    def split(self, n):
        keys = jax.random.split(self.key, n + 1)
        self._key = keys[0]
        return keys[1:]


def of_each(streams, n):
    found = []
    for stream in streams:
        if isinstance(stream, Stream):
            found.append(stream.split(n))
    return found


def set_again(n):
    stream = Stream(0)
    stream.seed(7)
    found = []
    for _ in range(n):
        found.append(stream.split(2))
    return found


# runs: of_each([Stream(0), Stream(1)], 2), set_again(2)
# runs: refreshed(jax.random.key(0), 2), zipped(jax.random.key(0), ["a"]), carried(jax.random.key(0), jnp.ones(2))
# runs: scanned_keys(jax.random.key(0), 2), folded_index(jax.random.key(0), 2), seeded(2)


def mapped_with_one_key(key, xs):
    return list(map(lambda x: x + jax.random.normal(key), xs))  # expect: key-reuse-in-loop


def mapped_with_keys(key, xs):
    keys = jax.random.split(key, len(xs))
    return list(map(lambda k, x: x + jax.random.normal(k), keys, xs))


def again_in_each_epoch(key, epochs, batches, w):
    keys = jax.random.split(key, len(batches))
    for epoch in range(epochs):
        for i, batch in enumerate(batches):
            mask = jax.random.bernoulli(keys[i], 0.5, w.shape)  # expect: key-reuse-in-loop
            sub = jax.random.fold_in(key, 2 * i + 1)  # expect: key-reuse-in-loop
            w = w + mask * batch + jax.random.normal(sub, w.shape)
    return w


def again_until_it_converges(w, steps):
    while jnp.abs(w).max() > 1e-3:
        for step in range(steps):
            w = w / 2 + 1e-4 * jax.random.normal(jax.random.key(step), w.shape)  # expect: key-reuse-in-loop
    return w


def other_keys_in_each_epoch(key, epochs, batches, w):
    count = 0
    for epoch in range(epochs):
        epoch_key = jax.random.fold_in(key, epoch)
        keys = jax.random.split(epoch_key, len(batches))
        for i, batch in enumerate(batches):
            first = jax.random.normal(keys[i], w.shape)
            second = jax.random.normal(jax.random.key(epoch * len(batches) + i), w.shape)
            w = w + first * second + jax.random.normal(jax.random.fold_in(key, count), w.shape)
            count += 1
    return w


def a_seed_for_each_size(sizes, n):
    found = []
    for size in sizes:
        for i in range(n):
            found.append(jax.random.normal(jax.random.key(i), (size,)).max())
    return found


def the_same_seeds_in_each_round(rounds, seeds, w):
    for _ in range(rounds):
        for seed in range(seeds):
            w = w + jax.random.normal(jax.random.key(seed), w.shape)
    return w


def evaluate_in_each_epoch(epochs, episodes, w):
    returns = []
    for epoch in range(epochs):
        for i in range(episodes):
            returns.append(w @ jax.random.normal(jax.random.key(i), w.shape))
    return returns


def later_parts_of_a_plan(key, parts, size, w):
    for part in range(parts):
        for i in range(part * size, (part + 1) * size):
            w = w + jax.random.normal(jax.random.fold_in(key, i), w.shape)
    return w


# runs: again_in_each_epoch(jax.random.key(0), 2, [1.0, 2.0], jnp.ones(2))
# runs: again_until_it_converges(jnp.ones(2), 20)
