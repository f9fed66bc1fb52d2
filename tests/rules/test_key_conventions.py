"""Keys that callees nobody knows get: by convention these draw from them, so in preview that counts as a use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rules.conftest import findings_of

from flake8_jax.core.findings import Finding, Positions
from flake8_jax.semantics.analysis.request import AnalysisRequest
from flake8_jax.syntax.lower import lower

_MARK = re.compile(r"# (warning|info|error): ([a-z0-9-]+)$")
START = """import jax
from functools import partial
from somewhere import Env, Trainer, agent, env, make, model, sampler, save
"""
USED = {
    "an environment's reset, and then the split of its key": """
def episode(n):
    for i in range(n):
        key = jax.random.key(i)
        state = env.reset(key)
        for _ in range(9):
            key, sub = jax.random.split(key)  # warning: key-reuse
            state = env.step(state, jax.random.normal(sub))
""",
    "a key of unknown origin, of which split says that it is one": """
def start(rng):
    state = env.reset(rng)
    rng, sub = jax.random.split(rng)  # warning: key-reuse
    return state, sub
""",
    "a helper that is bound to a name": """
_, reset, step = make("cartpole")


def start(seed):
    key = jax.random.key(seed)
    state = reset(key)
    return state, jax.random.uniform(key)  # warning: key-reuse
""",
    "a scan whose body draws from the key that it gives back": """
def rollout(params, obs, seed):
    def act(carry, _):
        obs, key = carry
        action = agent.apply(params, obs).sample(seed=key)  # warning: key-reuse-in-loop
        return (env.observe(action), key), action

    return jax.lax.scan(act, (obs, jax.random.key(seed)), None, length=8)
""",
    "the same in a scan of scans, which a loop runs again with other states": """
def learner(config):
    def act(carry, _):
        obs, key = carry
        pi = agent.apply(config, obs)
        return (obs, key), pi.sample(seed=key)  # warning: key-reuse-in-loop

    def update(carry, _):
        obs, key = carry
        key, sub = jax.random.split(key)
        (obs, _), actions = jax.lax.scan(act, (obs, sub), None, 8)
        return (obs, key), actions

    return jax.pmap(lambda state: jax.lax.scan(update, state, None, 8))


def train(config):
    run, state = learner(config), (env.reset(3), jax.random.split(jax.random.key(0), 8))
    for _ in range(config.rounds):
        state, _ = run(state)
        save(state)
""",
    "a compiled step that gives its key to a model, in a loop that leaves the key as it is": """
@jax.jit
def step(params, batch, rng):
    def loss(net):
        return net(rng, batch["x"]).mean()

    return jax.grad(loss)(params)


def train(params, batches):
    rng, _ = jax.random.split(jax.random.key(0))
    for batch in batches:
        params = step(params, batch, rng)  # warning: key-reuse-in-loop
    return params
""",
    "init, and apply with the same key": """
def start(x):
    key = jax.random.key(0)
    params = model.init(key, x)
    return model.apply(params, key, x)  # info: key-reuse
""",
    "a collection of keys that a loop leaves as it is": """
def train(params, batches, seed):
    key = jax.random.key(seed)
    for batch in batches:
        params = params - model.apply(params, batch, rngs=key)  # warning: key-reuse-in-loop
    return params
""",
    "a draw, and then an unknown sampler": """
def start(seed):
    key = jax.random.key(seed)
    return jax.random.normal(key), sampler(key, 3)  # warning: key-reuse
""",
    "two samples of unknown distributions": """
def start(seed, p, q):
    key = jax.random.key(seed)
    a = p.sample(seed=key)
    return a + q.sample(seed=key)  # warning: key-reuse
""",
    "a key that was split, and then given away": """
def start(x, key):
    first, second = jax.random.split(key)
    y = model.apply(x, rngs={"noise": first}) + jax.random.normal(second)
    return y, env.reset(key)  # warning: key-used-after-split
""",
    "fold_in beside split": """
def ask(key, state, n):
    keys = jax.random.split(key, n)
    weight = jax.random.uniform(jax.random.fold_in(key, state.counter))  # warning: key-used-after-split
    return jax.vmap(jax.random.normal)(keys), weight


