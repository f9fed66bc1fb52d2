"""Run the user's command and watch the places of findings; record calls where that is asked for.

Request: ``roots``; ``command``, the words of the command, and ``cells``, of notebooks by path (see ``workload``), or else
``calls`` and ``folders`` (see ``calls``); ``watches``: number, path, first, last; ``mode``: ``plain``, ``keys`` (without jit,
watching what consumes keys), ``nans`` (JAX stops at the first NaN), ``replicas`` (watching copies on several devices);
``lines``: paths and rows where jit is off in ``keys``, null for everywhere; in other modes, to find out which lines had traced
what is watched (see ``switching``); ``record``: whether to say which parameters were tracers; ``keep``: say every few seconds
what was seen so far.
Messages: ``observations``, ``record``, ``ended``.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from flake8_jax.runtime_checks.child.formulas import formula_pair
from flake8_jax.runtime_checks.child.instruments import Instruments
from flake8_jax.runtime_checks.child.main import Channel, summary
from flake8_jax.runtime_checks.child.places import Places
from flake8_jax.runtime_checks.child.recorder import Recorder
from flake8_jax.runtime_checks.child.switching import Switch
from flake8_jax.runtime_checks.child.watching import Watch, Watcher
from flake8_jax.runtime_checks.child.workload import CommandError, is_pytest, prepare, show_error


def run(request: dict[str, Any], channel: Channel) -> None:
    """Run the command to its end, however that looks, and tell what was seen."""
    scripts = [word for word in [*request["command"], *request["roots"]] if word.endswith(".py")]
    places = Places(request["roots"], [os.getcwd(), *[os.path.dirname(os.path.abspath(script)) for script in scripts]])
    mode = request.get("mode", "plain")
    watches = [
        Watch(
            w["number"],
            w["path"],
            w["first"],
            w["last"],
            keeps_old=w.get("keeps_old", False),
            formula=formula_pair(w) if "formula" in w else None,
            stable=(w.get("formula") or ("", ""))[1],
            unjit=w.get("unjit", False),
            name=w.get("name", ""),
            column=w.get("column", 0),
            span=tuple(w["span"]) if w.get("span") else None,
            derives=mode == "nans",
        )
        for w in request["watches"]
    ]
    instruments = Instruments(places)
    recorder = Recorder(places) if request.get("record") else None

    def install() -> None:
        instruments.install()
        if mode == "keys":
            instruments.install_draws(everywhere=request.get("lines") is None)
        elif mode == "replicas":
            instruments.install_replicas()
        elif mode == "nans":
            instruments.install_nans()

    finite = _Finiteness(watches, places) if mode == "keys" else None
    texts = {path: _text_of(cells) for path, cells in request.get("cells", {}).items()}
    watcher = Watcher(
        places, watches, install, recorder.called if recorder else None, finite.returned if finite else None, texts
    )
    if request.get("lines") is not None:
        lines = [(path, watcher.statement_at(path, row)) for path, row in request["lines"]]
        watcher.switch = Switch(lines, only_learns=mode != "keys")
    try:
        collector = _plugins(request, scripts)
        work = _work(request, watcher, channel, collector)
    except CommandError as error:
        channel.send("refused", text=str(error))
        raise SystemExit(2) from error
    reporter = _Reporter(channel, watcher, instruments, recorder, collector)
    if request.get("keep"):
        channel.keep(reporter.so_far)
        watcher.urge = instruments.urge = channel.urge
    reporter.report_before_exit()
    atexit.register(reporter.report)  # before the program registers anything: so it comes after all of that
    status, failure = 0, ""
    watcher.start()
    try:
        work()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
    except KeyboardInterrupt:
        status = 130
    except BaseException as error:  # the user's program may end in any way; what was seen until then counts
        status, failure = 1, summary(error)
        show_error(error)
    finally:
        reporter.main_ended(status, failure)
    sys.stdout.flush()
    raise SystemExit(status)


def _text_of(cells: list[Any]) -> str:
    """The text of a notebook, each cell at its row."""
    lines: list[str] = []
    for row, text, _ in cells:
        lines += [""] * (row - 1 - len(lines))
        lines += text.rstrip("\n").split("\n")
    return "\n".join(lines) + "\n"


class _Reporter:
    """Says what was seen: so far, and at the end."""

    def __init__(
        self, channel: Channel, watcher: Watcher, instruments: Instruments, recorder: Recorder | None, plugin: Any
    ) -> None:
        """plugin: for pytest; it may have gathered what other processes recorded."""
        self._others = plugin
        self._channel = channel
        self._watcher = watcher
        self._instruments = instruments
        self._recorder = recorder
        self._reported = False
        self._ended: dict[str, Any] = {}

    def _seen(self) -> list[dict[str, Any]]:
        watches = [watch.report() for watch in self._watcher.watches]
        seen: dict[str, Any] = {"watches": watches, "raised": list(self._watcher.raised), "x64": _has_x64()}
        seen["files"] = sorted(self._watcher.files)
        seen["callers"] = self._watcher.switch.report() if self._watcher.switch is not None else []
        found = [{"kind": "observations", **seen, **self._instruments.report()}]
        if self._recorder is None:
            return found
        rows = self._recorder.rows()
        if self._others is not None:
            from flake8_jax.runtime_checks.child.pytest_workers import merged

            rows = merged([*rows, *self._others.functions])
            found[0]["compilations"] = [*found[0]["compilations"], *self._others.compilations]
        return [*found, {"kind": "record", "functions": rows}]

    def so_far(self) -> list[dict[str, Any]]:
        """From another thread, while the command runs."""
        return [*self._seen(), {"kind": "versions", "versions": versions(started=True)}]

    def main_ended(self, status: int, failure: str) -> None:
        """The main program is at its end. Its threads and what it has registered with ``atexit`` still run, and are watched;
        there JAX may be closed already, so that it is asked for its device now."""
        interrupted = not self._watcher.is_running()
        found = versions(started=status == 130)
        self._ended = {"status": status, "failure": failure, "interrupted": interrupted, "versions": found}

    def report(self) -> None:
        """All of the command is at its end."""
        if self._reported:
            return
        self._reported = True
        self._watcher.stop()
        for message in self._seen():
            self._channel.send(**message)
        self._channel.send("ended", **self._ended)

    def report_before_exit(self) -> None:
        """``os._exit`` ends this process without a word: have it say first what was seen."""
        real, process = os._exit, os.getpid()

        def leave(status: int) -> NoReturn:
            if os.getpid() == process:
                if not self._ended:
                    self.main_ended(status, "")
                self.report()
            real(status)

        os._exit = leave


def _plugins(request: dict[str, Any], scripts: list[str]) -> Any:
    """A plugin for pytest, where that is the command and is installed: see ``pytest_workers``. scripts: of the user's."""
    import importlib.util

    if not is_pytest(request["command"]) or importlib.util.find_spec("pytest") is None:
        return None
    from flake8_jax.runtime_checks.child import pytest_workers

    if not request.get("record"):
        return pytest_workers.Alone()
    around = [os.getcwd(), *[os.path.dirname(os.path.abspath(script)) for script in scripts]]
    pytest_workers.announce(request["roots"], around)
    return pytest_workers.Collector()


