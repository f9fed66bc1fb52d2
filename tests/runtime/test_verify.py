"""``verify`` confirms what the rules' own pages demonstrate, and nothing of what works."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest
from support.jax_programs import Program
from support.pages import Example, parse_page

from flake8_jax.cli.verify import summary
from flake8_jax.rules import all_rules
from flake8_jax.runtime_checks.child.watching import replaced_at
from flake8_jax.runtime_checks.observations import Spot
from flake8_jax.runtime_checks.oracles import all_oracles
from flake8_jax.runtime_checks.sandbox import Limits
from flake8_jax.runtime_checks.verify import Asked, Workload, verify

DRIVER = """
import importlib, pathlib, sys

for folder in sorted(pathlib.Path(__file__).parent.glob("*/")):
    if not (folder / "ENTRY").exists():
        continue
    sys.path.insert(0, str(folder))
    entry = (folder / "ENTRY").read_text()
    try:
        importlib.import_module(entry).demonstrate()
    except Exception as error:
        print(folder.name, type(error).__name__, error)
    sys.path.remove(str(folder))
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_enable_x64", False)
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]
"""


def examples(mode: str) -> list[tuple[str, Example]]:
    """The examples that show a defect on JAX, of the rules that are proved in this way."""
    return [
        (rule.name, example)
        for rule in all_rules()
        if rule.name in all_oracles() and all_oracles()[rule.name].mode == mode
        for example in parse_page(rule.doc).examples
        if example.kind == "bad" and example.oracle_file is not None and not _missing(example)
    ]


def _missing(example: Example) -> list[str]:
    """Libraries that the example imports and that are not installed."""
    return Program("", Path(__file__), "", texts=tuple(file.text for file in example.files)).missing()


SHOWN_OTHERWISE = {
    "removed-api": "the names are gone only in the newest JAX, and the first that fails ends the import",
    "deprecated-api": "whether JAX warns depends on its version",
    "leftover-debug": "the page shows what one of its three lines leads to",
    "sync-in-loop": "on a CPU, the arrays of its small examples are ready before they are read",
}
"""Rules whose page demonstrates the defect in another way than by running every labelled line."""


@pytest.mark.jax
@pytest.mark.parametrize("mode", sorted({oracle.mode for oracle in all_oracles().values()}))
def test_examples_of_the_manual_are_confirmed(mode: str, tmp_path: Path) -> None:
    asked: list[Asked] = []
    for number, (rule, example) in enumerate(examples(mode)):
        if rule in SHOWN_OTHERWISE:
            continue
        folder = tmp_path / f"{number:02}-{rule}"
        for file in example.files:
            path = folder / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text, encoding="utf-8")
        assert example.oracle_file is not None
        (folder / "ENTRY").write_text(example.oracle_file.removesuffix(".py").replace("/", "."))
        labels = [label for label in example.labels if label.rule == rule]
        labels = sorted(labels, key=lambda label: (label.file, label.row))
        labels = labels[:1] if mode == "nans" else labels  # JAX stops at the first NaN
        asked += [Asked(rule, Spot(str(folder / label.file), label.row, label.row)) for label in labels]
    (tmp_path / "driver.py").write_text(DRIVER)
    workload = Workload(("python", str(tmp_path / "driver.py")), (str(tmp_path),), str(tmp_path), target="cpu",
                        limits=Limits(240, enough=240 if mode == "keys" else None))  # fmt: skip
    found = verify(asked, workload)
    wrong = [
        f"{Path(one.spot.path).parent.name}:{one.spot.first} {verdict.verdict}: {verdict.reason}"
        for one, verdict in zip(asked, found.verdicts, strict=True)
        if verdict.verdict not in ("confirmed", *(["confirmed-elsewhere"] if mode == "nans" else []))
    ]
    assert asked
    assert not wrong, "\n".join([*wrong, *found.notes])


PROGRAM = """
import jax
import jax.numpy as jnp


@jax.jit
def clip(x, limit):
    if limit > 0:
        x = jnp.minimum(x, limit)
    return x


@jax.jit
def half(x):
    if x > 0:
        return x / 2
    return x
"""


BOTH = """

@jax.jit
def both(x, y):
    if x > 0:
        x = -x
    if y > 0:
        y = -y
    return x, y


def noise(key):
    return jax.random.normal(key) + jax.random.uniform(key)
