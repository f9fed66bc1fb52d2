"""Formulas with a stable equivalent."""

import jax
import jax.numpy as jnp
from jax import lax, nn
from jax.experimental import sparse
from jax.nn import softmax


@jax.jit
def losses(logits, x):
    probabilities = jax.nn.softmax(logits)
    a = jnp.log(probabilities)  # expect: unstable-expression
    b = jnp.log(jnp.exp(x).sum())  # expect: unstable-expression
    c = jnp.log(1.0 + x)  # expect: unstable-expression
    d = jnp.exp(x) - 1  # expect: unstable-expression
    e = jnp.log(jax.nn.sigmoid(x))  # expect: unstable-expression
    f = x * jnp.log(x)  # expect: unstable-expression
    return a, b, c, d, e, f


def softplus(x):
    return jnp.log(1 + jnp.exp(x))  # expect: unstable-expression


@jax.jit
def rates(a, b):
    first = jnp.exp(a) - 1  # expect: unstable-expression
    second = jnp.exp(b) - 1
    return first, second, jnp.log(1 + a)  # expect: unstable-expression


def partition(system, tau):
    return jnp.log(jnp.exp(system.energies() / tau).sum())  # expect: unstable-expression


def chosen(x, i, y):
    a = jnp.log(softmax(x)[i])  # expect: unstable-expression
    b = jnp.log(jnp.take_along_axis(nn.softmax(x, axis=-1), y, axis=1).reshape(-1))
    return a, b


@jax.jit
def bernoulli(w, x, y):
    p = jax.nn.sigmoid(x @ w)
    return -jnp.mean(y * nn.log_sigmoid(x @ w) + (1 - y) * jnp.log(1 - p))  # expect: unstable-expression


def complement(x):
    return jnp.log1p(-nn.sigmoid(x))  # expect: unstable-expression


def complement_by_lax(x):
    return lax.log(lax.sub(1.0, lax.logistic(x)))  # expect: unstable-expression


@jax.jit
def determinant(x):
    a = jnp.log(jnp.prod(x))  # expect: unstable-expression
    b = jnp.log(jnp.prod(jnp.sin(x)) ** 2)  # expect: unstable-expression
    return a + b + jnp.log(jnp.sin(x).prod(axis=-1)) + jnp.log(jnp.prod(x) ** 0.5)


def squared_determinant(factor):
    return jnp.log(jnp.square(jnp.prod(jnp.diag(factor))))  # expect: unstable-expression


def tanh_of_exponentials(x):
    return (jnp.exp(x) - jnp.exp(-x)) / (jnp.exp(-x) + jnp.exp(x))  # expect: unstable-expression


# runs: tanh_of_exponentials(jnp.ones(2))


def no_tanh(x):
    return (jnp.exp(x) - jnp.exp(-x)) / (jnp.exp(x) + jnp.exp(-2.0 * x)) + (jnp.exp(x) + 1.0) / (jnp.exp(x) + jnp.exp(-x))


# runs: no_tanh(jnp.ones(2))


def squashed(x):
    t = jnp.tanh(x)
    return jnp.log(1 - t * t)  # expect: unstable-expression


def squashed_by_square(x):
    return jnp.log1p(-jnp.square(jnp.tanh(x)))  # expect: unstable-expression


def softmax_by_hand(x):
    return jnp.exp(x) / jnp.sum(jnp.exp(x), axis=-1, keepdims=True)  # expect: unstable-expression


def softmax_in_place(q, t):
    p = jnp.exp(q / t)
    p /= p.sum(axis=1)[:, None]  # expect: unstable-expression
    return p


def logistic_by_hand(x):
    return jnp.exp(x) / (1 + jnp.exp(x))  # expect: unstable-expression


@jax.grad
def logistic_slope(x):
    return jnp.sum(1 / (1 + jnp.exp(-x)))  # expect: unstable-expression


