"""Keys that a function passes to two calls that are not in view: previews of JAX301 and JAX302."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.conftest import findings_of

from flake8_jax.semantics.analysis.request import AnalysisRequest

CODES = ("JAX301", "JAX302", "JAX303", "JAX304", "JAX706")
START = """
import jax
import haiku as hk


"""
REPORTED = {
    "two networks of unknown classes": """
class Agent:
    def initial(self, key, obs):
        actor_params = self._actor.init(key, obs)
        critic_params = self._critic.init(key, obs)  # here
        return actor_params, critic_params
""",
    "an unknown function and a split": """
def main(model, rng, batches):
    state = create_train_state(model, rng)
    for batch in batches:
        rng, sub = jax.random.split(rng)  # here
        state = step(state, batch, sub)
    return state


def create_train_state(model, rng):
    return model.init(rng, 3)


def later(model, rng):
    state = model.start(rng)
    rng, sub = jax.random.split(rng)  # here
    return state, sub
""",
    "two draws of a policy": """
def losses(policy, key, obs, next_obs):
    keys = jax.random.split(key, 8)
    now = jax.vmap(policy.act_lprob)(obs, keys)
    then = jax.vmap(policy.act_lprob)(next_obs, keys)  # here
    return now, then
""",
    "an environment in a loop": """
def episode(env, policy, params, key):
    obs, done = None, False
    while not done:
        key, sub = jax.random.split(key)
        obs, done = env.advance(sub, obs)
        action = policy.sample(params, obs, sub)  # here
    return action
""",
    "a key that no iteration changes": """
def episode(env, rng, steps):
    obs = None
    for _ in range(steps):
        obs = env.advance(rng, obs)  # here
    return obs
""",
    "two arrays that are shuffled alike": """
def shuffle(x, y, key):
    rows = jax.random.permutation(key, x)
    return rows, jax.random.permutation(key, y)  # here
""",
    "a key that one method advances and another one does not": """
class Map:
    def start(self, data):
        key, self._key = jax.random.split(self._key)
        return jax.random.choice(key, data)

    def order(self, data):
        return jax.random.permutation(self._key, len(data))  # here
""",
    "more keys than names": """
def start(env, key, n):
    key, keys = jax.random.split(key, n + 1)  # here
    return key, jax.vmap(env.begin)(keys)
""",
    "a constant beside the seed of the settings": """
class Agent:
    def __init__(self, config):
        self.w = jax.random.normal(jax.random.key(0), (3,))  # here
        self.seed = config.seed
""",
    "through a helper of the file": """
def start(net, key):
    return net.init(key, 3)


def main(net, key, sampler):
    params = start(net, key)
    return sampler.run(key, params)  # here
""",
    "samplers and predictions of a library": """
import numpyro
from numpyro.infer import MCMC, NUTS, Predictive


def fit(model, rng_key, y):
    mcmc = MCMC(NUTS(model), num_warmup=100, num_samples=100)
    mcmc.run(rng_key, y)
    return Predictive(model, mcmc.get_samples())(rng_key)  # here


def simulate(model, rng_key):
    x = jax.random.normal(rng_key, (3,))
    with numpyro.handlers.seed(rng_seed=rng_key):  # here
        return model(x)
""",
    "an import that is not in view": """
from agents import agent


def begin(env, key):
    obs = env.advance(key)
    return agent.begin(key, obs)  # here
""",
    "far apart at the top level": f"""
rng_key = jax.random.PRNGKey(1)
mcmc.run(rng_key, 3)
{"x = 1" + chr(10) * 20}
predictive(rng_key, 3)  # here
""",
    "the key that goes on in place of the one that was split off": """
from agents import learn


def body(state, _):
    params, rng = state
    rng, _rng = jax.random.split(rng)
    params = learn(params, rng)  # here
    return (params, rng), None


def conditional(params, rng, flag):
    rng, sub = jax.random.split(rng)
    params = jax.lax.cond(flag, learn, lambda p, r: p, params, rng)  # here
    return params, rng
""",
}
SPARED = {
    "common random numbers: the difference of both results": """
def slope(key, evaluate, theta, eps):
    up = evaluate(theta + eps, key)
    down = evaluate(theta - eps, key)
    return (up - down) / (2 * eps)