"""


def project(tmp_path: Path, main: str) -> Path:
    (tmp_path / "lib.py").write_text(PROGRAM)
    (tmp_path / "main.py").write_text(main)
    (tmp_path / "jaxlint.toml").write_text("")
    return tmp_path


def call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "flake8_jax", "verify", "--no-cache", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.jax
def test_verdicts_in_json_and_exit_status(tmp_path: Path) -> None:
    main = "import threading, lib\n\nthread = threading.Thread(target=lib.both, args=(1.0, 2.0))\nthread.start()\n"
    folder = project(tmp_path, main + "thread.join()\nlib.clip(1.0, 2.0)\n")
    (folder / "lib.py").write_text(PROGRAM + BOTH)
    done = call(folder, "--output-format", "json", "lib.py", "--", "python", "main.py")
    first, half, above, below, reused = json.loads(done.stdout)
    assert done.returncode == 1
    assert first["verdict"]["verdict"] == "confirmed"
    assert first["verdict"]["details"]["exception"]["type"] == "TracerBoolConversionError"
    assert first["verdict"]["details"]["row"] == first["location"]["row"] == 8
    assert first["verdict"]["target"] == "cpu"
    assert first["verdict"]["details"]["versions"]["backend"] == "cpu"
    assert first["verdict"]["details"]["reproduce"].endswith("lib.py --select JAX101 -- python main.py")
    why = "the line did not run; the command ended with TracerBoolConversionError"
    assert half["verdict"]["verdict"] == reused["verdict"]["verdict"] == "blocked"
    assert half["verdict"]["reason"].startswith(why) and reused["verdict"]["reason"].startswith(why)
    assert done.stderr.count("the command ended with") == done.stderr.count("running `python main.py`") == 1
    assert (above["verdict"]["verdict"], below["verdict"]["verdict"]) == ("confirmed", "confirmed-elsewhere")
    assert below["verdict"]["reason"].startswith("line 22 of the same function: TracerBoolConversionError")


@pytest.mark.jax
def test_what_works_is_refuted(tmp_path: Path) -> None:
    folder = project(tmp_path, "import jax, lib\nwith jax.disable_jit():\n    lib.clip(1.0, 2.0)\n")
    done = call(folder, "lib.py", "--require", "confirmed", "--", "python", "main.py")
    assert "refuted [cpu]: the line ran once (eager), never under `jit`, and raised nothing" in done.stdout
    assert "1 refuted, 1 inconclusive (jax " in done.stdout
    assert done.returncode == 1


@pytest.mark.jax
@pytest.mark.parametrize(
    ("main", "words", "said"),
    [
        ("import os; os._exit(7)", [], "ended with status 7"),
        ("import time; time.sleep(60)", ["--for", "1.5s"], "as it is: ended after 2 s"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", [], "it was killed by SIGKILL"),
        ("import time; time.sleep(60)", ["--timeout", "1.5"], "it ran longer than 1.5 s"),
        ("x = bytearray(3 << 30)", ["--memory", "1024"], "it ran out of memory, the limit is 1024 MiB"),
        ("raise RuntimeError('no data')", [], "the command ended with RuntimeError: no data"),
        ("import sys; sys.settrace(None)", [], "set its own trace function"),
    ],
)
def test_survives_whatever_the_command_does(tmp_path: Path, main: str, words: list[str], said: str) -> None:
    done = call(project(tmp_path, main), "lib.py", *words, "--", "python", "main.py")
    assert said in done.stderr
    assert done.returncode == 0, done.stderr
    assert ("2 blocked" if "no data" in said else "2 inconclusive") in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lib.py", "--"], "there is no command after `--`"),
        (["lib.py", "--", "ls"], "`ls` is not a Python program"),
        (["lib.py", "--", "python", "none.py"], "none.py: there is no such script"),
        (["lib.py", "--python", "/nowhere/python", "--", "python", "main.py"], "cannot be started"),
        (["none.py", "--", "python", "main.py"], "none.py: there is no such file"),
    ],
)
def test_wrong_calls(tmp_path: Path, words: list[str], said: str) -> None:
    done = call(project(tmp_path, ""), *words)
    assert said in done.stderr
    assert done.returncode == 2


@pytest.mark.jax
def test_without_a_command_functions_are_called(tmp_path: Path) -> None:
    done = call(project(tmp_path, ""), "lib.py", "--output-format", "json")
    verdicts = [item["verdict"] for item in json.loads(done.stdout)]
    assert [v["verdict"] for v in verdicts] == ["confirmed", "confirmed"], done.stderr
    assert {v["inputs"] for v in verdicts} == {"synthesised"}
    assert verdicts[1]["details"]["inputs"].startswith("half(")


@pytest.mark.jax
def test_a_profile_gives_the_inputs(tmp_path: Path) -> None:
    main = (
        "import lib\n\n\ndef main():\n    try:\n        lib.clip(1.0, 2.0)\n    except Exception:\n        pass\n\n\n"
    )
    folder = project(tmp_path, main + "main()\n")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "flake8_jax", "record", "--root", "lib.py", "--", "python", "main.py"]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    done = call(folder, "lib.py", "--profile", ".jaxlint/profile.json", "--output-format", "json")
    first = json.loads(done.stdout)[0]["verdict"]
    assert (first["verdict"], first["inputs"]) == ("confirmed", "recorded")
    assert first["details"]["inputs"] == "clip(f32[], f32[])"


@pytest.mark.jax
def test_a_device_that_is_not_here(tmp_path: Path) -> None:
    main = "import lib\n\nlib.clip(1.0, 2.0)\n"
    done = call(
        project(tmp_path, main), "lib.py", "--target", "tpu", "--output-format", "json", "--", "python", "main.py"
    )
    verdict = json.loads(done.stdout)[0]["verdict"]
    assert "there is no tpu device here: tracing on cpu instead" in done.stderr
    assert (verdict["verdict"], verdict["mode"], verdict["target"]) == ("confirmed", "lower", "tpu, traced on cpu")


ENDLESS = """
import os, subprocess, sys, threading, time
import lib

