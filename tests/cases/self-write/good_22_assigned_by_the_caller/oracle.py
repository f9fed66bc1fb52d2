import jax.numpy as jnp


def good(m):
    t = m.Trainer(2)
    t.fit([jnp.ones((3, 2))] * 3)
    assert t.steps == 3 and t.input_shape == (3, 2) and t.loss.shape == ()
