"""``jaxlint pytree``: variables and functions, as text, data and a picture."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import msgspec
import pytest
from runtime.measured import Command, command, data

from flake8_jax.cli.pytree import described
from flake8_jax.runtime_checks.measurements import Tree

pytestmark = pytest.mark.jax
jaxlint = pytest.fixture(command)

STATE = """\
import jax
import jax.numpy as jnp
import numpy as np
from typing import NamedTuple


class State(NamedTuple):
    params: dict
    key: jax.Array
    name: str


weight = jnp.ones((3, 4), jnp.bfloat16)
state = State({"<w>": weight, "tied": weight, "empty": None, "host": np.zeros(5)}, jax.random.key(0), "adam")
loop = []
loop.append(loop)


def init(key, width: int):
    return {"kernel": jax.random.normal(key, (width, width)), "bias": jnp.zeros(width)}
"""


def test_a_variable(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "state.py").write_text(STATE)
    status, found = data(jaxlint, "pytree", "state.py:state", "--svg", "state.svg")
    nodes = {node["path"]: node for node in found["nodes"]}
    assert status == 0 and found["bytes"] == 3 * 4 * 2 + 5 * 8 + 8  # tied weights count once
    assert nodes[""]["type"] == "State" and nodes[""]["bytes"] == found["bytes"]
    assert list(found["devices"].values()) == [32]
    assert (nodes[".params['<w>']"]["shape"], nodes[".params['<w>']"]["dtype"]) == ([3, 4], "bfloat16")
    assert nodes[".params['tied']"]["same_as"] == ".params['<w>']" and nodes[".params['host']"]["sharding"] == "host"
    assert nodes[".name"]["is_leaf"] and nodes[".name"]["shape"] is None
    assert not nodes[".params['empty']"]["is_leaf"]
    texts = [
        element.text for element in ElementTree.parse(tmp_path / "state.svg").iter() if element.tag.endswith("text")
    ]
    assert "['<w>']" in texts and "bfloat16[3,4]" in texts and "float64[5]" in texts
    out = described(msgspec.convert(found, Tree), 3)
    assert "bfloat16[3,4]" not in out.split("more nodes")[1] and "more nodes; --limit shows more" in out


def test_a_function_is_traced_unless_it_is_run(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "state.py").write_text(STATE)
    _, found = data(jaxlint, "pytree", "state.py:init", "--case", "key, 1000000")
    assert found["is_abstract"] and found["bytes"] == 4 * (10**12 + 10**6) and not found["devices"]
    _, out, _ = jaxlint("pytree", "state.py:init", "--case", "key, 8", "--run")
    assert "init(key, 8): 288 bytes in 2 leaves; jax" in out and "float32[8,8]" in out and ":0: 288 bytes" in out
    status, _, err = jaxlint("pytree", "state.py:loop")
    assert status == 2 and "the tree is deeper than 100 levels" in err
