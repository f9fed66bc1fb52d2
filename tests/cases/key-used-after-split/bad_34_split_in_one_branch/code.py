import jax
import jax.numpy as jnp


class Layer:
    def __init__(self, width, bias):
        self.width = width
        self.bias = bias

    def init(self, key):
        params = {}
        if self.bias:
            b_key, s_key = jax.random.split(key)
            params["b"] = 0.01 * jax.random.normal(b_key, (self.width,))
            params["s"] = jax.random.uniform(s_key, (self.width,))
        params["w"] = jax.random.normal(key, (self.width, self.width))  # expect: key-used-after-split
        return params


def model(key, width):
    return Layer(width, bias=True).init(key)
