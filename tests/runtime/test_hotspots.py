"""``jaxlint hotspots``: sums by lines and functions, the flame graph, and a run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree
from functools import partial
from pathlib import Path

import pytest
from runtime.measured import Command, command

from flake8_jax.runtime_checks.child.programs import places_of, self_times
from flake8_jax.runtime_checks.flame import svg
from flake8_jax.runtime_checks.hotspots import Stack, trees

jaxlint = pytest.fixture(command)

NEW = """\
HloModule jit_step

FileNames
1 "/home/you/loop.py"
2 "/usr/lib/jax/nn.py"

FunctionNames
1 "train"
2 "loss"
3 "relu"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=0 end_column=7}
2 {file_name_id=1 function_name_id=2 line=4 end_line=4 column=8 end_column=18}
3 {file_name_id=2 function_name_id=3 line=5 end_line=5 column=11 end_column=14}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=3}

ENTRY %main.1 (x.1: f32[4]) -> f32[4] {
  %x.1 = f32[4]{0} parameter(0), metadata={op_name="x"}
  %max.1 = f32[4]{0} maximum(%x.1, %x.1), metadata={op_name="jit(step)/max" stack_frame_id=3}
  ROOT %sin.2 = f32[4]{0} sine(%max.1), metadata={op_name="jit(step)/sin" stack_frame_id=2}
}
"""
OLD = (
    '  ROOT %sine.2 = f32[4] sine(%p), metadata={op_name="jit(step)/sin" source_file="/home/you/loop.py" source_line=4}'
)


def test_operations_belong_to_the_innermost_line_of_the_user() -> None:
    places = places_of(NEW, lambda path: path.startswith("/home/you"))
    assert places == dict.fromkeys(("max.1", "sin.2"), ("/home/you/loop.py", "loss", 4))
    assert places_of(OLD, lambda path: True) == {"sine.2": ("/home/you/loop.py", "", 4)}


def test_a_loop_on_the_device_does_not_count_its_body_twice() -> None:
    def event(name: str, start: float, took: float, thread: int = 1) -> dict[str, object]:
        args = {"hlo_module": "jit_step", "hlo_op": name}
        return {"ph": "X", "pid": 1, "tid": thread, "ts": start, "dur": took, "args": args}

    events = [event("while", 0, 10e6), event("dot", 1e6, 3e6), event("dot", 5e6, 4e6), event("dot", 0, 2e6, 2)]
    assert self_times(events) == {("jit_step", "while"): (3.0, 1), ("jit_step", "dot"): (9.0, 3)}


def test_the_flame_graph_is_one_picture() -> None:
    main, step = ("/p/a<b>.py", "main", 3), ("/p/a<b>.py", "step", 9)
    stacks = [Stack((main, step), "wait", 3.0), Stack((main,), "program", 1.0), Stack((main, step), "compile", 0.001)]
    picture = svg(trees(stacks), "python a<b>.py", {("/p/a<b>.py", 9): "JAX206"}, "/p")
    boxes = xml.etree.ElementTree.fromstring(picture).findall("{http://www.w3.org/2000/svg}g")
    titles = [next(iter(box)).text or "" for box in boxes]
    assert "step (a<b>.py:9): 3.001 s, 75.0 %; JAX206" in titles
    assert not any("compiling" in title for title in titles), "what is too narrow to see is left out"
    assert picture.count("#c1121f") == 1


LOOP = """\
import time
import jax
import jax.numpy as jnp

@jax.jit
def step(w):
    w = jnp.tanh(w @ w)

    return w, w.sum()

def train():
    w = jnp.eye(400)
    total = 0.0
    for number in range(200):
        w, value = step(w)
        total += float(value)
    time.sleep(0.5)
    print(total)

train()
"""


@pytest.mark.jax
def test_a_run(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(LOOP)
    words = [sys.executable, "-m", "flake8_jax", "hotspots", "loop.py", "--output-format", "json", "--output", "out"]
    done = subprocess.run([*words, "--", "python", "loop.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    lines = {(Path(line["path"]).name, line["row"]): line for line in found["lines"]}
    assert 0.4 < lines["loop.py", 17]["own"] < 0.8 and lines["loop.py", 17]["activity"] == "program"
    assert lines["loop.py", 16]["activity"] == "wait"
    assert lines["loop.py", 15]["compiled"] == 1 and lines["loop.py", 15]["compiling"] > 0
    assert lines["loop.py", 20]["total"] > lines["loop.py", 16]["own"]
    assert found["live_bytes"] >= 4 * 400 * 400
    step = next(cost for cost in found["functions"] if cost["name"] == "step")
    assert step["compiled"] == 1 and step["memory"]["argument"] == 4 * 400 * 400
    (finding,) = [one for one in found["findings"] if one["code"] == "JAX206"]
    assert finding["row"] == 16 and 0 < finding["share"] < 1
    assert (tmp_path / "out/flame.svg").read_text().startswith("<svg")
    assert list((tmp_path / "out/plugins/profile").glob("*/*.trace.json.gz"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize(("options", "status"), [(["--for", "1"], 0), (["--timeout", "1.5"], 124), ([], 130)])
def test_a_program_without_end(options: list[str], status: int, tmp_path: Path) -> None:
    (tmp_path / "forever.py").write_text("open('begun', 'w').close()\nwhile True:\n    pass\n")
    words = [sys.executable, "-m", "flake8_jax", "hotspots", "forever.py", *options, "--", "python", "forever.py"]
    # Ctrl-C reaches what a terminal runs; --for works as well where SIGINT is ignored, as in jobs in the background.
    before = signal.SIG_IGN if options else signal.default_int_handler
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, text=True, preexec_fn=partial(signal.signal, signal.SIGINT, before)
    )
    if not options:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == status
    assert "forever.py:2" in said or "forever.py:3" in said
    assert (tmp_path / ".jaxlint/.gitignore").read_text() == "*\n"


def test_there_has_to_be_a_command(jaxlint: Command) -> None:
    assert jaxlint("hotspots", "train.py")[0] == 2


@pytest.mark.jax
def test_a_program_that_traces_itself_gets_its_trace(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import time, jax, jax.numpy as jnp\njnp.ones(3).sum()\ntime.sleep(1)\n"
        "with jax.profiler.trace('mine'):\n    jnp.sin(jnp.ones(10)).block_until_ready()\n"
    )
    words = [sys.executable, "-m", "flake8_jax", "hotspots", "own.py", "--", "python", "own.py"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "mine/plugins/profile").glob("*/*.xplane.pb"))
