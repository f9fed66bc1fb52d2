"""The conditions of safe fixes, asked of small projects: who calls a function, what a value surely is, who refers to it."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from fixers.fixtures import all_cases
from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._callers import Program
from flake8_jax.fixers._references import is_local_array
from flake8_jax.fixers._safety import selects_each_item_once
from flake8_jax.fixers._source import FixSource
from flake8_jax.fixers._staging import is_surely_array, is_surely_traced
from flake8_jax.fixers._versions import is_patched
from flake8_jax.knowledge.equivalents import equivalent_signature
from flake8_jax.rules import all_rules
from flake8_jax.syntax.lower import lower

HEAD = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n"


def project(**files: str) -> Program:
    texts = {f"/p/{name}.py": HEAD + textwrap.dedent(text) for name, text in files.items()}
    return Program([(path, text, lower(text)) for path, text in texts.items()])


def marked(source: FixSource) -> ir.Expr:
    """The argument of the one call of ``ASK``."""
    (found,) = [n for n in walk(source.module) if isinstance(n, ir.Call) and source.slice(n.func) == "ASK"]
    return found.args[0].value


HELPER = """
def helper(x, n=2):
    ASK(x)
    return x * n
"""
JITTED = """
@jax.jit
def step(x):
    return helper(x)
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (JITTED, True),
        ("", False),
        (JITTED + "def eager(x):\n    return helper(x)\n", False),
        (JITTED + "helper(np.ones(3))\n", False),
        (JITTED + "TABLE = [helper]\n", False),
        (JITTED + "print(helper)\n", False),
        (JITTED + "helper = jax.named_call(helper)\n", False),
        (JITTED + "__all__ = ['helper']\n", False),
        (JITTED + "@jax.jit\ndef constant(x):\n    return x + helper(np.ones(3))\n", False),
        (JITTED + "@jax.jit\ndef given(x):\n    return helper(n=3, x=x)\n", True),
        ("step = jax.jit(helper)\n", True),
        ("step = jax.jit(helper, static_argnums=0)\n", False),
        ("step = jax.jit(helper, static_argnames=NAMES)\n", False),
        ("step = jax.grad(helper)\n", True),
        ("step = jax.grad(helper, argnums=1)\n", False),
        ("step = jax.vmap(helper)\n", True),
        ("step = jax.vmap(helper, (None, 0))\n", False),
        ("def eager(xs):\n    return jax.lax.scan(helper, 0.0, xs)\n", True),
        ("def eager(x):\n    return jax.lax.switch(0, [helper, helper], x)\n", True),
        ("def eager(x):\n    return jax.pure_callback(helper, x, x)\n", False),
        ("def again(x):\n    return helper(other(x))\ndef other(x):\n    return again(x)\n", False),
    ],
)
def test_a_parameter_is_traced_where_every_caller_is_known_and_traces_it(text: str, expected: bool) -> None:
    source = project(module=HELPER + text).source("/p/module.py")
    assert is_surely_traced(source, marked(source)) is expected


def test_a_function_that_only_calls_itself_has_unknown_callers() -> None:
    text = "def helper(x):\n    ASK(x)\n    return helper(x)\n"
    source = project(module=text).source("/p/module.py")
    assert not is_surely_traced(source, marked(source))


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("x = 1\n", True),
        ("from module import helper\n@jax.jit\ndef f(x):\n    return helper(x)\n", True),
        ("from module import helper\nhelper(np.ones(3))\n", False),
        ("from module import helper as h\ndef f(x):\n    return h(x)\n", False),
        ("import module\ndef f(x):\n    return module.helper(x)\n", False),
        ("import module as m\n@jax.jit\ndef f(x):\n    return m.helper(x)\n", True),
        ("from module import *\ndef f(x):\n    return helper(x)\n", False),
        ("def helper(x):\n    return x\nhelper(3)\n", True),
        ("class A:\n    def helper(self):\n        return self.helper()\n", True),
    ],
)
def test_callers_in_other_files(other: str, expected: bool) -> None:
    source = project(module=HELPER + JITTED, other=other).source("/p/module.py")
    assert is_surely_traced(source, marked(source)) is expected


def test_an_alias_may_be_imported_from_a_third_file() -> None:
    program = project(
        module=HELPER + JITTED, second="from module import helper as h\n", third="from second import h\nh(np.ones(3))\n"
    )
    source = program.source("/p/module.py")
    assert not is_surely_traced(source, marked(source))


def test_a_project_that_is_a_library_itself_calls_its_own_functions() -> None:
    other = "from flax.module import helper\nhelper(np.ones(3))\n"
    texts = {"module": HELPER + JITTED, "other": other}
    files = [(f"/p/flax/{name}.py", HEAD + textwrap.dedent(text)) for name, text in texts.items()]
    source = Program([(path, text, lower(text)) for path, text in files]).source("/p/flax/module.py")
    assert not is_surely_traced(source, marked(source))


def test_a_module_inside_a_package_is_no_top_level_module() -> None:
    paths = ["/p/train.py", "/p/mine/__init__.py", "/p/mine/jumanji.py", "/p/tools/plots.py"]
    program = Program([(path, "", lower("")) for path in paths])
    names = ("train", "mine", "jumanji", "plots", "tools")
    assert [name for name in names if program.is_own(name)] == ["train", "mine", "plots", "tools"]


def test_what_a_package_exports_has_unknown_callers() -> None:
    program = project(module=HELPER + JITTED, __init__="from .module import helper\n")
    source = program.source("/p/module.py")
    assert not is_surely_traced(source, marked(source))


