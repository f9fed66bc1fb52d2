"""Constant seeds in code that runs more than once."""

import random
import sys

import jax
import jax.numpy as jnp
import numpy as np

SEED = 7
LIMIT = 1000


@jax.jit
def staged(x):
    return x + jax.random.normal(jax.random.key(0), x.shape)  # expect: constant-key


@jax.jit
def by_module_constant(x):
    return x + jax.random.normal(jax.random.PRNGKey(SEED), x.shape)


def helper(x):
    key = jax.random.key(42)  # expect: constant-key
    return x * jax.random.uniform(key, x.shape)


@jax.jit
def caller(x):
    return helper(x)


def looped(n):
    out = []
    for _ in range(n):
        key = jax.random.key(0)  # expect: constant-key
        out.append(jax.random.normal(key))
    return out


def drop(x, rate, key=None):
    if key is None:
        key = jax.random.key(0)  # expect: constant-key
    return x * jax.random.bernoulli(key, 1 - rate, x.shape)


@jax.jit
def drops(w, x):
    return w + drop(x, 0.5).sum()


def start_at(x, key=None):
    if key is None:
        key = jax.random.key(0)
    return x + jax.random.normal(key, x.shape)


def starts(w, key):
    return jax.jit(start_at)(w, key), start_at(w)


# runs: drops(jnp.ones(3), jnp.ones(3))


def of_few_seeds(n):
    for _ in range(n):
        seed = int(np.random.randint(0, 10**4))
        yield jax.random.normal(jax.random.key(seed))  # expect: constant-key
        yield jax.random.normal(jax.random.PRNGKey(random.randint(0, LIMIT - 1)))  # expect: constant-key


def of_many_seeds(n):
    for _ in range(n):
        yield jax.random.normal(jax.random.key(random.randint(0, 2**31 - 1)))
        yield jax.random.normal(jax.random.key(np.random.randint(n)))


def of_few_seeds_a_few_times():
    for _ in range(3):
        yield jax.random.normal(jax.random.key(np.random.randint(10_000)))


def one_of_few_seeds():
    return jax.random.normal(jax.random.key(random.randint(0, 100)))


class Memory:
    def __init__(self, data):
        self.data = data

    def sample(self, size, rng):
        rows = np.random.randint(0, len(self.data), size)  # expect: constant-key
        signs = np.random.choice([-1, 1], size)
        return self.data[rows] * signs

    def sample_with_a_key(self, size, rng):
        rows = jax.random.randint(rng, (size,), 0, len(self.data))
        return self.data[rows] + np.random.rand(size)

    def sample_without_a_key(self, size):
        return self.data[np.random.randint(0, len(self.data), size)]


@jax.jit
def same_stream(x):
    key = jax.random.fold_in(jax.random.key(0), 3)  # expect: constant-key
    return x + jax.random.normal(key, x.shape)


@jax.jit
def carried(x):
    key = jax.random.key(0)  # expect: constant-key

    def step(carry, _):
        key, sub = jax.random.split(carry[1])
        return (carry[0] + jax.random.normal(sub), key), None

    return jax.lax.scan(step, (x, key), length=3)[0][0]


@jax.jit
def in_lanes(x):
    keys = jax.random.split(jax.random.key(0), x.shape[0])  # expect: constant-key
    return jax.vmap(lambda key, x: x + jax.random.normal(key))(keys, x)


@jax.jit
def helped_twice(x):
    first, second = jax.random.key(0), jax.random.key(1)  # expect: constant-key
    return add_noise(first, x) + add_noise(second, x)


def add_noise(key, x):
    return x + jax.random.normal(key, x.shape)


@jax.jit
def default(x, key=None):
    key = jax.random.key(0) if key is None else key
    return add_noise(key, x)


# runs: same_stream(jnp.ones(2)), carried(1.0), in_lanes(jnp.ones(2)), helped_twice(jnp.ones(2)), default(jnp.ones(2))
# runs: staged(jnp.ones(2)), by_module_constant(jnp.ones(2)), caller(jnp.ones(2)), looped(2)


# --- never flagged -------------------------------------------------------------

TABLE = jax.random.normal(jax.random.key(0), (3,))
ROWS = [jax.random.normal(jax.random.key(0), (n,)) for n in (1, 2)]


def once(width):
    return jax.random.normal(jax.random.key(0), (width,))


def shapes(width):
    return jax.eval_shape(lambda: jax.random.normal(jax.random.key(0), (width,)))


@jax.jit
def from_argument(seed, x):
    return x + jax.random.normal(jax.random.key(seed), x.shape)


def by_index(n):
    return [jax.random.normal(jax.random.key(i)) for i in range(n)]


@jax.jit
def by_step(step, x):
    key = jax.random.fold_in(jax.random.key(0), step)
    base = jax.random.key(1)
    return x + jax.random.normal(key, x.shape) + jax.random.normal(jax.random.fold_in(base, 2 * step), x.shape)


@jax.jit
def begun(x):
    return x, jax.random.key(0)


def with_keys_of_its_own(make, sizes):
    return [make(jax.random.key(0), size) for size in sizes]