def fold_first(key, n):
    x = jax.random.normal(jax.random.fold_in(key, 1))
    return x, jax.random.split(key, n)  # warning: key-reuse


def in_a_closure(key, xs):
    keys = jax.random.split(key, 8)

    def one(i):
        return jax.random.normal(jax.random.fold_in(key, i))

    return jax.vmap(jax.random.normal)(keys), jax.vmap(one)(xs)  # warning: key-used-after-split
""",
    "a partial with a key, mapped over a batch": """
def loss(net, xs, key):
    net = partial(net, key=key)
    return jax.vmap(net)(xs)  # warning: shared-key-in-vmap


def step(net, xs, seed):
    return loss(net, xs, jax.random.key(seed))
""",
    "a compiled function that is not known": """
def start(x, seed):
    key = jax.random.key(seed)
    params = jax.jit(model.init)(key, x)
    return params, jax.random.normal(key)  # warning: key-reuse
""",
    "Haiku's init and a split of its key, which gives the same keys as the sequence of the network": """
import haiku as hk

net = hk.transform(lambda x: hk.Linear(3)(x))


def start(x, seed):
    key = jax.random.key(seed)
    params = net.init(key, x)
    key, sub = jax.random.split(key)  # warning: key-reuse
    return params, jax.random.normal(sub), key
""",
    "a network of Haiku that takes keys in apply": """
import haiku as hk


def layers(x):
    x = hk.Linear(3)(x)
    return hk.dropout(hk.next_rng_key(), 0.5, x)


net = hk.transform_with_state(layers)


def train(xs, seed):
    key, start = jax.random.split(jax.random.key(seed))
    params, state = net.init(start, xs[0])
    for x in xs:
        y, state = net.apply(params, state, key, x)  # warning: key-reuse-in-loop
        params = jax.tree.map(lambda leaf: leaf - y.sum(), params)
    return params
""",
    "two networks that a function starts": """
import flax.linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)


def create(rng, net, x):
    return net.init(rng, x)


class Learner:
    def __init__(self, key, x):
        self.actor, self.critic, self.critic_target = Net(), Net(), Net()
        self.actor_params = self.actor.init(key, x)
        self.critic_params = self.critic.init(key, x)  # warning: key-reuse
        self.critic_target_params = self.critic_target.init(key, x)


def main(x):
    key = jax.random.key(0)
    policy = create(key, Net(), x)
    value = create(key, Net(), x)  # info: key-reuse
    ema_value = create(key, Net(), x)
    return policy, value, ema_value


def again(key, x):
    net = Net()
    params = net.init(key, x)
    return params, net.init(key, x)
""",
    "names alone": """
def start(x, rng):
    params = model.init(rng, x)
    return env.reset(rng), params, x.sample(seed=rng)  # info: key-reuse
""",
}
SPARED = {
    "one use alone": """
def start(x, seed):
    key = jax.random.key(seed)
    return model.init(key, x)
""",
    "a key that takes the place of the one that was given": """
def run(state, seed):
    key = jax.random.key(seed)
    for _ in range(9):
        state, key = agent.act(state, key)
    return state, jax.random.normal(key)
""",
    "callees that keep, show, place or copy": """
def start(state, seed):
    key = jax.random.key(seed)
    print(key)
    save(key)
    state = state.replace(rng=key)
    trainer = Trainer(key=key)
    trainer.history.append(key)
    shared = env.replicate(key)
    return state, trainer, shared, jax.random.normal(key)
""",
    "one function, with other parameters under equal noise": """
def loss(params, target, x, seed):
    key = jax.random.key(seed)
    return model.apply(params, key, x) - model.apply(target, key, x)
""",
    "a key for an evaluation, in a loop that makes keys for the rest": """
def train(params, batches, seed):
    key, test_key = jax.random.split(jax.random.key(seed))
    for batch in batches:
        key, sub = jax.random.split(key)
        params = params + jax.random.normal(sub)
        save(agent.score(params, batch, test_key))
""",
    "init keeps the shapes of what its other arguments lead to": """
def start(x, seed):
    key, noise = jax.random.split(jax.random.key(seed))
    params = model.init(key, x, noise)
    return params, jax.random.normal(noise)
""",
    "fold_in of numbers that no child of the split has": """
