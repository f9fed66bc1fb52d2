"""The calls of some functions, with what went in and what came out, and how long they took.

Vocabulary
----------
captured   made outside of any trace, by the thread that runs the command; what JAX traces has no values to capture.
staged     a call of what ``jax.jit`` or ``jax.pmap`` made of a function counts as a call of that function.
depth      how many captured calls are around a call. state: the arguments after the call, as far as they can have changed,
           the object of a method among them.
sampled    of a function that is called often, the first ``FIRST`` calls are captured, then fewer and fewer, the same ones in
           every run: over the whole run. counts: how many there were.
overhead   seconds that the capturing itself took; they do not count.

Arrays are kept as bytes in one file in the linter's private folder (see ``snapshots``). Not captured: ``async`` functions and
ahead-of-time compiled executables.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
import time
import types
from collections.abc import Callable, Generator, Iterable
from typing import Any

from flake8_jax.runtime_checks.child.places import Places
from flake8_jax.runtime_checks.child.processor_time import ProcessorTime
from flake8_jax.runtime_checks.child.snapshots import Leaf, Snapshots, Store
from flake8_jax.runtime_checks.child.tracing import EAGER, trace_state

MOST_PRINTED = 1 << 20
FIRST = 200
SOME = 64  # captured of each doubling after that
_COMPILING = "/jax/core/compile/"


def is_sampled(index: int) -> bool:
    """Whether the call of a function with this index (from 0) is captured."""
    if index < FIRST:
        return True
    stride = 1 << max(0, (index // SOME).bit_length() - 1)
    return index % stride == 0


Settings = dict[str, Any]


def settings() -> Settings:
    """The variables of the environment, and the settings of JAX once it has been imported."""
    config = getattr(sys.modules.get("jax"), "config", None)
    found: Settings = {f"os.environ[{name!r}]": value for name, value in os.environ.items()}
    return found | {f"jax.config.{name}": value for name, value in getattr(config, "values", {}).items()}


def _changes(before: Settings, after: Settings) -> Settings:
    """Those that are new, another value, or gone (None)."""
    return {
        name: after.get(name)
        for name in sorted({*before, *after})
        if before.get(name, _ABSENT) != after.get(name, _ABSENT)
    }


_ABSENT = object()


class Ledger:
    """Notes the calls. ``names``: qualified names by number and path, for functions that carry no probe."""

    def __init__(self, places: Places, names: dict[tuple[str, str], int]) -> None:
        self.places = places
        self.names = names
        self.calls: list[dict[str, Any]] = []
        self.raised: list[dict[str, Any]] = []
        self.visits: dict[int, int] = {}
        self.entered: dict[int, int] = {}
        self.defined: dict[int, int] = {}
        self.compiling = 0.0
        self.processor = ProcessorTime.begun()
        self.compilations = 0
        self.overhead = 0.0
        self.counts: dict[int, int] = {}
        self.timings: list[tuple[int, float, float]] = []
        self.store = Store()
        self.printed = Printed()
        self._snapshots = Snapshots(self.store, self._is_users)
        self._modules: dict[int, dict[str, Any]] = {}
        self.added: dict[int, list[str]] = {}
        self._open: list[int] = []
        self._begin = settings()
        self._busy = False
        self._errors: list[BaseException] = []
        self._process = os.getpid()

    # --- hooks ----------------------------------------------------------------------------------------------

    def install(self, jax: Any) -> None:
        """JAX has just been imported, and no code has taken ``jit`` out of it yet."""
        jax.monitoring.register_event_duration_secs_listener(self._duration)
        for name in ("jit", "pmap"):
            setattr(jax, name, self._staging(getattr(jax, name)))

    def settle(self) -> None:
        """What is set from here on, the program has set."""
        self._begin = settings()

    def _staging(self, real: Any) -> Any:
        @functools.wraps(real)
        def staging(*arguments: Any, **keywords: Any) -> Any:
            made = real(*arguments, **keywords)
            if arguments or "fun" in keywords:
                return self._staged(made, arguments[0] if arguments else keywords["fun"])
            return lambda function: self._staged(made(function), function)  # a decorator: JAX 0.7 on

        return staging

    def _duration(self, event: str, seconds: float, **data: Any) -> None:
        if event.startswith(_COMPILING) and not self._busy:
            self.compiling += seconds
            self.processor.add(seconds)
            self.compilations += event.endswith("backend_compile_duration")

    def visit(self, number: int) -> None:
        self.visits[number] = self.visits.get(number, 0) + 1

    def capture(self, number: int) -> Callable[[Any], Any]:
        """The decorator that notes the calls of a function."""

        def decorate(function: Any) -> Any:
            if not isinstance(function, types.FunctionType):
                return function
            wrapper = self._generator(number, function) if _is_generator(function) else self._function(number, function)
            functools.update_wrapper(wrapper, function)
            wrapper.__jaxlint__ = number
            return wrapper

        return decorate

    def module(self, number: int, variables: dict[str, Any]) -> None:
        """A module begins to run: what its variables are in the end is its result."""
        self._modules[number] = variables

    def module_failed(self) -> None:
        """A module ends by the exception that is being handled."""
        error = sys.exc_info()[1]
        if error is not None:
            self.record_error(error)

    def finish(self) -> None:
        """Record the variables of the modules after the command has ended."""
        for number, variables in self._modules.items():
            kept = {
                name: value
                for name, value in list(variables.items())
                if not name.startswith("__")
                and not isinstance(value, types.ModuleType)
                and not callable(value)
                and name not in self.added.get(number, ())
            }
            self.entered[number] = 1
            self.counts[number] = 1
            kept.update(_changes(self._begin, settings()))
            outputs = self._quietly(lambda kept=kept: self._snapshots.take(kept))  # type: ignore[misc]
            self.calls.append(
                {"function": number, "index": 0, "depth": 0, "inputs": [], "outputs": outputs, "state": [],
                 "settings": [], "raised": None, "seconds": 0.0, "compiling": 0.0}
            )  # fmt: skip

    def _is_users(self, cls: type) -> bool:
        module = sys.modules.get(cls.__module__)
        path = getattr(module, "__file__", None)
        if cls.__module__ == "__main__" or not isinstance(path, str):
            return cls.__module__ in ("__main__", "<run_path>")
        return self.places.is_root(os.path.abspath(path))

    def _function(self, number: int, function: Any) -> Any:
        def wrapper(*arguments: Any, **keywords: Any) -> Any:
            return self.record(number, function, arguments, keywords)

        return wrapper

    def _generator(self, number: int, function: Any) -> Any:
        """Each step of a generator is a call."""

        def wrapper(*arguments: Any, **keywords: Any) -> Generator[Any, Any, Any]:
            running = function(*arguments, **keywords)
            step: Callable[..., Any] = running.send
            given: tuple[Any, ...] = (None,)
            while True:
                try:
                    item = self.record(number, step, given, {})
                except StopIteration as stop:
                    return stop.value
                try:
                    sent = yield item
                except GeneratorExit:
                    running.close()
                    raise
                except BaseException as error:  # thrown in by the consumer: the generator's to handle
                    step, given = running.throw, (error,)
                else:
                    step, given = running.send, (sent,)

        return wrapper

    def _staged(self, made: Any, function: Any) -> Any:
        number = self._number(function)
        return made if number is None else Staged(made, number, self)

    def _number(self, function: Any) -> int | None:
        """The number of a function under partials, methods and wrappers."""
        for _ in range(20):
            if isinstance(function, functools.partial):
                function = function.func
            elif isinstance(function, types.MethodType):
                function = function.__func__
            elif hasattr(function, "__jaxlint__"):
                return int(function.__jaxlint__)
            elif isinstance(function, types.FunctionType):
                path = self.places.path_of(function.__code__)
                number = self.names.get((path or "", function.__qualname__))
                if number is not None or not hasattr(function, "__wrapped__"):
                    return number
                function = function.__wrapped__
            else:
                return None
        return None

    # --- calls ----------------------------------------------------------------------------------------------

    def record(self, number: int, function: Callable[..., Any], arguments: Any, keywords: Any) -> Any:
        """Call it, and record the call where it can be captured."""
        self.entered[number] = self.entered.get(number, 0) + 1
        if (
            self._busy
            or (self._open and self._open[-1] == number)
            or threading.current_thread() is not threading.main_thread()
            or os.getpid() != self._process
            or trace_state() != EAGER
        ):
            return function(*arguments, **keywords)
        index = self.counts.get(number, 0)
        self.counts[number] = index + 1
        return self._recorded(number, index, function, arguments, keywords)

    def _recorded(self, number: int, index: int, function: Callable[..., Any], arguments: Any, keywords: Any) -> Any:
        sampled = is_sampled(index)
        call: dict[str, Any] = {
            "function": number, "index": index, "depth": len(self._open), "inputs": [], "outputs": [], "state": [],
            "settings": [], "raised": None,
        }  # fmt: skip
        before: Settings = {}
        if sampled:
            before = settings()
            call["inputs"] = self._quietly(lambda: self._snapshots.take((arguments, keywords)))
        self._open.append(number)
        begun, spent, compiled = time.perf_counter(), self.overhead, self.compiling
        try:
            result = function(*arguments, **keywords)
            _wait_for(result)
        except StopIteration:
            self._open.pop()
            raise
        except BaseException as error:
            call["raised"] = self.record_error(error)
            self._open.pop()
            self.calls.append(call)
            raise
        self._open.pop()
        call["seconds"] = time.perf_counter() - begun - (self.overhead - spent)
        call["compiling"] = self.compiling - compiled
        self.timings.append((number, call["seconds"], call["compiling"]))
        if sampled:
            call["outputs"] = self._quietly(lambda: self._snapshots.take(result))
            changes = _changes(before, settings())
            call["state"] = self._quietly(lambda: self._changed(call["inputs"], (arguments, keywords)))
            call["settings"] = [
                {**leaf, "path": name + leaf["path"]}
                for name, value in changes.items()
                for leaf in self._snapshots.take(value)
            ]
            self.calls.append(call)
        return result

    def _changed(self, before: list[Leaf], arguments: Any) -> list[Leaf]:
        """What the call left of its arguments, if that is anything new. Donated arrays are gone, which is no change."""
        after = self._snapshots.take(arguments)
        gone = {leaf["path"]: leaf for leaf in before}
        after = [
            gone.get(leaf["path"], leaf) if leaf.get("type") == "array without a buffer" else leaf for leaf in after
        ]
        return [] if after == before else after

    def record_error(self, error: BaseException) -> dict[str, Any]:
        lines = str(error).strip().splitlines()
        found = {
            "type": type(error).__name__,
            "message": (lines[0] if lines else "")[:300],
            "stack": self._stack_of(error),
            "within": list(self._open),
        }
        leaving = isinstance(error, (SystemExit, KeyboardInterrupt, GeneratorExit))
        known = next((number for number, other in enumerate(self._errors) if other is error), None)
        if known is not None:  # it goes on outwards: now there are more frames to see
            self.raised[known]["stack"] = max(self.raised[known]["stack"], found["stack"], key=len)
        elif not leaving:
            self._errors.append(error)
            self.raised.append(dict(found))
        return found

    def _stack_of(self, error: BaseException) -> list[list[Any]]:
        """The user's frames, innermost first, those of the causes after."""
        found: list[list[Any]] = []
        seen: list[BaseException] = []
        current: BaseException | None = error
        while current is not None and not any(current is known for known in seen):
            seen.append(current)
            frames = []
            trace = current.__traceback__
            while trace is not None:
                path = self.places.path_of(trace.tb_frame.f_code)
                if path is not None:
                    code = trace.tb_frame.f_code
                    frames.append([path, trace.tb_lineno, getattr(code, "co_qualname", code.co_name)])  # Python 3.11
                trace = trace.tb_next
            found += reversed(frames)
            current = current.__cause__ or current.__context__
        return found[:40]

    def _quietly(self, work: Callable[[], list[Leaf]]) -> list[Leaf]:
        """What the capturing itself compiles and its time do not count."""
        begun = time.perf_counter()
        self._busy = True
        try:
            return work()
        finally:
            self._busy = False
            self.overhead += time.perf_counter() - begun

    def save(self, folder: str) -> None:
        """Write ``calls.json`` and ``arrays.npz``. Raises OSError."""
        data = {"calls": self.calls, "counts": self.counts, "entered": self.entered, "printed": self.printed.text()}
        with open(os.path.join(folder, "calls.json"), "w", encoding="utf-8") as file:
            json.dump(data, file)
        self.store.save(folder)


