import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, batch):
    loss, g = jax.value_and_grad(lambda w: jnp.mean((batch @ w - 1.0) ** 2))(w)
    return w - 0.05 * g, loss


class Trainer:
    def __init__(self, log_every):
        self.log_every = log_every
        self.step = 0
        self.history = []

    def log(self, loss):
        self.history.append(float(loss))

    def epoch(self, w, loader):
        losses = []
        for batch in loader:
            w, loss = step(w, batch)
            losses.append(loss)
            self.step += 1
            if self.step % self.log_every == 0:
                self.log(loss)
        return w, np.mean(jax.device_get(losses))

    def fit(self, w, loader, epochs):
        for _ in range(epochs):
            w, mean = self.epoch(w, loader)
            print(f"epoch mean {mean:.3f}")
        return w


def tally(rows):
    table = np.array(rows)
    total = 0.0
    for row in table:
        total += float(row.sum())
        if row.max() > 3.0:
            print(row)
    return total
