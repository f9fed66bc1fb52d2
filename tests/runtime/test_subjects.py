"""Functions and inputs that the user's command has, and inputs from files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from runtime.measured import Command, command, data, remedies

from flake8_jax.runtime_checks.profile import VERSION, Profile, save

pytestmark = pytest.mark.jax
jaxlint = pytest.fixture(command)

NESTED = """\
import dataclasses
import sys
import jax
import jax.numpy as jnp

@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    w: jax.Array
    update: object = dataclasses.field(metadata={"static": True})

def make():
    return State(jnp.ones((4, 4)), lambda w, g: w - 0.1 * g)

def cases():
    yield make(), jax.ShapeDtypeStruct((2, 4), jnp.float32)

def main():
    power = int(sys.argv[1])

    def loss(w, x, name):
        assert name == "train"
        return jnp.mean((x @ w) ** power)

    @jax.jit
    def step(state, x):
        return dataclasses.replace(state, w=state.update(state.w, jax.grad(loss)(state.w, x, "train")))

    state = make()
    for number in range(9):
        if number == 5:
            state = dataclasses.replace(state, update=make().update)
        state = step(state, jnp.ones((2, 4)))
        print("step", number, file=open("log.txt", "a"))

@jax.jit
def plain(state, x):
    return x @ state.w

if __name__ == "__main__":
    main()
"""
RUN = ("--", "python", "nested.py", "2")


@pytest.fixture
def nested(jaxlint: Command, tmp_path: Path) -> Command:
    (tmp_path / "nested.py").write_text(NESTED)
    return jaxlint


def test_a_step_inside_of_main_with_the_state_it_had(nested: Command, tmp_path: Path) -> None:
    status, out, err = nested("recompiles", "nested.py:main.step", "--calls", "7", *RUN)
    assert status == 1, err
    assert "call 1: State(f32[4,4]), f32[2,4] (5 calls like this): compiled" in out
    assert "call 6: State(f32[4,4]), f32[2,4] (2 calls like this): RECOMPILED" in out
    assert "state.update is static, and each call has another function object" in out
    assert "JAX: * at input path [0][0], now" in out
    assert "of it temporary" in out
    assert (tmp_path / "log.txt").read_text().count("step") == 6, "the command ends when enough was seen"


def test_a_function_that_is_only_traced_gets_arrays_of_its_shapes(nested: Command) -> None:
    status, out, err = nested("probe", "nested.py:loss", *RUN)
    assert status == 0, err
    assert "inputs:  f32[4,4], f32[2,4], 'train' (arrays of the shapes that the command traced it with)" in out


TRAINED = """\
import jax, jax.numpy as jnp

@jax.jit
def loss(w):
    return jnp.sum(w**2)

@jax.jit
def step(w):
    return w - 0.1 * gradient(w)[1]

def powers(x, n):
    return x ** jnp.arange(n)

jax.jacrev(powers)(3.0, 4)
gradient = jax.value_and_grad(loss)
for _ in range(3):
    gradient(jnp.ones(3))
step(jnp.ones(3))
step(jax.device_put(jnp.ones(3), jax.devices()[0]))
"""


def test_a_function_under_a_gradient_is_measured_outside_of_it(jaxlint: Command, tmp_path: Path) -> None:
    """There a call takes a slower way, and nothing is traced or compiled by itself."""
    (tmp_path / "trained.py").write_text(TRAINED)
    _, out, err = jaxlint(
        "recompiles", "trained.py:loss", "--calls", "3", "--output-format", "json", "--", "python", "trained.py"
    )
    (case,) = json.loads(out)["cases"]
    assert case["counts"] == {"trace": 1, "lower": 1, "compile": 1} and case["alike"] == 3, err


def test_numbers_that_a_gradient_does_not_trace_are_static(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "trained.py").write_text(TRAINED)
    status, out, err = jaxlint("probe", "trained.py:powers", "--", "python", "trained.py")
    assert status == 0 and "inputs:  f32[], 4\n" in out and "output:  f32[4]" in out, out + err


SIMULATED = """\
import jax, jax.numpy as jnp

def step(grid, *, dims):
    return grid.reshape(dims).T.reshape(-1)

def simulate(grid, steps, **options):
    return jax.lax.scan(lambda g, _: (step(g, **options), None), grid, jnp.arange(steps))[0]

simulate(jnp.ones(6), 3, dims=(2, 3))
"""


@pytest.mark.parametrize("target", ["step", "simulate"])
def test_sizes_and_counts_are_static(jaxlint: Command, tmp_path: Path, target: str) -> None:
    """A tuple that the program passes while JAX traces, a keyword of ``**options``, and the length of a loop."""
    (tmp_path / "simulated.py").write_text(SIMULATED)
    status, out, err = jaxlint("probe", f"simulated.py:{target}", "--", "python", "simulated.py")
    assert status == 0 and "dims=(2, 3)" in out and "output:  f32[6]" in out, out + err


AGENTS = """\
import jax, jax.numpy as jnp

class Agent:
    def __init__(self):
        self.speed = 0.5
        self.state = None

    def __getattr__(self, name):
        if self.state and name in self.state:
            return self.state[name]
        raise AttributeError(name)

    def step(self, bounds):
        return jnp.clip(self.position + self.speed, *bounds)

agent = Agent()

def update(state):
    agent.state = state
    return agent.step(jnp.array([0.0, 1.0]))

