"""Timers, waits and copies that the code of one function shows: previews of JAX206, JAX418, JAX901 and JAX902."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.conftest import findings_of

from flake8_jax.semantics.analysis.request import AnalysisRequest

START = """
import time
import timeit
import jax
import jax.numpy as jnp
import numpy as np
from models import Timer, model, train_step


"""
REPORTED = {
    "a helper that calls what it gets": """
def benchmark(fn, *args):
    start = time.perf_counter()
    for _ in range(10):
        out = fn(*args)
    end = time.perf_counter()  # JAX901
    return out, (end - start) / 10
""",
    "steps of an epoch": """
def train(state, loader):
    for epoch in range(9):
        start = time.time()
        for batch in loader:
            state, metrics = train_step(state, batch)
        print(epoch, time.time() - start)  # JAX901
    return state
""",
    "a step that is a parameter": """
def train(step, state, data):
    for epoch in range(9):
        start = time.time()
        for batch in data.batches():
            state, loss = step(state, batch)
        duration = time.time() - start  # JAX901
        print(epoch, duration)
    return state
""",
    "a value that the function reads afterwards": """
def compare(solve, problem):
    start = time.time()
    x, error = solve(problem)
    duration = time.time() - start  # JAX901
    return duration, error.item()
""",
    "a value for which the function waits afterwards": """
def compare(solve, problem):
    start = time.time()
    x = solve(problem)
    duration = time.time() - start  # JAX901
    return duration, jax.device_get(x)
""",
    "methods of a timer": """
class Timer:
    def start(self):
        self.begin = time.time()

    def __call__(self, func):
        def timed(*args):
            self.start()
            func(*args)
            self.stop()  # JAX901
        return timed
""",
    "a block of a timer that is not in view": """
def main(state, batch):
    with Timer():  # JAX901
        state, loss = train_step(state, batch)
    return state
""",
    "timeit of a lambda": """
def main(state, batch):
    return timeit.timeit(lambda: train_step(state, batch), number=10)  # JAX901
""",
    "a loop with the first call of a jitted function": """
@jax.jit
def double(x):
    return x * 2


def solve(x):
    return float(double(x).sum())


x = np.ones(3)
start = time.time()  # JAX902
for _ in range(20):
    x = solve(x)
print(time.time() - start)
""",
    "the best loss of a step by its name": """
def fit(state, loader):
    best = float("inf")
    for batch in loader:
        state, loss = train_step(state, batch)
        if loss < best:  # JAX206
            best = loss
    return state
""",
    "a mean that is compared": """
step = jax.jit(model)


def fit(state, other, n):
    best = 1e9
    for _ in range(n):
        loss, state = step(state)
        loss, state = loss.mean(), other(state)
        if loss < best:  # JAX206
            best = loss
    return state
""",
    "the counter of a state, which says when to log": """
def fit(state, loader, n, log):
    for batch in loader():
        state, metrics = train_step(state, batch)
        if state.step % n == 0:  # JAX206
            log(metrics)
    return state
""",
    "the counter of a state as a number": """
def fit(state, loader, n, log):
    for batch in loader:
        state, metrics = train_step(state, batch)
        step = int(state.step.mean().item())  # JAX206
        if step % n == 0:
            log(step, metrics)
    return state
""",
    "a text of each iteration": """
def fit(state, n, bar):
    for _ in range(n):
        state, loss = train_step(state)
        bar.show(f"{loss:.3f}")  # JAX206
    return state
""",
    "a loader that copies": """
class Loader:
    def __init__(self, x, n):
        self.x, self.y = np.array_split(x, n), []

    def get(self, i):
        self.y.append(i)
        return jnp.array(self.x[i]), jnp.array(self.y[i])  # JAX418
""",
    "the same rows in each epoch": """
def fit(data, state, run, n):
    for epoch in range(9):
        for i in range(n):
            state = run(state, jnp.asarray(data[i * 8 : i * 8 + 8]))  # JAX418
    return state
""",
}
SPARED = {
    "a counter that Python counts": """
advance = jax.jit(model)


def train_step(state, batch):
    return State(advance(state.params, batch), state.step + 1)


def fit(state, loader, n, log):
    for batch in loader():
        state = train_step(state, batch)
        if state.step % n == 0:
            log(n)
    return state
""",
    "a timer in traced code": """
