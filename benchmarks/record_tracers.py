"""Ground truth for ``jaxlint inspect``: which parameters really are tracers when a project's own tests run.

A pytest plugin.  It watches every call of a Python function whose code lies under the given roots and notes, for
each parameter, what JAX handed to it::

    PYTHONPATH=benchmarks python -m pytest -p record_tracers \
        --tracers-root SRC --tracers-root TESTS --tracers-out record.json TESTS

Vocabulary
----------
observation  one call of one function of which the arguments were looked at.
traced       the argument is an abstract tracer: it has a shape and a dtype, no value.
tree         the argument is a pytree with at least one abstract tracer among its leaves.
concrete     the argument is (or holds) tracers, all of which carry a value: ``jax.grad`` alone.
array        the argument is (or holds) JAX arrays, no tracer; looked for in the upper part of large pytrees only.
key          the argument is a typed PRNG key; counted in addition to ``traced``, ``concrete`` or ``array``.
other        anything else. unflattenable: a pytree that refuses (a half-built instance, keys that do not sort).
staged call  a call made while JAX traces; ``ambient`` where some enclosing trace builds a jaxpr, so that
             ``jnp.zeros(3)`` is a tracer as well.

The record is a JSON array, one object per function::

    {filename, qualname, line (co_firstlineno: of the first decorator), calls, staged_calls, ambient_calls,
     observed, params: {name: {traced: n, tree: n, ...}}}

What it does not model: values captured by closures, attributes of objects that are not pytrees, raw ``uint32`` keys
(arrays like any other), processes that a test starts, and code built by ``exec`` under a made-up file name.

Needs jax >= 0.4.36, where the current trace can be asked for.
"""

from __future__ import annotations

import dis
import inspect
import json
import os
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import jax
import pytest
from jax._src import core
from jax._src.tree_util import default_registry

OBSERVATIONS = 200  # of a function, for its eager and for its staged calls each
NODES = 400  # of an argument, as a pytree
DEPTH = 12

_PLAIN = frozenset(
    {type(None), bool, int, float, complex, str, bytes, slice, range}
    | {type, FunctionType, BuiltinFunctionType, ModuleType}
)
_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
# Flattening runs foreign code: a half-built instance, keys that do not sort, a property that is not implemented.
_UNFLATTENABLE = (TypeError, ValueError, AttributeError, LookupError, RuntimeError, AssertionError, ArithmeticError)


@dataclass
class Observed:
    """What was seen of one code object. ``last_entry``: the last offset at which a suspended body can begin."""

    code: CodeType
    params: tuple[str, ...]
    last_entry: int | None
    calls: int = 0
    staged_calls: int = 0
    ambient_calls: int = 0
    observed_eager: int = 0
    observed_staged: int = 0
    kinds: dict[str, dict[str, int]] = field(default_factory=dict)