helpers = [subprocess.Popen(["sleep", "300"], start_new_session=new) for new in (False, True)]
threading.Thread(target=lib.clip, args=(1.0, 2.0)).start()
while "lib" not in sys.modules or threading.active_count() > 2:
    time.sleep(0.1)
with open("pids.new", "w") as file:
    print(os.getpid(), *(helper.pid for helper in helpers), file=file)
os.rename("pids.new", "pids")
time.sleep(300)
"""


@pytest.mark.jax
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, processes that leave their group are not found")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_a_signal_keeps_what_was_seen_and_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    folder = project(tmp_path, ENDLESS)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "flake8_jax", "verify", "--no-cache", "lib.py", "--", "python", "main.py"]
    process = subprocess.Popen(
        command, cwd=folder, env={**environment, "TMPDIR": str(scratch)}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (folder / "pids").exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    children = (folder / "pids").read_text().split()
    process.send_signal(getattr(signal, name))
    said, _ = process.communicate(timeout=30)
    assert process.returncode == {"SIGINT": 130, "SIGTERM": 143, "SIGKILL": -9}[name]
    assert ("1 confirmed" in said) == (name != "SIGKILL"), said
    while any(_is_alive(child) for child in children) or list(scratch.iterdir()):
        assert time.monotonic() < deadline, (children, list(scratch.iterdir()))
        time.sleep(0.05)


def _is_alive(number: str) -> bool:
    """Whether a process runs; one that nobody has fetched yet does not."""
    try:
        return Path("/proc", number, "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_the_summary_of_a_run_without_a_device() -> None:
    versions = {"jax": "0.10.2", "problem": "Unable to initialize backend 'cuda'"}
    assert summary(Counter(inconclusive=2), versions) == "2 inconclusive (jax 0.10.2, no device)"


LOST = """
import jax
import jax.numpy as jnp


@jax.jit
def growth(rate):
    return 3 * jnp.log(1 + rate)


@jax.jit
def shift(rate):
    return 3 * jnp.log(1 + rate)


growth(1e-8)
shift(0.5)
"""
NO_GRADIENT = """
import jax
import jax.numpy as jnp


def far(x):
    return jnp.sum(1.0 / (1.0 + jnp.exp(-x)))


def near(x):
    return jnp.sum(1.0 / (1.0 + jnp.exp(-x)))


jax.grad(far)(-jnp.arange(200.0))
jax.grad(near)(jnp.arange(3.0))
"""


@pytest.mark.jax
@pytest.mark.parametrize(
    ("program", "said"),
    [(LOST, "differs from the stable one by up to 100.0% of an element"), (NO_GRADIENT, "the gradient of the formula")],
    ids=["digits", "gradient"],
)
def test_formulas_are_compared_on_the_values_of_the_run(program: str, said: str, tmp_path: Path) -> None:
    folder = project(tmp_path, "import formulas\n")
    (folder / "formulas.py").write_text(program.lstrip())
    words = ("--select", "JAX703", "--preview", "--for", "60", "--output-format", "json", "--", "python", "main.py")
    done = call(folder, "formulas.py", *words)
    verdicts = [item["verdict"] for item in json.loads(done.stdout)]
    assert [verdict["verdict"] for verdict in verdicts] == ["confirmed", "inconclusive"]
    assert said in verdicts[0]["reason"]
    assert "the formula and the stable one agree" in verdicts[1]["reason"]


USED = """
import jax
import jax.numpy as jnp


def gradient_only(x):
    return jnp.sum(jnp.log(1 + x))


def dropped(x):
    y = jnp.log(1 + x)
    return 2 * x


def deselected(x):
    y = jnp.log(1 + x)
    return jnp.where(x > 0.1, y, 0.0)


def beside_the_loss(x):
    y = jnp.log(1 + x)
    return jnp.sum(x), y


def with_value(x):
    y = jnp.log(1 + x)
    return jnp.mean(y)