@jax.jit
def timed(optimizer, grads, state):
    start = time.time()
    updates, state = optimizer.update(grads, state)
    print(time.time() - start)
    return updates, state
""",
    "what is written to a file": """
def saved(path, x):
    start = time.time()
    jnp.save(path, jnp.sin(x))
    return time.time() - start
""",
    "a jitted function that another call got before": """
kernel = jax.jit(lambda x, y: x @ y)
gram = solver.matrix(lambda x, y: kernel(x, y))
start = time.time()
value = kernel(1.0, 2.0)
value.block_until_ready()
print(time.time() - start)
""",
    "a counter of Python": """
def fit(state, loader, n, log):
    count = 0
    for batch in loader:
        state, metrics = train_step(state, batch)
        count += 1
        if count % n == 0:
            log(int(state.step), metrics)
    return state
""",
    "the counter of a state that the loop waits for": """
def fit(state, loader, n, log):
    for batch in loader:
        state, metrics = jax.block_until_ready(train_step(state, batch))
        if state.step % n == 0:
            log(metrics)
    return state
""",
    "a value of which nothing says that it is on a device": """
def compare(solve, problem):
    start = time.time()
    x, error = solve(problem)
    duration = time.time() - start
    return duration, float(error)
""",
    "a value that was read before": """
def compare(solve, problem):
    x = solve(problem)
    print(x.item())
    start = time.time()
    x = solve(problem)
    return x, time.time() - start
""",
    "a value of NumPy that the function reads afterwards": """
def compare(problem):
    start = time.time()
    x = np.linalg.norm(problem)
    duration = time.time() - start
    return duration, x.item()
""",
    "a wait": """
def benchmark(fn, *args):
    start = time.perf_counter()
    out = fn(*args)
    jax.block_until_ready(out)
    return time.perf_counter() - start
""",
    "an array of NumPy takes the result": """
def benchmark(state, batches, found):
    start = time.perf_counter()
    for i, batch in enumerate(batches):
        state, found[i] = train_step(state, batch)
    return time.perf_counter() - start
""",
    "unknown code": """
def main(state, batch, report):
    start = time.perf_counter()
    state, loss = train_step(state, batch)
    report(loss)
    return time.perf_counter() - start
""",
    "the time of a compilation": """
def main(state, batch):
    start = time.perf_counter()
    state, loss = train_step(state, batch)
    print("compile time", time.perf_counter() - start)
    return state
""",
    "a call before": """
@jax.jit
def double(x):
    return x * 2


double(jnp.ones(3)).block_until_ready()
start = time.time()
double(jnp.ones(3)).block_until_ready()
print(time.time() - start)
""",
    "a search that ends": """
def search(state, steps):
    best = 1.0
    for size in steps:
        loss = train_step(state, size)
        if loss < best:
            return size
    return None
""",
    "every hundredth iteration": """
def fit(state, n):
    for i in range(n):
        state, loss = train_step(state)
        if i % 100 == 0:
            print(f"{loss:.3f}")
    return state
""",
    "a function that gets each loss": """
def fit(state, n, tuner):
    for i in range(n):
        state, loss = train_step(state)
        tuner.report(float(loss))
    return state
""",
    "a step of an environment": """
def play(env, n):
    for _ in range(n):
        out = env.step(3)
        if out < 1:
            out = 0
""",
    "rows that change": """
def fit(make, state, run, n):
    for epoch in range(9):
        data = make(epoch)
        for i in range(n):
            state = run(state, jnp.asarray(data[i]))
    return state
""",
}
CODES = ("JAX206", "JAX418", "JAX901", "JAX902")


def _found(text: str, *, preview: bool) -> set[tuple[int, str]]:
    analysis = findings_of(Path("/project"), {"a.py": text}, request=AnalysisRequest(preview=preview))
    return {(text.count("\n", 0, found.start), found.code) for found in analysis.findings if found.code in CODES}


@pytest.mark.parametrize("text", [*REPORTED.values(), *SPARED.values()], ids=[*REPORTED, *SPARED])
def test_what_the_code_of_a_function_shows(text: str) -> None:
    text = START + text
    marked = [(row, line.partition("  # JAX")[2]) for row, line in enumerate(text.splitlines())]
    assert _found(text, preview=True) == {(row, f"JAX{code}") for row, code in marked if code}
    assert _found(text, preview=False) == set()
