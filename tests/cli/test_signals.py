"""Signals in the middle of the work: the command and all of its processes end at once, with the status of the signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
LONG = "import jax\n" + "".join(f"x{row} = [y * {row} + (z or {row}) for y in range({row})]\n" for row in range(6000))


def parent_of(process: int) -> int | None:
    """The parent of a process that runs; None for one that ended."""
    try:
        state, parent = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None
    return None if state in "ZX" else int(parent)


def children_of(process: int) -> list[int]:
    found = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    return [child for child in found if parent_of(child) == process]


def at_once() -> float:
    """Seconds that something immediate may take: the more the busier the machine is, for that is no failure."""
    return 2 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def until(happened: Callable[[], bool], seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts jaxlint on a project whose files take seconds to parse."""
    for number in range(6):
        (tmp_path / f"m{number}.py").write_text(f"{LONG}n = {number}\n")
    (tmp_path / "jaxlint.toml").write_text("")
    begun: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "flake8_jax", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        begun.append(process)
        return process

    yield start
    for process in begun:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("number", "group", "status"),
    [
        (signal.SIGTERM, False, 143),
        (signal.SIGINT, False, 130),
        (signal.SIGINT, True, 130),
        (signal.SIGHUP, False, 129),
        (signal.SIGKILL, False, -9),
    ],
    ids=["SIGTERM", "SIGINT", "Ctrl-C", "SIGHUP", "SIGKILL"],
)
def test_workers_end_with_the_command(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path, number: int, group: bool, status: int
) -> None:
    process = start("check", "-j", "2", "-o", "report.txt", ".")
    (tmp_path / "report.txt").write_text("an older one")
    assert until(lambda: len(children_of(process.pid)) == 2)
    workers = children_of(process.pid)
    if group:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    began = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert time.monotonic() - began < at_once()
    assert until(lambda: not any(parent_of(worker) is not None for worker in workers), at_once())
    assert (out, "Traceback" in err) == ("", False), err
    assert (tmp_path / "report.txt").read_text() == "an older one"
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith((".jaxlint-", ".tmp-"))]


def test_one_large_file(start: Callable[..., subprocess.Popen[str]]) -> None:
    """The parser hears no signal while it is at work."""
    process = start("check", "--no-cache", "-j", "2", "m0.py", "--isolated")
    assert until(lambda: bool(children_of(process.pid)))
    process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    assert process.wait(timeout=60) == 143
    assert time.monotonic() - began < at_once()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_the_language_server(start: Callable[..., subprocess.Popen[str]], number: int, status: int) -> None:
    pytest.importorskip("pygls")
    process = start("server")
    assert until(lambda: bool(children_of(process.pid)))
    time.sleep(0.5)
    children = children_of(process.pid)
    process.send_signal(number)
    began = time.monotonic()
    assert process.wait(timeout=60) == status
    assert time.monotonic() - began < at_once()
    assert until(lambda: not any(parent_of(child) is not None for child in children), 10)


def test_watching(start: Callable[..., subprocess.Popen[str]]) -> None:
    pytest.importorskip("watchfiles")
    process = start("check", "--watch", "-j", "2", ".")
    assert until(lambda: len(children_of(process.pid)) == 2)
    workers = children_of(process.pid)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 143
    assert until(lambda: not any(parent_of(worker) is not None for worker in workers), at_once())


@pytest.mark.jax
def test_the_process_that_runs_user_code(start: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    (tmp_path / "sleeps.py").write_text("import os, time\nopen('begun', 'w').write(str(os.getpid()))\ntime.sleep(60)\n")
    process = start("record", "--root", "sleeps.py", "--", sys.executable, "sleeps.py")
    begun = tmp_path / "begun"
    assert until(lambda: begun.exists() and begun.read_text() != "", 60)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 143
    assert until(lambda: parent_of(int(begun.read_text())) is None, 5)


def test_an_ignored_signal_stays_ignored(start: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    for path in tmp_path.glob("m*.py"):
        path.unlink()
    code = (
        "import signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); sys.argv = ['jaxlint', 'server'];"
        "from flake8_jax.cli import script; script()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    try:
        assert until(lambda: bool(children_of(process.pid)))
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.3)
    finally:
        process.kill()
        process.communicate()
