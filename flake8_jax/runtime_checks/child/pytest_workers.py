"""Recording in the workers of pytest-xdist, which are processes of their own; and pytest without them.

Vocabulary
----------
worker     a process that xdist starts. This module is a plugin there (``PYTEST_PLUGINS``), and what it records goes back with
           what xdist sends at the end of the worker's session (``workeroutput``). Of a worker that crashes, nothing is left.
collector  the plugin in the process that started them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

import pytest

from flake8_jax.runtime_checks.child.instruments import Instruments
from flake8_jax.runtime_checks.child.places import Places
from flake8_jax.runtime_checks.child.recorder import AVALS, Recorder
from flake8_jax.runtime_checks.child.watching import Watcher

ROOTS = "JAXLINT_WORKER_ROOTS"
"""The variable that tells a worker which files and folders to record."""
NAME = "jaxlint"
"""What we call our part of what a worker sends."""
_MODULE = "flake8_jax.runtime_checks.child.pytest_workers"


def announce(roots: list[str], around: list[str]) -> None:
    """Have the workers of a pytest that begins in this process record."""
    os.environ[ROOTS] = json.dumps([roots, around])
    others = os.environ.get("PYTEST_PLUGINS", "")
    os.environ["PYTEST_PLUGINS"] = f"{others},{_MODULE}" if others else _MODULE


class Collector:
    """Gathers what workers recorded."""

    def __init__(self) -> None:
        self.functions: list[dict[str, Any]] = []
        self.compilations: list[dict[str, Any]] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        sent = getattr(node, "workeroutput", {}).get(NAME)
        if sent:
            self.functions += sent["functions"]
            self.compilations += sent["compilations"]


class Alone:
    """Has xdist start no workers: what is watched has to happen in this process."""

    def pytest_cmdline_main(self, config: Any) -> None:
        if getattr(config.option, "dist", "no") != "no":
            config.option.dist, config.option.tx, config.option.numprocesses = "no", [], None


class _Worker:
    """Records in a worker."""

    def __init__(self, roots: list[str], around: list[str]) -> None:
        places = Places(roots, around)
        self._instruments = Instruments(places)
        self._recorder = Recorder(places)
        self._watcher = Watcher(places, [], self._instruments.install, self._recorder.called)
        self._watcher.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: Any) -> None:
        self._watcher.stop()
        session.config.workeroutput[NAME] = {
            "functions": self._recorder.rows(),
            "compilations": self._instruments.compilations,
        }


def pytest_configure(config: Any) -> None:
    """In a worker, begin to record."""
    if hasattr(config, "workerinput") and ROOTS in os.environ:
        config.pluginmanager.register(_Worker(*json.loads(os.environ[ROOTS])), "jaxlint-worker")


def merged(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a recorder that several processes recorded, each function once."""
    found: dict[tuple[str, int, str], dict[str, Any]] = {}
    for row in rows:
        key = (row["filename"], row["line"], row["qualname"])
        found[key] = _sum(found[key], row) if key in found else row
    return [found[key] for key in sorted(found)]


_COUNTS = ("calls", "staged_calls", "ambient_calls", "observed")


def _sum(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    total = {**one, **{name: one[name] + other[name] for name in _COUNTS if name in one}}
    total["params"] = {
        name: {
            kind: one["params"].get(name, {}).get(kind, 0) + other["params"].get(name, {}).get(kind, 0)
            for kind in [*one["params"].get(name, {}), *other["params"].get(name, {})]
        }
        for name in dict.fromkeys([*one["params"], *other["params"]])
    }
    for kept in ("avals", "statics"):
        total[kept] = {
            name: list(dict.fromkeys([*one.get(kept, {}).get(name, ()), *other.get(kept, {}).get(name, ())]))[:AVALS]
            for name in dict.fromkeys([*one.get(kept, {}), *other.get(kept, {})])
        }
    if "ambient" in one:
        total["ambient"] = _ambient(one, other)
    return total


def _ambient(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any] | None:
    """Of the calls while JAX built a jaxpr, where there were others: else None, and the row itself is of those alone."""
    parts = [part for row in (one, other) if (part := _ambient_part(row)) is not None]
    calls = one["calls"] + other["calls"]
    if not parts or one["ambient_calls"] + other["ambient_calls"] == calls:
        return None
    return parts[0] if len(parts) == 1 else _sum(parts[0], parts[1])


def _ambient_part(row: dict[str, Any]) -> dict[str, Any] | None:
    if row["ambient"] is not None:
        return dict(row["ambient"])
    if not row["ambient_calls"]:
        return None
    return {name: row[name] for name in ("observed", "params", "avals")}
