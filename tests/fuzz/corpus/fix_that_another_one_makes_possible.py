# Broke: a second --fix changed more. The fix of the second use did not hold in the first pass, and was not tried again.
from jax import random


def mixture(key, weight, n):
    pick = random.uniform(key, ((random.uniform(key)),)) < weight
    noise = random.uniform(key, (n,), minval=-0.5, maxval=0.5)
    return pick, noise