def gain(env, policy, plain, key):
    improved = env.rollout(policy, key)
    baseline = env.rollout(plain, key)
    return improved.mean() - baseline.mean()
""",
    "keys of a store and of a registry": """
def refresh(store, key, build):
    store.delete(key)
    store.put(key, build(key))


def transform(plugins, key, x):
    for plugin in plugins:
        plugin.register(key)
        x = plugin.transform(key, x)
    return x
""",
    "the key of an attention layer": """
class Attention:
    def __call__(self, query, key, value):
        key = self.dense(key)
        return self.score(query, key), self.relative(key, query)
""",
    "a key of a keyboard": """
def on_press(app, key):
    app.draw(key)
    if key == "q":
        app.leave(key)
""",
    "a difference of two runs": '''
def slope(simulate, theta, key):
    """A central difference with common random numbers."""
    return simulate(theta + 0.1, key) - simulate(theta - 0.1, key)
''',
    "the last use of a key that was split": """
from agents import learn


def body(params, rng):
    rng, unused = jax.random.split(rng)
    return learn(params, rng)
""",
    "libraries without keys": """
import optax


def body(table, key):
    optax.lookup(table, key)
    return optax.find(table, key)
""",
    "one of two branches": """
def main(net, key, flag):
    if flag:
        return net.sample(key, 3)
    return net.act(key, 3)
""",
    "as many keys as names": """
def start(key, n):
    first, second = jax.random.split(key, 1 + 1)
    keys = jax.random.split(second, n + 1)
    return first, keys
""",
    "a new key in between": """
def main(net, env, key):
    params = net.init(key, 3)
    key, sub = jax.random.split(jax.random.fold_in(key, 1))
    return env.reset(sub, params), key
""",
    "functions that keep the key": """
def main(state, key):
    state = state.replace(key=key)
    print(key, len(key))
    return state.update(key)
""",
    "a table of the layers, which draws nothing": """
def main(net, key):
    print(net.tabulate(key, 3))
    return net.init(key, 3)
""",
    "a copy of the network": """
def main(net, key):
    params = net.init(key, 3)
    target_params = net.init(key, 3)
    return params, target_params
""",
    "a sort key and a state of attention": """
def main(layer, rows, key_value_states, by_key):
    rows.sort(key=by_key)
    rows.arrange(key=by_key)
    return layer.relprop(key_value_states), layer.apply_to(key_value_states)
""",
    "streams that advance themselves": """
def main(net, rngs):
    return net.start(rngs), net.other(rngs)
""",
    "a comment says that equal numbers are meant": """
def main(net, env, key):
    a = net.act(key, 3)
    b = env.advance(key, 3)  # the same noise on purpose: same key
    return a, b
""",
    "keys for a loop": """
def main(keys, sizes, net):
    return [net.grow(k, n) for k, n in zip(keys, sizes)], list(zip(keys, sizes))
""",
}


def _rows(text: str, *, preview: bool) -> list[int]:
    analysis = findings_of(Path("/project"), {"a.py": text}, request=AnalysisRequest(preview=preview))
    return [text.count("\n", 0, found.start) for found in analysis.findings if found.code in CODES]


@pytest.mark.parametrize("text", [*REPORTED.values(), *SPARED.values()], ids=[*REPORTED, *SPARED])
def test_keys_that_are_passed_twice(text: str) -> None:
    text = START + text
    marked = [row for row, line in enumerate(text.splitlines()) if line.endswith("# here")]
    assert _rows(text, preview=True) == marked
    assert _rows(text, preview=False) == []


def test_further_uses_of_a_key_far_from_the_second_one() -> None:
    text = f"""{START}
key = jax.random.PRNGKey(1)
x = jax.random.normal(key, (3,))
y = jax.random.uniform(key, (3, 4))  # here
z = jax.random.uniform(key, (3, 5))
{chr(10) * 20}
w = jax.random.normal(key, (4,))  # here
"""
    marked = [row for row, line in enumerate(text.splitlines()) if line.endswith("# here")]
    assert _rows(text, preview=True) == marked
    assert _rows(text, preview=False) == marked[:1]
