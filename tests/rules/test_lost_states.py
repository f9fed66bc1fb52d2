"""States and collections that no code keeps, found in the code of one file: previews of JAX506, JAX512 and JAX514."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.conftest import findings_of

from flake8_jax.semantics.analysis.request import AnalysisRequest

CODES = ("JAX506", "JAX512", "JAX514")
START = """
import flax.linen as nn
import jax
import optax


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train=True):
        return nn.BatchNorm(use_running_average=not train)(nn.Dense(3)(x))


"""
REPORTED = {
    "an optimizer that unknown code passes": """
def epoch(params, tx, opt_state, batches, grad_fn):
    for x in batches:
        updates, _ = tx.update(grad_fn(params, x), opt_state, params)  # here
        params = optax.apply_updates(params, updates)
    return params
""",
    "the first result alone": """
def step(params, opt, opt_state, grads):
    return optax.apply_updates(params, changes(opt, opt_state, grads))


def changes(opt, opt_state, grads):
    updates = opt.update(grads, opt_state)[0]  # here
    return updates
""",
    "a state that is bound again and not returned": """
def step(params, opt_state, x, optimizer):
    updates, opt_state = optimizer.update(jax.grad(loss)(params, x), opt_state)  # here
    return optax.apply_updates(params, updates)
""",
    "a state that each step makes": """
def train_step(params, x, optimizer):
    opt_state = optimizer.init(params)  # here
    updates, opt_state = optimizer.update(jax.grad(loss)(params, x), opt_state)
    return optax.apply_updates(params, updates)
""",
    "a new state that the loop never reads": """
def train(state, batches, train_step):
    for batch in batches:
        new_state, loss = train_step(state, batch)  # here
        print(loss)
    return state
""",
    "gradients that are not applied": """
def train(state, batches, grad_fn):
    for batch in batches:
        state.apply_gradients(grads=grad_fn(state.params, batch))  # here
    return state
""",
    "a tree that is mapped": """
def average(target, online):
    jax.tree.map(lambda t, o: 0.9 * t + 0.1 * o, target, online)  # here
    return target
""",
    "parameters by operators": """
def fit(params, batches, gradient):
    for x in batches:
        params = [p - 0.1 * g for p, g in zip(params, gradient(params, x))]  # here
""",
    "a function of the file whose result is dropped": """
def train_step(state, batch):
    state = state.apply_gradients(grads=batch)
    return state


def train(state, batches):
    for batch in batches:
        train_step(state, batch)  # here
    return state
""",
    "an update of what a caller passes": """
def fill(rows, values):
    for i, value in enumerate(values):
        rows.at[i].set(value)  # here
    return rows
""",
    "statistics that a loss drops": """
def loss_fn(params, state, x):
    logits, changed = state.apply_fn(params, x, mutable=["batch_stats"])  # here
    return logits.mean()
""",
    "statistics in the optimizer": """
def create(key, x):
    model = Net()
    variables = model.init(key, x)  # here
    return variables, optax.adam(1e-3).init(variables)
""",
}
SPARED = {
    "a state that is returned": """
def step(params, opt_state, x, optimizer):
    updates, opt_state = optimizer.update(jax.grad(loss)(params, x), opt_state)
    return optax.apply_updates(params, updates), opt_state
""",
    "a state that the next iteration reads": """
def fit(params, optimizer, batches, grad_fn):
    opt_state = optimizer.init(params)
    for x in batches:
        updates, opt_state = optimizer.update(grad_fn(params, x), opt_state)
        params = optax.apply_updates(params, updates)
    return params
""",
    "an optimizer without a state": """
tx = optax.sgd(0.1)


def step(params, opt_state, grads):
    updates, _ = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates)
""",
    "an optimizer that changes its model": """
def step(model, optimizer, grads):
    optimizer.update(model, grads)
""",
    "a function that saves": """
def fit(params, batches, step, manager):
    for i, x in enumerate(batches):
        params = step(params, x)
        if i % 10 == 0:
            manager.save(i, params)
""",
    "a function that measures": """
def benchmark(params, batches, step):
    for x in batches:
        params = step(params, x)
""",
    "parameters that a function captures": """
def fit(params, batches, step, register):
    register(lambda: params)
    for x in batches:
        params = step(params, x)
""",
    "statistics of an evaluation": """
def evaluate(state, x):
    logits, _ = state.apply_fn(state.variables, x, mutable=["batch_stats"])
    return logits
""",
    "another call keeps the statistics": """
def generator_loss(params, critic, x):
    value, _ = critic.apply_fn(params, x, mutable=["batch_stats"])
    return value.mean()


def critic_loss(params, critic, x):
    value, changed = critic.apply_fn(params, x, mutable=["batch_stats"])
    return value.mean(), changed
""",
    "only the parameters go to the optimizer": """
def create(key, x):
    variables = Net().init(key, x)
    return variables, optax.adam(1e-3).init(variables["params"])
""",
    "a text": """
def clean(text, state):
    text.replace("a", "b")
    return state
""",
}


def _rows(text: str, *, preview: bool) -> list[int]:
    analysis = findings_of(Path("/project"), {"a.py": text}, request=AnalysisRequest(preview=preview))
    return [text.count("\n", 0, found.start) for found in analysis.findings if found.code in CODES]


@pytest.mark.parametrize("text", [*REPORTED.values(), *SPARED.values()], ids=[*REPORTED, *SPARED])
def test_states_that_nothing_keeps(text: str) -> None:
    text = START + text
    assert _rows(text, preview=True) == [row for row, line in enumerate(text.splitlines()) if line.endswith("# here")]
    assert _rows(text, preview=False) == []
