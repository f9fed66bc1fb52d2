"""Models in functions that loops call, models that only their names show, and environments of the host."""

import sys
from dataclasses import dataclass
from types import SimpleNamespace

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(nn.relu(nn.Dense(8)(x)))


class Classifier:
    def __init__(self):
        self.net = Net()

    def classify(self, params, x):
        return jnp.argmax(self.net.apply(params, x), axis=-1)  # expect: eager-step


@dataclass
class Schedule:
    train_freq: int
    save_freq: int


def two_loops_one_place(classifier, params, xs):
    found = [classifier.classify(params, xs[0])]
    for x in xs:
        found.append(classifier.classify(params, x))
    for x in reversed(xs):
        found.append(classifier.classify(params, x))
    return found


def by_its_name(state, batches):
    right = 0
    for x, label in batches:
        logits = state.apply_fn({"params": state.params}, x)  # expect: eager-step
        right += int(jnp.sum(jnp.argmax(logits, axis=-1) == label))
    return right


def test_epoch(model, params, batches):
    losses = []
    for x, label in batches:
        losses.append(jnp.mean((model.apply(params, x)[:, 0] - label) ** 2))  # expect: eager-step
    return losses


def no_parameters(rule, batches):
    return [rule.apply(x, label) for x, label in batches]


def fifty(params, x):
    net = Net()
    for _ in range(50):
        x = net.apply(params, x)[:, :1] * x  # expect: eager-step
    return x


def ten(params, x):
    net = Net()
    for _ in range(10):
        x = net.apply(params, x)[:, :1] * x
    return x


def now_and_then(params, x, schedule, n):
    net, total = Net(), 0.0
    for step in range(n):
        if step % schedule.train_freq == 0:
            total += net.apply(params, x).sum()  # expect: eager-step
        if step % schedule.save_freq == 0:
            print(net.apply(params, x).sum())
    return total


def of_the_host(env, steps):
    rewards, ended = jnp.zeros(steps), []
    for i in range(steps):
        _, reward, terminated, truncated, _ = env.step(i % 2)
        ended.append(jnp.logical_or(terminated, truncated))  # expect: eager-step
        rewards = rewards.at[i].set(reward)
    return rewards, ended


def kept_by_numpy(env, steps):
    ended = []
    for i in range(steps):
        _, reward, terminated, truncated, _ = env.step(i % 2)
        ended.append((np.logical_or(terminated, truncated), jnp.asarray(reward)))
    return ended


def of_the_device(env, state, key, steps):
    ended = []
    for i in range(steps):
        _, state, _, done = env.move(key, state, i % 2)
        ended.append(jnp.logical_not(done))
    return ended


class Pole:
    def step(self, action):
        return np.zeros(3), 1.0, action == 1, False, {}

    def move(self, key, state, action):
        return np.zeros(3), state, 1.0, action == 1


if __name__ == "__main__":
    count = len(sys.argv) * 3
    inputs = [jnp.ones((2, 2))] * count
    weights = Net().init(jax.random.key(0), inputs[0])
    given = SimpleNamespace(apply_fn=Net().apply, params=weights["params"])
    two_loops_one_place(Classifier(), weights, inputs)
    by_its_name(given, [(x, jnp.zeros(2)) for x in inputs])
    test_epoch(Net(), weights, [(x, jnp.zeros(2)) for x in inputs])
    no_parameters(SimpleNamespace(apply=jnp.add), [(x, jnp.zeros(2)) for x in inputs])
    ten(weights, fifty(weights, inputs[0]))
    now_and_then(weights, inputs[0], Schedule(count, count * 100), count)
    of_the_host(Pole(), count)
    kept_by_numpy(Pole(), count)
    of_the_device(Pole(), 0, 0, count)
