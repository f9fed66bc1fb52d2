"""Recording which parameters are tracers: the plugin and the command, over a small project with tests of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flake8_jax.runtime_checks.profile import VERSION, Function, Profile, load, save

pytestmark = pytest.mark.jax

ROOT = Path(__file__).parents[2]
OWN_FUNCTION = "test_lib.py::test_a_profile_function_of_its_own"

LIBRARY = """
import functools
import jax


def clip(x, limit, *rest, **more):
    return x * limit


@functools.partial(jax.jit,
                   static_argnames="limit")
def step(tree, limit, key):
    def inner(z):
        return clip(z, limit)
    jax.random.normal(key)
    return jax.tree.map(inner, tree)


def cube(x):
    return x ** 3


def numbers(x):
    x = jax.numpy.zeros(3) if x is None else x
    yield 1
    x = 2
    yield x


def look(value):
    pass


class Plain:
    def method(self, x):
        return x
"""

TESTS = """
import sys
import jax
import lib


def test_a_profile_function_of_its_own():
    sys.setprofile(None)


def test_all():
    lib.step({"a": jax.numpy.ones(3)}, 2.0, jax.random.key(0))
    jax.grad(lib.cube)(2.0)
    lib.cube(2.0)
    list(lib.numbers(3))
    lib.Plain().method([jax.numpy.ones(3)])
    cyclic = []
    cyclic.append(cyclic)
    lib.look(cyclic)
    lib.look({1: 0, "a": 0})
    lib.look([({"a": jax.numpy.ones(1)},), None])
    jax.vmap(lib.Plain().method)(jax.numpy.ones(3))
"""


@pytest.fixture(scope="module", params=["plugin", "record"])
def record(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The functions of ``lib.py`` in the profile, by name; once by the plugin, once by the command."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "lib.py").write_text(LIBRARY)
    (folder / "test_lib.py").write_text(TESTS)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder)]), "JAX_PLATFORMS": "cpu"}
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder), "test_lib.py"]
    if request.param == "plugin":
        plugin = ["-p", "flake8_jax.runtime_checks.pytest_plugin", "--jaxlint-root", str(folder)]
        command = [sys.executable, "-m", "pytest", *plugin, *options]
    else:
        command = [sys.executable, "-m", "flake8_jax", "record", "--", "pytest", "--deselect", OWN_FUNCTION, *options]
    done = subprocess.run(command, check=False, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    if request.param == "plugin":
        assert f"the recording stopped within {OWN_FUNCTION}" in done.stdout
    profile = json.loads((folder / ".jaxlint" / "profile.json").read_text())
    assert profile["version"] == 1
    assert str(folder) not in json.dumps(profile["functions"])
    rows = profile["functions"]
    return {row["qualname"].rsplit(".", 1)[-1]: row for row in rows if row["filename"] == "lib.py"}


def test_abstract_tracers_trees_keys_and_statics(record: dict[str, dict[str, Any]]) -> None:
    step = record["step"]
    assert step["params"] == {"tree": {"tree": 1}, "limit": {"other": 1}, "key": {"traced": 1, "key": 1}}
    assert step["staged_calls"] == step["ambient_calls"] == step["calls"] == 1
    clip = record["clip"]["params"]
    assert clip == {"x": {"traced": 1}, "limit": {"other": 1}, "rest": {"other": 1}, "more": {"other": 1}}


def test_the_line_is_the_first_decorators(record: dict[str, dict[str, Any]]) -> None:
    assert record["step"]["line"] == 1 + LIBRARY.split("\n").index("@functools.partial(jax.jit,")


def test_grad_alone_traces_concretely(record: dict[str, dict[str, Any]]) -> None:
    cube = record["cube"]
    assert cube["params"] == {"x": {"concrete": 1, "other": 1}}
    assert (cube["calls"], cube["staged_calls"], cube["ambient_calls"]) == (2, 1, 0)


def test_a_resumed_generator_is_not_called_again(record: dict[str, dict[str, Any]]) -> None:
    assert record["numbers"]["params"]["x"].keys() == {"other"}
    assert record["numbers"]["calls"] <= 2


def test_vmap_is_staged_but_not_ambient(record: dict[str, dict[str, Any]]) -> None:
    method = record["method"]
    assert method["params"]["x"] == {"array": 1, "traced": 1}
    assert (method["staged_calls"], method["ambient_calls"]) == (1, 0)


def test_only_functions_are_recorded(record: dict[str, dict[str, Any]]) -> None:
    assert not {"<module>", "Plain", "<listcomp>"} & record.keys()


def test_lists_in_themselves_and_trees_that_cannot_be_flattened(record: dict[str, dict[str, Any]]) -> None:
    assert record["look"]["params"]["value"] == {"other": 1, "unflattenable": 1, "array": 1}


LOGGED = """
import logging

