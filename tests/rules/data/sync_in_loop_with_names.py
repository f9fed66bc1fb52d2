"""Waits in steps of a training that only names show to be such."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def train_step(w, x):
    loss = jnp.mean((x @ w) ** 2)
    return w - 0.1 * loss, loss


@jax.jit
def evaluate_batch(w, x):
    return jnp.mean((x @ w) ** 2)


@jax.jit
def train_epoch(w, xs):
    return jax.lax.scan(train_step, w, xs)


def total_of_unknown_step(model, optimizer, train_step_fn, batches):
    total = 0.0
    for batch in batches:
        loss = train_step_fn(model, optimizer, batch)
        total += float(loss)  # expect: sync-in-loop
    return total / len(batches)


def first_read_of_unknown_step(state, make_step, batches):
    totals = {"loss": 0.0, "norm": 0.0}
    for batch in batches:
        state, metrics = make_step(state, batch)
        totals["loss"] += metrics["loss"].item()  # expect: sync-in-loop
        totals["norm"] += metrics["norm"].item()
    return state, totals


def logged_of_unknown_step(agent, buffer, logger, steps):
    for i in range(steps):
        agent, info = agent.update(buffer.sample(256))
        logger.log({k: float(v) for k, v in info.items()}, step=i)  # expect: sync-in-loop


def kept_loss_of_unknown_step(state, train_step_fn, batches):
    losses = []
    for batch in batches:
        state, loss = train_step_fn(state, batch)
        losses.append(np.asarray(loss))  # expect: sync-in-loop
    return state, losses


def reward_of_environment(env, act):
    total = 0.0
    for action in act:
        reward = env.step(action)
        total += float(reward)
    return total


def epochs_of_unknown_code(state, train_epoch, epochs):
    losses = []
    for _ in range(epochs):
        state, loss = train_epoch(state)
        losses.append(float(loss))
    return state, losses


def best_of_unknown_step(state, train_step_fn, batches):
    best = 1e9
    for batch in batches:
        state, loss = train_step_fn(state, batch)
        best = min(best, loss.item())
    return best


class Learner:
    def __init__(self, w):
        self.w = w
        self.losses = []

    def train_batch(self, x):
        self.w, loss = train_step(self.w, x)
        return loss.item()  # expect: sync-in-loop

    def update(self, x):
        self.w, loss = train_step(self.w, x)
        info = {"loss": loss, "error": loss}
        return {name: float(value) for name, value in info.items()}  # expect: sync-in-loop

    def learn(self, x):
        self.w, loss = train_step(self.w, x)
        if float(loss) > 100.0:
            raise ValueError("diverged")
        return loss

    def predict(self, x):
        w, loss = train_step(self.w, x)
        return float(loss)


def averaged(w, batches, log_every):
    average = None
    for step, x in enumerate(batches):
        w, loss = train_step(w, x)
        value = float(loss)  # expect: sync-in-loop
        average = value if average is None else 0.9 * average + 0.1 * value
        if step % log_every == 0:
            print(average)
    return w


def summarized(w, batches, writer):
    for step, x in enumerate(batches):
        w, loss = train_step(w, x)
        writer.add_scalar("loss", loss, step)  # expect: sync-in-loop
    return w


def evaluated_in_comprehension(w, loader):
    return sum([float(evaluate_batch(w, x)) for x in loader])  # expect: sync-in-loop


def evaluated_at_times(w, batches, held_out):
    losses = []
    for step, x in enumerate(batches):
        w, loss = train_step(w, x)
        losses.append(float(loss))  # expect: sync-in-loop
        if step % 1000 == 0:
            print(np.mean([evaluate_batch(w, y) for y in held_out]))
    return w, losses


def epochs_with_a_test(w, batches, held_out, epochs):
    for epoch in range(epochs):
        if epoch == 0:
            print("before training")
        else:
            for x in batches:
                w, _ = train_step(w, x)
        loss = evaluate_batch(w, held_out)
        print(f"{loss:.3f}")
    return w