def printed(x):
    y = jnp.log(1 + x)
    print(y)
    return 2 * x


small = jnp.array([1e-9, 1e-8])
jax.jit(jax.jacrev(gradient_only))(small)
dropped(small)
deselected(small)
jax.grad(beside_the_loss, has_aux=True)(small)
jax.value_and_grad(with_value)(small)
printed(small)
"""

WITH_EFFECTS = """
import jax
import jax.numpy as jnp
import numpy as np

added, copied, summed, total = np.zeros((4, 1), "float32")
seen = []


class Rates:
    @property
    def factor(self):
        seen.append("factor")
        return 1.0


def count(rate):
    seen.append("count")
    return rate


def near(x):
    return jnp.log(1 + x)


def at(x):
    np.add.at(added, [0], jnp.log(1 + x))


def copyto(x):
    np.copyto(copied, jnp.log(1 + x), where=copied == 0)


def keyword(x):
    np.add(summed, jnp.log(1 + x), out=summed)


def positional(x):
    np.add(total, jnp.log(1 + x), total)


def save(x):
    with open("rates.npy", "wb") as file:
        np.save(file, jnp.log(1 + x))
        np.save(file, 2 * x)


def mapped(x):
    y = jnp.log(1 + x)
    z = jax.lax.map(count, y)
    return y + z


def scaled(x, rates):
    y = jnp.log(1 + x)
    z = y * rates.factor
    return y + z


small = jnp.array([1e-8])
near(jnp.array([0.5]))
at(small)
copyto(small)
keyword(small)
positional(small)
save(small)
mapped(small)
scaled(small, Rates())
with open("rates.npy", "rb") as file:
    np.load(file)
    assert np.load(file) == 2 * small
assert not any((*added, *copied, *summed, *total)), (added, copied, summed, total)
assert seen == ["count", "factor"], seen
open("done", "w").close()
"""


@pytest.mark.jax
def test_lines_that_did_not_run_are_counted_by_file(tmp_path: Path) -> None:
    folder = project(tmp_path, "import lib\n\nlib.clip(1.0, 2.0)\n")
    (folder / "other.py").write_text(PROGRAM)
    words = (".", "--select", "JAX101")
    command = ("--", "python", "main.py")
    done = call(folder, *words, *command)
    assert done.stdout.count("JAX101 (traced-branch)") == 1 and "confirmed [cpu]: " in done.stdout, done
    assert "lib.py: 1 finding on lines that did not run (JAX101)\n" in done.stdout
    assert "other.py: 2 findings on lines that did not run (JAX101)\n" in done.stdout
    assert done.stdout.endswith(f"3 blocked, 1 confirmed (jax {version('jax')}, cpu: cpu)\n")
    assert call(folder, *words, "--verbose", *command).stdout.count("the line did not run") == 3
    found = json.loads(call(folder, *words, "--output-format", "json", *command).stdout)
    assert [item["verdict"]["details"].get("ran", True) for item in found] == [True, False, False, False]


@pytest.mark.jax
def test_a_formula_counts_where_the_program_uses_what_it_loses(tmp_path: Path) -> None:
    folder = project(tmp_path, "import formulas\n")
    (folder / "formulas.py").write_text(USED.lstrip())
    words = ("--select", "JAX703", "--for", "60", "--output-format", "json", "--", "python", "main.py")
    found = [item["verdict"] for item in json.loads(call(folder, "formulas.py", *words).stdout)]
    assert [verdict["verdict"] for verdict in found] == ["inconclusive"] * 3 + ["confirmed"] * 3
    assert all("that changes no value and no gradient" in verdict["reason"] for verdict in found[:3])


@pytest.mark.jax
def test_a_comparison_of_formulas_runs_no_call_with_effects_again(tmp_path: Path) -> None:
    folder = project(tmp_path, "import formulas\n")
    (folder / "formulas.py").write_text(WITH_EFFECTS.lstrip())
    words = ("--select", "JAX703", "--for", "60", "--output-format", "json", "--", "python", "main.py")
    done = call(folder, "formulas.py", *words)
    assert (folder / "done").exists(), done
    verdicts = [item["verdict"]["verdict"] for item in json.loads(done.stdout)]
    assert verdicts == ["inconclusive"] + ["confirmed"] * 7, "the first one keeps the run from ending early"


@pytest.mark.jax
def test_a_script_is_the_main_module_wherever_it_goes(tmp_path: Path) -> None:
    """Its path is absolute and its first argument is as given, as in Python itself; the modules beside it come first."""
    (tmp_path / "jaxlint.toml").write_text("")
    (tmp_path / "main.py").write_text(
        "import os, sys\n"
        "import jax\n"
        "import asyncio\n"
        "assert asyncio.MINE\n"
        "os.chdir('/')\n"
        "assert sys.argv[0] == 'main.py' and os.path.isfile(__file__)\n"
        "def draw(key):\n"
        "    return jax.random.normal(key), jax.random.uniform(key)\n"
        "assert sys.modules['__main__'].draw is draw\n"
        "draw(jax.random.key(0))\n"
    )
    (tmp_path / "asyncio.py").write_text("MINE = True\n")
    done = call(tmp_path, "main.py", "--", "python", "main.py")
    assert "1 confirmed (jax" in done.stdout, done.stdout + done.stderr


@pytest.mark.jax
def test_notebooks_are_run_cell_by_cell(tmp_path: Path) -> None:
    cells = [
        "%matplotlib inline\nimport asyncio\nimport jax\nkey = jax.random.key(0)\n"
        "def typed(x: int): pass\nassert typed.__annotations__ == {'x': int}",
        "await asyncio.sleep(0)\na = jax.random.normal(key)",
        "b = jax.random.normal(key)\n!ls\nprint(a + b)",
    ]
    (tmp_path / "jaxlint.toml").write_text("")
    data = {
        "cells": [
            {"cell_type": "code", "source": cell, "metadata": {}, "outputs": [], "execution_count": None} for cell in cells
        ],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    (tmp_path / "a.ipynb").write_text(json.dumps(data))
    done = call(tmp_path, "a.ipynb", "--output-format", "json")
    (found,) = json.loads(done.stdout)
    assert (found["cell"], found["location"]["row"], found["code"]) == (3, 1, "JAX301")
    assert found["verdict"]["verdict"] == "confirmed" and "normal on line 2 of cell 2" in found["verdict"]["reason"], (
        done.stderr
    )
    done = call(tmp_path, ".", "--", "b.ipynb")
    assert done.returncode == 2 and "b.ipynb: there is no such notebook" in done.stderr


HOLDING = """class Model:
    def __init__(self):
        self.table = jnp.ones((3, 3))

    def __call__(self, x):
        y = x
        return y @ self.table


