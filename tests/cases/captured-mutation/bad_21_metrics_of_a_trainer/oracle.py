import jax
import jax.numpy as jnp


def leaks(thunk):
    try:
        thunk()
    except jax.errors.UnexpectedTracerError:
        return
    raise AssertionError("no leak")



def bad(m):
    trainer = m.Trainer(jnp.ones(2))
    trainer.fit([jnp.ones((3, 2))] * 4)
    assert len(trainer.losses) == 1
    leaks(trainer.mean_loss)
