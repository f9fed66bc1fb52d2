import flax.linen as nn
import jax
import jax.numpy as jnp


class Attention(nn.Module):
    @nn.compact
    def __call__(self, x, print_attention=False):
        weights = nn.softmax(nn.Dense(4)(x))
        if print_attention:
            print(weights)  # info: print-in-staged
        return weights @ x


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        hidden = nn.Dense(4)(x)
        print(hidden)  # info: print-in-staged
        return hidden


@jax.jit
def encode(params, x):
    return Encoder().apply(params, x)


def step(x, verbose):
    if verbose:
        print(x)  # info: print-in-staged
    print(2 * x)  # info: print-in-staged
    return x


def run(verbose):
    return jax.jit(lambda x: step(x, verbose))(jnp.ones(2))


def look(params):
    return Attention().apply(params, jnp.ones((4, 4)), print_attention=True)
