from typing import NamedTuple

import jax
import jax.numpy as jnp


class Chain(NamedTuple):
    position: jax.Array
    accepted: jax.Array


def propose(chain, noise):
    candidate = chain.position + 0.3 * noise
    better = jnp.sum(candidate**2) < jnp.sum(chain.position**2)
    chain = Chain(jnp.where(better, candidate, chain.position), chain.accepted + better)
    print("state:", chain)  # expect: print-in-staged
    return chain, chain.position


sample = jax.jit(lambda start, noises: jax.lax.scan(propose, start, noises))


def run(noises):
    return sample(Chain(jnp.zeros(2), jnp.int32(0)), noises)[0]
