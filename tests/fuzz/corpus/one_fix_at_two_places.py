# Broke: the same fix at two places, each with a finding of its own behind it, was tried at one of them only
import jax
def twice(v):
    if v>10:return relu
    return v
@jax.jit
def f(x):twice(float(x))
def stuck(v):((print(v)))
@jax.jit
def g(x):stuck(float(x))
