"""The calls of some functions, with what went in and what came out, and how long they took.

Vocabulary
----------
captured   made outside of any trace, by the thread that runs the command; what JAX traces has no values to capture.
staged     a call of what ``jax.jit`` made of a function counts as a call of that function.
depth      how many captured calls are around a call. leaf: an array, or a Python value, of the pytree of a result.
overhead   seconds that the capturing itself took; they count for nobody.

Arrays are kept as bytes in one file in the linter's private folder, up to ``MOST_BYTES`` in all. Typed keys are kept as
their data, so a typed key equals the legacy one. Not captured: ``async`` functions, ahead-of-time compiled executables,
objects that are no pytrees.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
import time
import types
from collections.abc import Callable, Generator
from typing import Any

from flake8_jax.runtime_checks.child.places import Places
from flake8_jax.runtime_checks.child.tracing import EAGER, trace_state

MOST_BYTES = 512 << 20
MOST_CALLS = 20_000
MOST_LEAVES = 400  # of one call
_COMPILING = "/jax/core/compile/"
_UNFLATTENABLE = (TypeError, ValueError, AttributeError, LookupError, RuntimeError, AssertionError, ArithmeticError)
_VALUES = (bool, int, float, complex, str, type(None))

Leaf = dict[str, Any]


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
        self.compilations = 0
        self.overhead = 0.0
        self.left_out = 0
        self._arrays: dict[str, Any] = {}
        self._bytes = 0
        self._open: list[int] = []
        self._busy = False
        self._errors: list[BaseException] = []
        self._process = os.getpid()

    # --- hooks ----------------------------------------------------------------------------------------------

    def install(self, jax: Any) -> None:
        """JAX has just been imported, and nobody has taken ``jit`` out of it yet."""
        jax.monitoring.register_event_duration_secs_listener(self._duration)
        real = jax.jit

        @functools.wraps(real)
        def jit(*arguments: Any, **keywords: Any) -> Any:
            made = real(*arguments, **keywords)
            if arguments or "fun" in keywords:
                return self._staged(made, arguments[0] if arguments else keywords["fun"])
            return lambda function: self._staged(made(function), function)  # a decorator: JAX 0.7 on

        jax.jit = jit

    def _duration(self, event: str, seconds: float, **data: Any) -> None:
        if event.startswith(_COMPILING) and not self._busy:
            self.compiling += seconds
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
        """A module has run: its variables are its result."""
        kept = {
            name: value
            for name, value in variables.items()
            if not name.startswith("_") and not isinstance(value, types.ModuleType) and not callable(value)
        }
        self.note(number, lambda: kept, (), {})

    def _function(self, number: int, function: Any) -> Any:
        def wrapper(*arguments: Any, **keywords: Any) -> Any:
            return self.note(number, function, arguments, keywords)

        return wrapper

    def _generator(self, number: int, function: Any) -> Any:
        """Each step of a generator is a call."""

        def wrapper(*arguments: Any, **keywords: Any) -> Generator[Any, Any, Any]:
            running = function(*arguments, **keywords)
            step: Callable[..., Any] = running.send
            given: tuple[Any, ...] = (None,)
            while True:
                try:
                    item = self.note(number, step, given, {})
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

    def note(self, number: int, function: Callable[..., Any], arguments: Any, keywords: Any) -> Any:
        """Call it, and note the call where it can be captured."""
        self.entered[number] = self.entered.get(number, 0) + 1
        if (
            self._busy
            or len(self.calls) >= MOST_CALLS
            or (self._open and self._open[-1] == number)
            or threading.current_thread() is not threading.main_thread()
            or os.getpid() != self._process
            or trace_state() != EAGER
        ):
            return function(*arguments, **keywords)
        call: dict[str, Any] = {
            "function": number,
            "depth": len(self._open),
            "inputs": [],
            "outputs": [],
            "raised": None,
        }
        call["inputs"] = self._quietly(lambda: self._leaves((arguments, keywords)))
        self._open.append(number)
        begun, spent, compiled = time.perf_counter(), self.overhead, self.compiling
        try:
            result = function(*arguments, **keywords)
            _wait_for(result)
        except StopIteration:
            self._open.pop()
            raise
        except BaseException as error:
            self._open.pop()
            call["raised"] = self.note_error(error)
            self.calls.append(call)
            raise
        self._open.pop()
        call["seconds"] = time.perf_counter() - begun - (self.overhead - spent)
        call["compiling"] = self.compiling - compiled
        call["outputs"] = self._quietly(lambda: self._leaves(result))
        self.calls.append(call)
        return result

    def note_error(self, error: BaseException) -> dict[str, Any]:
        lines = str(error).strip().splitlines()
        found = {
            "type": type(error).__name__,
            "message": (lines[0] if lines else "")[:300],
            "stack": self._stack_of(error),
        }
        leaving = isinstance(error, (SystemExit, KeyboardInterrupt, GeneratorExit))
        if not leaving and not any(error is known for known in self._errors):
            self._errors.append(error)
            self.raised.append(found)
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
        """What the capturing itself compiles and how long it takes count for nobody."""
        begun = time.perf_counter()
        self._busy = True
        try:
            return work()
        finally:
            self._busy = False
            self.overhead += time.perf_counter() - begun

    # --- leaves ---------------------------------------------------------------------------------------------

    def _leaves(self, tree: Any) -> list[Leaf]:
        jax = sys.modules.get("jax")
        if jax is None or not hasattr(jax, "tree_util"):
            found = [("", tree)]
        else:
            try:
                paths, _ = jax.tree_util.tree_flatten_with_path(tree, is_leaf=lambda node: node is None)
            except _UNFLATTENABLE:
                return [{"path": "", "kind": "other", "type": type(tree).__qualname__}]
            found = [(jax.tree_util.keystr(path), value) for path, value in paths[:MOST_LEAVES]]
            self.left_out += max(0, len(paths) - MOST_LEAVES)
        return [{"path": path, **self._leaf(value)} for path, value in found]

    def _leaf(self, value: Any) -> Leaf:
        if type(value) in _VALUES:
            if isinstance(value, complex):
                return {"kind": "value", "type": "complex", "value": [value.real, value.imag]}
            return {"kind": "value", "type": type(value).__name__, "value": value}
        jax, numpy = sys.modules.get("jax"), sys.modules.get("numpy")
        if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            return self._array(numpy.asarray(value))
        if jax is not None and isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer):
            if value.is_deleted() or not value.is_fully_addressable:
                return {"kind": "other", "type": "Array"}
            if jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key):
                value = jax.random.key_data(value)
            # A copy: looking at an array on the CPU would pin its buffer, and then it could not be donated any more.
            return self._array(jax.device_get(value.copy()))
        return {"kind": "other", "type": type(value).__qualname__}

    def _array(self, array: Any) -> Leaf:
        import numpy

        leaf: Leaf = {"kind": "array", "dtype": str(array.dtype), "shape": list(array.shape)}
        if array.dtype.hasobject or self._bytes + array.nbytes > MOST_BYTES:
            self.left_out += 1
            return {**leaf, "kind": "other", "type": "array"}
        data = numpy.frombuffer(numpy.ascontiguousarray(array).tobytes(), numpy.uint8)
        name = f"a{len(self._arrays)}"
        self._arrays[name] = data
        self._bytes += array.nbytes
        return {**leaf, "at": name}

    def save(self, folder: str) -> None:
        """Write ``calls.json`` and ``arrays.npz``. Raises OSError."""
        with open(os.path.join(folder, "calls.json"), "w", encoding="utf-8") as file:
            json.dump(self.calls, file)
        if self._arrays:
            import numpy

            numpy.savez(os.path.join(folder, "arrays.npz"), **self._arrays)


class Staged:
    """Stands for what ``jax.jit`` made of a captured function; does all that it does."""

    def __init__(self, made: Any, number: int, ledger: Ledger) -> None:
        functools.update_wrapper(self, made)
        self._made = made
        self._ledger = ledger
        self.__jaxlint__ = number

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._ledger.note(self.__jaxlint__, self._made, arguments, keywords)

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
