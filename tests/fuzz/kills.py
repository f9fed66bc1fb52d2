"""Kills: ``--fix`` is ended at a random moment. Every file is as before or wholly fixed, and the next run finishes the work.

Only names that jaxlint gives to its temporary files may be left behind, and the next run is not disturbed by them. A process
that is asked to end (SIGTERM, SIGINT) leaves no child of its own running.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from fuzz import running
from fuzz.case import Broken, Case, Kind, Outcome
from fuzz.seeds import ROOT

_PROGRAM = """\
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step{n}(x):
    y = np.sin(x) + {n}  # ä
    return np.cos(y)
"""
_FILLER = "\n\ndef filler_{i}(a, b):\n    c = a + b * {i}\n    return [c for _ in range(3)]\n"
_TEMPORARY = ".jaxlint-"
_PATIENCE = 60.0


def generate(rng: random.Random, number: int) -> Case:
    """Some projects are large enough for a pool of processes."""
    large = number % 4 == 3
    files = {}
    for n in range(rng.choice((10, 20, 40)) if not large else 10):
        text = _PROGRAM.format(n=n)
        if large:
            text += "".join(_FILLER.format(i=i) for i in range(480))
        newline = rng.choice(("\n", "\r\n"))
        files[f"p/m{n}.py"] = text.replace("\n", newline).encode()
    signals = rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
    return Case({**files, "signal": f"{int(signals)} {rng.random()}".encode()})


def judge(case: Case) -> Outcome:
    if not hasattr(os, "killpg"):
        return Counter({"not tried: no process groups": 1})
    number, share = case.files["signal"].decode().split()
    with tempfile.TemporaryDirectory() as made:
        top = Path(made)
        for name in ("whole", "cut"):
            case.write(top / name)
        seconds = _fixed_whole(top / "whole" / "p")
        before, whole = _files(case), _texts(top / "whole" / "p")
        folder = top / "cut" / "p"
        killed = _cut(folder, signal.Signals(int(number)), float(share), seconds, before)
        done = _unharmed(folder, before, whole)
        left = [path.name for path in folder.rglob("*") if path.is_file() and path.name.startswith(_TEMPORARY)]
        _run(folder, "--fix").wait(_PATIENCE)
        if _texts(folder) != whole:
            raise Broken("the run after a kill does not finish the work")
        where = "before" if done == 0 else "after" if done == len(whole) else "between"
    return Counter({f"{killed} {where} the writing": 1, **({"temporary files left": len(left)} if left else {})})


def _files(case: Case) -> dict[str, bytes]:
    return {name.removeprefix("p/"): data for name, data in case.files.items() if name.startswith("p/")}


def _texts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.py"))}


def _run(folder: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "flake8_jax", "check", "--isolated", "--no-cache", "--jobs", "2", "-q", *more, "."]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip


def _fixed_whole(folder: Path) -> float:
    """Fix without a disturbance; how long that takes."""
    start = time.monotonic()
    process = _run(folder, "--fix")
    if process.wait(_PATIENCE) not in (0, 1):
        raise Broken(f"--fix ends with {process.returncode}")
    return time.monotonic() - start


def _cut(folder: Path, number: signal.Signals, share: float, seconds: float, before: dict[str, bytes]) -> str:
    """End a run: at any time of it, or (mostly) a moment after the first file changed or appeared."""
    names = set(before)
    process = _run(folder, "--fix")
    if share < 0.3:
        time.sleep(seconds * share / 0.3)
    else:
        end = time.monotonic() + _PATIENCE
        while process.poll() is None and time.monotonic() < end:
            if set(os.listdir(folder)) != names or (folder / "m0.py").read_bytes() != before["m0.py"]:
                break
        time.sleep((share - 0.3) * 0.012)
    reported = number.name
    if process.poll() is None:
        process.send_signal(number)
    else:
        reported = "ended"
    process.wait(_PATIENCE)
    if number != signal.SIGKILL:
        _no_children(process.pid)
    else:
        _end_group(process.pid)
    return reported


def _no_children(group: int) -> None:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    _end_group(group)
    raise Broken("a process that was asked to end left children behind")


def _end_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _unharmed(folder: Path, before: dict[str, bytes], whole: dict[str, bytes]) -> int:
    """How many files were fixed. Raises Broken for one that is neither as before nor fixed, and for files of no name."""
    done = 0
    for name, data in before.items():
        path = folder / name
        now = path.read_bytes() if path.exists() else None
        if now not in (data, whole[name]):
            raise Broken(f"{name} is neither as before nor fixed", repr(now))
        done += now == whole[name] != data
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in before and not path.name.startswith(_TEMPORARY):
            raise Broken(f"{path.relative_to(folder)} was left behind")
    return done


KIND = Kind("kills", generate, judge, seconds=60, wall=400)


def run(seed: int, count: int) -> dict[str, int]:
    return running.run("kills", seed, count)