def test_noise():
    for n in (1, 2):
        assert jax.random.normal(jax.random.key(0), (n,)).shape == (n,)


def main():
    for n in (1, 2):
        print(jax.random.normal(jax.random.key(0), (n,)))  # expect: constant-key


if __name__ == "__main__":
    main()

# runs: begun(1.0), with_keys_of_its_own(jax.random.normal, [(), (1,)])
# runs: once(2), shapes(2), from_argument(0, jnp.ones(2)), by_index(2), by_step(0, jnp.ones(2))


# --- in functions that a loop calls ------------------------------------------------


def noisy(x):
    return x + jax.random.normal(jax.random.key(0), x.shape)  # expect: constant-key


class Agent:
    def act(self, x):
        key = jax.random.key(3)  # expect: constant-key
        key, subkey = jax.random.split(key)
        return x + jax.random.normal(subkey, x.shape)


def with_default(x, key=None):
    if key is None:
        key = jax.random.key(0)
    return x + jax.random.normal(key, x.shape)


def data(width):
    return jax.random.normal(jax.random.key(0), (width,))


def advance(steps):
    x, agent = jnp.ones(2), Agent()
    for _ in range(steps):
        x = noisy(x)
    for _ in range(steps):
        for _ in range(3):
            x = agent.act(x)
    for _ in range(steps):
        x = with_default(x)
    for width in (1, 2, 3):
        print(data(width))
    for width in range(steps):
        print(data(width + 1))
    return x


STEPS = len(sys.argv) * 20
print(advance(STEPS))


def mapped(n):
    for _ in range(n):
        yield list(map(jax.random.key, (0, 1)))


@jax.jit
def waits(x):
    list(map(jax.block_until_ready, [x, x]))  # expect: sync-in-staged
    return x


def waits_before_it_leaves(steps, only_once):
    for _ in range(steps):
        if only_once:
            return jax.random.normal(jax.random.key(0), ()).block_until_ready()
    return None


# runs: waits_before_it_leaves(3, True)


# --- beside a seed that the caller gives --------------------------------------------------


def ignores_its_seed(n, seed=0):
    key = jax.random.key(42)  # expect: constant-key
    return jax.random.normal(key, (n,))


def overwrites_its_key(n, rng=None):
    rng = jax.random.key(1)  # expect: constant-key
    return jax.random.normal(rng, (n,))


def uses_its_key_first(n, rng):
    x = jax.random.normal(rng, (n,))
    rng = jax.random.key(1)
    return x, jax.random.normal(rng, (n,))


def uses_its_seed_as_well(n, seed):
    shared = jax.random.normal(jax.random.key(0), (n,))
    return shared + jax.random.normal(jax.random.key(seed), (n,))


def with_a_key_of_its_own_by_default(n, key=None):
    if key is None:
        key = jax.random.key(1)
    return jax.random.normal(key, (n,))


def only_shapes(n, key):
    return jax.eval_shape(lambda k: jax.random.normal(k, (n,)), jax.random.key(0))


def says_so(n, seed):
    key = jax.random.key(3)  # the same numbers in each call
    return jax.random.normal(key, (n,))


def by_default(n, key=jax.random.key(5)):  # expect: constant-key
    return jax.random.normal(key, (n,))


def by_default_for_a_family_of_functions(n, key=jax.random.key(5)):
    return jnp.zeros(n)


def by_default_in_the_same_file(n, key=jax.random.key(7)):
    return jax.random.uniform(key, (n,))


def generate_images(weights, n):
    key, sub = jax.random.split(jax.random.key(5))  # expect: constant-key
    return weights * jax.random.normal(sub, (n, 1))


def show_noise(n):
    print(jax.random.normal(jax.random.key(5), (n,)))


def noise_of(n):
    return jax.random.key(5), n


class Layer:
    def __init__(self, width, key):
        self.weight = jax.random.normal(key, (width,))
        self.bias = jax.random.normal(jax.random.key(0), (width,))  # expect: constant-key


# runs: ignores_its_seed(2), overwrites_its_key(2), by_default(2), Layer(2, jax.random.key(1))


def apply(params, x, *, rngs, training):
    noise = jax.random.normal(rngs["dropout"], x.shape) if training else 0.0
    return params * x + noise


@jax.jit
def evaluated(params, x):
    rngs = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
    return apply(params, x, rngs=rngs, training=False)


@jax.jit
def trained(params, x):
    rngs = {"params": jax.random.key(0), "dropout": jax.random.key(1)}  # expect: constant-key
    return apply(params, x, rngs=rngs, training=True)


@jax.jit
def evaluated_and_trained(params, x):
    rngs = {"dropout": jax.random.key(1)}  # expect: constant-key
    return apply(params, x, rngs=rngs, training=False), apply(params, x, rngs=rngs, training=True)


# runs: evaluated(jnp.ones(3), jnp.ones(3)), trained(jnp.ones(3), jnp.ones(3))
# runs: evaluated_and_trained(jnp.ones(3), jnp.ones(3))