def start(key, step):
    first, second = jax.random.split(key)
    third = jax.random.fold_in(key, 2)
    fourth = jax.random.fold_in(key, step + 1000)
    fifth = jax.random.fold_in(key, hash("fifth"))
    return [jax.random.normal(k) for k in (first, second, third, fourth, fifth)]


def unused(key):
    _, second = jax.random.split(key)
    return jax.random.normal(second) + jax.random.normal(jax.random.fold_in(key, 0))


def renewed(key, i):
    key, sub = jax.random.split(key)
    return jax.random.normal(sub) + jax.random.normal(jax.random.fold_in(key, i))
""",
    "a collection of keys, into which Flax folds names": """
def start(x, key):
    first, second = jax.random.split(key)
    params = model.init({"params": first, "noise": second}, x)
    y = model.apply(params, x, rngs={"noise": second})
    return y, jax.random.normal(first), jax.random.split(second)
""",
    "an unknown module of Flax": """
import flax.linen as nn


def start(x, seed):
    key = jax.random.key(seed)
    params = model.init(key, x)
    key, sub = jax.random.split(key)
    return params, jax.random.normal(sub)
""",
    "networks of Haiku that take no key in apply, or not in this call": """
import haiku as hk


def layers(x, is_training):
    x = hk.Linear(3)(x)
    return hk.dropout(hk.next_rng_key(), 0.5, x) if is_training else x


net = hk.transform(layers)
plain = hk.transform(lambda x: hk.Linear(3)(x))
bare = hk.without_apply_rng(net)


def score(params, xs, seed):
    key, noise = jax.random.split(jax.random.key(seed))
    for x in xs:
        y = net.apply(params, key, x, False) + plain.apply(params, key, x) + bare.apply(params, noise, False)
        params = jax.tree.map(lambda leaf: leaf - y.sum(), params)
    return params
""",
    "what is only lowered": """
def run(seed, x):
    def draw(key):
        return jax.random.normal(key)

    key = jax.random.key(seed)
    compiled = jax.jit(draw).lower(key).compile()
    return compiled(key)
""",
    "children that nobody uses": """
def start(x, key):
    first, second = jax.random.split(key)
    return model.init(key, x)
""",
    "shapes alone": """
def start(x, seed):
    key = jax.random.key(seed)
    shapes = jax.eval_shape(model.init, key, x)
    return shapes, model.init(key, x)
""",
}


def _reported(text: str, *, preview: bool) -> list[tuple[int, Finding]]:
    request = AnalysisRequest(preview=preview)
    rules = frozenset({"shared-key-in-vmap"})
    found = findings_of(Path("/project"), {"a.py": text}, rules, request=request).findings
    positions = Positions(lower(text).line_starts)
    return [(positions.row(f.start), f) for f in found if "key" in f.name]


@pytest.mark.parametrize("text", [*USED.values(), *SPARED.values()], ids=[*USED, *SPARED])
def test_uses_by_convention(text: str) -> None:
    text = START + text
    expected = {(row, *mark.groups()) for row, line in enumerate(text.splitlines(), 1) if (mark := _MARK.search(line))}
    assert {(row, f.level, f.name) for row, f in _reported(text, preview=True)} == expected
    assert _reported(text, preview=False) == []


BESIDE = """
def start(seed, p):
    key = jax.random.key(seed)
    x = jax.random.normal(key)
    a = p.sample(seed=key)
    return a + x * jax.random.normal(key)
"""


def test_what_is_certain_stays_so_beside_a_preview() -> None:
    [(row, found)] = _reported(START + BESIDE, preview=True)
    assert (row, found.level) == (9, "error")
    assert [(row, found.level)] == [(row, f.level) for row, f in _reported(START + BESIDE, preview=False)]


def test_messages_name_the_callee() -> None:
    said = [found.message for text in USED.values() for _, found in _reported(START + text, preview=True)]
    assert (
        "`key` was already passed to `reset` on line 8, so `reset` may use the keys that this split returns;" in said[0]
    )
    assert any("so `step` may draw the same numbers each time" in one for one in said)
    assert any("was already used earlier on this line, so `sampler` may draw the same numbers" in one for one in said)
    assert any("so `fold_in` may return one of the same keys" in one for one in said)
