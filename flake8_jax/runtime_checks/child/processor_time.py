"""How long the processor worked while JAX compiled: other programs on the machine hardly change that.

JAX says of each step, when it ends, how many seconds it took. Steps contain others; a second counts once.
"""

from __future__ import annotations

import time


class ProcessorTime:
    """Adds up the seconds of the processor, of all threads. Between two steps, it is taken to work evenly."""

    def __init__(self, now: float, processor: float) -> None:
        self._points = [(now, processor, 0.0)]
        """At the end of each step that is not part of a later one: the clock, the processor, and what was added until then."""

    @classmethod
    def begun(cls) -> ProcessorTime:
        """One that begins now."""
        return cls(time.perf_counter(), time.process_time())

    def add(self, seconds: float) -> None:
        """A step ends now that began so many seconds ago."""
        self.add_at(time.perf_counter(), time.process_time(), seconds)

    def add_at(self, now: float, processor: float, seconds: float) -> None:
        """A step ends at such a time."""
        begun, following = now - seconds, (now, processor)
        while len(self._points) > 1 and self._points[-1][0] > begun:
            following = self._points.pop()[:2]
        clock, used, added = self._points[-1]
        share = min(max((begun - clock) / max(following[0] - clock, 1e-9), 0.0), 1.0)
        at_begin = used + share * (following[1] - used)
        self._points.append((now, processor, added + processor - at_begin))

    def seconds(self) -> float:
        """The sum until now."""
        return self._points[-1][2]
