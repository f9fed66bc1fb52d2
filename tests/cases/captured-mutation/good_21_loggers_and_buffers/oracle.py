import jax.numpy as jnp


def good(m):
    metrics = m.Metrics()
    m.fit(jnp.ones(2), [jnp.ones((3, 2))] * 3, metrics)
    assert len(metrics.rows["loss"]) == 3 and metrics.names == {"loss", "norm"}
    assert m.pyramid(jnp.ones(8)).shape == (4,)
