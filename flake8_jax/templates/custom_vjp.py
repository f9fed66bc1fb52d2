"""Custom derivative with `jax.custom_vjp`, and a test that it is right.

Use it when the derivative that JAX makes is slow or not stable. Here log(1 + exp(x)) is fine, but its
automatic derivative for large x would be inf / inf. The forward function returns the result and what the
backward function needs (the residuals). The backward function gets the residuals and the cotangent, and must
use the cotangent: it returns one gradient for each argument.

`check_grads` compares the rule with finite differences. A rule without such a test is a guess.
"""

import jax
import jax.numpy as jnp
from jax.test_util import check_grads


@jax.custom_vjp
def log1p_exp(x):
    return jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x)))


def log1p_exp_fwd(x):
    return log1p_exp(x), x


def log1p_exp_bwd(x, cotangent):
    return (cotangent * jax.nn.sigmoid(x),)


log1p_exp.defvjp(log1p_exp_fwd, log1p_exp_bwd)


def main():
    x = jnp.array([-80.0, -1.0, 0.3, 2.0, 80.0])
    grads = jax.vmap(jax.grad(log1p_exp))(x)
    print(f"values    {log1p_exp(x)}\ngradients {grads}")
    assert jnp.all(jnp.isfinite(grads))
    check_grads(log1p_exp, (x[1:4],), order=1, modes=["rev"], atol=1e-2, rtol=1e-2)


if __name__ == "__main__":
    main()
