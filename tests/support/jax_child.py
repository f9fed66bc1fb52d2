"""Run programs on JAX one after the other in this process, each as if it were alone: ``jax_child.py INDEX RESULTS``.

INDEX is a JSON list of jobs ``{name, group, script, folder, files, arguments}``. A job is ``run(folder, **arguments)``
of the Python file ``script``, which returns something for JSON. ``folder`` is null where ``files``, a text for each
name, have to be written first. Modules in the folder are importable. RESULTS gets one line ``[name, result]`` as soon
as a job is done. A job that takes longer than ``LIMIT`` seconds ends the process. Only neighbors of one group find what
JAX compiled for each other, which decides what error some mistakes raise.

This file and the scripts need nothing of the linter but ``runtime_checks.child``, so any environment with JAX will do.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import importlib
import importlib.util
import json
import os
import random
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

LIMIT = 180


def load(file: Path, name: str | None = None) -> ModuleType:
    """Execute a file as a new module, which ``import NAME`` finds from now on."""
    name = name or file.stem
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def is_own(module: ModuleType, folder: Path) -> bool:
    """Whether a module belongs to the program in this folder, or was made by hand."""
    file = getattr(module, "__file__", None)
    return getattr(module, "__spec__", None) is None if file is None else str(file).startswith(f"{folder}{os.sep}")


@contextlib.contextmanager
def isolated(folder: Path) -> Iterator[None]:
    """Put back what a program changes in the process: modules, paths, environment, settings of JAX, random states."""
    modules, path, environment, here = dict(sys.modules), list(sys.path), dict(os.environ), Path.cwd()
    sys.path[:0] = [str(place) for place in (folder / "src", folder) if place.is_dir()]
    importlib.invalidate_caches()
    try:
        with warnings.catch_warnings(), settings_and_random_states():
            yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:] = path
        for name, module in list(sys.modules.items()):
            if name not in modules and is_own(module, folder):
                del sys.modules[name]
        sys.modules.update(modules)


@contextlib.contextmanager
def settings_and_random_states() -> Iterator[None]:
    """Wait for effects, and put back what JAX and the random generators of the process hold.

    Where JAX is not imported yet, the program is the only one of its process.
    """
    if "jax" not in sys.modules:
        yield
        return
    import jax
    import numpy as np

    settings, python_state, numpy_state = dict(jax.config.values), random.getstate(), np.random.get_state()
    try:
        yield
        jax.effects_barrier()
    finally:
        for name, value in settings.items():
            if jax.config.values[name] != value:
                jax.config.update(name, value)
        random.setstate(python_state)
        np.random.set_state(numpy_state)


@functools.cache
def script(file: str) -> ModuleType:
    """The module of a script, under a name that no program has."""
    return load(Path(file), f"script {file}")


def run(job: dict[str, Any]) -> Any:
    """The result of a job; a traceback where its script let an exception out."""
    with contextlib.ExitStack() as stack:
        folder = Path(job["folder"] or stack.enter_context(tempfile.TemporaryDirectory())).resolve()
        for name, text in job["files"].items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        run_in = script(job["script"]).run
        try:
            with isolated(folder):
                return run_in(folder, **job["arguments"])
        except Exception:  # of whatever kind: it is the result
            return traceback.format_exc()


def share_contexts() -> None:
    """Let all that a thread compiles share a context of MLIR.

    JAX makes one for each function, and to load its dialects takes a sixth of the time of short programs.
    """
    mlir = importlib.import_module("jax._src.interpreters.mlir")
    make = getattr(mlir, "make_ir_context", None)
    if make is not None:
        of_thread = functools.cache(lambda thread: make())
        mlir.make_ir_context = lambda: of_thread(threading.get_ident())


def main(index: Path, results: Path) -> None:
    jobs = json.loads(index.read_text(encoding="utf-8"))
    if len(jobs) > 1:
        importlib.import_module("jax")
        share_contexts()
    with results.open("a", encoding="utf-8") as out:
        for before, job in zip([None, *jobs], jobs):
            faulthandler.dump_traceback_later(LIMIT, exit=True)
            if before is not None and before["group"] != job["group"]:
                sys.modules["jax"].clear_caches()
            out.write(json.dumps([job["name"], run(job)]) + "\n")
            out.flush()
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
