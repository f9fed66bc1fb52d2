"""Programs that evaluate models in the mode for training: previews of JAX715."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.conftest import findings_of

from flake8_jax.semantics.analysis.request import AnalysisRequest

NNX = """
import jax
import jax.numpy as jnp
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(4, 4, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x):
        return self.dropout(self.linear(x))


"""
LINEN = """
import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = True):
        return nn.Dropout(0.5, deterministic=not train)(nn.Dense(4)(x))


model = Net()


"""
EQUINOX = """
import equinox as eqx
import jax
import jax.numpy as jnp


class Net(eqx.Module):
    linear: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __call__(self, x, key):
        return self.dropout(self.linear(x), key=key)


"""
HAIKU = """
import haiku as hk
import jax
import jax.numpy as jnp


def network(x, is_training):
    x = hk.Linear(4)(x)
    return hk.dropout(hk.next_rng_key(), 0.5, x) if is_training else x


net = hk.transform(network)


"""
REPORTED = {
    "an attribute of the trainer": NNX
    + """
class Trainer:
    def __init__(self):
        self.model = Net(nnx.Rngs(0))

    def validate(self, x, y):
        return jnp.mean((self.model(x) - y) ** 2)  # here
""",
    "a metric on the test split": NNX
    + """
model = Net(nnx.Rngs(0))


def accuracy(model, x, y):
    return jnp.mean(jnp.argmax(model(x), -1) == y)


x_test, y_test = jnp.ones((3, 4)), jnp.ones(3)
print(accuracy(model, x_test, y_test))  # here
""",
    "a model that is merged": NNX
    + """
graphdef, state = nnx.split(Net(nnx.Rngs(0)))


@jax.jit
def eval_step(state, batch):
    m = nnx.merge(graphdef, state)
    return m(batch)  # here
""",
    "a list of layers": """
import jax.numpy as jnp
from flax import nnx

rngs = nnx.Rngs(0)
net = nnx.Sequential(nnx.Linear(4, 4, rngs=rngs), nnx.Dropout(0.5, rngs=rngs))
X_test = jnp.ones((3, 4))
out = net(X_test)  # here
""",
    "a layer whose argument has a zero": NNX.replace("0.5, rngs=rngs", "0.5, rngs=nnx.Rngs(0)")
    + """
def evaluate(model: Net, x):
    return model(x)  # here
""",
    "an item of a dict": NNX
    + """
models = {"net": Net(nnx.Rngs(0))}


def validate(batches):
    for x in batches:
        models["net"](x)  # here
""",
    "a sum for a name": NNX
    + """
def run(batches):
    model = Net(nnx.Rngs(0))
    val_loss = 0.0
    while batches:
        val_loss += model(batches.pop()).mean()  # here
    return val_loss
""",
    "a comprehension": NNX
    + """
def run(val_ds):
    model = Net(nnx.Rngs(0))
    return [model(x) for x in val_ds]  # here
""",
    "a notebook that switches later": "# %%\n"
    + NNX
    + """
# %%
model = Net(nnx.Rngs(0))
test_pred = model(jnp.ones((2, 4)))  # here
# %%
model.eval()
""",
    "Equinox": EQUINOX
    + """
def evaluate(model, batches, key):
    for x in batches:
        jax.vmap(model)(x, jax.random.split(key, 4))  # here
""",
    "a flag": LINEN
    + """
def eval_step(state, x, key):
    return state.apply_fn(state.params, x, train=True, rngs={"dropout": key})  # here
""",
    "a default": LINEN
    + """
def predict(params, x, key):
    return model.apply(params, x, rngs={"dropout": key})  # here
""",
    "the flag of a constructor": LINEN.replace(", train: bool = True", "").replace(
        "not train", "False  # here\n        "
    )
    + """
def predict(params, x, key):
    return model.apply(params, x, rngs={"dropout": key})
""",
    "a field of the module": LINEN.replace(", train: bool = True", "")
    .replace("    @nn.compact", "    train: bool = True\n\n    @nn.compact")
    .replace("not train", "not self.train")
    + """
def predict(params, x, key):
    return model.apply(params, x, rngs={"dropout": key})  # here