def parameter_names(code: CodeType) -> tuple[str, ...]:
    """All parameters of a code object, ``*args`` and ``**kwargs`` last; nothing for hidden ones."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return tuple(name for name in code.co_varnames[:count] if not name.startswith("."))


def last_entry_offset(code: CodeType) -> int | None:
    """For generators and coroutines, the offset past which a *call* event is a resumption; None for functions."""
    if not code.co_flags & _SUSPENDS:
        return None
    resumes = (i.offset for i in dis.get_instructions(code) if i.opname == "RESUME")
    return next(resumes, -1)


def trace_kind() -> str:
    """``eager``, ``staged`` or ``ambient``: what kind of trace encloses the running code."""
    trace = core.trace_ctx.trace
    kind = "eager"
    while trace is not None and not isinstance(trace, core.EvalTrace):
        kind = "staged"
        if type(trace).__name__ == "DynamicJaxprTrace":
            return "ambient"
        trace = getattr(trace, "parent_trace", None)
    return kind


def is_key(value: Any) -> bool:
    return bool(jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key))


def has_value(tracer: Any) -> bool:
    """Whether a tracer carries a concrete value (``jvp`` and ``grad`` of something not otherwise traced)."""
    return core.to_concrete_value(tracer) is not None  # type: ignore[no-untyped-call]


def kinds_of(value: Any) -> tuple[str, ...]:
    """The kinds an argument counts for; see the vocabulary above."""
    if type(value) in _PLAIN:
        return ("other",)
    if isinstance(value, core.Tracer):
        kind = "concrete" if has_value(value) else "traced"
        return (kind, "key") if is_key(value) else (kind,)
    if isinstance(value, jax.Array):
        return ("array", "key") if is_key(value) else ("array",)
    found = "other"
    try:
        for leaf in leaves_of(value):
            if isinstance(leaf, core.Tracer):
                if not has_value(leaf):
                    return ("tree",)
                found = "concrete"
            elif found == "other" and isinstance(leaf, jax.Array):
                found = "array"
    except _UNFLATTENABLE:
        return ("unflattenable",)
    return (found,)


def leaves_of(tree: Any) -> Iterator[Any]:
    """The leaves of a pytree, level by level, down to ``DEPTH`` and among the first ``NODES`` nodes.

    Bounded by hand, because a list may hold itself. Raises what a node's own flattening raises.
    """
    level, seen = [tree], 0
    for _ in range(DEPTH):
        below: list[Any] = []
        for node in level[: NODES - seen]:
            opened = None if type(node) in _PLAIN else default_registry.flatten_one_level(node)
            if opened is None:
                yield node
            else:
                below.extend(opened[0])
        seen += len(level)
        if not below or seen >= NODES:
            return
        level = below


class Recorder:
    """A profile function that observes the functions under ``roots``."""

    def __init__(self, roots: list[str]) -> None:
        self.roots = tuple(os.path.join(os.path.abspath(root), "") for root in roots)
        # By identity: hashing a code object hashes its constants. The code is kept, so an id is never reused.
        self.seen: dict[int, tuple[CodeType, Observed | None]] = {}

    def start(self) -> None:
        threading.setprofile(self)
        sys.setprofile(self)

    def is_running(self) -> bool:
        """Python drops a profile function that raises, and the code under test may set one of its own."""
        return sys.getprofile() is self

    def stop(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        entry = self.seen.get(id(code))
        if entry is None:
            entry = self.seen[id(code)] = (code, self.admit(code))
        if entry[1] is not None:
            self.observe(entry[1], frame)

    def admit(self, code: CodeType) -> Observed | None:
        is_function = code.co_flags & inspect.CO_OPTIMIZED and code.co_name not in _COMPREHENSIONS
        if not is_function or not os.path.abspath(code.co_filename).startswith(self.roots):
            return None
        return Observed(code, parameter_names(code), last_entry_offset(code))

    def observe(self, seen: Observed, frame: FrameType) -> None:
        if seen.last_entry is not None and frame.f_lasti > seen.last_entry:
            return
        seen.calls += 1
        kind = trace_kind()
        if kind == "eager":
            if seen.observed_eager >= OBSERVATIONS:
                return
            seen.observed_eager += 1
        else:
            seen.staged_calls += 1
            seen.ambient_calls += kind == "ambient"
            if seen.observed_staged >= OBSERVATIONS:
                return
            seen.observed_staged += 1
        values = frame.f_locals
        for name in seen.params:
            if name not in values:  # deleted, or not bound yet
                continue
            counts = seen.kinds.setdefault(name, {})
            for found in kinds_of(values[name]):
                counts[found] = counts.get(found, 0) + 1

    def record(self) -> list[dict[str, Any]]:
        rows = [as_row(seen) for _, seen in self.seen.values() if seen is not None and seen.calls]
        return sorted(rows, key=lambda row: (row["filename"], row["line"], row["qualname"]))


def as_row(seen: Observed) -> dict[str, Any]:
    return {
        "filename": os.path.abspath(seen.code.co_filename),
        "qualname": getattr(seen.code, "co_qualname", seen.code.co_name),  # 3.11+
        "line": seen.code.co_firstlineno,
        "calls": seen.calls,
        "staged_calls": seen.staged_calls,
        "ambient_calls": seen.ambient_calls,
        "observed": seen.observed_eager + seen.observed_staged,
        "params": {name: seen.kinds.get(name, {}) for name in seen.params},
    }


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


class Plugin:
    """Records from before collection (decorators run at import) to the end of the session."""

    def __init__(self, recorder: Recorder, out: str) -> None:
        self.recorder = recorder
        self.out = out
        self.interrupted: list[str] = []

    def pytest_sessionstart(self) -> None:
        self.recorder.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        result = yield
        if not self.recorder.is_running():
            self.interrupted.append(item.nodeid)
            self.recorder.start()
        return result

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for test in self.interrupted:
            terminalreporter.write_line(f"the recording stopped within {test} and went on after it")

    def pytest_sessionfinish(self) -> None:
        self.recorder.stop()
        with open(self.out, "w", encoding="utf-8") as file:
            json.dump(self.recorder.record(), file, indent=1)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tracers", "record which parameters are tracers")
    group.addoption("--tracers-root", action="append", default=[], help="observe functions of files under this folder")
    group.addoption("--tracers-out", default="tracers.json", help="write the record to this file")
    group.addoption("--tracers-seconds", type=float, default=float("inf"), help="stop after so many seconds")
    group.addoption("--tracers-per-file", type=float, default=float("inf"), help="seconds for each test file")


def pytest_configure(config: pytest.Config) -> None:
    roots = config.getoption("--tracers-root")
    if not roots:
        return
    config.pluginmanager.register(Plugin(Recorder(roots), config.getoption("--tracers-out")), "tracers-recorder")
    budget = Budget(config.getoption("--tracers-seconds"), config.getoption("--tracers-per-file"))
    config.pluginmanager.register(budget, "tracers-budget")
