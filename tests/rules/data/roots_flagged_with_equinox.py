"""Ways of Equinox to stage a function, each with a defect inside."""

import equinox as eqx
import jax
import jax.numpy as jnp


class Layer(eqx.Module):
    weight: jax.Array
    bias: jax.Array
    gate: float = eqx.field(static=True, default=0.5)

    def __call__(self, x):
        y = self.weight @ x + self.bias
        if self.gate > 0 and jnp.all(y > self.gate):  # expect: traced-branch
            y = y * 2
        return y


@eqx.filter_jit
def forward(layer, x):
    return layer(x)


# raises TracerBoolConversionError: forward(Layer(jnp.eye(2), jnp.ones(2)), jnp.ones(2))


@eqx.filter_value_and_grad
def loss(layer: Layer, x):
    return float(jnp.sum(layer.weight @ x))  # expect: host-cast


# raises ConcretizationTypeError: loss(Layer(jnp.eye(2), jnp.ones(2)), jnp.ones(2))
