# Broke: a second --fix changed more: 24 nested conditions take more passes than ten.
import jax


def scaled(x):
    yield x * 2


@jax.jit
def step(x):
    with scaled(x) as y, (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (x if y else (jax.named_scope("name")))))))))))))))))))))))))):
        return y
