"""``jaxlint recompiles``: which calls compile again, why, and what avoids it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from runtime.measured import Command, command, data, remedies

from flake8_jax.cli.recompiles import described, made_again
from flake8_jax.runtime_checks.child.cache_keys import Leaf, _leaves
from flake8_jax.runtime_checks.measurements import Recompiles
from flake8_jax.runtime_checks.profile import Compilation, Profile

pytestmark = pytest.mark.jax
jaxlint = pytest.fixture(command)

CASES = """\
import jax
import jax.numpy as jnp

class Config:
    def __repr__(self):
        return "Config()"

@jax.jit
def total(batch):
    return jax.tree_util.tree_reduce(jnp.add, batch)

import functools
@functools.partial(jax.jit, static_argnums=1)
def scaled(x, config):
    return x * 2

def cases():
    yield jnp.ones(3), Config()
    yield (jnp.ones(3),), {"config": Config()}
"""


@pytest.mark.parametrize(
    ("now", "before", "kept"),
    [
        (Leaf("float32", (), False), Leaf("int32", (), True, python="int"), "float32"),
        (Leaf("int32", (), True, python="int"), Leaf("float32", (), False), "float32"),
        (Leaf("float32", (3,), False), Leaf("int32", (3,), False), "float32"),
        (Leaf("float32", (3,), False), Leaf("float16", (3,), False), "float16"),
    ],
)
def test_the_advice_names_a_dtype_that_all_calls_can_pass(now: Leaf, before: Leaf, kept: str) -> None:
    (found,) = _leaves("x", now, before)
    assert found.remedy == f"convert it before the call: jnp.asarray(x, jnp.{kept})"


def test_shapes_dtypes_weak_types_and_passing(jaxlint: Command) -> None:
    cases = ["f32[8,8], f32[4,8]", "f32[8,8], f32[4,8]", "f32[8,8], f32[5,8]", "weak(f32[8,8]), f32[4,8]",
             "f32[8,8], x=f32[4,8]", "f32[8,8], i32[4,8]"]  # fmt: skip
    status, found = data(jaxlint, "recompiles", "train.py:loss", *(part for case in cases for part in ("--case", case)))
    assert status == 1 and found["mode"] == "jitted here"
    first, same, shape, weak, keyword, dtype = found["cases"]
    assert first["compiled"] and not first["differences"]
    assert not same["compiled"] and set(same["counts"].values()) == {0}
    for case in (first, shape, weak, dtype):
        assert case["counts"]["compile"] == 1
    assert "pad axis 0 of x to one size for all calls, here f32[5,8]" in remedies(shape)[0]
    assert remedies(weak) == ["this call passes a weak type, as Python numbers have: pass jnp.asarray(w, jnp.float32)"]
    assert remedies(keyword) == ["pass x by position in every call"]
    assert remedies(dtype) == ["convert it before the call: jnp.asarray(x, jnp.float32)"]
    assert "now f32[5,8] and before f32[4,8]" in shape["explanation"]
    one_kind = msgspec.convert({**found, "cases": [{**first, "alike": 6}]}, Recompiles)
    assert "All 6 calls that were looked at share this compilation." in described(one_kind)
    called = [{**case, "label": f"call {number}", "alike": 2} for number, case in ((1, first), (2, weak))]
    called[1]["compared_with"] = "call 1"
    of_command = described(msgspec.convert({**found, "cases": called}, Recompiles))
    assert ", but f32[8,8] in call 1\n" in of_command and "1 of 1 later kind of calls recompiled." in of_command


def test_static_values_from_a_table(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "cases.toml").write_text(
        '[[cases]]\ninputs = "f32[8], 2"\n[[cases]]\ninputs = "f32[8], 3"\nname = "three"\n'
    )
    status, out, _ = jaxlint("recompiles", "train.py:repeated", "--case", "f32[8], 2", "--cases", "cases.toml")
    assert status == 1
    assert "repeated (train.py:20), jitted, static: n" in out
    assert "2: f32[8], 2: from the cache" in out
    assert "three: f32[8], 3: RECOMPILED" in out
    assert "n: 3, but 2 in case 1" in out
    assert "every new value of the static n compiles" in out
    assert "1 of 2 later calls recompiled." in out


def test_what_looks_the_same_but_is_not(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "shapes.py").write_text(CASES)
    status, found = data(jaxlint, "recompiles", "shapes.py:scaled", "--cases", "shapes.py")
    assert status == 1 and found["static"] == ["config"]
    kinds = [difference["kind"] for difference in found["cases"][1]["differences"]]
    assert kinds == ["passing", "static-identity"]
    assert "give Config __eq__ and __hash__" in remedies(found["cases"][1])[1]


def test_structures(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "shapes.py").write_text(CASES)
    cases = ['{"a": f32[]}', '{"a": f32[], "b": f32[]}', "[f32[]]", "[f32[], f32[]]", "[1, 2]"]
    status, found = data(
        jaxlint, "recompiles", "shapes.py:total", *(part for case in cases for part in ("--case", case))
    )
    assert status == 1
    said = [remedies(case) for case in found["cases"]]
    assert "(the keys 'b' are in one only)" in said[1][0]
    assert "it had 1 items and has 2): stack them in one array" in said[3][0]
    assert [where["where"] for where in found["cases"][4]["differences"]] == ["batch[0]", "batch[1]"]
    assert found["cases"][4]["compared_with"] == "4"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say the inputs of the calls"),
        (["--cases", "no.toml"], "--cases no.toml: there is no such file"),
        (["--cases", "bad.toml"], "bad.toml: it has no `cases"),
        (["--cases", "train.py"], "train.py has no function cases()"),
        (["--case", "f32[8"], "`f32[8`, column"),
        (["--case", "f32[8,8], f32[2,9]"], "step(f32[8,8], f32[2,9]) raised TypeError: dot_general requires"),
    ],
)
def test_wrong_calls(jaxlint: Command, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "bad.toml").write_text("case = 1\n")
    status, out, err = jaxlint("recompiles", "train.py:step", *arguments)
    assert (status, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(("count", "cause"), [(6, "another function"), (1, "another function"), (6, "other types")])
def test_functions_of_one_name_in_a_recorded_run(count: int, cause: str) -> None:
    why = f"never seen function: func, but seen {cause} defined on the same line"
    compiled = Compilation("func", "train.py", 46, "<module>", count, 0.5, [why])
    said = made_again("train.func", 1, Profile(1, [], {}, [], [compiled]))
    assert ("compiled `func` 6 times" in said) == (count == 6 and cause == "another function"), said