def spread(x):
    return jnp.mean(x**2) - jnp.mean(x) ** 2  # expect: unstable-expression


@jax.jit
def divergence(p, q):
    return jnp.sum(p * (jnp.log(p) - jnp.log(q)))  # expect: unstable-expression


@jax.jit
def divergence_of_ratio(p, q):
    return jnp.sum(p * jnp.log(p / q))  # expect: unstable-expression


@jax.jit
def binary_entropy(p):
    return lax.mul(1 - p, lax.log(1 - p))  # expect: unstable-expression


def growth(y):
    return jnp.log(mean_of_exponentials(y))  # expect: unstable-expression


def mean_of_exponentials(y):
    return jnp.mean(jnp.exp(2.0 * y))


def unit(v):
    return v / jnp.linalg.norm(v, axis=-1, keepdims=True)


def angle(a, b):
    return jnp.arccos(jnp.sum(unit(a) * unit(b), axis=-1))  # expect: unstable-expression


def angle_of_matrix_product(a, b):
    return jnp.arccos(unit(a) @ unit(b))  # expect: unstable-expression


def angle_of_einsum(a, b):
    return jnp.arcsin(jnp.einsum("i,i->", unit(a), unit(b)))  # expect: unstable-expression


def angle_of_roots(a, b):
    return jnp.arccos(jnp.dot(a, b) / jnp.sqrt(jnp.dot(a, a) * jnp.dot(b, b)))  # expect: unstable-expression


@jax.grad
def clipped_at_the_bound(w):
    return jnp.arccos(jnp.clip(unit(w) @ unit(w + 1), -1, 1))  # expect: unstable-expression


@jax.grad
def floored_likelihood(w, x, y):
    p = softmax(x @ w)
    a = jnp.sum(y * jnp.log(p + 1e-7))  # expect: unstable-expression
    return a + jnp.sum(y * jnp.log(jnp.clip(p, 1e-7, 1 - 1e-7)))  # expect: unstable-expression


@jax.value_and_grad
def floored_bernoulli(w, x, y):
    p = nn.sigmoid(x @ w)
    a = y * jnp.log(jnp.maximum(p, 1e-7))  # expect: unstable-expression
    return jnp.mean(a + (1 - y) * jnp.log(1 - p + 1e-7))  # expect: unstable-expression


@jax.grad
def chosen_action(w, x, acts):
    p = jnp.clip(nn.sigmoid(x @ w), 1e-7, 1.0 - 1e-7)
    return jnp.sum(jnp.log(jnp.where(acts, p, 1.0 - p)))  # expect: unstable-expression


@jax.jit
def predicted(w, x):
    return softmax(x @ w)


@jax.jit
def cross_entropy(y, p):
    return -jnp.sum(y * jnp.log(jnp.clip(p, 1e-9, 0.999)))  # expect: unstable-expression


@jax.grad
def staged_loss(w, x, y):
    return cross_entropy(y, predicted(w, x))


def sigmoid_by_tanh(x):
    return 0.5 * (jnp.tanh(x / 2.0) + 1.0)


@jax.grad
def loss_of_sigmoid_by_tanh(w, x, y):
    p = sigmoid_by_tanh(x @ w)
    return jnp.mean(y * jnp.log(p))  # expect: unstable-expression


@jax.grad
def loss_of_a_sparse_model(w, x, y):
    p = sparse.sparsify(lambda v, x: nn.sigmoid(x @ v))(w, x)
    return jnp.mean(y * jnp.log(p + 1e-7))  # expect: unstable-expression


@jax.grad
def loss_of_softmax_by_hand(w, x, i):
    e = jnp.exp(x @ w - jnp.max(x @ w))
    return -jnp.log(e / e.sum() + 1e-6)[i]  # expect: unstable-expression


def difference_of_logarithms(log_a, log_b):
    return log_a + jnp.log(1 - jnp.exp(log_b - log_a))  # expect: unstable-expression