""",
    "a function that drops elements in each call": HAIKU.replace("hk.dropout(hk", "hk.dropout(  # here\n        hk")
    .replace(" if is_training else x", "")
    .replace(", is_training", "")
    + """
def evaluate(params, key, x):
    return net.apply(params, key, x)
""",
    "a flag by its position": HAIKU
    + """
def accuracy(params, x, y, key):
    return jnp.mean(net.apply(params, key, x, True) == y)  # here
""",
}
SILENT = {
    "another function switches": NNX
    + """
def validate(model: Net, x):
    return model(x)


def main(x):
    model = Net(nnx.Rngs(0))
    model.eval()
    return validate(model, x)
""",
    "layers that drop nothing": NNX.replace("nnx.Dropout(0.5, rngs=rngs)", "[nnx.Dropout(0.0), nnx.Dropout(rate=0)]")
    + """
def evaluate(model: Net, x):
    return model(x)
""",
    "training": NNX
    + """
def loss(model: Net, x):
    return model(x).mean()


def main(train_loader, test_loader):
    model = Net(nnx.Rngs(0))
    for x in train_loader:
        loss(model, x)
""",
    "a function that trains on both splits": NNX
    + """
def evaluate(model: Net, x_test):
    return nnx.grad(lambda m: m(x_test).mean())(model)
""",
    "a view": NNX
    + """
def evaluate(model: Net, x):
    return nnx.view(model, deterministic=True)(x)
""",
    "a mode for each call": NNX.replace("def __call__(self, x)", "def __call__(self, x, training=False)")
    + """
def evaluate(model: Net, x):
    return model(x)
""",
    "uncertainty": NNX
    + """
def predict(model: Net, x):
    # Monte Carlo dropout
    return jnp.stack([model(x) for _ in range(10)])
""",
    "Equinox without a key, which raises unless something set the mode": EQUINOX
    + """
def evaluate(model, x):
    return model(x)
""",
    "a test of shapes": NNX
    + """
def test_linear(model: Net, x):
    assert model(x).shape == x.shape
""",
    "the flag for evaluation": LINEN
    + """
def evaluate(params, x):
    return model.apply(params, x, train=False)


def predict(params, x):
    return model.apply(params, x, False)
""",
    "a module for evaluation": LINEN.replace(", train: bool = True", "")
    .replace("    @nn.compact", "    train: bool = True\n\n    @nn.compact")
    .replace("not train", "not self.train")
    .replace("model = Net()", "model = Net(train=False)")
    + """
def predict(params, x):
    return model.apply(params, x)
""",
    "a data set": LINEN
    + """
def evaluate(load, params):
    data = load("mnist", train=True)
    return model.apply(params, data, train=False)
""",
    "a loss that is told": LINEN
    + """
def loss(params, x, train, key):
    return model.apply(params, x, train=train, rngs={"dropout": key}).mean()


def main(params, x_val, key):
    return loss(params, x_val, False, key)
""",
}


def _rows(text: str, *, preview: bool) -> list[int]:
    analysis = findings_of(Path("/project"), {"a.py": text}, request=AnalysisRequest(preview=preview))
    named = [found for found in analysis.findings if found.name == "evaluation-in-train-mode"]
    return [text.count("\n", 0, found.start) for found in named]


@pytest.mark.parametrize("text", [*REPORTED.values(), *SILENT.values()], ids=[*REPORTED, *SILENT])
def test_evaluations(text: str) -> None:
    assert _rows(text, preview=True) == [row for row, line in enumerate(text.splitlines()) if line.endswith("# here")]
    assert _rows(text, preview=False) == []


def test_another_file_switches() -> None:
    texts = {
        "model.py": NNX,
        "evaluation.py": "from model import Net\n\n\ndef evaluate(model: Net, x):\n    return model(x)\n",
        "main.py": "import jax\nfrom evaluation import evaluate\n",
    }
    for end, count in (("", 1), ("\n\ndef run(model, x):\n    model.eval()\n    evaluate(model, x)\n", 0)):
        project = {**texts, "main.py": texts["main.py"] + end}
        analysis = findings_of(Path("/project"), project, request=AnalysisRequest(preview=True))
        assert sum(found.name == "evaluation-in-train-mode" for found in analysis.findings) == count
