import jax
import jax.numpy as jnp


def rmse(model, params, xs, key, lesion, scale=1.0):
    keys = jax.random.split(key, xs.shape[0])
    est = jax.vmap(lambda x, k: model.sample(k, params) * (0.0 if lesion else scale * x))(xs, keys)
    return float(jnp.sqrt(jnp.mean((est - xs) ** 2)))


def fit(model, params, xs, key):
    k_init, k_dec, k_more = jax.random.split(key, 3)
    params = model.initialize(k_init)
    whole = rmse(model, params, xs, k_dec, False)
    cut = rmse(model, params, xs, k_dec, True)  # info: key-reuse
    more = rmse(model, params, xs, k_more, False, 1.0)
    most = rmse(model, params, xs, k_more, True, 2.0)  # error: key-reuse
    return whole, cut, more, most