def ising(beta, field, spin):
    likely = jnp.log(2.0 * jnp.cosh(beta * field))  # expect: unstable-expression
    return jnp.sum(likely) + jnp.mean(jnp.log(jnp.cosh(field - spin)))  # expect: unstable-expression


# runs: ising(2.0, jnp.ones(3), jnp.zeros(3))
# runs: losses(jnp.ones(2), jnp.ones(2)), floored_likelihood(jnp.ones((2, 2)), jnp.ones(2), jnp.ones(2))
# runs: floored_bernoulli(jnp.ones((2, 2)), jnp.ones(2), jnp.ones(2)), staged_loss(jnp.ones((2, 2)), jnp.ones(2), jnp.ones(2))
# runs: chosen_action(jnp.ones((2, 2)), jnp.ones(2), jnp.ones(2) > 0), difference_of_logarithms(2.0, 1.0)
# runs: loss_of_a_sparse_model(jnp.ones((2,)), jnp.ones(2), 1.0), loss_of_softmax_by_hand(jnp.ones((2, 2)), jnp.ones(2), 0)
# runs: loss_of_sigmoid_by_tanh(jnp.ones((2, 2)), jnp.ones(2), 1.0)


# --- never flagged -------------------------------------------------------------


def bounded_energy(x):
    return jnp.log(jnp.cosh(jnp.tanh(x))) + jnp.log(3.0 * jnp.cosh(1.0))


# runs: bounded_energy(jnp.ones(3))


@jax.jit
def stable(logits, x, eps=1e-8):
    top = jax.lax.stop_gradient(jnp.max(x))
    a = top + jnp.log(jnp.sum(jnp.exp(2 * (x - top))))
    b = jnp.sum(jnp.clip(x, eps, 1.0) * jnp.log(jnp.clip(x, eps, 1.0)))
    c = jax.nn.log_softmax(logits)
    ratio = jnp.exp(x)
    d = ratio - 1.0
    n = 1.0 + 2.0 * jnp.arange(3.0)
    e = jnp.log(n)
    f = jnp.where(x > 0, x * jnp.log(x), 0.0)
    g = 3 * jnp.log(3)
    return a, b, c, d, e, f, g, jnp.exp(x) - 2.0


def log_norm(state):
    log_psi = state.log_value(state.samples())
    top = log_psi.real.max()
    return jnp.log(jnp.exp(2 * (log_psi.real - top)).sum()) + 2 * top


# runs: stable(jnp.ones(2), jnp.ones(2))


def score(achievements):
    return jnp.exp(jnp.mean(jnp.log(3.0 + achievements))) - 1.0


def inverse_softplus(y):
    return jnp.log(jnp.exp(y) - 1.0)


def floored(x, p):
    a = jnp.log(softmax(x)[0] + 1e-8)  # expect: unstable-expression
    b = jnp.log(1 - nn.sigmoid(x) + 1e-6)  # expect: unstable-expression
    c = jnp.log(1 - jnp.tanh(x) ** 2 + 1e-6)
    d = jnp.log((1 - jnp.tanh(x) ** 2).clip(1e-8))
    p = p + 1e-8
    return a, b, c, d, p * (jnp.log(p) - jnp.log(x))


def shifted_softmax(x, d2):
    p = jnp.exp(x - x.max())
    w = jnp.exp(-d2 / 2)
    return p / p.sum(), w / w.sum(), jnp.log(jnp.mean(jnp.exp(x - x.max())))


def logistic_forward(x):
    return 1 / (1 + jnp.exp(-x))  # expect: unstable-expression


def fraction(x, y):
    return jnp.exp(x) / jnp.sum(jnp.exp(y)), jnp.mean(x**2) - jnp.mean(y) ** 2


def inside(a, b, z):
    c = jnp.arccos(jnp.clip(unit(a) @ unit(b), -1, 1))
    d = jnp.arccos(jnp.dot(a, b) / (jnp.linalg.norm(a) * jnp.linalg.norm(b) + 1e-6))
    return c, d, jnp.arccos(z / jnp.linalg.norm(a)), jnp.arccos(z)


