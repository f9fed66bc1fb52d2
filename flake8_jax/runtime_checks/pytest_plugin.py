"""A pytest plugin that records a profile while the tests run.

    pytest -p flake8_jax.runtime_checks.pytest_plugin --jaxlint-root src --jaxlint-profile .jaxlint/profile.json

It does what ``jaxlint record -- pytest …`` does, in the process that pytest itself started, for set-ups that cannot be
started by another program. It uses the profile function of the interpreter, which debuggers and coverage leave alone, and
so sees calls only: compilations are not in its profile. The workers of pytest-xdist record each for themselves, and send
what they recorded to the process that started them, which writes the profile.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator
from types import FrameType
from typing import Any

import msgspec
import pytest

from flake8_jax.runtime_checks.child.observe import versions
from flake8_jax.runtime_checks.child.places import Places
from flake8_jax.runtime_checks.child.pytest_workers import NAME, Collector, merged
from flake8_jax.runtime_checks.child.recorder import Recorder
from flake8_jax.runtime_checks.profile import DEFAULT, VERSION, Function, Profile, save, shown_command, shown_path


class Listener:
    """A profile function that tells a recorder of every call of the user's functions."""

    def __init__(self, roots: list[str]) -> None:
        self._places = Places(roots)
        self.recorder = Recorder(self._places)

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        if event == "call" and self._places.path_of(frame.f_code) is not None:
            self.recorder.called(frame)

    def start(self) -> None:
        """Start to record in all threads."""
        threading.setprofile(self)
        sys.setprofile(self)

    def is_running(self) -> bool:
        """Python drops a profile function that raises, and the code under test may set one of its own."""
        return sys.getprofile() is self

    def stop(self) -> None:
        """Stop to record in all threads."""
        sys.setprofile(None)
        threading.setprofile(None)


class Plugin:
    """Records from before collection (decorators run at import) to the end of the session."""

    def __init__(self, listener: Listener, out: str, sent: dict[str, Any] | None) -> None:
        """sent: what this process sends at the end, if it is a worker of xdist."""
        self._listener = listener
        self._out = out
        self._sent = sent
        self._others = Collector()
        self._interrupted: list[str] = []

    @property
    def collector(self) -> Collector | None:
        """Return the plugin that gets what workers recorded; None in a worker."""
        return self._others if self._sent is None else None

    def pytest_sessionstart(self) -> None:
        self._listener.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        result = yield
        if not self._listener.is_running():
            self._interrupted.append(item.nodeid)
            self._listener.start()
        return result

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for test in self._interrupted:
            terminalreporter.write_line(f"jaxlint: the recording stopped within {test} and went on after it")
        count = len(self._rows())
        terminalreporter.write_line(
            f"jaxlint: recorded {count} functions into {self._out}"
            if count
            else f"jaxlint: no function was seen; {self._out} is as it was"
        )

    def _rows(self) -> list[dict[str, Any]]:
        return merged([*self._listener.recorder.rows(), *self._others.functions])

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self._listener.stop()
        if self._sent is not None:
            self._sent[NAME] = {"functions": self._listener.recorder.rows(), "compilations": []}
            return
        functions = [msgspec.convert(row, Function) for row in self._rows()]
        base = os.path.dirname(os.path.dirname(os.path.abspath(self._out)))
        command = shown_command(["pytest", *sys.argv[1:]], base)
        python = shown_path(sys.executable, base)
        save(Profile(VERSION, command, versions(), functions, [], python), self._out)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("jaxlint", "record which parameters JAX traces")
    group.addoption("--jaxlint-root", action="append", default=[], help="record functions of files under this folder")
    group.addoption("--jaxlint-profile", default=DEFAULT, help=f"write the profile to this file; default: {DEFAULT}")


def pytest_configure(config: pytest.Config) -> None:
    roots = config.getoption("--jaxlint-root")
    if roots:
        plugin = Plugin(Listener(roots), config.getoption("--jaxlint-profile"), getattr(config, "workeroutput", None))
        config.pluginmanager.register(plugin, "jaxlint-recorder")
        if plugin.collector is not None:
            config.pluginmanager.register(plugin.collector, "jaxlint-collector")
