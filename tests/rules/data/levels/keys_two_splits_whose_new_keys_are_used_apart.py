import jax


class Kept:
    def __init__(self, n, key):
        key, *subkeys = jax.random.split(key, n + 2)
        self.w = jax.random.normal(subkeys[0], (3,))


class Dropped:
    def __init__(self, n, key):
        _, *subkeys = jax.random.split(key, n + 2)
        self.w = jax.random.normal(subkeys[0], (3,))


class Read:
    def __init__(self, n, key):
        key, *subkeys = jax.random.split(key, n + 2)
        self.w = jax.random.normal(subkeys[0], (3,)) + jax.random.normal(key, (3,))


def one_edit_away(key):
    net = Kept(3, key)
    other, _ = jax.random.split(key)  # info: key-reuse
    return net, jax.random.normal(other, (3,))


def with_a_name(key):
    net = Kept(3, key=key)
    rest, other = jax.random.split(key)  # error: key-reuse
    return net, jax.random.normal(other, (3,))


def on_purpose(key):
    net = Dropped(3, key)
    other, _ = jax.random.split(key)
    return net, jax.random.normal(other, (3,))


def the_same(key):
    net = Read(3, key)
    other, _ = jax.random.split(key)  # error: key-reuse
    return net, jax.random.normal(other, (3,))


def in_one_function(key):
    first, _ = jax.random.split(key)
    rest, other = jax.random.split(key)
    return jax.random.normal(first, (3,)), jax.random.normal(other, (3,))
