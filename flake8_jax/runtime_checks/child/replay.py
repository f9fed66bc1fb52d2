"""Run the user's command in a copy of the project and capture what some of its functions return.

Request: ``roots``: pairs of the original and the copied folder; ``command``; ``functions``: number, path, name;
``places``: number, path, row, column of findings; ``eager``: without jit; ``wide``: in float64; ``blind``: draws do not
depend on their keys (see ``blind_keys``); ``meanings``: number, kind, path, row, column and name of expressions that are to
do what is meant there (see ``meanings``); ``folder``: where captured results go. Messages: ``replayed``, ``ended``,
``refused``.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.machinery
import importlib.util
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from flake8_jax.runtime_checks.child import blind_keys, meanings
from flake8_jax.runtime_checks.child.captures import Ledger
from flake8_jax.runtime_checks.child.main import Channel, summary
from flake8_jax.runtime_checks.child.observe import versions
from flake8_jax.runtime_checks.child.places import Places
from flake8_jax.runtime_checks.child.rewriting import CAPTURE, FAILED, MODULE, VISIT, Plan, hook_compile
from flake8_jax.runtime_checks.child.workload import CommandError, is_pytest, prepare, show_error


def run(request: dict[str, Any], channel: Channel) -> None:
    """Run the command to its end, however that looks, and tell what was captured."""
    roots = [(original, copy) for original, copy in request["roots"]]
    places = Places([copy for _, copy in roots])
    names = {(f["path"], f["name"]): f["number"] for f in request["functions"]}
    ledger = Ledger(places, names)
    ledger.added = {f["number"]: f["added"] for f in request["functions"]}
    sys.dont_write_bytecode = True
    put: set[int] = set()
    hook_compile(_plans(request), ledger.defined.__setitem__, put.add)
    probes = {CAPTURE: ledger.capture, VISIT: ledger.visit, MODULE: ledger.module, FAILED: ledger.module_failed}
    probes |= meanings.HELPERS
    for name, probe in probes.items():
        setattr(builtins, name, probe)
    floats = [meant["number"] for meant in request["meanings"] if meant["kind"] == "float"]
    put.update(floats)
    imported = _Importing(ledger, _changes_of_jax(request, meant=bool(floats)))
    sys.meta_path.insert(0, imported)
    _redirect(roots)
    _seed()
    try:
        work = prepare(request["command"], plugins=_plugins(request["command"]))
    except CommandError as error:
        channel.send("refused", text=str(error))
        raise SystemExit(2) from error
    if not is_pytest(request["command"]):  # it prints how long it took, and keeps what the tests print
        ledger.printed.install()
    status, failure = 0, None
    begun = time.perf_counter()
    try:
        work()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the user's program may end in any way; what was captured until then counts
        status, failure = 1, {**ledger.record_error(error), "text": summary(error)}
        show_error(error)
    total = time.perf_counter() - begun - ledger.overhead - imported.seconds
    _wait_for_effects()
    ledger.finish()
    ledger.save(request["folder"])
    visits = {number: ledger.entered.get(function, 0) for number, function in ledger.defined.items()}
    channel.send(
        "replayed", visits={**visits, **ledger.visits}, entered=ledger.entered, raised=ledger.raised, total=total,
        compiling=ledger.compiling, processor=ledger.processor.seconds(), compilations=ledger.compilations,
        left_out=ledger.store.left_out, strays=_strays(roots), put=sorted(put),
        timings=ledger.timings,
    )  # fmt: skip
    channel.send("ended", status=status, failure=failure, versions=versions())
    sys.stdout.flush()
    raise SystemExit(status)


def _plugins(command: list[str]) -> list[object]:
    """Pytest has to run the tests in this process."""
    if not is_pytest(command) or importlib.util.find_spec("pytest") is None:
        return []
    from flake8_jax.runtime_checks.child.pytest_workers import Alone

    return [Alone()]


def _wait_for_effects() -> None:
    """What ``jax.debug.print`` still has to print belongs to the program."""
    jax = sys.modules.get("jax")
    if jax is not None and hasattr(jax, "effects_barrier"):
        with contextlib.suppress(RuntimeError):  # a callback that failed: the program has ended by it, or does not mind
            jax.effects_barrier()


def _plans(request: dict[str, Any]) -> dict[str, Plan]:
    plans: dict[str, Plan] = {}
    for function in request["functions"]:
        plans.setdefault(function["path"], Plan()).functions[function["name"]] = function["number"]
    for place in request["places"]:
        plans.setdefault(place["path"], Plan()).places.append((place["number"], place["row"], place["column"]))
    for meant in request["meanings"]:
        meaning = meanings.Meaning(meant["number"], meant["kind"], meant["row"], meant["column"], meant["name"])
        plans.setdefault(meant["path"], Plan()).meanings.append(meaning)
    return plans


def _changes_of_jax(request: dict[str, Any], *, meant: bool) -> list[Callable[[Any], None]]:
    """What the way of running asks for."""
    wanted = {
        _switch_jit_off: request["eager"], _widen_names: request["wide"], blind_keys.install: request["blind"],
        meanings.install: meant,
    }  # fmt: skip
    return [change for change, asked in wanted.items() if asked]


def _switch_jit_off(jax: Any) -> None:
    jax.config.update("jax_disable_jit", True)


def _widen_names(jax: Any) -> None:
    """Where a program asks for a type of 32 bits by its name, it gets that of 64."""
    jax.numpy.float32 = jax.numpy.float64
    jax.numpy.complex64 = jax.numpy.complex128


class _Importing:
    """Finds ``jax`` like everybody else, and changes it before the importing line goes on. seconds: that it took."""

    def __init__(self, ledger: Ledger, changes: Sequence[Callable[[Any], None]]) -> None:
        self.seconds = 0.0
        self._ledger = ledger
        self._changes = changes

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        if name != "jax":
            return None
        sys.meta_path.remove(self)
        spec = next((s for f in sys.meta_path if (s := f.find_spec(name, path, target)) is not None), None)
        if isinstance(spec, importlib.machinery.ModuleSpec) and spec.loader is not None:
            loader: Any = spec.loader
            loader.exec_module = self._executing(loader.exec_module)
        return spec

    def _executing(self, original: Callable[[Any], None]) -> Callable[[Any], None]:
        def executing(module: Any) -> None:
            begun = time.perf_counter()
            original(module)
            importlib.import_module("jax.monitoring")
            self._ledger.install(module)
            for change in self._changes:
                change(module)
            self._ledger.settle()
            self.seconds += time.perf_counter() - begun

        return executing


def _seed() -> None:
    """Every run begins with the same state of the generators without a seed. JAX needs NumPy, so it is there."""
    random.seed(0)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(0)


def _redirect(roots: list[tuple[str, str]]) -> None:
    """Whatever says that a module is in the original project shall say that it is in the copy."""
    sys.path[:] = [_copied(entry, roots) for entry in sys.path]
    for finder in sys.meta_path:  # of projects installed in editable mode, by setuptools
        module = sys.modules.get(getattr(finder, "__module__", ""))
        mapping = getattr(module, "MAPPING", None)
        if isinstance(mapping, dict):
            mapping.update({name: _copied(path, roots) for name, path in mapping.items() if isinstance(path, str)})


def _copied(path: str, roots: list[tuple[str, str]]) -> str:
    for original, copy in roots:
        if path == original or path.startswith(os.path.join(original, "")):
            moved = copy + path[len(original) :]
            return moved if os.path.exists(moved) else path  # a virtual environment in the project was not copied
    return path


def _strays(roots: list[tuple[str, str]]) -> list[str]:
    """Files of the original project that were imported all the same."""
    found = []
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and _copied(path, roots) != path and "site-packages" not in path:
            found.append(path)
    return sorted(found)
