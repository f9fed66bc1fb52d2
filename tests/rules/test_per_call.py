"""Functions of a package that compile in each call, and scripts that show how the package is used: JAX402."""

from __future__ import annotations

from rules.conftest import Lint

PACKAGE = """
import jax
import jax.numpy as jnp


class Speech:
    def __init__(self, weights):
        self.weights = weights

    def generate(self, x, count=30):
        @jax.jit
        def decode(weights, x):
            return jnp.tanh(x @ weights)

        for _ in range(count):
            y = decode(self.weights, x)
        return y

    def evaluate(self, xs):
        @jax.jit
        def score(weights, x):
            return jnp.mean(x @ weights)

        return [score(self.weights, x) for x in xs]

    def shown(self, x):
        return jax.jit(lambda w: jnp.sum(x @ w))(self.weights)
"""
SCRIPT = """
import jax.numpy as jnp
from speech.model import Speech

model = Speech(jnp.eye(3))
print(model.generate(jnp.ones(3)))
print(model.evaluate([jnp.ones(3)]))
print(model.shown(jnp.ones(3)))
"""
CALLER = """
from speech.model import Speech


def first(model: Speech, x):
    return model.generate(x)
"""
RULE = frozenset({"jit-per-call"})
GENERATE = 11


def _rows(lint: Lint, files: dict[str, str]) -> set[int]:
    texts = {"speech/__init__.py": "", "speech/model.py": PACKAGE, **files}
    return {label.row for label in lint(texts, RULE) if label.file == "speech/model.py" and label.rule in RULE}


def test_a_script_that_calls_a_function_once_is_an_example(lint: Lint) -> None:
    assert _rows(lint, {"example.py": SCRIPT}) == {GENERATE}


def test_main_of_a_script_is_an_example(lint: Lint) -> None:
    head, body = SCRIPT.split("\n\n")
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    text = f"{head}\n\n\ndef main():\n{lines}\n\n\nif __name__ == '__main__':\n    main()\n"
    assert _rows(lint, {"example.py": text}) == {GENERATE}


def test_one_call_in_a_function_of_the_package_is_none(lint: Lint) -> None:
    assert GENERATE not in _rows(lint, {"speech/caller.py": CALLER})
