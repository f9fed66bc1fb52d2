"""Reading results on the host in every iteration of a dispatching loop."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def train_step(w, x):
    loss = jnp.mean((x @ w) ** 2)
    return w - 0.1 * loss, loss


def every_step(w, batches):
    losses = []
    for x in batches:
        w, loss = train_step(w, x)
        losses.append(float(loss))  # expect: sync-in-loop
    return w, losses


def by_item(w, batches):
    total = 0.0
    for x in batches:
        w, loss = train_step(w, x)
        total += loss.item()  # expect: sync-in-loop
    return w, total


def by_numpy(w, batches):
    history = []
    for x in batches:
        w, loss = train_step(w, x)
        history.append(np.asarray(loss))  # expect: sync-in-loop
    return w, history


def shown(w, batches):
    for step, x in enumerate(batches):
        w, loss = train_step(w, x)
        print(step, loss)  # expect: sync-in-loop
    return w


def shown_in_text(w, batches):
    for step, x in enumerate(batches):
        w, loss = train_step(w, x)
        print(f"{step}: {loss}")  # expect: sync-in-loop
    return w


def smoothed(w, batches):
    running = 0.0
    for x in batches:
        w, loss = train_step(w, x)
        running = 0.9 * running + 0.1 * loss.item()  # expect: sync-in-loop
    return w, running


def through_a_variable(w, batches):
    history = []
    for step, x in enumerate(batches):
        w, loss = train_step(w, x)
        value = float(loss)  # expect: sync-in-loop
        history.append({"step": step, "loss": value})
    return w, history


class Trainer:
    def __init__(self, w):
        self.w = w
        self.losses = []

    def learn(self, x):
        self.w, loss = train_step(self.w, x)
        self.losses.append(float(loss))  # expect: sync-in-loop

    def run(self, batches):
        for x in batches:
            self.learn(x)


def long_progress(w, x):
    for step in range(50_000):
        w, loss = train_step(w, x)
        print(f"{step}: {loss:.3f}", end="\r")  # expect: sync-in-loop
    return w


@jax.jit
def measured_step(w, x):
    w, loss = train_step(w, x)
    return w, loss, loss + 1.0, loss + 2.0


def three_in_a_display(w, batches):
    for x in batches:
        w, loss, error, penalty = measured_step(w, x)
        print(f"{loss.item():.3f} ", f"{error.item():.3f} {penalty.item():.3f}", end="\r")  # expect: sync-in-loop
    return w


def three_as_they_are(w, batches):
    for x in batches:
        w, loss, error, penalty = measured_step(w, x)
        print(loss, error, penalty, end="\r")  # expect: sync-in-loop
    return w


# runs: every_step(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: shown_in_text(jnp.ones(2), [jnp.ones((3, 2))] * 2)


# --- never flagged -------------------------------------------------------------


def guarded(w, batches, every=10):
    for step, x in enumerate(batches):
        w, loss = train_step(w, x)
        if step % every == 0:
            print(step, float(loss))
    return w


def afterwards(w, batches):
    losses = []
    for x in batches:
        w, loss = train_step(w, x)
        losses.append(loss)
    print(float(loss), loss.item())
    for value in losses:
        print(value)
    return w, np.asarray(jnp.stack(losses))


def when_due(w, batches, every=10):
    due = steps = 0
    for x in batches:
        w, loss = train_step(w, x)
        steps += len(x)
        if steps >= due:
            print(steps, float(loss))
            due += every
    return w


def asserted(w, batches):
    for x in batches:
        w, loss = train_step(w, x)
        assert not jnp.isnan(loss)
        assert float(loss) >= 0.0
        np.testing.assert_array_less(np.float32(loss), 1e3)
    return w


def on_the_host(w, batches):
    for x in batches:
        size = float(np.mean(x)) + int(x.shape[0])
        if size > 1e9:
            break
        w, _ = train_step(w, x)
        print("batch", size, w.shape)
    return w


# runs: guarded(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: when_due(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: asserted(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: afterwards(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: on_the_host(jnp.ones(2), [jnp.ones((3, 2))] * 2)


# --- needed now ---


def tested(w, batches):
    for x in batches:
        w, loss = train_step(w, x)
        if loss < 1e-3:  # expect: sync-in-loop
            break
    return w


def until(w, x):
    loss = jnp.inf
    while True:
        w, loss = train_step(w, x)
        if bool(loss < 1e-3):  # expect: sync-in-loop
            return w


def until_assigned(w, x):
    while True:
        w, loss = train_step(w, x)
        error = float(loss)  # expect: sync-in-loop
        if error < 1e-3:
            break
        w = 0.5 * w
    return w


def until_given(w, x, limit):
    limit = train_step(w, x)[1] + limit
    for _ in range(1000):
        w, _ = train_step(w, x)
        if limit < 1e-3:
            break
    return w


def worst_of(w, batches):
    worst, best, widest = 0.0, jnp.inf, 0
    for x in batches:
        w, loss = train_step(w, x)
        widest = max(widest, x.shape[0])
        worst = max(worst, loss)  # expect: sync-in-loop
        best = jnp.minimum(best, loss)
    return w, worst, best, widest


def played(w, env):
    observation = env.reset()
    while True:
        w, loss = train_step(w, observation)
        observation, reward, done, _ = env.step(w)
        if loss < done:
            return w


def stopped(w, batches):
    best, waited = float("inf"), 0
    for x in batches:
        w, loss = train_step(w, x)
        value = float(loss)
        if value < best:
            best, waited = value, 0
        waited += 1
        if waited > 3:
            break
    return w


def handed_to_others(w, batches, tuner):
    for x in batches:
        w, loss = train_step(w, x)
        tuner.report(loss=float(loss))
    return w


def act(w, x):
    _, action = train_step(w, x)
    return int(action)


def play(w, env, x):
    while True:
        w, _ = train_step(w, x)
        x = env.step(act(w, x))


def shown_in_a_bar(w, batches, bar):
    losses = []
    for x in batches:
        w, loss = train_step(w, x)
        losses.append(loss.item())  # expect: sync-in-loop
        bar.set_postfix({"loss": loss.item()})
    return w, losses


def looked_up(w, batches, names):
    for x in batches:
        w, best = train_step(w, x)
        print(names[int(best)])
    return w


# --- each result for its own sake: reported where the loop adds up, or collects, one number of each ---


@jax.jit
def evaluate_batch(w, x):
    return jnp.mean((x @ w) ** 2)


def evaluated(w, batches):
    total = 0.0
    for x in batches:
        total += float(evaluate_batch(w, x))  # expect: sync-in-loop
    return total


def trials(w, x, n):
    found = []
    for _ in range(n):
        found.append(float(evaluate_batch(w, x)))
    return found


def evaluated_on_the_device(w, batches):
    total = 0.0
    for x in batches:
        total += np.mean(evaluate_batch(w, x))  # NumPy calls the method of the array, which does not wait
    return float(total)


def collected(w, chunks):
    rows = []
    for chunk in chunks:
        rows.append(np.asarray(train_step(w, chunk)[0]))
    return np.concatenate(rows)


def frames(w, batches):
    seen = []
    for x in batches:
        w, _ = train_step(w, x)
        seen.append(np.asarray(w * jnp.ones(3)))
    return seen


# --- a long iteration ---


@jax.jit
def train_epoch(w, xs):
    return jax.lax.scan(train_step, w, xs)


def epochs(w, xs, n):
    history = []
    for _ in range(n):
        w, losses = train_epoch(w, xs)
        history.append(float(losses.mean()))
    return w, history


def nested(w, loader, n):
    for epoch in range(n):
        for x in loader:
            w, loss = train_step(w, x)
        print(epoch, float(loss))
    return w


def one_epoch(w, loader):
    for x in loader:
        w, loss = train_step(w, x)
    return w, loss


def by_a_helper(w, loader, n):
    for epoch in range(n):
        w, loss = one_epoch(w, loader)
        print(epoch, float(loss))
    return w


# --- a loop on the device that is part of one step ---


def rolled_out(w, x):
    final, _ = jax.lax.scan(lambda h, row: (jnp.tanh(h + row @ w), None), jnp.zeros(()), x)
    return final**2


@jax.jit
def recurrent_step(w, x):
    loss, grad = jax.value_and_grad(rolled_out)(w, x)
    return w - 0.1 * grad, loss


def recurrent(w, batches):
    history = []
    for x in batches:
        w, loss = recurrent_step(w, x)
        history.append(float(loss))  # expect: sync-in-loop
    return w, history


# --- once in a while ---


def guarded_by_a_variable(w, batches, every, last):
    for step, x in enumerate(batches):
        due = every > 0 and (step % every == 0 or step == last)
        w, loss = train_step(w, x)
        if due:
            print(step, float(loss))
    return w


def is_due(step, every):
    return step % every == 0


def guarded_by_a_helper(w, batches, every):
    for step, x in enumerate(batches):
        logs = is_due(step, every)
        w, loss = train_step(w, x)
        if logs:
            print(step, float(loss))
    return w


def few_lines(w, x):
    for step in range(500):
        w, loss = train_step(w, x)
        print(step, loss)
    return w


def progress(w, batches):
    for x in batches:
        w, loss = train_step(w, x)
        print(f"{loss:.3f}", end="\r")
    return w


def two_in_a_display(w, batches):
    for x in batches:
        w, loss, error, penalty = measured_step(w, x)
        print(f"{loss.item():.3f} {error.item():.3f} {loss.item():.1f}", end="\r")
    return w, penalty


def three_in_a_short_display(w, x):
    for step in range(500):
        w, loss, error, penalty = measured_step(w, x)
        print(step, loss, error, penalty, end="\r")
    return w


def after_the_first(w, batches, warm_up=10):
    losses = []
    for step, x in enumerate(batches):
        if step < 10:
            continue
        w, loss = train_step(w, x)
        losses.append(float(loss))  # expect: sync-in-loop
    return w, losses


def from_the_second_on(w, batches):
    losses = []
    for step, x in enumerate(batches):
        w, loss = train_step(w, x)
        if step > 0:
            losses.append(float(loss))  # expect: sync-in-loop
    return w, losses


def only_the_first(w, batches):
    losses = []
    for step, x in enumerate(batches):
        w, loss = train_step(w, x)
        if step < 10:
            losses.append(float(loss))
        if not step:
            print(loss)
        if step >= 10:
            continue
        losses.append(loss.item())
    return w, losses


def after_so_many(w, batches, start):
    losses = []
    for step, x in enumerate(batches):
        w, loss = train_step(w, x)
        if step >= start:
            losses.append(float(loss))
    return w, losses


def at_the_top(w, n, bar):
    loss = jnp.zeros(())
    for _ in range(n):
        bar.set_postfix({"loss": f"{loss:.3f}"})  # expect: sync-in-loop
        w, loss = train_step(w, jnp.ones(2))
    return w


def once_in_a_while(w, n, stale):
    loss = jnp.zeros(())
    for step in range(n):
        print(f"{loss:.3f}")
        if step % 100 == 0:
            w, loss = train_step(w, jnp.ones(2))
    return w


class Trainer:
    @staticmethod
    def build():
        return jax.jit(lambda w, x: (w - x, jnp.sum(w * x)))

    @staticmethod
    def epoch(w, batches, step):
        for x in batches:
            w, loss = step(w, x)
            print({"loss": loss.item()})  # expect: sync-in-loop
        return w

    @staticmethod
    def train(batches):
        w = jnp.ones(3)
        step = Trainer.build()
        for _ in range(3):
            w = Trainer.epoch(w, batches, step)
        return w


def mapped(w, batches):
    losses = []

    def one(x):
        nonlocal w
        w, loss = train_step(w, x)
        losses.append(float(loss))  # expect: sync-in-loop

    list(map(one, batches))
    return losses


def eager_metric(w, batches):
    seen = []
    for x in batches:
        w, _ = train_step(w, x)
        seen.append(float(jnp.mean(x > 0)))  # expect: sync-in-loop
    return w, seen


class Buffer:
    def __init__(self, n):
        self.rows = np.zeros((n, 3))

    def sample(self, key):
        index = jax.random.randint(key, (32,), 0, 1000)
        return self.rows[index]  # expect: sync-in-loop

    def sample_on_host(self, rng):
        return self.rows[rng.integers(0, 1000, 32)]


def sampled(w, key, n):
    buffer = Buffer(1000)
    for _ in range(n):
        key, subkey = jax.random.split(key)
        w, _ = train_step(w, buffer.sample(subkey))
    return w


def sampled_on_host(w, rng, n):
    buffer = Buffer(1000)
    for _ in range(n):
        w, _ = train_step(w, buffer.sample_on_host(rng))
    return w


def same_rows(w, key, n):
    rows, index = np.zeros((1000, 2)), jax.random.randint(key, (32,), 0, 1000)
    for _ in range(n):
        w, _ = train_step(w, rows[index])
    return w


def on_the_device(w, key, n):
    rows = jnp.asarray(np.zeros((1000, 2)))
    for _ in range(n):
        key, subkey = jax.random.split(key)
        w, _ = train_step(w, rows[jax.random.randint(subkey, (32,), 0, 1000)])
    return w


def in_an_environment(w, env, writer):
    obs = env.reset()
    while True:
        obs, reward, done, info = env.step(np.asarray(w))
        w, loss = train_step(w, obs)
        writer.add_scalar("loss", loss.item())


def search(w, batches, best):
    for x in batches:
        w, loss = train_step(w, x)
        print(float(loss))
        if jnp.sum(w).item() > best:
            break
    return w


@jax.jit
def metered_step(w, x):
    w, loss = train_step(w, x)
    return w, {"loss": loss, "norm": jnp.linalg.norm(w)}


def getting(w, batches):
    history = []
    for x in batches:
        w, metrics = metered_step(w, x)
        history.append(jax.device_get(metrics))  # expect: sync-in-loop
    return w, history


def each_metric(w, batches):
    history = {"loss": [], "norm": []}
    for x in batches:
        w, metrics = metered_step(w, x)
        for name, value in metrics.items():
            history[name].append(float(value))  # expect: sync-in-loop
    return w, history


def getting_later(w, batches):
    history = []
    for x in batches:
        w, metrics = metered_step(w, x)
        history.append(metrics)
    return w, jax.device_get(history)


def offloading(w, batches):
    history = []
    for x in batches:
        w, metrics = metered_step(w, x)
        history.append(jax.device_get(w))
    return w, history


# --- progress bars make strings of what they show ---


def metrics_on_a_bar(w, batches, bar):
    for x in batches:
        w, metrics = metered_step(w, x)
        bar.set_postfix(metrics)  # expect: sync-in-loop
    return w


def keyword_on_a_bar(w, batches, bar):
    for x in batches:
        w, loss = train_step(w, x)
        bar.set_postfix(loss=loss)  # expect: sync-in-loop
    return w


def formatted_on_a_bar(w, batches, bar):
    for x in batches:
        w, loss = train_step(w, x)
        bar.set_description(f"loss {loss}")  # expect: sync-in-loop
    return w


def on_a_short_bar(w, batches, bar):
    for step in range(1000):
        w, loss = train_step(w, batches[step % 10])
        bar.set_postfix(loss=loss)  # expect: sync-in-loop
    return w


def tested_after_the_bar(w, batches, bar):
    for x in batches:
        w, loss = train_step(w, x)
        bar.set_postfix({"loss": loss})
        if loss < 0.1:
            break
    return w


def on_a_bar_now_and_then(w, batches, bar):
    for step, x in enumerate(batches):
        w, metrics = metered_step(w, x)
        if step % 50 == 0:
            bar.set_postfix(metrics)
    return w


def numbers_by_numpy(w, batches):
    history = []
    for x in batches:
        w, metrics = metered_step(w, x)
        history.append(np.asarray(np.mean(metrics["loss"])))  # expect: sync-in-loop
    return w, history


# runs: keyword_on_a_bar(jnp.ones(2), [jnp.ones((3, 2))] * 2, SimpleNamespace(set_postfix=lambda **shown: str(shown)))
# runs: numbers_by_numpy(jnp.ones(2), [jnp.ones((3, 2))] * 2)


# --- results in arrays of NumPy ---


def in_an_array(w, batches):
    losses = np.zeros(len(batches))
    for i, x in enumerate(batches):
        w, loss = train_step(w, x)
        losses[i] = loss  # expect: sync-in-loop
    return w, losses


@jax.jit
def advance(x, u):
    return x + 0.1 * jnp.sin(u)


def rolled_out(x, us):
    xs = np.zeros((len(us) + 1, 2))
    xs[0] = x
    for k in range(len(us)):
        xs[k + 1] = advance(xs[k], us[k])  # expect: sync-in-loop
    return xs


class Search:
    """Loops in loops, of which the last runs more often than one function is run."""

    def __init__(self, advance, count):
        self.advance = advance
        self.count = count

    def solve(self, x, us):
        step, cost = 1.0, 1.0
        while abs(cost) > 1e-3 and step > 0.1:
            xs, cost = self.search(x, us, cost)
            us = us - step * xs[1:]
            step = 0.5 * step
        return us

    def search(self, x, us, cost):
        step = 1.0
        xs, now = self.rollout(x, us, step)
        while now > cost and step > 0.1:
            step = 0.5 * step
            xs, now = self.rollout(x, us, step)
        return xs, now

    def rollout(self, x, us, step):
        xs = np.zeros((self.count + 1, 2))
        xs[0] = x
        for k in range(self.count):
            u = step * us[k]
            xs[k + 1] = self.advance(xs[k], u)  # expect: sync-in-loop
        return xs, jnp.sum(advance(xs[-1], us[0]))


def searched(us):
    return Search(advance, len(us)).solve(np.ones(2), us)


def with_an_environment(env, x, count):
    taken = np.zeros((count, 2))
    for k in range(count):
        taken[k] = advance(x, x)
        x, reward, done, info = env.step(taken[k])
    return taken


def predicted(w, batches):
    out = np.zeros((len(batches), 2))
    for i, x in enumerate(batches):
        out[i] = advance(x, w)
    return out


def of_the_host(x, us):
    xs = np.zeros((len(us) + 1, 2))
    for k in range(len(us)):
        xs[k + 1] = xs[k] + np.sin(us[k])
    return xs


# runs: in_an_array(jnp.ones(2), [jnp.ones((3, 2))] * 2), rolled_out(np.ones(2), np.ones((3, 2)))
# runs: searched(np.ones((3, 2))), of_the_host(np.ones(2), np.ones((3, 2)))
# runs: predicted(jnp.ones(2), [jnp.ones(2)] * 2)


def one_step_late(w, batches):
    previous, history = None, []
    for x in batches:
        w, loss = train_step(w, x)
        if previous is not None:
            history.append(float(previous))
        previous = loss
    return w, history