jax.jit(Model().__call__)(jnp.ones(3))
"""


@pytest.mark.jax
def test_a_statement_over_several_lines_runs_once(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        "import jax\nimport jax.numpy as jnp\n\n\ndef f(x):\n    return jax.lax.pmean(x, 'batch')\n\n\n"
        "p = jax.pmap(\n    f,\n    axis_name='batch',\n)\nfor _ in range(2):\n    p(\n        jnp.ones((1, 3))\n    )\n"
        + HOLDING
    )
    (tmp_path / "jaxlint.toml").write_text("")
    spots = [Spot(str(tmp_path / "main.py"), row, row) for row in (9, 14, 15)]
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu")
    held = Asked("captured-constant", Spot(str(tmp_path / "main.py"), 23, 23), name="self.table")
    passed = msgspec.structs.replace(held, name="x")
    found = verify([*(Asked("pmap", spot) for spot in spots), held, passed], workload)
    *counted, held_verdict, passed_verdict = found.verdicts
    assert [verdict.reason.rpartition(" ran ")[2] for verdict in counted] == ["once", "twice", "twice"]
    assert held_verdict.verdict == "confirmed" and "an array of 36 bytes" in held_verdict.reason, held_verdict
    assert passed_verdict.verdict == "refuted", "what is no constant is none, although JAX traced the line"


def test_nothing_runs_where_nothing_is_found(tmp_path: Path) -> None:
    folder = project(tmp_path, "open('made.txt', 'w').close()\n")
    (folder / "lib.py").write_text("import jax\n")
    done = call(folder, ".", "--", "python", "main.py")
    assert (done.returncode, done.stdout.strip()) == (0, "No findings, so jaxlint did not run the program.")
    assert not (folder / "made.txt").exists()


@pytest.mark.jax
def test_another_release_in_the_environment_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "old" / "flake8_jax").mkdir(parents=True)
    (tmp_path / "old" / "flake8_jax" / "__init__.py").write_text("raise ImportError('another release')\n")
    (tmp_path / "main.py").write_text("import jax\n\njax.random.PRNGKey(0)\n")
    variables = {"PYTHONPATH": str(tmp_path / "old")}
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu", variables=variables)
    verdict = verify([Asked("legacy-prng-key", Spot(str(tmp_path / "main.py"), 3, 3))], workload).verdicts[0]
    assert verdict.verdict == "confirmed", verdict


UNROLLED = """
import jax
import jax.numpy as jnp


@jax.jit
def short(x):
    for _ in range(20):
        x = jnp.add(
            x,
            1.0,
        )
    return x


@jax.jit
def nested(x):
    for _ in range(6):
        for weight in (1.0, 2.0, 3.0, 4.0, 5.0):
            x = x + weight
    return x


