"""A process that answers questions, and what becomes of them if it fails, dies or is stopped.

The questions are functions of the standard library, whose argument is a part of the setup.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from flake8_jax.server.checker import Setup
from flake8_jax.server.worker import Interrupted, Running, Worker, WorkerFailed
from flake8_jax.settings.options import load_options
from flake8_jax.settings.tables import ConfigError

PATIENCE = 40


@pytest.fixture
def numbers() -> Iterator[Worker[int]]:
    """Its checker is the number of the setup."""
    worker: Worker[int] = Worker(attrgetter("generation"), "test")
    yield worker
    worker.stop()


def _ask(worker: Worker[int], number: int, work: Callable[[int], Any]) -> Any:
    return worker.ask(Setup("", generation=number), work, "a.py").result(PATIENCE)


def _until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _asleep(worker: Worker[int]) -> tuple[Any, Running]:
    answer = worker.ask(Setup("", generation=600), time.sleep, "a.py")
    _until(lambda: worker.running is not None and worker.running.since is not None)
    assert worker.running is not None
    return answer, worker.running


def test_a_question_can_be_interrupted_and_the_next_one_is_answered(numbers: Worker[int]) -> None:
    answer, running = _asleep(numbers)
    waiting = numbers.ask(Setup("", generation=-3), abs, "a.py")
    assert numbers.interrupt(running)
    with pytest.raises(Interrupted):
        answer.result(PATIENCE)
    assert waiting.result(PATIENCE) == 3
    assert not numbers.interrupt(running), "it runs no more"


@pytest.mark.parametrize(
    ("number", "work", "how"),
    [
        (3, os._exit, "ended with status 3"),
        (signal.SIGKILL, signal.raise_signal, "was ended by signal 9"),
        (10**15, bytes, "failed with MemoryError"),
        (0, (1).__floordiv__, "failed with ZeroDivisionError"),
    ],
    ids=["exit", "kill", "memory", "exception"],
)
def test_a_question_that_the_child_fails_at_names_the_file(
    numbers: Worker[int], number: int, work: Callable[[int], Any], how: str
) -> None:
    with pytest.raises(WorkerFailed, match=rf"a\.py {how}"):
        _ask(numbers, number, work)
    assert _ask(numbers, -3, abs) == 3, "another child answers"


def test_an_endless_recursion_is_reported_in_a_few_lines() -> None:
    worker: Worker[str] = Worker(attrgetter("cwd"), "test")
    try:
        with pytest.raises(WorkerFailed, match="RecursionError") as failed:
            worker.ask(Setup("[" * 100_000), json.loads, "a.py").result(PATIENCE)
        assert len(str(failed.value)) < 10_000
    finally:
        worker.stop()


def test_a_child_that_was_killed_between_two_questions_is_replaced_without_a_word(numbers: Worker[int]) -> None:
    child = _ask(numbers, 0, os.getpgid)
    os.kill(child, signal.SIGKILL)
    time.sleep(0.05)
    assert _ask(numbers, -3, abs) == 3


def test_a_question_that_is_no_longer_wanted_is_not_asked(numbers: Worker[int]) -> None:
    answer = numbers.ask(Setup("", generation=3), os._exit, "a.py", wanted=lambda: False)
    with pytest.raises(Interrupted):
        answer.result(PATIENCE)


def test_after_the_end_nothing_is_asked(numbers: Worker[int]) -> None:
    answer, _ = _asleep(numbers)
    numbers.stop()
    with pytest.raises(Interrupted):
        answer.result(PATIENCE)
    with pytest.raises(CancelledError):
        _ask(numbers, -3, abs)


def test_a_configuration_that_cannot_be_used_is_an_error_of_its_own(tmp_path: Path) -> None:
    worker: Worker[str] = Worker(attrgetter("cwd"), "test")
    try:
        (tmp_path / "jaxlint.toml").write_text("selct = []\n", encoding="utf-8")
        with pytest.raises(ConfigError, match="selct"):
            worker.ask(Setup(str(tmp_path / "jaxlint.toml")), load_options, "a.py").result(PATIENCE)
    finally:
        worker.stop()


def test_a_child_at_work_ends_with_its_parent(tmp_path: Path) -> None:
    """Also if the parent has no time to say so."""
    script = tmp_path / "parent.py"
    script.write_text(
        "import os, time\nfrom operator import attrgetter\n"
        "from flake8_jax.server.checker import Setup\nfrom flake8_jax.server.worker import Worker\n"
        "if __name__ == '__main__':\n"
        "    worker = Worker(attrgetter('generation'), 'test')\n"
        "    print(worker.ask(Setup('', generation=0), os.getpgid, 'a.py').result(), flush=True)\n"
        "    worker.ask(Setup('', generation=600), time.sleep, 'a.py').result()\n",
        encoding="utf-8",
    )
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        time.sleep(0.2)
        parent.kill()
    _until(lambda: not _runs(child))


def _runs(number: int) -> bool:
    listed = subprocess.run(["ps", "-p", str(number), "-o", "stat="], capture_output=True, text=True, check=False)
    return bool(listed.stdout.strip()) and "Z" not in listed.stdout
