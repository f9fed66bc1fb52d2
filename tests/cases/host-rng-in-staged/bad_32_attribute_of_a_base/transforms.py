import random

import jax


class Pipeline:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def apply(self, image):
        raise NotImplementedError

    def batch(self, images):
        return jax.vmap(self.apply)(images)
