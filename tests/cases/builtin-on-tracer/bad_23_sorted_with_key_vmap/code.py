import jax
import jax.numpy as jnp


class Beam:
    def __init__(self, width):
        self.width = width

    def best(self, candidates):
        ranked = sorted(candidates, key=lambda c: c["score"])  # expect: builtin-on-tracer
        return ranked[: self.width]


def step(logits):
    scores = jax.nn.log_softmax(logits)
    options = [{"token": i, "score": scores[i]} for i in range(3)]
    return Beam(1).best(options)[0]["score"]


decode = jax.vmap(step)
