"""Functions that programs call again and again, with jit and without it."""

import jax
import jax.numpy as jnp
import numpy as np


def forward(params, x):
    hidden = jnp.tanh(x @ params["w"] + params["b"])
    return jnp.tanh(hidden @ params["v"] + params["c"])


def loss(params, x, y):
    return jnp.mean((forward(params, x) - y) ** 2)


def start():
    params = {"w": jnp.ones((5, 3)), "b": jnp.ones(3), "v": jnp.ones((3, 2)), "c": jnp.ones(2)}
    return params, jnp.ones((4, 5)), jnp.ones((4, 2))


@jax.jit
def step(params, x, y):
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, x, y))


def train(params, x, y):
    for epoch in range(200):
        params = step(params, x, y)
        if epoch % 100 == 0:
            print(loss(params, x, y))  # expect: unjitted-function
    return params


# runs: train(*start())


def error(params, x, y):
    return jnp.mean(jnp.abs(forward(params, x) - y) > 0.5)  # expect: unjitted-function


def main(batches):
    params, x, y = start()
    for _ in range(10):
        for batch in batches:
            params = step(params, batch, y)
        print(error(params, x, y))


# runs: main([jnp.ones((4, 5))])


def train_step(params, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)  # expect: unjitted-function
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


# runs: train_step(*start())


gradient = jax.jit(jax.grad(loss))


def sgd(params, x, y):
    grads = gradient(params, x, y)
    return {name: params[name] - 0.1 * g for name, g in grads.items()}  # expect: unjitted-function


# runs: sgd(*start())


def simulate(y, steps):
    def body(y, _):
        y = y + 0.1 * jnp.tanh(y)
        return y, y

    return jax.lax.scan(body, y, None, length=steps)[1]  # expect: unjitted-function


# runs: simulate(jnp.ones(3), 5)


def initial_loss(params, x, y):
    return jax.grad(loss)(params, x, y)


@jax.jit
def accuracy(params, x, y):
    return jnp.mean(jnp.argmax(jax.vmap(forward, in_axes=(None, 0))(params, x), axis=1) == jnp.argmax(y, axis=1))


def update(params, x, y):
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, x, y))


compiled_update = jax.jit(update)


def update_on_devices(params, x, y):
    grads = jax.lax.pmean(jax.grad(loss)(params, x, y), "devices")
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def apply_step(function, params, x, y):
    return function(params, x, y)


def learn(params, x, y):
    return params, jax.grad(loss)(params, x, y)


apply_step(learn, *start())


def load_scores(params, x):
    return jax.vmap(forward, in_axes=(None, 0))(params, x)


def main_once():
    params, x, y = start()
    print(initial_loss(params, x, y), accuracy(params, x, y), compiled_update(params, x, y), load_scores(params, x))
    for scale in (1.0, 2.0):
        print(error(params, scale * x, y))


# runs: main_once()


def picture(params, x):
    return np.asarray(forward(params, x)).clip(0, 1)


def pictures(params, x):
    for _ in range(200):
        picture(params, x)


# runs: pictures(start()[0], start()[1])


def trimmed(params, x, y):
    error = (forward(params, x) - y) ** 2
    return jnp.mean(error[error < 4 * jnp.median(error)])


def robust_update(params, x, y):
    grads = jax.grad(trimmed)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


robust_update(*start())


class Field:
    def __init__(self, stiffness, potential):
        self.stiffness = stiffness
        self.curvatures = jax.vmap(jax.hessian(potential))

    def energy(self, x):
        return self.stiffness * jnp.sum(x**2)

    def force(self, x):
        return -jax.grad(self.energy)(x)  # expect: unjitted-function

    def laplacian(self, x):
        return jnp.trace(self.curvatures(x), axis1=1, axis2=2)  # expect: unjitted-function

    def make_force(self):
        return jax.grad(self.energy)(jnp.ones(3))


# runs: Field(1.0, jnp.sum).force(jnp.ones(2)), Field(1.0, jnp.sum).laplacian(jnp.ones((2, 3)))


class Critic:
    def predict(self, x):
        hidden = jnp.tanh(jnp.dot(x, self.w) + self.b)  # expect: unjitted-function
        return jnp.tanh(jnp.dot(hidden, self.v) + self.c)

    def features(self, x):
        hidden = jnp.tanh(jnp.dot(x, self.w) + self.b)
        return jnp.tanh(jnp.dot(hidden, self.v) + self.c)


def train_batch(params, x, y):
    grads = jax.grad(loss)(params, x, y)  # expect: unjitted-function
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
