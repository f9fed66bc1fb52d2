"""Processes that are forked after JAX has started.

The first computation of JAX starts threads. A forked process has none of them, but it has the locks that they held.

Vocabulary
----------
fork        a copy of the running process: what ``multiprocessing`` and similar modules make on Linux up to Python 3.13, unless
            they get another start method.
started     JAX has computed something on the running path (see ``process``).
handle      a value of a library that forks later: a process that is started, a loader that starts workers whenever it is
            iterated, a context that says how to start them.

option      the number of workers is often one of the command line or of a configuration. It counts if the project declares an
            option of that name with a default above zero, wherever.

Limitations: classes that the project derives from ``Process`` or ``DataLoader``, other numbers of workers that are not known,
the versions of Python that a project supports.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from flake8_jax.core import ir
from flake8_jax.semantics.domain.arguments import Call
from flake8_jax.semantics.domain.code import called_name, last_name, path_of
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.values import NONE, Const, Opaque, Site, Unknown, Value, site_of
from flake8_jax.semantics.events.events import Fork
from flake8_jax.semantics.events.facts import OTHER_START_METHOD
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import FinishedRun, Replay, Tracker
from flake8_jax.semantics.trackers.process import STARTED, TAKEN, InitializationPoint, Process

_MODULES = ("multiprocessing", "multiprocess", "torch.multiprocessing")
_POOLS = frozenset(
    {f"{module}.{name}" for module in _MODULES for name in ("Pool", "pool.Pool")}
    | {"concurrent.futures.ProcessPoolExecutor", "concurrent.futures.process.ProcessPoolExecutor"}
    | {"os.fork", "os.forkpty", "pty.fork"}
    | {f"{gym}.vector.{name}" for gym in ("gym", "gymnasium") for name in ("AsyncVectorEnv", "async_vector_env.AsyncVectorEnv")}
)  # fmt: skip
"""Calls that fork."""
_PROCESSES = frozenset({f"{module}.{name}" for module in _MODULES for name in ("Process", "process.Process")})
_CONTEXTS = frozenset({f"{module}.get_context" for module in _MODULES})
_METHODS = frozenset({f"{module}.set_start_method" for module in _MODULES})
_LOADERS = frozenset({
    "torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader", "torch_geometric.loader.DataLoader",
})  # fmt: skip
_CHOOSING = ("mp_context", "multiprocessing_context", "context")
"""Keywords that take a context, or the name of a start method."""
_PROCESS = "process to start"
_WORKERS_AT = 5
"""Position of ``num_workers`` among the arguments of a ``DataLoader``."""


class Place(NamedTuple):
    """A call that forks. name: what is called."""

    scope: ModuleScope
    node: Any
    name: str


class Handle(NamedTuple):
    """kind: what a handle is: a process, a loader, a context. place: the call that made it."""

    kind: str
    place: Place
    value: Value


class Record(NamedTuple):
    """What a remembered run has forked before JAX was started, and whether it started JAX."""

    forked: tuple[Place, ...]
    started: bool


class Forks(Tracker):
    """state: whether a remembered run on the path has started JAX. forked: calls of the entry that forked too early to be
    reported. handles: by identity."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.state: dict[str, Value] = {}
        self.forked: list[Place] = []
        self.handles: dict[int, Handle] = {}

        self._options: dict[str, bool] = {}

    def is_option(self, name: str) -> bool:
        """The project declares an option of that name, and its default is above zero."""
        known = self._options.get(name)
        if known is None:
            pattern = _declares(name)
            texts = [scope.text for scope in self.m.program.by_name.values() if name.partition("_")[0] in scope.text]
            known = self._options[name] = any(pattern.search(text) for text in texts)
        return known

    def enter(self) -> Any:
        saved = self.state, self.forked
        self.state, self.forked = {}, []
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        self.state, self.forked = saved

    def call(self, function: Any, bound: dict[str, Value]) -> tuple[int, bool]:
        return len(self.forked), has_started(self.m)

    def since(self, mark: tuple[int, bool], run: FinishedRun) -> Record | None:
        begin, before = mark
        started = not before and has_started(self.m)
        forked = tuple({id(place.node): place for place in self.forked[begin:]}.values())
        return Record(forked, started) if forked or started else None

    def replay(self, record: Record, replay: Replay) -> None:
        path = self.m.path
        stack, path.stack = path.stack, list(replay.outside)
        for place in record.forked:
            fork(self.m, place)
        path.stack = stack
        if record.started:
            self.m.journal.write(self.state, STARTED, TAKEN)


def has_started(m: Machine) -> bool:
    """JAX has surely computed something on the running path."""
    return m.trackers[Process].points[STARTED] is TAKEN or m.trackers[Forks].state.get(STARTED, NONE) is TAKEN


