import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    training: bool = True
    width: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.Dropout(0.5, deterministic=not self.training)(nn.Dense(self.width)(x))


def init_state(model, random_key):
    params_key, dropout_key = jax.random.split(random_key)
    return model.init({"params": params_key, "dropout": dropout_key}, jnp.ones((2, 3)))["params"]


def both_modes(seed):
    key = jax.random.key(seed)
    params = init_state(Net(training=True), key)
    eval_params = init_state(Net(training=False), key)  # info: key-reuse
    return jax.tree.map(jnp.add, params, eval_params)


def init_for(model, random_key, steps, config):
    params_key, dropout_key = jax.random.split(random_key)
    params = model.init({"params": params_key, "dropout": dropout_key}, jnp.ones((2, 3)))["params"]
    return params, config["rate"] / steps


def both_modes_of_a_configuration(seed, config, train_set, eval_set):
    key = jax.random.key(seed)
    state = init_for(Net(training=True, **config), key, len(train_set), config)
    eval_state = init_for(Net(training=False, **config), key, len(eval_set), config)  # info: key-reuse
    return state, eval_state


def two_widths(seed):
    key = jax.random.key(seed)
    params = init_state(Net(width=4), key)
    wide_params = init_state(Net(width=8), key)  # error: key-reuse
    return params, wide_params


def crop(key, image):
    start = jax.random.randint(key, (2,), 0, 4)
    return jax.lax.dynamic_slice(image, start, (8, 8))


def batched_crop(key, tree, name):
    keys = jax.random.split(key, tree[name].shape[0])
    return {**tree, name: jax.vmap(crop)(keys, tree[name])}


def add_noise(key, tree, name):
    keys = jax.random.split(key, tree[name].shape[0])
    return {**tree, name: jax.vmap(jax.random.normal)(keys) + tree[name]}


def crops(key, tree):
    tree = batched_crop(key, tree, "pixels")
    tree = batched_crop(key, tree, "depth")  # info: key-reuse
    return tree


def noise(key, tree):
    tree = add_noise(key, tree, "pixels")
    tree = add_noise(key, tree, "depth")  # error: key-reuse
    return tree
