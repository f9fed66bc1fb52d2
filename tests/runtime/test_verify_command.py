"""The command ``verify``: what it runs and reports, and that it survives the program and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import pytest
from runtime.verified import PROGRAM, call, project

from flake8_jax.cli.verify import summary
from flake8_jax.runtime_checks.observations import Spot
from flake8_jax.runtime_checks.verify import Asked, Workload, verify

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


def test_an_interpreter_without_jax_is_distinguished_from_a_wrong_finding(tmp_path: Path) -> None:
    folder = project(tmp_path, "raise ModuleNotFoundError(\"No module named 'jax'\")\n")
    done = call(folder, "lib.py", "--", "python", "main.py")
    assert done.returncode == 2
    assert "has no JAX: install it" in done.stderr and "--python" in done.stderr
