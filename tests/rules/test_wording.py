"""Text that users read is plain: no private words; each message names what stands on its line (``conftest.lint_texts``)."""

from __future__ import annotations

import ast
import contextlib
import re
from pathlib import Path

import pytest
from rules.conftest import PROJECT, findings_of
from support.wording import private_words, problems_of_message

from flake8_jax.cli import COMMANDS, main
from flake8_jax.fixers._announced import all_announced
from scripts.consoles import DOCUMENTS, ROOT

GOOD = "`x > 0` is traced, so `if` cannot test its value; use jnp.where"


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        (GOOD, []),
        ("np.tanh() converts `y` to a NumPy array", ["names nothing that stands on the line"]),
        ("range() needs a Python int, but `x` is traced", []),
        ("jnp.where selects `x`, but both branches run", []),
        (f"{GOOD}.", ["a final period, or several lines"]),
        ("this prints `x`", ["begins with a small letter"]),
        ("`x` compiles anew", ["private word 'anew'"]),
        (GOOD + "!" * 200, [f"{len(GOOD) + 200} characters"]),
    ],
)
def test_what_is_wrong_with_a_message(message: str, wrong: list[str]) -> None:
    assert problems_of_message(message, "    if x > 0:") == wrong


def test_private_words_in_code_do_not_count() -> None:
    assert private_words("Nobody stages `twin`, which is None") == ["Nobody", "stages"]


