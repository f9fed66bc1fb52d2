import jax
import jax.numpy as jnp

from transforms import Pipeline


class Flip(Pipeline):
    def apply(self, image):
        if self.rng.random() < 0.5:  # expect: host-rng-in-staged
            return image[:, ::-1]
        return image


class Brighten(Pipeline):
    def apply(self, image):
        return image * self.rng.uniform(0.8, 1.2)  # expect: host-rng-in-staged


def augment(images, seed):
    return Brighten(seed).batch(Flip(seed).batch(images))