@pytest.mark.parametrize(
    ("body", "traced", "array"),
    [
        ("ASK(x)", True, True),
        ("ASK(x.shape)", False, False),
        ("ASK(x.T[0] + 1)", True, True),
        ("ASK(jnp.zeros(3))", True, True),
        ("ASK(jnp.array([1.0]))", False, True),
        ("ASK(np.ones(3))", False, False),
        ("ASK((x, 1))", False, False),
        ("ASK((x, -x))", True, False),
        ("y = x\n    if flag:\n        y = np.ones(3)\n    ASK(y)", False, False),
        ("y = x\n    y = y + 1\n    ASK(y)", True, True),
        ("a, b = jax.value_and_grad(g)(x)\n    ASK(a)", True, False),
        ("for row in x:\n        ASK(row)", True, True),
        ("x = np.asarray(x.shape)\n    ASK(x)", False, False),
    ],
)
def test_what_a_value_surely_is(body: str, traced: bool, array: bool) -> None:
    source = project(module=f"@jax.jit\ndef f(x, flag=False):\n    {body}\n").source("/p/module.py")
    assert (is_surely_traced(source, marked(source)), is_surely_array(source, marked(source))) == (traced, array)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = jnp.zeros(3); ASK(y); return y", True),
        ("y = jnp.array(x); ASK(y); return y", True),
        ("y = jnp.asarray(x); ASK(y); return y", False),
        ("y = x; ASK(y); return y", False),
        ("y = jnp.zeros(3); z = y; ASK(y); return z", False),
        ("y = jnp.zeros(3); z = y[1:]; ASK(y); return z", False),
        ("y = jnp.zeros(3); z = jnp.sum(y[1:]); ASK(y); return z, y", True),
        ("y = jnp.zeros(3); z = y.T + 1; ASK(y); return {'z': z, 'y': y}", True),
        ("y = jnp.zeros(3); keep(y); ASK(y); return y", False),
        ("y = jnp.zeros(3); self.y = y; ASK(y); return y", False),
        ("y = z = jnp.zeros(3); ASK(y); return y", False),
        ("y = jnp.zeros(3); ASK(y); return lambda: y", False),
        ("y = jnp.zeros(3) if x is None else jnp.ones(3); ASK(y); return y", True),
        ("y = jnp.zeros(3); y += 1; ASK(y); return y", True),
        ("y, z = jnp.zeros(3), 1; ASK(y); return y", False),
    ],
)
def test_arrays_that_one_name_alone_refers_to(body: str, expected: bool) -> None:
    source = project(module=f"def f(x, keep, self):\n    {body.replace('ASK(y)', 'y[ASK(0)] = 1')}\n").source(
        "/p/module.py"
    )
    (statement,) = [
        n for n in walk(source.module) if isinstance(n, ir.Assign) and isinstance(n.targets[0], ir.Subscript)
    ]
    target = statement.targets[0]
    assert isinstance(target, ir.Subscript) and isinstance(target.value, ir.Name)
    assert is_local_array(source, target.value, statement) is expected


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("0", True), ("-1", True), ("1:n", True), ("..., None, 2", True), ("i", True), ("i + 1", True), ("j", True),
        ("x.shape[0] - 1", True), ("len(x) // 2", True), ("n", False), ("x", False), ("[0, 0]", False), ("0, n", False),
    ],
)  # fmt: skip
def test_indices_that_select_an_item_once(index: str, expected: bool) -> None:
    text = f"def f(x, n):\n    for i in range(3):\n        for j, y in enumerate(x):\n            ASK(x[{index}])\n"
    source = project(module=text).source("/p/module.py")
    node = marked(source)
    assert isinstance(node, ir.Subscript)
    assert selects_each_item_once(source, node.index) is expected


def test_an_answer_ends_where_many_functions_call_each_other() -> None:
    text = "".join(f"def f{i}(x):\n    return " + " + ".join(f"f{j}(x)" for j in range(12)) + "\n" for i in range(12))
    source = project(module=text.replace("def f0(x):\n", "def f0(x):\n    ASK(x)\n")).source("/p/module.py")
    assert not is_surely_traced(source, marked(source))


def test_lines_of_the_table_of_equivalents() -> None:
    clip, unique, norm = (equivalent_signature(f"numpy.{name}") for name in ("clip", "unique", "linalg.norm"))
    assert clip is not None and unique is not None and norm is not None
    assert unique.parameters is None
    second = clip.at(1)
    assert second is not None and second.kind == "array" and clip.named("a_min") is None and clip.named("out") is None
    assert norm.named("keepdims") is not None and norm.at(9) is None
    assert equivalent_signature("numpy.nothing") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("with mock.patch.object(\n    utils.jax, 'host_id', return_value=0):\n    pass\n", True),
        ('@mock.patch("module.jax.host_id")\ndef test(fake):\n    pass\n', True),
        ("monkeypatch.setattr(jax, 'host_id', lambda: 1)\n", True),
        ("print(jax.host_id(), 'host_id')\n", False),
        ("mock.patch('absl.logging.info')\nLOGGED = 'host_id'\n", False),
    ],
)
def test_a_name_that_a_test_replaces(text: str, expected: bool) -> None:
    program = project(a="x = jax.host_id()\n", test_a=text)
    assert is_patched(program.source("/p/a.py"), "host_id") is expected


def test_the_documentation_names_the_rules_with_safe_fixes() -> None:
    page = (Path(__file__).parents[2] / "docs" / "fixing.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| (JAX\d+) \(`", page, re.MULTILINE))
    codes = {rule.name: rule.code for rule in all_rules()}
    without_a_fixer = {"JAX002"}  # its fix deletes a comment
    assert documented - without_a_fixer == {codes[case.rule] for case in all_cases() if case.safety == "safe"}
