import jax


def jitter(x, scale=0.1):
    noise = jax.random.normal(jax.random.PRNGKey(42), x.shape)  # expect: constant-key
    return x + scale * noise
