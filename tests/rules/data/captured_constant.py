"""Large arrays that compiled functions close over."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

N = 1024
EMBEDDINGS = np.random.default_rng(0).normal(size=(2048, 256)).astype(np.float32)
CAUSAL = jnp.tril(jnp.ones((N, N)))
KERNEL = jax.random.normal(jax.random.key(0), (N, N)) * 0.5
TABLES = {"drawn": np.random.rand(N, N)}
BLANK = jnp.zeros((N, N))
BYTES = np.random.randint(0, 255, (600, 600)).astype(np.uint8)
BLANK_TOO = jnp.asarray(np.zeros((N, N)))
FILLED = np.zeros((N, N))
FILLED[0, 3] = 1.0
STENCIL = np.array([1.0, -2.0, 1.0])


@jax.jit
def embed(weights):
    return EMBEDDINGS @ weights  # expect: captured-constant


# runs: embed(jnp.ones(256))


@jax.jit
def masked(scores):
    return jnp.where(CAUSAL, scores, -jnp.inf)  # expect: captured-constant


# runs: masked(1.0)


@jax.jit
def filled(x):
    return jnp.asarray(FILLED) + x  # expect: captured-constant


# runs: filled(1.0)


def apply(matrix, x):
    return matrix @ x


@jax.jit
def through_a_function(x):
    return apply(KERNEL, x)  # expect: captured-constant


@jax.jit
def through_it_again(x):
    return apply(KERNEL, x + 1.0)  # expect: captured-constant


# runs: through_it_again(through_a_function(jnp.ones(N)))


def project(x):
    return KERNEL.T @ x  # expect: captured-constant


@jax.jit
def deep(x):
    return project(project(x))


# runs: deep(jnp.ones(N))


@jax.jit
def from_dict(x):
    return jnp.dot(TABLES["drawn"], x)  # expect: captured-constant


# runs: from_dict(jnp.ones(N))


@jax.jit
def rows_of_it(carry):
    return jax.lax.scan(lambda c, row: (c + row @ c, None), carry, KERNEL)[0]  # expect: captured-constant


# runs: rows_of_it(jnp.ones(N))


class Lookup:
    def __init__(self, seed):
        self.table = jnp.asarray(np.random.RandomState(seed).randn(N, N))
        self.scale = jnp.ones(3)

    @functools.partial(jax.jit, static_argnums=0)
    def __call__(self, i):
        return self.table[i], self.scale * 2.0  # expect: captured-constant


# runs: Lookup(0)(3)


def make_loss(seed):
    data = jax.random.normal(jax.random.key(seed), (4096, 128))
    target = jnp.ones(4096)

    def residual(w):
        return data @ w - target  # expect: captured-constant

    return jax.jit(jax.value_and_grad(lambda w: jnp.mean(residual(w) ** 2)))


# runs: make_loss(0)(jnp.ones(128))


def partially(x):
    return jax.jit(functools.partial(apply, KERNEL))(x)  # expect: captured-constant


# runs: partially(jnp.ones(N))


# --- never flagged -------------------------------------------------------------


@jax.jit
def as_argument(table, tokens):
    return table[tokens] * table.shape[1] ** -0.5


def lookup(tokens):
    return as_argument(EMBEDDINGS, tokens) + apply(EMBEDDINGS[:3], jnp.ones(256))[:, None]


# runs: lookup(jnp.arange(3))


def same_shape(table):
    return jnp.zeros(table.shape)


@jax.jit
def shape_alone(x):
    return x + same_shape(KERNEL) + len(EMBEDDINGS) + jnp.ndim(KERNEL)


@jax.jit
def shape_alone_again(x):
    return x * same_shape(KERNEL)


# runs: shape_alone(shape_alone_again(1.0))


@jax.jit
def small_or_simple(x):
    return jnp.convolve(x, STENCIL, mode="same")[0] + BLANK * BLANK_TOO + jnp.asarray(BYTES)[0, 0]


# runs: small_or_simple(jnp.ones(3))


@jax.jit
def host_item(x):
    return x * EMBEDDINGS[0, 0] + np.sum(EMBEDDINGS)


# runs: host_item(1.0)


@jax.jit
def made_inside(x):
    big = jnp.arange(N * N * 1.0).reshape(N, N)

    def body(c, _):
        return c + big @ c, None

    return jax.lax.scan(body, x, None, length=3)[0]


# runs: made_inside(jnp.ones(N))


def not_compiled(x):
    y = jax.lax.fori_loop(0, 3, lambda _, c: KERNEL @ c, x)
    return jax.grad(lambda z: jnp.sum(KERNEL @ z))(y), jax.vmap(lambda z: KERNEL @ z)(jnp.stack([x, y]))


# runs: not_compiled(jnp.ones(N))


def make_step(seed):
    data = jax.random.normal(jax.random.key(seed), (4096, 128))

    @jax.jit
    def step(w, data):
        return w - 0.1 * data.T @ (data @ w)

    return functools.partial(step, data=data)


# runs: make_step(0)(jnp.ones(128))


class Dense:
    def apply(self, params, x):
        return x @ params["kernel"]

    def init(self):
        return {"kernel": jnp.ones((2, 2))}


dense = Dense()
kernels = dense.init()


@jax.jit
def of_module(x):
    return dense.apply(kernels, x)  # expect: captured-constant


def maker_of_predict(params):
    @jax.jit
    def predict(x):
        return dense.apply({"kernel": params["kernel"]}, x)  # expect: captured-constant

    return predict


@jax.jit
def by_argument(params, x):
    def loss(p):
        return dense.apply(p, x).sum()

    return jax.grad(loss)(params), jax.vmap(lambda row: dense.apply(params, row))(x)


def differentiated(params, x):
    def loss(params):
        return jax.jit(lambda x: dense.apply(params, x).sum())(x)

    return jax.grad(loss)(params), dense.apply(params, x)


# runs: of_module(jnp.ones(2)), maker_of_predict(kernels)(jnp.ones(2))
# runs: by_argument(kernels, jnp.ones((1, 2))), differentiated(kernels, jnp.ones(2))


PRODUCT = EMBEDDINGS @ jnp.ones(EMBEDDINGS.shape[1])


@jax.jit
def of_a_product(x):
    return jnp.sum(PRODUCT * x)


# runs: of_a_product(jnp.ones(()))