@jax.jit
def long(x):
    for _ in range(40):
        x = jnp.add(
            x,
            1.0,
        )
    return x


short(1.0), nested(1.0), long(1.0)
"""


@pytest.mark.jax
def test_copies_of_the_body_of_a_loop_are_counted(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(UNROLLED)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu")
    asked = [Asked("unrolled-loop", Spot(str(tmp_path / "main.py"), row, row)) for row in (8, 18, 26)]
    short, nested, long = verify(asked, workload).verdicts
    assert (short.verdict, nested.verdict, long.verdict) == ("inconclusive", "inconclusive", "confirmed")
    assert "20 times" in short.reason, "a call over several lines is one statement"
    assert nested.reason.startswith(
        "one trace went through the loop 6 times, through a loop inside it 30 times in all;"
    )
    assert long.details["copies"] == 40


KEYS = """
import jax
from lib import rows


def noise(key, extra):
    a = 0.0
    if extra:
        a = jax.random.normal(key)
    return a + jax.random.uniform(key)


def main(extra):
    data = rows()
    for seed in range(2):
        data = data + noise(jax.random.PRNGKey(seed), extra)


main(EXTRA)
"""


@pytest.mark.jax
def test_equal_seeds_in_two_places_are_no_reused_key(tmp_path: Path) -> None:
    lib = "import jax\n\n\ndef rows():\n    return jax.random.normal(jax.random.PRNGKey(0), (3,))\n"
    (tmp_path / "lib.py").write_text(lib)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu")
    asked = [Asked("key-reuse", Spot(str(tmp_path / "main.py"), 10, 10))]
    (tmp_path / "main.py").write_text(KEYS.replace("EXTRA", "False"))
    (verdict,) = verify(asked, workload).verdicts
    assert (verdict.verdict, verdict.reason) == ("refuted", "every key consumed here was new")
    (tmp_path / "main.py").write_text(KEYS.replace("EXTRA", "True"))
    (verdict,) = verify(asked, workload).verdicts
    assert verdict.verdict == "confirmed" and "normal on line 9, then uniform here" in verdict.reason, verdict


@pytest.mark.jax
def test_arrays_that_a_loop_keeps_are_asked_at_some_visits_only(tmp_path: Path) -> None:
    """Else the cost of a run grows with the square of the iterations."""
    (tmp_path / "main.py").write_text(
        "import jax\n\nlive, asked = jax.live_arrays, []\njax.live_arrays = lambda: asked.append(1) or live()\n"
        "key, losses = jax.random.PRNGKey(0), []\nfor _ in range(300):\n    losses.append(jax.random.normal(key))\n"
        "open('asked', 'w').write(str(len(asked)))\n"
    )
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu")
    verify([Asked("async-timing", Spot(str(tmp_path / "main.py"), 7, 7))], workload)
    assert 0 < int((tmp_path / "asked").read_text()) <= 100


@pytest.mark.jax
def test_a_body_that_is_new_in_every_call_compiles_again(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        "import jax\nimport jax.numpy as jnp\n\n\ndef epoch(x):\n"
        "    return jax.lax.fori_loop(0, 9, lambda i, c: c * x, x)\n\n\ndef step(x):\n"
        "    slope = jax.grad(lambda y: jnp.sum(y))(x)\n    return jitted(slope)\n\n\njitted = jax.jit(lambda z: z + 1)\n\n\n"
        "for _ in range(4):\n    epoch(jnp.ones(3))\n    step(jnp.ones(3))\n"
    )
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu")
    asked = [Asked("transform-in-loop", Spot(str(tmp_path / "main.py"), row, row)) for row in (6, 10, 11)]
    body, traced, kept = verify(asked, workload).verdicts
    assert body.verdict == "confirmed" and "4 times `jit(" in body.reason, body
    assert traced.verdict == "confirmed" and "traced the function in each of 4 runs of the line" in traced.reason, (
        traced
    )
    assert kept.verdict == "inconclusive", "a jitted function that is kept is traced once"


def test_an_interpreter_without_jax_is_distinguished_from_a_wrong_finding(tmp_path: Path) -> None:
    folder = project(tmp_path, "raise ModuleNotFoundError(\"No module named 'jax'\")\n")
    done = call(folder, "lib.py", "--", "python", "main.py")
    assert done.returncode == 2
    assert "has no JAX: install it" in done.stderr and "--python" in done.stderr


HIDDEN = """
import jax
import lib

jitted = [jax.jit(getattr(lib, name)) for name in ("noise", "fine")]
for number in range(COUNT):
    for function in jitted:
        function(
            jax.random.key(number),
        )