import jax
import jax.numpy as jnp

logging.basicConfig()


class Shy:
    def __getattr__(self, name):
        print("asked for", name)
        raise AttributeError(name)

    @property
    def dtype(self):
        print("asked for dtype")


@jax.jit
def double(x):
    return 2 * x


def look(shy):
    pass


for size in range(1, 4):
    double(jnp.ones(size))
look(Shy())
print("done")
"""


def test_a_program_prints_what_it_prints_without(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(LOGGED)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "flake8_jax", "record", "--", "python", "main.py"]
    done = subprocess.run(command, check=True, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.stdout == "done\n"
    assert "WARNING" not in done.stderr and "asked for" not in done.stdout, (done.stdout, done.stderr)
    profile = json.loads((tmp_path / ".jaxlint" / "profile.json").read_text())
    look = next(row for row in profile["functions"] if row["qualname"] == "look")
    assert look["avals"]["shy"] == ["__main__.Shy"] and look["last"] == look["line"] + 1
    assert any(one["causes"] for one in profile["compilations"])


@pytest.mark.parametrize("way", ["plugin", "record"])
def test_workers_of_xdist_are_recorded_as_one(way: str, tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    (tmp_path / "lib.py").write_text("import jax\n\n\n@jax.jit\ndef double(x):\n    return 2 * x\n")
    for name in ("a", "b"):
        test = f"import lib\n\n\ndef test_{name}():\n    lib.double(1.0)\n    lib.double([1.0][0])\n"
        (tmp_path / f"test_{name}.py").write_text(test)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]), "JAX_PLATFORMS": "cpu"}
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        str(tmp_path),
        "-n",
        "2",
        "--dist",
        "loadfile",
    ]
    plugin = ["-p", "flake8_jax.runtime_checks.pytest_plugin", "--jaxlint-root", str(tmp_path)]
    commands = {
        "plugin": [sys.executable, "-m", "pytest", *plugin, *options],
        "record": [sys.executable, "-m", "flake8_jax", "record", "--", "pytest", *options],
    }
    done = subprocess.run(
        [*commands[way], str(tmp_path)], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    profile = json.loads((tmp_path / ".jaxlint" / "profile.json").read_text())
    (double,) = [row for row in profile["functions"] if row["qualname"] == "double"]
    assert (double["calls"], double["params"]) == (2, {"x": {"traced": 2}}), double
    compiled = [one["filename"] for one in profile["compilations"] if one["name"] == "jit(double)"]
    assert compiled == [] if way == "plugin" else sorted(compiled) == ["test_a.py", "test_b.py"]
    assert (tmp_path / ".jaxlint" / ".gitignore").read_text() == "*\n"


def test_a_program_fails_as_it_fails_without(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("def f():\n    raise RuntimeError('no data')\n\n\nprint(input())\nf()\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    given = {"cwd": tmp_path, "env": env, "capture_output": True, "text": True, "check": False, "input": "hello\n"}
    plain = subprocess.run([sys.executable, "main.py"], **given)  # type: ignore[call-overload]
    command = [sys.executable, "-m", "flake8_jax", "record", "--", "python", "main.py"]
    done = subprocess.run(command, **given)  # type: ignore[call-overload]
    assert (done.stdout, done.returncode) == (plain.stdout, plain.returncode) == ("hello\n", 1)
    trace = done.stderr.partition("jaxlint: ")[0]
    assert trace.replace(f"{tmp_path}/", "") == plain.stderr.replace(f"{tmp_path}/", ""), done.stderr


def test_an_empty_profile_does_not_replace_one_that_says_something(tmp_path: Path) -> None:
    path = tmp_path / ".jaxlint" / "profile.json"
    one = Function("lib.py", "f", 1, 1, 0, 0, 1, {})
    assert save(Profile(VERSION, [], {}, [], []), str(path)), "there is none yet"
    assert save(Profile(VERSION, [], {}, [one], []), str(path))
    assert not save(Profile(VERSION, [], {}, [], []), str(path))
    assert load(str(path)).functions[0].qualname == "f"