def track_library_fork(m: Machine, at: Call, name: str, result: Value) -> None:
    """A library function or class was called: does that fork, now or later?"""
    if at.node is None or m.path.mode.staged or not m.bus.wants(Fork) or not _is_of_interest(name):
        return
    forks, place = m.trackers[Forks], Place(at.frame.scope, at.node, name)
    first = at.args.values[0] if at.args.values else at.args.kwargs.get("method")
    if name in _METHODS:
        if _start_method(first) != "fork":
            m.bus.record_everywhere(OTHER_START_METHOD)
    elif name in _CONTEXTS:
        if _start_method(first) == "fork":
            forks.handles[id(result)] = Handle("context", place, result)
    elif not _forks(m, at):
        return
    elif name in _PROCESSES:
        forks.handles[id(result)] = Handle("process", place, result)
        if isinstance(result, Unknown):
            result.label = _PROCESS  # which its copies keep: a list of processes gives out one for each
    elif name in _LOADERS:
        if _has_workers(m, at):
            forks.handles[id(result)] = Handle("loader", place, result)
            fork(m, place)
            if not has_started(m):
                m.bus.emit(Fork(m.path.context(place.scope), place.node, place.name, None, presumed=True))
    else:
        fork(m, place)


def track_handle_called(m: Machine, at: Call, func: Unknown) -> None:
    """A method of a handle is called: ``process.start()``, ``context.Pool()``."""
    parent = func.parent
    if not isinstance(parent, Opaque) or at.node is None or m.path.mode.staged:
        return
    handle = m.trackers[Forks].handles.get(id(parent))
    if func.step == ".start" and isinstance(parent, Unknown) and parent.label == _PROCESS:
        fork(m, Place(at.frame.scope, at.node, "multiprocessing.Process"))
    elif func.step == ".Pool" and handle is not None and handle.kind == "context":
        fork(m, Place(at.frame.scope, at.node, "multiprocessing.Pool"))


def track_iterated(m: Machine, frame: Frame, value: Value) -> None:
    """A value is iterated: a loader starts its workers then."""
    handle = m.trackers[Forks].handles.get(id(value))
    if handle is not None and handle.kind == "loader" and not m.path.mode.staged:
        fork(m, handle.place)


def fork(m: Machine, place: Place) -> None:
    """Processes are forked by that call."""
    if not has_started(m):
        m.trackers[Forks].forked.append(place)
        return
    point = m.trackers[Process].points.get((STARTED, "at"))
    since: Site | None = None
    if (
        isinstance(point, InitializationPoint)
        and m.trackers[Process].points[STARTED] is TAKEN
        and point.node is not None
    ):
        since = site_of(point.scope, point.node)
    m.bus.emit(Fork(m.path.context(place.scope), place.node, place.name, since))


def _is_of_interest(name: str) -> bool:
    return name in _POOLS or name in _PROCESSES or name in _LOADERS or name in _CONTEXTS or name in _METHODS


def _start_method(value: Value | None) -> str:
    """The start method of that name; fork is the default."""
    if value is None or (isinstance(value, Const) and value.value is None):
        return "fork"
    return value.value if isinstance(value, Const) and isinstance(value.value, str) else ""


def _forks(m: Machine, at: Call) -> bool:
    """The call asks for no other start method than fork."""
    if at.args.double_star is not None:
        return False
    handles = m.trackers[Forks].handles
    chosen = [at.args.kwargs[name] for name in _CHOOSING if name in at.args.kwargs]
    return all(_start_method(value) == "fork" or id(value) in handles for value in chosen)


def _has_workers(m: Machine, at: Call) -> bool:
    """The loader starts processes, at least by default."""
    values, nodes = at.args.values, at.args.nodes
    by_position = len(values) > _WORKERS_AT
    workers = at.args.kwargs.get("num_workers", values[_WORKERS_AT] if by_position else NONE)
    if isinstance(workers, Const):
        return isinstance(workers.value, int) and workers.value > 0
    node = at.args.keyword_nodes.get("num_workers", nodes[_WORKERS_AT] if len(nodes) > _WORKERS_AT else None)
    if isinstance(node, ir.Call) and path_of(node.func) == "int" and len(node.args) == 1:
        node = node.args[0].value
    if isinstance(node, ir.Call):
        return called_name(node.func, at.frame.scope) == "cpu_count"
    return isinstance(node, ir.Attribute) and m.trackers[Forks].is_option(last_name(node))


def _declares(name: str) -> re.Pattern[str]:
    """The declaration of an option whose default is above zero: of argparse and click, of absl, of a class or a dict."""
    argparse = rf"""["']--{re.escape(name).replace("_", "[_-]")}["'][^)]{{0,200}}?default\s*=\s*[1-9]"""
    absl = rf"""DEFINE_integer\(\s*["']{re.escape(name)}["']\s*,\s*[1-9]"""
    field = rf"""^\s+{re.escape(name)}\s*(:\s*int\s*)?=\s*[1-9]\d*\s*(#.*)?$"""
    return re.compile(f"{argparse}|{absl}|{field}", re.MULTILINE)