print(jax.vmap(update)({"position": jnp.zeros((4, 3))}))
"""


@pytest.mark.parametrize("command", [("bench", "--seconds", "1"), ("recompiles",)])
def test_a_method_whose_object_holds_tracers(jaxlint: Command, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "agents.py").write_text(AGENTS)
    name, *options = command
    status, out, err = jaxlint(name, "agents.py:Agent.step", *options, "--", "python", "agents.py")
    assert status == 0 and "f32[2]" in out and "jitted here" in out, out + err


def test_inputs_of_one_text_are_told_apart(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "trained.py").write_text(TRAINED)
    _, out, err = jaxlint("probe", "trained.py:step", "--", "python", "trained.py")
    assert "inputs:  f32[3] (unlike call 1 in the devices or sharding of w)" in out, err


def test_more_kinds_of_inputs_than_are_kept(nested: Command, tmp_path: Path) -> None:
    (tmp_path / "grow.py").write_text(
        "import jax, jax.numpy as jnp\nf = jax.jit(jnp.sum)\nfor n in range(11):\n    f(jnp.ones(n + 1))\n"
    )
    status, out, err = nested("probe", "grow.py:f", "--", "python", "grow.py")
    assert status == 0 and out.count("inputs:") == 8, err
    assert "3 further calls had inputs of still other shapes, which are left out." in out


def test_the_command_of_a_profile(nested: Command) -> None:
    save(Profile(VERSION, list(RUN[1:]), {}, [], []), ".jaxlint/profile.json")
    status, out, err = nested(
        "bench", "nested.py:step", "--profile", ".jaxlint/profile.json", "--rounds", "3", "--calls", "2"
    )
    assert status == 0 and "State(f32[4,4]), f32[2,4] (2 calls like this)" in out
    assert (
        "running `python nested.py 2`, which .jaxlint/profile.json recorded, until it has called nested.py:step" in err
    )


def test_a_command_that_a_profile_holds_in_part(nested: Command) -> None:
    save(Profile(VERSION, ["python", "…/nested.py", "--token", "***"], {}, [], []), ".jaxlint/profile.json")
    status, _, err = nested("bench", "nested.py:step", "--profile", ".jaxlint/profile.json")
    assert status == 2 and "holds no secrets and no absolute paths" in err


def test_a_state_and_shapes_from_a_file(nested: Command) -> None:
    for words in (["bench", "--rounds", "3"], ["probe"]):
        status, found = data(nested, words[0], "nested.py:plain", "--cases", "nested.py", *words[1:])
        assert status == 0
        assert [case["inputs"] for case in found["cases"]] == ["State(f32[4,4]), f32[2,4]"]


def test_a_program_with_siblings_in_a_folder_that_is_no_package(jaxlint: Command, tmp_path: Path) -> None:
    folder = tmp_path / "my-scripts"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "helper.py").write_text("def scale(x):\n    return 2 * x\n")
    (folder / "program.py").write_text(
        "from helper import scale\ndef step(tree):\n    tree['n'] = scale(tree['n'])\n    return tree\n"
        "def cases():\n    return [({'n': 3},), ({'n': 4},)]\n"
    )
    program = "my-scripts/program.py"
    status, out, err = jaxlint("recompiles", f"{program}:step", "--cases", program)
    assert status == 0 and "None of 1 later call recompiled." in out, err
    assert "jitted here, which loses its changes to tree" in out


def test_typed_and_legacy_keys(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "keys.py").write_text("import jax\ndraw = jax.jit(lambda rng: jax.random.normal(rng, (3,)))\n")
    _, found = data(jaxlint, "recompiles", "keys.py:draw", "--case", "key", "--case", "legacy-key")
    assert remedies(found["cases"][1]) == ["make rng in the same way in every call, with jax.random.key"]


def test_a_module_that_the_interpreter_lacks(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "lacking.py").write_text("import no_such_module\n\ndef step(x):\n    return x\n")
    status, _, err = jaxlint("probe", "lacking.py:step", "--", "python", "lacking.py")
    assert status == 2 and "No module named 'no_such_module'" in err, err
    assert "ran it: name another interpreter with `--python`" in err, err


@pytest.mark.parametrize(("loop", "said"), [("jax.lax.fori_loop(0, 9, lambda i, y: y @ y, x)", True), ("x @ x", False)])
def test_the_body_of_a_loop_is_counted_once(loop: str, said: bool, jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(f"import jax\n\n@jax.jit\ndef step(x):\n    return {loop}\n")
    for words in (["probe"], ["bench", "--seconds", "0.2"]):
        _, out, err = jaxlint(*words, "loop.py:step", "--case", "f32[64,64]")
        assert ("counts the body of a loop (scan, fori_loop, while_loop) once" in out) is said, (out, err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nested.py:main.nothing", *RUN], "the file has no function main.nothing; it has make, cases, main"),
        (["nested.py:plain", *RUN], "the command never called it (it ended)"),
        (["nested.py:main.step", "--", "python", "nested.py"], "(it ended with IndexError: list index out of range)"),
        (["nested.py:main.power", *RUN], "main.power was never given a function"),
        (["nested.py:main.step", "--case", "3", *RUN], "--case and --cases name inputs, and the command gives its own"),
        (["nested.py:main.step", "--"], "there is no command after `--`"),
        (["nested.py:main.step", "--profile", "no.json"], "no.json: No such file or directory"),
    ],
)
def test_wrong_calls(nested: Command, arguments: list[str], message: str) -> None:
    status, out, err = nested("probe", *arguments)
    assert (status, out) == (2, "")
    assert message in err