@jax.grad
def clipped_inside(w):
    return jnp.arccos(jnp.clip(unit(w) @ unit(w + 1), -1 + 1e-6, 1 - 1e-6))


def of_sizes(x):
    return jnp.log(jnp.prod(jnp.arange(1, 4)))


def hidden_by_a_where(x):
    return jnp.where(x >= 0, 1 / (1 + jnp.exp(-x)), jnp.exp(x) / (1 + jnp.exp(x)))


@jax.jit
def of_whole_numbers(x, n=3):
    orders = jnp.arange(n) + 1
    a = jnp.log(2 * orders + 1) + jnp.log(1.0 + jnp.arange(3.0)) + jnp.log(1 + jnp.arange(3).astype(jnp.float32))
    b = jnp.log(1 + jnp.sum(x > 0).astype(jnp.float32)) + jnp.log(1 + jnp.floor(x)) + jnp.log(jnp.float32(len(x)) + 1)
    return a, b


@jax.grad
def entropies(w, x):
    p, q = softmax(x @ w), nn.sigmoid(x @ w)
    a = -jnp.sum(p * jnp.log(p + 1e-8)) - jnp.dot(p, jnp.log(jnp.clip(p, 1e-8, 1.0)))
    b = -q * jnp.log(q + 1e-8) - (1.0 - q) * jnp.log(1.0 - q + 1e-8)
    return a + jnp.sum(b) + jnp.sum(p * (jnp.log(p + 1e-8) - jnp.log(x + 1e-8)))


@jax.grad
def sampled(w, x, key):
    p = softmax(x @ w)
    i = jax.random.categorical(key, jnp.log(p + 1e-8))
    return jnp.sum(w) * i + jnp.sum(jax.lax.stop_gradient(jnp.log(p + 1e-8)))


@jax.grad
def guarded_by_itself(w, x, y):
    p = softmax(x @ w)
    return jnp.sum(y * jnp.log(jnp.where(p > 1e-6, p, 1e-6)))


@jax.grad
def of_other_floors(w, x, y):
    mixed = 0.9 * softmax(x @ w) + 0.1 / 3
    return jnp.sum(y * jnp.log(mixed)) + jnp.sum(y * jnp.log(nn.sigmoid(x @ w) + 0.1))


# runs: of_whole_numbers(jnp.ones(3)), entropies(jnp.ones((2, 2)), jnp.ones(2)), guarded_by_itself(jnp.ones((2, 2)), jnp.ones(2), 1.0)
# runs: of_other_floors(jnp.ones((2, 2)), jnp.ones(2), 1.0), sampled(jnp.ones((2, 2)), jnp.ones(2), jax.random.key(0))


# --- constants: no x is small or large ---------------------------------------------


def critical_temperature(x):
    return x * 2 / jnp.log(1 + jnp.sqrt(2)) + jnp.exp(-jnp.sqrt(2.0)) - 1 + jnp.exp(0.5) - 1


# runs: critical_temperature(jnp.ones(2))


# --- lengths of vectors that may be zero -------------------------------------------


def direction(v):
    return v / (jnp.linalg.norm(v) + 1e-8)  # expect: unstable-expression


@jax.grad
def spread(w, x):
    d = w - x
    length = jnp.sqrt(jnp.sum(d**2))
    return jnp.sum(direction(d)) + jnp.sum(d / (1e-6 + length))  # expect: unstable-expression


@jax.grad
def spread_safely(w, x):
    d = w - x
    return jnp.sum(d / jnp.sqrt(jnp.sum(d**2) + 1e-8)) + jnp.sum(d / (1.0 + jnp.sqrt(jnp.sum(d**2))))


def of_numbers(v):
    return v / (jnp.linalg.norm(v) + 1e-6)