class Printed:
    """Stands for standard output: keeps what is written, up to ``MOST_PRINTED`` characters, and passes it on."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self._onward: Any = None

    def install(self) -> None:
        self._onward, sys.stdout = sys.stdout, self

    def write(self, text: str) -> Any:
        if self._size < MOST_PRINTED:
            self._parts.append(text)
            self._size += len(text)
        return self._onward.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._onward, name)

    def text(self) -> str | None:
        """What was printed; None where it was too much, or goes another way."""
        return None if self._onward is None or self._size >= MOST_PRINTED else "".join(self._parts)


class Staged:
    """Stands for what ``jax.jit`` made of a captured function; does all that it does."""

    def __init__(self, made: Any, number: int, ledger: Ledger) -> None:
        functools.update_wrapper(self, made)
        self._made = made
        self._ledger = ledger
        self.__jaxlint__ = number

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._ledger.record(self.__jaxlint__, self._made, arguments, keywords)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def lower(self, *arguments: Any, **keywords: Any) -> Any:
        return self._made.lower(*arguments, **keywords)

    def trace(self, *arguments: Any, **keywords: Any) -> Any:
        return self._made.trace(*arguments, **keywords)

    def __getattr__(self, name: str) -> Any:
        if name == "_made":  # while an instance is only half made, as by ``copy``
            raise AttributeError(name)
        return getattr(self._made, name)

    def __deepcopy__(self, memory: Any) -> Any:
        return self

    def __repr__(self) -> str:
        return repr(self._made)


def _is_generator(function: Any) -> bool:
    return bool(function.__code__.co_flags & 0x20)  # inspect.CO_GENERATOR


def _wait_for(result: Any) -> None:
    jax = sys.modules.get("jax")
    if jax is not None and hasattr(jax, "block_until_ready"):
        jax.block_until_ready(result)
