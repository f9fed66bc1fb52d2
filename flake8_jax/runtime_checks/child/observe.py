"""Run the user's command and watch the places of findings; record calls where that is asked for.

Request: ``roots``; ``command``, the words of the command, or else ``calls`` and ``folders`` (see ``calls``); ``watches``:
number, path, first, last; ``mode``: ``plain``, ``keys`` (without jit, watching what consumes keys), ``nans`` (JAX stops at
the first NaN), ``replicas`` (watching copies on several devices); ``record``: whether to say which parameters were tracers.
Messages: ``observations``, ``record``, ``ended``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from flake8_jax.runtime_checks.child.formulas import formula_pair
from flake8_jax.runtime_checks.child.instruments import Instruments
from flake8_jax.runtime_checks.child.main import Channel, summary
from flake8_jax.runtime_checks.child.places import Places
from flake8_jax.runtime_checks.child.recorder import Recorder
from flake8_jax.runtime_checks.child.watching import Watch, Watcher
from flake8_jax.runtime_checks.child.workload import CommandError, prepare


def run(request: dict[str, Any], channel: Channel) -> None:
    """Run the command to its end, however that looks, and tell what was seen."""
    scripts = [word for word in [*request["command"], *request["roots"]] if word.endswith(".py")]
    places = Places(request["roots"], [os.getcwd(), *[os.path.dirname(os.path.abspath(script)) for script in scripts]])
    watches = [
        Watch(
            w["number"], w["path"], w["first"], w["last"], keeps_old=w.get("keeps_old", False), formula=formula_pair(w)
        )
        for w in request["watches"]
    ]
    instruments = Instruments(places)
    recorder = Recorder(places) if request.get("record") else None
    mode = request.get("mode", "plain")

    def install() -> None:
        instruments.install()
        if mode == "keys":
            instruments.install_draws()
        elif mode == "replicas":
            instruments.install_replicas()
        elif mode == "nans":
            import jax

            jax.config.update("jax_debug_nans", True)

    finite = _Finiteness(watches, places) if mode == "keys" else None
    watcher = Watcher(
        places, watches, install, recorder.called if recorder else None, finite.returned if finite else None
    )
    try:
        work = _work(request, watcher, channel)
    except CommandError as error:
        channel.send("refused", text=str(error))
        raise SystemExit(2) from error
    status, failure = 0, ""
    watcher.start()
    try:
        work()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the user's program may end in any way; what was seen until then counts
        status, failure = 1, summary(error)
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        running = watcher.is_running()
        watcher.stop()
        channel.send("observations", watches=[watch.report() for watch in watches], raised=watcher.raised, x64=_has_x64(),
                     **instruments.report())  # fmt: skip
        if recorder is not None:
            channel.send("record", functions=recorder.rows())
        channel.send("ended", status=status, failure=failure, interrupted=not running, versions=versions())
    sys.stdout.flush()
    raise SystemExit(status)


def _work(request: dict[str, Any], watcher: Watcher, channel: Channel) -> Callable[[], object]:
    """The command, or the calls. Raises CommandError."""
    if request["command"]:
        return prepare(request["command"])
    from flake8_jax.runtime_checks.child.calls import run_calls

    return lambda: run_calls(request["calls"], request["folders"], watcher, channel.send)


class _Finiteness:
    """Functions with a watched line that return something that is not finite."""

    def __init__(self, watches: list[Watch], places: Places) -> None:
        self._watches = watches
        self._places = places

    def returned(self, frame: Any, value: Any) -> None:
        path = self._places.path_of(frame.f_code)
        first = frame.f_code.co_firstlineno
        last = max((row for _, _, row in frame.f_code.co_lines() if row is not None), default=first)
        mine = [watch for watch in self._watches if watch.path == path and first <= watch.first <= last]
        if mine and _is_nonfinite(value):
            for watch in mine:
                watch.nonfinite += 1


def _is_nonfinite(value: Any) -> bool:
    import jax
    import numpy

    for leaf in jax.tree_util.tree_leaves(value):
        if isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer) and _is_float(leaf):
            if not numpy.isfinite(numpy.asarray(leaf)).all():
                return True
    return False


def _is_float(leaf: Any) -> bool:
    import jax.numpy

    return bool(jax.numpy.issubdtype(leaf.dtype, jax.numpy.inexact))


def _has_x64() -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and bool(jax.config.jax_enable_x64)


def versions() -> dict[str, str]:
    """Of Python, and of JAX and its device once it is imported."""
    import platform

    found = {"python": platform.python_version(), "platform": f"{sys.platform} {platform.machine()}"}
    jax = sys.modules.get("jax")
    if jax is not None:
        found["jax"] = jax.__version__
        try:
            found["backend"] = jax.default_backend()
            found["device"] = jax.devices()[0].device_kind
        except RuntimeError as error:  # no such platform here
            found["problem"] = str(error).strip().splitlines()[0]
    return found