"""


@pytest.mark.jax
@pytest.mark.parametrize(("count", "runs"), [(1, 2), (2, 1)])
def test_jit_is_off_only_where_keys_of_findings_are_used(count: int, runs: int, tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text(
        "import jax\n\n\ndef noise(key):\n    return jax.random.normal(key) + jax.random.uniform(key)\n\n\n"
        "def fine(key):\n    a = jax.random.normal(key)\n    return a\n"
    )
    (tmp_path / "main.py").write_text(HIDDEN.replace("COUNT", str(count)))
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu",
                        limits=Limits(enough=200))  # fmt: skip
    reported: list[str] = []
    asked = [Asked("key-reuse", Spot(str(tmp_path / "lib.py"), row, row)) for row in (5, 9)]
    verdicts = verify(asked, workload, reported.append).verdicts
    assert [verdict.verdict for verdict in verdicts] == ["confirmed", "refuted"], verdicts
    assert len(reported) == runs, reported


KILLED = """
import os, signal
import jax
import lib

lib.noise(jax.random.key(0))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.jax
def test_what_happened_just_before_a_program_is_killed_counts(tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text(
        "import jax\n\n\ndef noise(key):\n    return jax.random.normal(key) + jax.random.uniform(key)\n"
    )
    (tmp_path / "main.py").write_text(KILLED)
    lib, limits = str(tmp_path / "lib.py"), Limits(seconds=200)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), sys.executable, "cpu", limits)
    found = verify([Asked("key-reuse", Spot(lib, 5, 5)), Asked("key-reuse", Spot(lib, 9, 9))], workload)
    used, unseen = found.verdicts
    assert used.verdict == "confirmed", used
    assert unseen.verdict == "inconclusive" and "not seen to run; it was killed by SIGKILL" in unseen.reason, unseen


INTERRUPTED = """import os, signal, sys


def work(answers):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        print(1)
    except KeyboardInterrupt:
        if answers:
            sys.exit(130)
        raise
    print(2)


work(len(sys.argv) > 1)
"""


@pytest.mark.jax
@pytest.mark.parametrize("words", [(), ("--answers",)])
def test_a_program_that_is_interrupted_raised_no_error(words: tuple[str, ...], tmp_path: Path) -> None:
    main = tmp_path / "main.py"
    main.write_text(INTERRUPTED)
    workload = Workload(
        ("python", "main.py", *words), (str(tmp_path),), str(tmp_path), sys.executable, "cpu", Limits(60)
    )
    (found,) = verify([Asked("traced-branch", Spot(str(main), 12, 12))], workload).verdicts
    said = "the line did not run; the command was interrupted (status 130); use a command that runs it"
    assert (found.verdict, found.reason) == ("inconclusive", said)


ROWS = """
never = list(map(lambda x: print(x), []))
three = list(map(lambda x: x + 1, [1, 2, 3]))
def short(x): return x + 1
class Box: size = len("ä"); get = lambda self: self.size
@staticmethod
@staticmethod
def decorated(): pass
"""


def test_a_function_in_a_row_is_distinguished_from_the_row(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(ROWS.strip("\n"))
    main, limits = str(tmp_path / "main.py"), Limits(seconds=200)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), sys.executable, "cpu", limits)
    places = {(1, 28): 0, (1, 1): 1, (2, 28): 3, (2, 9): 1, (3, 22): 0, (3, 1): 1, (4, 12): 1, (4, 48): 0}
    places |= {(5, 2): 1, (6, 2): 1}
    asked = [Asked("discarded-result", Spot(main, row, row), column=column) for row, column in places]
    found = verify(asked, workload)
    said = [verdict.reason for verdict in found.verdicts]
    words = {0: "did not run", 1: "it ran once", 3: "it ran 3 times"}
    assert all(words[count] in reason for reason, count in zip(said, places.values())), said


DEEP = """
import jax
def draw(key, depth):
    return jax.random.normal(key) if depth == 0 else draw(key, depth - 1)
key = jax.random.key(0)
first = draw(key, 20)
again = draw(key, 20)
"""


@pytest.mark.jax
def test_a_key_that_is_used_far_below_the_line(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(DEEP.strip("\n"))
    main, limits = str(tmp_path / "main.py"), Limits(seconds=200)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), sys.executable, "cpu", limits)
    (found,) = verify([Asked("key-reuse", Spot(main, 6, 6))], workload).verdicts
    assert found.reason == "the same key was consumed twice (normal on line 3, then normal here)", found


BEHIND = """
import jax

key = jax.random.key(0)
for step in range(2100):
    jax.random.bits(jax.random.fold_in(key, step))

other = jax.random.key(1)
first = jax.random.bits(other)
second = jax.random.bits(other)
print(first, second)
"""


@pytest.mark.jax
def test_a_line_behind_a_long_loop_is_watched(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(BEHIND.strip("\n"))
    main, limits = str(tmp_path / "main.py"), Limits(seconds=200, enough=200)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), sys.executable, "cpu", limits)
    (found,) = verify([Asked("key-reuse", Spot(main, 9, 9))], workload).verdicts
    assert found.reason == "the same key was consumed twice (bits on line 8, then bits here)", found