@pytest.mark.parametrize("sentence", sorted(all_announced()))
def test_fixes_announce_changes_in_plain_words(sentence: str) -> None:
    assert private_words(sentence) == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_have_no_private_words(document: str) -> None:
    text = re.sub(r"^```.*?^```", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert private_words(re.sub(r"\]\([^)]*\)", "]", text)) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_no_private_words(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.suppress(SystemExit):
        main([command, "--help"])
    assert private_words(capsys.readouterr().out.replace("--vs eager", "")) == []


@pytest.mark.parametrize("template", sorted((ROOT / "flake8_jax" / "templates").glob("[!_]*.py")), ids=lambda p: p.stem)
def test_templates_have_no_private_words(template: Path) -> None:
    assert private_words(template.read_text(encoding="utf-8")) == []


def _printed_texts(path: Path) -> list[str]:
    """The string literals of a module that may be printed: neither docstrings nor patterns, and more than one word."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements
        if " " in node.value and "\\" not in node.value
    ]


def test_errors_and_hovers_have_no_private_words() -> None:
    wrong = {
        (str(path.relative_to(ROOT)), text): words
        for path in sorted((ROOT / "flake8_jax").rglob("*.py"))
        for text in _printed_texts(path)
        if (words := private_words(text.replace("--vs eager", "")))
    }
    assert wrong == {}


def test_the_newest_changes_have_no_private_words() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert private_words(text[: text.index("\n## 0.2.0")]) == []


EQUINOX = """import equinox as eqx


class Model(eqx.Module):
    width: int

    def __init__(self, width):
        self.width = width
        self.depth = 2
"""
PAD = """import jax
import jax.numpy as jnp


@jax.jit
def pad(x, n):
    used = jnp.sum(x > 0)
    return jnp.zeros({size})
"""
CAPTURED = """import jax

def make(key):
    def noise(x):
        return x + jax.random.normal(key, x.shape)

    return noise

def twice(x):
    noise = make(jax.random.key(0))
    {use}
"""
HELD = """import jax


class Walk:
    def __init__(self, key):
        self.key = key

    def step(self):
        self.key, subkey = jax.random.split(self.key)
        return jax.random.normal(subkey, (3,))


def both(key):
    first = Walk(key)
    total = sum(first.step() for _ in range(9))
    second = Walk(key)
    for _ in range(9):
        total += second.step()
    return total
"""
CARRIED = """import jax


def inner(carry):
    x, key = carry
    first, key = jax.random.split(key)
    return x + jax.random.normal(first), key


def body(i, carry):
    x, key = carry
    part, key = jax.random.split(key)
    x += jax.random.normal(part)
    x, _ = inner((x, key))
    return x, key


def train(key, x):
    return jax.lax.fori_loop(0, 9, body, (x, key))
"""


MAPPED = """import jax


def start(key):
    key, first, second = jax.random.split(key, 3)
    return jax.random.normal(first), jax.random.normal(second)


def both(key, n):
    keys = jax.random.split(jax.random.key(0), n)
    reset = jax.vmap({"reset": start}["reset"])
    first = reset(keys)
    return first + 2 * reset(keys)
"""
EPOCHS = """import jax


def plot(key):
    return jax.random.normal(key)


def fit(key, n):
    for _ in range(n):
        for _ in range(9):
            noise = jax.random.normal(key)
            _, key = jax.random.split(jax.random.key(n))
        key = jax.random.fold_in(jax.random.key(n), 1)
        noise += 1
        plot(key)
"""
OUTER = """from functools import partial
import jax


@partial(jax.jit, static_argnames="axis")
def total(x, axis):
    return x.sum(axis)

@jax.jit
def outer(x, axis):
    x = 2 * x
    y = x + 1
    z = y + 1
    return total(z, axis)


outer(jax.numpy.ones(3), 0)
"""
GROWN = """import jax
import jax.numpy as jnp


@jax.jit
def deflate(x, found):
    return x - sum(jnp.vdot(x, v) * v for v in found)


def eigenvectors(x, n):
    found = []
    for _ in range(n):
        for _ in range(100):
            x = deflate(x, found)
        found.append(x)
    return found
"""

FAR = """import jax
import numpy as np


def noise(x):
    return x + np.random.normal()


def pad(sizes):
    return jax.numpy.pad(sizes, 2)


def clean(x: np.ndarray):
    return x == np.nan


def nudge(key):
    return key, jax.random.normal(jax.random.split(key)[0])


def both(key):
    key, first = nudge(key)
    key, second = nudge(key)
    return first + second


def rows(key, n):
    keys = jax.random.split(key, n)
    return keys, jax.random.normal(key)


def powers(f, x, many):
    for n in many:
        y = x
        for _ in range(3):
            y = f(y)
        step = jax.jit(functools.partial(f, n))
        x = step(y)
    return x


def shift(x, dt):
    return x + dt


move = jax.jit(shift)


@jax.jit
def walk(x):
    return move(x, 1, 2)


jax.jit(noise)(1.0)
pad([1, 2])
""".replace("import jax\n", "import functools\n\nimport jax\n", 1)


@pytest.mark.parametrize(
    ("code", "text", "parts"),
    [
        ("JAX305", FAR, ["runs once at trace time (`jax.jit` on line 56 traces `noise`), so every later call"]),
        (  # grad compiles nothing: the call around it that does is named
            "JAX305",
            FAR.replace("jax.jit(noise)(1.0)", "slope = jax.grad(noise)\njax.jit(slope)(1.0)"),
            ["runs once at trace time (`jax.jit` on line 57 traces `"],
        ),
        ("JAX413", FAR, ["`sizes` is a list (passed on line 57), but jnp.pad() takes only arrays"]),
        ("JAX704", FAR, ["use np.isnan(x)"]),
        (
            "JAX401",
            FAR,
            ["Each iteration of the loop on line 35 passes", "pass `n` as an argument (static if it is not an array)"],
        ),
        (
            "JAX706",
            FAR,
            ["`move` passes its arguments to `shift`, which takes 2 positional arguments (`x`, `dt`) but gets 3"],
        ),
        (
            "JAX303",
            FAR.replace("def rows", "def other").replace("jax.random.normal(key)", "key"),
            ["in `nudge` (called on line 24, which returns the same key)"],
        ),
        (
            "JAX303",
            FAR.replace("    key, first = nudge", "    _, first = nudge").replace(
                "    key, second = nudge(key)", "    second = key"
            ),
            ["`key` was already split on line 30", "split off one more key before that split and use it here"],
        ),
        (
            "JAX407",
            GROWN,
            ["The shape of `found` changes in every iteration of the loop on line 12, so JAX recompiles in each"],
        ),
        ("JAX517", EQUINOX, ["`Model` is an Equinox module, which allows only declared fields", "`self.depth`"]),
        ("JAX105", PAD.format(size="n"), ["`n` is traced", "make `n` a static argument"]),
        ("JAX105", PAD.format(size="2 * n"), ["`2 * n` is traced", "make `n` a static argument"]),
        ("JAX105", PAD.format(size="n - used"), ["compute it from static arguments, or use a fixed size and a mask"]),
        ("JAX105", PAD.format(size="used"), ["compute it from static arguments, or use a fixed size and a mask"]),
        (
            "JAX406",
            "import jax\n\nf = jax.jit(lambda x, n: x * n, static_argnums=1)\n\n\ndef run(x, many):\n"
            "    for n in range(many):\n        x = f(x, n)\n    return x\n",
            [
                "`n` of `f` changes",
                "each new value recompiles",
                "if a shape or a Python branch needs it, use few values",
            ],
        ),
        ("JAX804", "import jax\n\nx = jax.random.normal(seed=0, shape=(2,))\n", ["use `key=`"]),
        ("JAX804", "import jax\n\nf = jax.jit(abs, in_axis_resources=None)\n", ["use `in_shardings=`"]),
        ("JAX804", "import jax\n\nf = jax.jit(abs, static_argname='x')\n", ["check the name"]),
        ("JAX804", "import jax\n\nx = jax.random.normal(jax.random.key(0), seed=0)\n", ["check the name"]),
        ("JAX804", "import jax.numpy as jnp\n\nx = jnp.zeros(shap=(2,))\n", ["use `shape=`"]),
        (
            "JAX804",
            "import jax\n\nx = jax.random.normal((2,), key=jax.random.key(0))\n",
            ["`(2,)` stands in the place of `key`", "pass `key` first"],
        ),
        (
            "JAX706",
            "import jax\n\nloss = jax.numpy.zeros(3)\ngradient = jax.grad(loss)\n",
            ["its first argument is an array, which cannot be called"],
        ),
        (
            "JAX706",
            "import jax\n\n\n@jax.jit\ndef step(x, batch, rng):\n    return x + batch\n\n\nstep(1.0, 2.0, dropout_rng=3)\n",
            ["has no parameter `dropout_rng` and does not get `rng`, so the call raises TypeError; pass `rng`"],
        ),
        (
            "JAX105",
            "import jax\nimport jax.numpy as jnp\n\n\n@jax.jit\ndef total(tree):\n"
            "    return jax.tree.reduce(jnp.sum, tree)\n",
            ["`jax.tree.reduce` calls `jnp.sum` with a traced `axis`", "pass a function that takes only arrays"],
        ),
        (
            "JAX803",  # a table of releases in steps has 0.4.20 without it, and 0.4.27 with it
            '# /// script\n# dependencies = ["jax>=0.4.24"]\n# ///\nimport jax\n\nx = jax.NamedSharding\n',
            ["`jax.NamedSharding` needs JAX 0.4.27, but the project allows JAX 0.4.24; require jax>=0.4.27"],
        ),
        (
            "JAX701",
            "import jax.numpy as np\n\n\ndef f(n):\n    return np.zeros((n, 2), dtype=np.float64)\n",
            ["`np.zeros` (here jax.numpy) gives float32", "enable it or use float32"],
        ),
        (
            "JAX701",
            "import jax.numpy as jnp\n\n\ndef f(x):\n    return jnp.asarray(x).astype(jnp.int64) << 42\n",
            ["enable it, as `<< 42` does not fit in int32"],
        ),
        (
            "JAX301",
            CAPTURED.format(use="return noise(x) * noise(2 * x)"),
            ["captures the key `key` (used on line 5)", "make the key a parameter of `noise`"],
        ),
        (
            "JAX302",
            CAPTURED.format(use="for _ in range(9):\n        x = noise(x)\n    return x"),
            [
                "`noise` captures the key `key` and uses it unchanged on line 5",
                "make it a parameter and pass a new key in each iteration",
            ],
        ),
        (
            "JAX301",
            HELD,
            ["`second.key` was already split in `step` (called on line 15)", "pass each call its own key"],
        ),
        (
            "JAX509",
            "import time\n\nimport jax\n\n\ndef measure(a):\n    start = time.time()\n    jax.numpy.linalg.svd(a)\n"
            "    return time.time() - start\n",
            ["measures only the start of `jax.numpy.linalg.svd(a)`", "pass the result to jax.block_until_ready"],
        ),
        (
            "JAX414",
            "import jax.numpy as jnp\nimport optax\n\ntx = optax.sgd(0.1)\n\n\ndef step(p, s, g):\n"
            "    up, s = tx.update(g, s)\n    return optax.apply_updates(p, up), s\n\n\ndef main(p, batches):\n"
            "    s = tx.init(p)\n    for g in batches:\n        p, s = step(p, s, g)\n    return p\n",
            [
                "`tx.update(g, s)` runs outside jit in every iteration of a loop that calls `step` (line 15)",
                "jit `step`",
            ],
        ),
        (
            "JAX301",
            MAPPED,
            ["`keys` was already split in `start` (through the call on line 12)", "pass each call its own key"],
        ),
        (
            "JAX303",
            CAPTURED.format(use="key = jax.random.key(1)")
            + "    first, second = jax.random.split(key)\n    noise = jax.jit(make(key))\n    return noise(x), first, second\n",
            [
                "`key` was already split on line 12, and `noise` holds it and uses it again (on line 5)",
                "make `noise` with a new key",
            ],
        ),
        (
            "JAX301",
            EPOCHS,
            ["`key` was already used in `plot` (called on line 15) in the previous iteration"],
        ),
        (
            "JAX403",
            OUTER,
            [
                "but `axis` is passed for it and is traced here (`jax.jit` on line 9 traces `outer`)",
                "check the order of the arguments, or do not make `axis` static",
            ],
        ),
        (
            "JAX602",
            "import jax\n\n\n@jax.jit\ndef mean(x, axis_name='batch'):\n    return jax.lax.pmean(x, axis_name=axis_name)\n",
            ["binds axis 'batch' (the default of `axis_name`) of `jax.lax.pmean`", "jax.vmap(…, axis_name='batch')"],
        ),
        (
            "JAX801",
            "import flax\n\n\ndef train(optimizer: flax.optim.Optimizer):\n    return optimizer\n",
            ["removed `flax.optim.Optimizer`; use flax.training.train_state.TrainState"],
        ),
        (
            "JAX801",
            "from flax.optim import Adam, Optimizer\n",
            ["use optax.adam for `Adam` and flax.training.train_state.TrainState for `Optimizer`"],
        ),
        ("JAX801", "from jax.config import config\n", ["use jax.config itself"]),
        (
            "JAX105",
            PAD.format(size="jnp.array((used, 2))"),
            ["`jnp.array((used, 2))` makes a JAX array, which is traced here"],
        ),
        (
            "JAX703",
            "import jax.numpy as jnp\n\n\ndef angle(first, second):\n"
            "    return jnp.arccos((first / jnp.linalg.norm(first)) @ (second / jnp.linalg.norm(second)))\n",
            ["`jnp.arccos(…)` is NaN"],
        ),
        (
            "JAX303",
            CARRIED,
            ["In the previous iteration, line 14 passed this `key` to `inner`", "pass a new key there"],
        ),
    ],
)
def test_messages_say_what_is_meant(code: str, text: str, parts: list[str]) -> None:
    found = findings_of(PROJECT, {"main.py": text}).findings
    messages = [finding.message for finding in found if finding.code == code]
    assert len(messages) == 1
    assert [part for part in parts if part not in messages[0]] == [], messages[0]


_GLOSSARY = re.compile(
    r"(?<![A-Za-z])(anew|anybody|arms?|births?|born|kin|lanes?|moot|nobody|note_\w+|repair(s|ed)?|sheltered|somebody|transplant|twins?"
    r"|whoever)(?![A-Za-z])",
    re.IGNORECASE,
)
"""Words that the glossary of the code has replaced: branch, allocation trace, mapped axis, again, equivalent, track, fix …"""


def test_the_code_has_no_word_that_its_glossary_has_replaced() -> None:
    """Names, comments and docstrings; the examples of rules may have names of their own."""
    package = ROOT / "flake8_jax"
    texts = {
        path: path.read_text(encoding="utf-8") for path in package.rglob("*.py") if path.parent != package / "rules"
    }
    assert {str(path): found[0] for path, text in texts.items() if (found := _GLOSSARY.search(text))} == {}
