"""Keeps a recording of a project's own tests short.

A pytest plugin, used together with the one that records::

    PYTHONPATH=benchmarks python -m pytest -p flake8_jax.runtime_checks.pytest_plugin -p record_tracers \
        --jaxlint-root SRC --jaxlint-root TESTS --jaxlint-profile record.json --tracers-per-file 60 TESTS

So many seconds in all, and so many for each test file; tests beyond are skipped. Each file's tests are shuffled, always the
same way, so that the part that runs represents the file.
"""

from __future__ import annotations

import time
import zlib
from typing import Any

import pytest


class Budget:
    """Keeps a run short: so many seconds in all, and so many for each test file; the rest is skipped."""

    def __init__(self, total: float, per_file: float) -> None:
        self.per_file = per_file
        self.deadline = time.monotonic() + total
        self.spent: dict[str, float] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Shuffle each file's tests, always the same way, so that the part that runs represents the file."""
        order = {path: i for i, path in enumerate(dict.fromkeys(str(item.path) for item in items))}
        items.sort(key=lambda item: (order[str(item.path)], zlib.crc32(item.name.encode())))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if self.spent.get(str(item.path), 0.0) > self.per_file:
            pytest.skip("the time of this file is spent")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        start = time.monotonic()
        result = yield
        end = time.monotonic()
        path = str(item.path)
        self.spent[path] = self.spent.get(path, 0.0) + end - start
        if end > self.deadline:
            item.session.shouldstop = "the time of this recording is spent"
        return result


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tracers", "keep a recording short")
    group.addoption("--tracers-seconds", type=float, default=float("inf"), help="stop after so many seconds")
    group.addoption("--tracers-per-file", type=float, default=float("inf"), help="seconds for each test file")


def pytest_configure(config: pytest.Config) -> None:
    budget = Budget(config.getoption("--tracers-seconds"), config.getoption("--tracers-per-file"))
    config.pluginmanager.register(budget, "tracers-budget")
