from functools import partial

import jax
import jax.numpy as jnp


class Trainer:
    def __init__(self, n):
        self.w = jnp.ones(n)
        self.steps = 0
        self.loss = None
        self.input_shape = None

    @partial(jax.jit, static_argnums=0)
    def _step(self, w, x):
        self.input_shape = x.shape
        loss, grads = jax.value_and_grad(self._loss)(w, x)
        return w - 0.1 * grads, loss

    def _loss(self, w, x):
        return jnp.mean((x @ w) ** 2)

    def fit(self, batches):
        for x in batches:
            self.w, self.loss = self._step(self.w, x)
            self.steps += 1
