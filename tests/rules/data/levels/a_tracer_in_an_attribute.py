import jax


class Model:
    def __init__(self):
        self.scale = self.last = self.total = self.seen = 0.0

    def apply(self, x):
        return x * self.scale


model, fresh = Model(), Model()


@jax.jit
def loss(scale, x):
    model.scale = scale  # info: self-write
    return model.apply(x).sum()


@jax.jit
def step(x):
    model.last = x * 2  # error: self-write
    model.total = model.total + x  # error: self-write
    fresh.seen = x  # info: self-write
    return x


def run(x):
    step(x)
    fresh.seen = 0.0
    return loss(2.0, x) + model.last + fresh.seen


run(1.0)