WAITING = """
import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    x = jax.lax.fori_loop(0, 60, lambda _, x: x @ x / 600, x)
    return x, x.sum()


def train(x):
    for _ in range(3):
        x, loss = step(x)
        for _ in range(3):
            float(loss)


train(jnp.ones((600, 600)))
"""


@pytest.mark.jax
def test_the_first_read_of_an_array_waits_and_the_next_do_not(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(WAITING)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu")
    (found,) = verify([Asked("sync-in-loop", Spot(str(tmp_path / "main.py"), 16, 16))], workload).verdicts
    assert found.reason == "the line waited for the device 3 times in one run of `train`", found


PARTS = """
no = 0
one = len("a") if no else len("b")
two = no and len("a"), no or len("b")
assert not no, len("a")
for n in range(3): three = n and len("a")
steps = (len("a") for n in len("1234") * "1"); list(steps)
four = sum(len("a") for n in len("1234") * "1")
any = sum(n for n in [len("a")] * 4)
for n in {n: len("a") for n in range(4)}: no
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="before Python 3.11, code has no columns")
def test_a_part_of_a_line_that_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(PARTS.strip("\n"))
    main, limits = str(tmp_path / "main.py"), Limits(seconds=200)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), sys.executable, "cpu", limits)
    left_out, ran, each = "but not this part of it; use inputs for which it runs", "it ran once", "it ran 4 times"
    said = {(2, 6): left_out, (2, 26): ran, (3, 13): left_out, (3, 29): ran, (4, 15): left_out, (5, 33): "it ran twice",
            (6, 9): each, (6, 27): ran, (7, 11): each, (7, 29): ran, (8, 22): ran, (9, 13): each}  # fmt: skip
    spans = {(row, column): (row, column, row, column + 8) for row, column in said}
    asked = [Asked("discarded-result", Spot(main, row, row), span=spans[row, column]) for row, column in said]
    found = verify(asked, workload)
    assert all(v.reason.endswith(words) for v, words in zip(found.verdicts, said.values())), found.verdicts


LATE = """
import atexit, os, threading, time
def at_exit():
    print("late")
def in_a_thread():
    time.sleep(0.2); print("later")
threading.Thread(target=in_a_thread).start()
"""


@pytest.mark.parametrize(
    "end",
    [
        "atexit.register(at_exit)",
        "atexit.register(at_exit); raise ValueError",
        "atexit.register(os._exit, 3), atexit.register(at_exit)",
    ],
)
def test_what_runs_after_the_main_program_counts(tmp_path: Path, end: str) -> None:
    (tmp_path / "main.py").write_text(LATE.strip("\n") + f"\n{end}\n")
    main, limits = str(tmp_path / "main.py"), Limits(seconds=200)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), sys.executable, "cpu", limits)
    found = verify([Asked("discarded-result", Spot(main, row, row)) for row in (3, 5)], workload)
    assert all(verdict.reason.endswith("it ran once") for verdict in found.verdicts), found.verdicts


def test_what_an_assignment_replaces() -> None:
    texts = {
        "x = step(x, q)": ("x",),
        "self.params, state = self.update(self.params, state, lr=rate)": ("self.params", "state"),
        "new, loss = step(params, batch[i])": ("batch", "i", "params"),
        "s.net = s.net.apply(grads=s.grads)": ("s.net",),
        "step(x)": (),
    }
    for text, names in texts.items():
        assert replaced_at(ast.parse(f"for i in range(3):\n    {text}"), 2) == names, text


DEFAULTS = """
import jax
class Layer:
    def __init__(self, n, *, key=jax.random.key(0)):
        self.w = jax.random.normal(key, (n,))
def noise(x, key=jax.random.key(0)):
    return x + jax.random.normal(key)
def unused(x, key=jax.random.key(0)):
    return jax.random.normal(key)
Layer(3, key=jax.random.key(1))
jax.jit(noise)(1.0)
noise(1.0, key=jax.random.key(2))
"""


@pytest.mark.jax
def test_calls_that_use_a_default_are_counted(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(DEFAULTS.strip("\n"))
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu")
    asked = [
        Asked("constant-key", Spot(str(tmp_path / "main.py"), row, row), column=column)
        for row, column in ((3, 34), (5, 18), (7, 19))
    ]
    found = [f"{verdict.verdict}: {verdict.reason}" for verdict in verify(asked, workload).verdicts]
    assert found[0] == "refuted: the function was called once, each time with `key`"
    assert found[1] == "confirmed: the function was called once without `key`"
    assert found[2].startswith("inconclusive: the function was not called")