def standardized(v):
    return (v - v.mean()) / (v.std() + 1e-8)


# runs: spread(jnp.ones(2), jnp.zeros(2)), spread_safely(jnp.ones(2), jnp.ones(2)), of_numbers(jnp.ones(2)), standardized(jnp.ones(2))


def distances(a, b):
    a, b = jnp.asarray(a), jnp.asarray(b)
    cross = jnp.dot(a, b.T)
    squares = jnp.power(b, 2).sum(axis=1)
    first = jnp.sqrt(-2 * cross + jnp.power(a, 2).sum(axis=1, keepdims=True) + squares)  # expect: unstable-expression
    squared = jnp.sum(a**2, axis=1)[:, None] + jnp.sum(b**2, axis=1)[None] - 2 * a @ b.T
    kept = jnp.sqrt(jnp.maximum(squared, 0.0)), jnp.sqrt(squared + 1e-6), jnp.sqrt(squares + 2 * cross)
    return first, kept


# runs: distances(jnp.ones((2, 3)), jnp.ones((4, 3)))


# --- what names say, and what nothing in sight calls --------------------------------


def categorical(y, y_pred):
    return -jnp.sum(y * jnp.log(y_pred))  # expect: unstable-expression


def binary_loss(p, y):
    return -jnp.mean(y * jnp.log(p) + (1 - y) * jnp.log(1 - p))  # expect: unstable-expression


def with_epsilon(model, x, y):
    probs = model(x)
    return -jnp.mean(y * jnp.log(probs + 1e-8))  # expect: unstable-expression


def of_discriminator(d_fake):
    return jnp.mean(jnp.log(1 - d_fake))  # expect: unstable-expression


def nll(model, x, labels):
    log_probs = jnp.log(model.predict(x))  # expect: unstable-expression
    return -jnp.take_along_axis(log_probs, labels, 1).mean()


def picked_by_labels(out, label):
    return -jnp.log(out[label]), -jnp.sum(jnp.log(out) * jax.nn.one_hot(label, 3))  # expect: unstable-expression


def picked_by_actions(scores, actions):
    return -jnp.log(jnp.take_along_axis(scores, actions[:, None], axis=1))  # expect: unstable-expression


def picked_by_products(out, hot):
    return -jnp.log(jnp.sum(out * hot, axis=1))  # expect: unstable-expression


def sigmoid_schedule(first, last, n):
    return first + (last - first) / (1 + jnp.exp(-jnp.linspace(-6.0, 6.0, n)))


def sigmoid_of_steps(n):
    return 1 / (1 + jnp.exp(-jnp.linspace(-6.0, 6.0, n)))


# runs: sigmoid_schedule(0.0, 1.0, 4), sigmoid_of_steps(4)


def poisson_loss(predicted, count):
    return jnp.mean(predicted - count * jnp.log(predicted + 1e-8))


def log_likelihood_of_counts(rates, y):
    return jnp.sum(y * jnp.log(rates) - rates)


def diffusion_loss(remaining, transitions, t, a):
    return -jnp.log(remaining[t]), -jnp.log(transitions[a])


def of_inputs(inputs, variances, y, label):
    return -y * jnp.log(inputs) - jnp.log(variances[label])


def explained_loss(logits, target):
    stable = logits - logits.max(-1, keepdims=True)
    return jnp.log(jnp.exp(stable).sum(axis=-1)) - jnp.sum(target * stable, axis=-1)


def clipped_cross_entropy(y, y_pred):
    y_pred = jnp.clip(y_pred, 1e-7, 1 - 1e-7)
    return -jnp.sum(y * jnp.log(y_pred) + (1 - y) * jnp.log(1 - y_pred))


def entropy_of_policy(probs, rate, y):
    return -jnp.sum(probs * jnp.log(probs + 1e-8)) + jnp.sum(y * jnp.log(rate))


