import equinox as eqx
import flax.serialization
import jax
import jax.numpy as jnp


def learner(path, rng):
    phi = eqx.nn.MLP(2, 2, 4, 2, key=rng)
    psi = eqx.nn.MLP(2, 2, 4, 2, key=rng)  # info: key-reuse
    loaded_phi = eqx.tree_deserialise_leaves(path, phi)
    loaded_psi = eqx.tree_deserialise_leaves(path, psi)
    return loaded_phi, loaded_psi


def again(path, rng, data):
    weights = jax.random.normal(rng, (3,))
    weights = flax.serialization.from_bytes(weights, data)
    other = jax.random.normal(rng, (3,))  # info: key-reuse
    return weights, other


def wrong(path, rng):
    phi = eqx.nn.MLP(2, 2, 4, 2, key=rng)
    psi = eqx.nn.MLP(2, 2, 4, 2, key=rng)  # error: key-reuse
    return eqx.tree_deserialise_leaves(path, phi), psi, phi


@eqx.filter_vmap
def ensemble(keys):
    return eqx.nn.MLP(2, 2, 4, 2, key=keys)


def create(model, target_model):
    return model, target_model


def make(rng):
    split = jax.random.split
    return create(
        model=ensemble(split(rng, 2)),
        target_model=ensemble(split(rng, 2)),  # info: key-used-after-split
    )


def make_wrong(rng):
    split = jax.random.split
    first = create(model=ensemble(split(rng, 2)), target_model=2)
    return first, ensemble(split(rng, 2))  # error: key-used-after-split
