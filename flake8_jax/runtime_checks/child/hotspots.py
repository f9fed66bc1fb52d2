"""Run the user's command and see where its time and memory go: by lines, by compiled functions, on host and device.

Request: ``roots``, ``command``, ``cells`` (see ``workload``), ``interval`` (seconds between samples), ``stop`` (seconds, or
null), ``folder`` for the trace, ``traced`` (the most seconds of the trace; 0: none), ``keep``: say every few seconds what was
sampled so far. Messages: ``refused``, ``ended``; ``result``, see ``Hotspots`` in ``flake8_jax.runtime_checks.hotspots``.

Vocabulary
----------
trace      what ``jax.profiler`` writes, from the moment that JAX has a backend: each operation on the device, for Perfetto and
           TensorBoard. Before JAX 0.5 it also has every call of Python, which makes the program slower.
live       arrays that exist at one moment, by the line that made them; the moment of most bytes is kept.
"""

from __future__ import annotations

import _thread
import functools
import glob
import gzip
import importlib
import inspect
import json
import os
import signal
import sys
import time
from typing import Any

from flake8_jax.runtime_checks.child.importing import OnImport
from flake8_jax.runtime_checks.child.jitting import forget_linter, memory_of
from flake8_jax.runtime_checks.child.main import Channel, summary
from flake8_jax.runtime_checks.child.observe import versions
from flake8_jax.runtime_checks.child.places import Places
from flake8_jax.runtime_checks.child.programs import Place, places_of, self_times
from flake8_jax.runtime_checks.child.sampling import Sampler
from flake8_jax.runtime_checks.child.workload import CommandError, prepare

_STEPS = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
}
_MOST_PROGRAMS = 500
_LOOK_SECONDS = 0.25
_SMALL = 1024  # bytes of arrays that are not looked up
_LARGEST_TRACE = 1 << 30


def run(request: dict[str, Any], channel: Channel) -> None:
    """Run the command to its end, however that looks, and tell."""
    scripts = [os.path.dirname(os.path.abspath(word)) for word in request["command"] if word.endswith(".py")]
    places = Places(request["roots"], [os.getcwd(), *scripts])
    forget_linter()
    try:
        work = prepare(request["command"], request["cells"])
    except CommandError as error:
        channel.send("refused", text=str(error))
        raise SystemExit(2) from error
    compiling = _Compiling(places)
    look = _Looking(request, places, compiling)

    def hook_in(jax: Any) -> None:
        compiling.install()
        look.install(jax)

    OnImport(hook_in).install()
    sampler = Sampler(places, request["interval"], look.after)
    begun = time.perf_counter()
    status, failure = 0, ""
    if request["keep"]:
        nothing = {"device": [], "programs": [], "live": [], "live_bytes": 0, "traced": 0.0, "trouble": ""}
        ended = {"status": 0, "failure": "", "stopped": True}
        channel.keep(
            lambda: [
                {"kind": "result", "wall": time.perf_counter() - begun, **_sampled(sampler, compiling), **nothing, **ended,
                 "versions": versions() if _has_backend() else {}}
            ]
        )  # fmt: skip
    if request["stop"] is not None:
        # What nohup or a script starts in the background ignores SIGINT, by which the program is stopped.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sampler.start()
    try:
        work()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except KeyboardInterrupt:
        status = 0 if look.stopped else 130
    except BaseException as error:  # the user's program may end in any way; what was seen until then counts
        status, failure = 1, summary(error)
        sys.excepthook(type(error), error, error.__traceback__)
    wall = time.perf_counter() - begun
    sampler.stop()
    ended = {"status": status, "failure": failure, "stopped": look.stopped, "versions": versions()}
    channel.send("result", wall=wall, **_sampled(sampler, compiling), **look.finish(), **ended)
    channel.send("ended", **ended)
    sys.stdout.flush()
    raise SystemExit(status)


def _sampled(sampler: Sampler, compiling: _Compiling) -> dict[str, Any]:
    stacks = [[list(stack), activity, seconds] for (stack, activity), seconds in list(sampler.seconds.items())]
    return {"samples": sampler.count, "stacks": stacks, "compilations": list(compiling.events)}


class _Compiling:
    """Hears what JAX traces, lowers and compiles, and at which of the user's lines."""

    def __init__(self, places: Places) -> None:
        self.events: list[dict[str, Any]] = []
        self._places = places

    def install(self) -> None:
        """JAX is imported now: listen."""
        from jax import monitoring

        monitoring.register_event_duration_secs_listener(self._on_event)

    def _on_event(self, event: str, seconds: float, **data: Any) -> None:
        if event in _STEPS:
            stack = [[p.path, p.function, p.row] for p in reversed(self._places.stack(sys._getframe(1)))]
            self.events.append(
                {"step": _STEPS[event], "name": str(data.get("fun_name") or ""), "seconds": seconds, "stack": stack}
            )


