import jax
import jax.numpy as jnp


class Trainer:
    def __init__(self, w, rate=0.1):
        self.w = w
        self.rate = rate
        self.losses = []
        self._step = jax.jit(self._update)

    def _loss(self, w, x):
        loss = jnp.mean((x @ w) ** 2)
        self.losses.append(loss)  # expect: captured-mutation
        return loss

    def _update(self, w, x):
        return w - self.rate * jax.grad(self._loss)(w, x)

    def fit(self, batches):
        for x in batches:
            self.w = self._step(self.w, x)
        return self.w

    def mean_loss(self):
        return jnp.mean(jnp.stack(self.losses))