def log_prior(edges, others, p):
    return edges * jnp.log(p) + others * jnp.log(1 - p)


def logarithms(prices, probs):
    return jnp.log(prices), jnp.log(probs)


def waiting_time(key, rate):
    return -jnp.log(jax.random.uniform(key)) / rate  # expect: unstable-expression


def waiting_times(key, other):
    return -jnp.log1p(-jax.random.uniform(key)), -jnp.log(jax.random.uniform(other, minval=1e-6))


def noise(key):
    u = jax.random.uniform(key, (3,))
    return -jnp.log(-jnp.log(u))  # expect: unstable-expression


def free_energy(beta, e):
    weights = jnp.exp(-beta * e)
    return -jnp.log(weights.mean()) / beta  # expect: unstable-expression


def density(x, mu, sigma):
    pdf = jnp.exp(-((x - mu) ** 2) / (2 * sigma**2)) / sigma
    return jnp.log(pdf)  # expect: unstable-expression


def mixture(x, mu, w):
    p = w * jnp.exp(-((x[:, None] - mu) ** 2))
    return jnp.log(p.sum(axis=1))  # expect: unstable-expression


ACTIVATIONS = {"sigmoid": lambda x: 1.0 / (1.0 + jnp.exp(-x)), "tanh": jnp.tanh}  # expect: unstable-expression


@jax.jit
def gate(x, w):
    return 1 / (1 + jnp.exp(-x @ w))  # expect: unstable-expression


def swish(x, beta):
    return x / (1 + jnp.exp(-beta * x))  # expect: unstable-expression


def silu(x):
    return x / (1 + jnp.exp(-x))  # expect: unstable-expression


def softmax_with_epsilon(x):
    return jnp.exp(x) / (jnp.sum(jnp.exp(x)) + 1e-9)  # expect: unstable-expression


def shifted_by_a_name(x, x_max, w):
    e = w * jnp.exp(x - x_max)
    return jnp.log(jnp.sum(jnp.exp(-x - x_max))) + jnp.log(e.sum())


# runs: clipped_cross_entropy(jnp.ones(2), jnp.ones(2)), entropy_of_policy(jnp.ones(2) / 2, jnp.ones(2), jnp.ones(2))
# runs: log_prior(1.0, 2.0, jnp.ones(2) / 2), logarithms(jnp.ones(2), jnp.ones(2)), shifted_by_a_name(jnp.ones(2), 1.0, jnp.ones(2))


# --- probabilities that cross a transform --------------------------------------------


@jax.jit
def head(w, x):
    return jax.nn.softmax(x @ w)


heads = jax.vmap(head, in_axes=(None, 0))


def one_loss(out, i):
    return -jnp.log(out[i])  # expect: unstable-expression


@jax.jit
def jitted_loss(out, i):
    return -jnp.log(out[i])  # expect: unstable-expression


def mapped_losses(w, xs, i):
    each = jax.vmap(one_loss)(heads(w, xs), i)
    return each.mean() + jitted_loss(head(w, xs[0]), i[0]) - jnp.log(heads(w, xs)).mean()  # expect: unstable-expression


def scanned_losses(w, xs, i):
    def step(total, pair):
        out, j = pair
        return total - jnp.log(out[j]), None  # expect: unstable-expression

    return jax.lax.scan(step, 0.0, (heads(w, xs), i))[0]


# runs: jax.grad(mapped_losses)(jnp.ones((3, 2)), jnp.ones((4, 3)), jnp.zeros(4, int))
# runs: jax.grad(scanned_losses)(jnp.ones((3, 2)), jnp.ones((4, 3)), jnp.zeros(4, int))


def entropy_of_a_row(q):
    return -jnp.sum(q * jnp.log(q))  # expect: unstable-expression


def entropies_of_rows(x):
    return jax.vmap(entropy_of_a_row)(jax.nn.softmax(x))


# runs: entropies_of_rows(jnp.ones((3, 3)))
