"""Programs that run on JAX, many in one process: what tests are parametrized with, and the fixture that runs them.

A test that takes a ``Program``, or a tuple of them, as a parameter is marked ``jax`` by itself. It calls
``on_jax(program)`` for the result. The first call runs all selected programs, in a few processes, so that nothing runs
that no selected test asks for. With xdist, tests whose programs share a process stay on one worker. What XLA compiled
stays in pytest's cache.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from support.no_jax.sitecustomize import NOTES

BATCHES = 3
"""So many processes share the programs of a script, so that every core has something to do."""
FEW = 40
"""So many programs share one process: starting another one, with JAX, takes longer than they do."""
OPTIONAL = {
    "brax", "chex", "diffrax", "distrax", "equinox", "flax", "haiku", "jaxopt", "jaxtyping", "jmp", "lineax", "numpyro",
    "optax", "optimistix",
}  # fmt: skip
"""Libraries that programs may use. Where one is not installed, they are skipped."""
CHILD = Path(__file__).with_name("jax_child.py")
_IMPORT = re.compile(r"^\s*(?:import|from) (\w+)", re.MULTILINE)
_SETS_ENVIRONMENT = re.compile(r"^os\.environ\[", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """``run(folder, **arguments)`` of a script for ``jax_child``; a folder is made where ``files`` are given."""

    name: str
    script: Path
    group: str
    """Only programs of one group find what JAX compiled for each other."""
    folder: Path | None = None
    files: Mapping[str, str] = field(default_factory=dict, hash=False)
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    texts: tuple[str, ...] = ()
    """What it consists of, where that is not in ``files``."""

    @property
    def _texts(self) -> tuple[str, ...]:
        return (*self.files.values(), *self.texts)

    @property
    def batch(self) -> str:
        """Programs of one batch share a process. One that sets the environment on import needs a fresh JAX."""
        if any(_SETS_ENVIRONMENT.search(text) for text in self._texts):
            return self.name
        return f"{self.script.parent.name}/{self.script.stem}/{zlib.crc32(self.group.encode()) % BATCHES}"

    def libraries(self) -> set[str]:
        """Optional libraries that it imports."""
        return {name for text in self._texts for name in _IMPORT.findall(text)} & OPTIONAL

    def missing(self) -> list[str]:
        """Optional libraries that it imports and that are not installed."""
        return sorted(name for name in self.libraries() if importlib.util.find_spec(name) is None)

    def job(self) -> dict[str, Any]:
        folder = None if self.folder is None else str(self.folder)
        return {
            "name": self.name,
            "group": self.group,
            "script": str(self.script),
            "folder": folder,
            "files": dict(self.files),
            "arguments": dict(self.arguments),
        }


def programs_of(item: pytest.Item) -> Iterator[Program]:
    """The programs among the parameters of a test."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    for value in parameters.values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Program):
                yield part


def run_all(programs: Iterable[Program], folder: Path, python: str = sys.executable, **settings: str) -> dict[str, Any]:
    """The results by name. Where a program ends the process, its result is what the process said; the others go on."""
    index, results = folder / "index.json", folder / "results.jsonl"
    left = {program.name: program for program in programs}
    found: dict[str, Any] = {}
    # XLA spends most of its time on code that runs once, and JAX looks up the file of every frame of an error.
    fixed = {
        "JAX_PLATFORMS": "cpu",
        "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
        "JAX_TRACEBACK_FILTERING": "off",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    # NOTES is empty: the tests of a batch may run JAX, although a thread may start it while another test runs.
    while left:
        index.write_text(json.dumps([program.job() for program in left.values()]), encoding="utf-8")
        results.write_text("", encoding="utf-8")
        command = [python, str(CHILD), str(index), str(results)]
        done = subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
            env={**os.environ, **fixed, **settings, NOTES: ""}, check=False,
        )  # fmt: skip
        lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
        found |= dict(lines)
        for name, _ in lines:
            del left[name]
        if left:
            culprit = next(iter(left))
            found[culprit] = f"ended the process with {done.returncode}\n{done.stderr[-8000:]}"
            del left[culprit]
    return found


class Runner:
    """Runs what the tests of a session ask for: batches side by side, or under xdist what this worker needs."""

    def __init__(
        self, selected: Iterable[Program], folders: pytest.TempPathFactory, settings: Mapping[str, str]
    ) -> None:
        self._batches: dict[str, dict[str, Program]] = {}
        programs = {(program.script, program.name): program for program in selected}.values()
        self._few = len(programs) <= FEW and "PYTEST_XDIST_WORKER" not in os.environ
        for program in programs:
            self._batches.setdefault(self._batch(program), {})[program.name] = program
        self._folders = folders
        self._settings = settings
        self._pool = ThreadPoolExecutor(1 if "PYTEST_XDIST_WORKER" in os.environ else os.cpu_count())
        self._running: dict[str, Future[dict[str, Any]]] = {}

    def _batch(self, program: Program) -> str:
        """The process that a program shares. Names of programs tell them apart within one script only."""
        alone = program.batch == program.name
        return program.batch if alone or not self._few else program.script.parent.name

    def __call__(self, program: Program) -> Any:
        """What the script returned for this program."""
        for batch in [self._batch(program)] if "PYTEST_XDIST_WORKER" in os.environ else self._batches:
            if batch not in self._running:
                programs, folder = self._batches[batch].values(), self._folders.mktemp("jax")
                self._running[batch] = self._pool.submit(run_all, programs, folder, **self._settings)
        return self._running[self._batch(program)].result()[program.name]


@pytest.fixture(scope="session")
def compiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Settings with which JAX finds what XLA compiled for it before, also in an earlier session."""
    cache = getattr(request.config, "cache", None)
    return {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path_factory.mktemp("compiled") if cache is None else cache.mkdir("jax")),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }


@pytest.fixture(scope="session")
def on_jax(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, compiled: dict[str, str]
) -> Runner:
    """``on_jax(program)``: the result of a program that is a parameter of a selected test."""
    return Runner((p for item in request.session.items for p in programs_of(item)), tmp_path_factory, compiled)