class _Looking:
    """What is looked at from time to time between samples: the backend, its programs, and the arrays that live."""

    def __init__(self, request: dict[str, Any], places: Places, compiling: _Compiling) -> None:
        self.stopped = False
        self._request = request
        self._places = places
        self._compiling = compiling
        self._begun = time.perf_counter()
        self._tracing = ""
        self._trace_begun = self._traced = 0.0
        self._programs: list[Any] = []
        self._known = -1
        self._next = 0.0
        self._bytes = 0
        self._live: dict[Place, int] = {}
        self._start: Any = None

    def install(self, jax: Any) -> None:
        """JAX is imported now. A trace that the program starts takes the place of ours: there is one at a time."""
        from jax._src import profiler as inner

        self._start = inner.start_trace

        @functools.wraps(inner.start_trace)
        def start_trace(*args: Any, **kwargs: Any) -> Any:
            if self._tracing == "on":
                self._stop_trace()
            self._tracing = self._tracing or "the program traces itself"
            return self._start(*args, **kwargs)

        inner.start_trace = start_trace
        public: Any = importlib.import_module("jax.profiler")
        public.start_trace = start_trace

    def after(self, now: float) -> None:
        """After each sample."""
        stop = self._request["stop"]
        if stop is not None and now - self._begun > stop and not self.stopped:
            self.stopped = True
            _thread.interrupt_main()
        if now < self._next or not _has_backend():
            return
        if not self._tracing and self._request["traced"]:
            self._start_trace()
        elif self._tracing == "on" and now - self._trace_begun > self._request["traced"]:
            self._stop_trace()
        self._look()
        took = time.perf_counter() - now
        self._next = now + max(_LOOK_SECONDS, 25 * took)

    def _look(self) -> None:
        import jax

        try:
            if len(self._compiling.events) != self._known:
                self._known = len(self._compiling.events)
                client: Any = getattr(jax.devices()[0], "client", None)
                known = {id(program) for program in self._programs}
                new = [made for made in client.live_executables() if id(made) not in known]
                self._programs += new[: _MOST_PROGRAMS - len(self._programs)]
            self._look_at_arrays(jax)
        except (RuntimeError, AttributeError):  # an array that was deleted meanwhile; a backend that lists nothing
            return

    def _look_at_arrays(self, jax: Any) -> None:
        arrays = [array for array in jax.live_arrays() if not array.is_deleted()]
        total = sum(array.nbytes for array in arrays)
        if total <= self._bytes:
            return
        by_line: dict[Place, int] = {}
        for array in arrays:
            if array.nbytes >= _SMALL:
                place = self._maker(array)
                by_line[place] = by_line.get(place, 0) + array.nbytes
        self._bytes, self._live = total, by_line

    def _maker(self, array: Any) -> Place:
        """The innermost of the user's lines that made an array."""
        made = getattr(array, "traceback", None)
        for frame in getattr(made, "frames", ()):
            path = os.path.abspath(frame.file_name)
            if self._places.is_root(path):
                return path, frame.function_name, frame.line_num
        return "", "", 0

    def _start_trace(self) -> None:
        import jax

        options: dict[str, Any] = {}
        made = getattr(jax.profiler, "ProfileOptions", None)
        if made is not None and "profiler_options" in inspect.signature(self._start).parameters:
            options["profiler_options"] = made()
            options["profiler_options"].python_tracer_level = 0
        self._tracing = "on"
        try:
            self._start(self._request["folder"], **options)
        except Exception as error:  # the program traces itself, or this backend cannot
            self._tracing = f"there is no trace: {summary(error)}"
            return
        self._trace_begun = time.perf_counter()

    def _stop_trace(self) -> None:
        import jax

        self._traced = time.perf_counter() - self._trace_begun
        self._tracing = "over"
        try:
            jax.profiler.stop_trace()
        except Exception as error:  # the program stopped it, or it cannot be written
            self._tracing = f"there is no trace: {summary(error)}"

    def finish(self) -> dict[str, Any]:
        """What was seen in all."""
        if self._tracing == "on":
            self._stop_trace()
        if _has_backend():
            self._next = 0.0
            self._look()
        operations = self._operations() if self._tracing == "over" else {}
        modules = {module for module, _ in operations}
        texts: dict[str, dict[str, Place]] = {}
        memory: list[dict[str, Any]] = []
        for program in self._programs:
            module = program.hlo_modules()[0]
            memory.append({"module": module.name, "memory": memory_of(program)})
            if module.name in modules:
                texts.setdefault(module.name, {}).update(places_of(module.to_string(), self._is_users))
        device = [
            {"module": module, "operation": name, "seconds": seconds, "count": count,
             "place": list(texts.get(module, {}).get(name, ())) or None}
            for (module, name), (seconds, count) in operations.items()
        ]  # fmt: skip
        return {
            "device": device,
            "traced": self._traced,
            "trouble": self._tracing if self._tracing not in ("", "on", "over") else "",
            "programs": memory,
            "live": [[*place, count] for place, count in self._live.items()],
            "live_bytes": self._bytes,
        }

    def _is_users(self, path: str) -> bool:
        return self._places.is_root(os.path.abspath(path))

    def _operations(self) -> dict[tuple[str, str], tuple[float, int]]:
        found = sorted(glob.glob(os.path.join(self._request["folder"], "plugins/profile/*/*.trace.json.gz")))
        if not found or os.path.getsize(found[-1]) > _LARGEST_TRACE:
            return {}
        with gzip.open(found[-1], "rt", encoding="utf-8") as file:
            return self_times(json.load(file)["traceEvents"])


def _has_backend() -> bool:
    """Whether JAX has started: before that, the program may still choose the platform."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    return bool(bridge is not None and getattr(bridge, "_backends", None))
