"""Checks in compiled code with `checkify`: an error message where `assert` cannot work.

Under `jax.jit` a value is not known while Python runs, so `assert x > 0` and `raise` fail or do nothing.
`checkify.check` becomes part of the program. `checkify.checkify` turns the function into one that also
returns an error value, and `throw` raises it, after the computation, in ordinary Python.
"""

import jax
import jax.numpy as jnp
from jax.experimental import checkify


def log_mean(x):
    checkify.check(jnp.all(x > 0), "log_mean needs positive numbers, but the smallest is {least}", least=jnp.min(x))
    return jnp.mean(jnp.log(x))


# user_checks are those above; float_checks find NaN, index_checks find indices that are out of bounds.
checked = jax.jit(checkify.checkify(log_mean, errors=checkify.user_checks | checkify.float_checks))


def main():
    error, value = checked(jnp.array([1.0, 2.0, 4.0]))
    error.throw()  # nothing happens: there is no error
    print(f"value {float(value):.4f}")
    error, _ = checked(jnp.array([1.0, -2.0, 4.0]))
    message = error.get()
    print(message)
    assert message is not None and "the smallest is -2.0" in message


if __name__ == "__main__":
    main()