def _work(request: dict[str, Any], watcher: Watcher, channel: Channel, plugin: Any) -> Callable[[], object]:
    """The command, or the calls. plugin: for pytest. Raises CommandError."""
    if request["command"]:
        return prepare(request["command"], request.get("cells", {}), [] if plugin is None else [plugin])
    from flake8_jax.runtime_checks.child.calls import run_calls

    return lambda: run_calls(request["calls"], request["folders"], watcher, channel.send)


class _Finiteness:
    """Watched lines that return from their function what is not finite, though all its arguments are."""

    def __init__(self, watches: list[Watch], places: Places) -> None:
        self._watches = watches
        self._places = places

    def returned(self, frame: Any, value: Any) -> None:
        path = self._places.path_of(frame.f_code)
        mine = [watch for watch in self._watches if watch.path == path and watch.first <= frame.f_lineno <= watch.last]
        if not mine or not _has_nonfinite(value):
            return
        names = frame.f_code.co_varnames[: frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
        if not _has_nonfinite([frame.f_locals.get(name) for name in names]):
            for watch in mine:
                watch.nonfinite += 1


def _has_nonfinite(tree: Any) -> bool:
    import jax
    import numpy

    for leaf in jax.tree_util.tree_leaves(tree):
        if isinstance(leaf, (jax.Array, numpy.ndarray)) and not isinstance(leaf, jax.core.Tracer) and _is_float(leaf):
            if not numpy.isfinite(numpy.asarray(leaf)).all():
                return True
    return False


def _is_float(leaf: Any) -> bool:
    import jax.numpy

    return bool(jax.numpy.issubdtype(leaf.dtype, jax.numpy.inexact))


def _has_x64() -> bool:
    config = getattr(sys.modules.get("jax"), "config", None)  # none while JAX is being imported
    return bool(getattr(config, "jax_enable_x64", False))


def versions(*, started: bool = False) -> dict[str, str]:
    """Of Python, and of JAX and its device once it is imported. started: start no backend to find out."""
    import platform

    found = {"python": platform.python_version(), "platform": f"{sys.platform} {platform.machine()}"}
    jax = sys.modules.get("jax")
    if jax is not None:
        found["jax"] = getattr(jax, "__version__", "")
        if started and not getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None):
            return found
        try:
            found["backend"] = jax.default_backend()
            found["device"] = jax.devices()[0].device_kind
        except RuntimeError as error:  # no such platform here
            found["problem"] = str(error).strip().splitlines()[0]
    return found
