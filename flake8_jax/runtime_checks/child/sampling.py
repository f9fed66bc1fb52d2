"""Samples of the main thread's stack: which of the user's lines it is at, and what JAX does for it there.

Vocabulary
----------
sample     the stack at one moment; it stands for the time since the sample before. stack: the frames of the user's, outermost
           first, each with its path, function and row.
activity   what the innermost known frame of JAX is at: ``compile``, ``lower``, ``trace``, ``wait`` (for the device, or for a
           copy from it), ``jax`` (its own Python, as to dispatch operations), ``library``, ``program`` (the user's own
           Python, and what C code does for it, such as calls of compiled functions).

Limitations: other threads are not sampled. Where C code holds the interpreter's lock, the sample comes after it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType, FrameType

from flake8_jax.runtime_checks.child.places import Places

Frames = tuple[tuple[str, str, int], ...]
_JAX = (f"{os.sep}jax{os.sep}", f"{os.sep}jaxlib{os.sep}")
_BY_FUNCTION = {
    "backend_compile": "compile", "backend_compile_and_load": "compile", "compile_or_get_cached": "compile",
    "lower_jaxpr_to_module": "lower", "lower_sharding_computation": "lower", "_cached_lowering_to_hlo": "lower",
    "trace_to_jaxpr_dynamic": "trace", "trace_to_jaxpr_dynamic2": "trace", "trace_to_jaxpr": "trace",
    "trace_to_jaxpr_nounits": "trace", "_create_pjit_jaxpr": "trace",
    "block_until_ready": "wait", "_value": "wait", "_single_device_array_to_np_array_did_copy": "wait",
    "device_get": "wait", "effects_barrier": "wait",
}  # fmt: skip


class Sampler(threading.Thread):
    """Samples the main thread every ``interval`` seconds. every: called after each sample, as with the time it took place."""

    def __init__(self, places: Places, interval: float, every: Callable[[float], None]) -> None:
        super().__init__(name="jaxlint sampler", daemon=True)
        self.seconds: dict[tuple[Frames, str], float] = {}
        self.count = 0
        self._places = places
        self._interval = interval
        self._every = every
        self._ended = threading.Event()
        self._main = threading.main_thread().ident or 0
        self._kinds: dict[int, tuple[CodeType, str]] = {}

    def stop(self) -> None:
        """Sample no more."""
        self._ended.set()
        if self.is_alive():
            self.join(timeout=10)

    def run(self) -> None:
        before = time.perf_counter()
        while not self._ended.wait(self._interval):
            frame = sys._current_frames().get(self._main)
            now = time.perf_counter()
            if frame is not None:
                key = self._seen(frame)
                self.seconds[key] = self.seconds.get(key, 0.0) + now - before
                self.count += 1
            before = now
            del frame
            self._every(now)

    def _seen(self, frame: FrameType) -> tuple[Frames, str]:
        stack: list[tuple[str, str, int]] = []
        activity = ""
        current: FrameType | None = frame
        while current is not None:
            code = current.f_code
            path = self._places.path_of(code)
            if path is not None:
                stack.append((path, getattr(code, "co_qualname", code.co_name), current.f_lineno))
                activity = activity or "program"
            else:
                kind = self._kind(code)
                if kind in ("compile", "lower", "trace", "wait") and activity in ("", "jax", "library", "program"):
                    # Further out than the program: it runs to be traced.
                    activity = kind if kind == "trace" or activity != "program" else activity
                activity = activity or kind
            current = current.f_back
        return tuple(reversed(stack)), activity or "library"

    def _kind(self, code: CodeType) -> str:
        known = self._kinds.get(id(code))
        if known is None:
            name = code.co_filename
            ours = any(part in name for part in _JAX)
            kind = _BY_FUNCTION.get(code.co_name, "jax") if ours else "library"
            known = self._kinds[id(code)] = (code, kind)
        return known[1]
