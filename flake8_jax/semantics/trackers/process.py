"""Settings that JAX reads once: variables of the environment, options of the platform, switches for debugging.

Vocabulary
----------
setting     a variable of the environment or an option of ``jax.config`` that code sets, a context manager that switches
            an option on, a call that only makes sense at one time.
point       the moment after which a setting comes too late. *imported*: ``JAX_…`` variables are read while JAX is imported,
            by this file or by another library. *started*: ``XLA_FLAGS``, the memory of the GPU and the platform are
            settled by the first array, compiled call or question for devices. *computed*: there are arrays, which keep their
            bits.
process     which points the running path has surely passed. Every module starts with none. Its functions start where its top
            level ended, because their callers have imported it.
superseded  a late setting is after all of use: another path makes it in time, the same file starts another process
            (which inherits the environment), makes JAX forget its devices, or sets the option of that name as well.

Limitations: ``os.putenv``, environments read back from files, modules that a late import runs, variables whose names
are computed, what libraries compute while they are imported.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.stack import Link
from flake8_jax.semantics.domain.values import (
    NONE,
    Array,
    Const,
    DictValue,
    Value,
    site_of,
)
from flake8_jax.semantics.events.environment import READ_AT_IMPORT, READ_AT_START, meant_variable
from flake8_jax.semantics.events.events import Setting
from flake8_jax.semantics.events.facts import OFF, SUPERSEDED, WRITTEN, is_on
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.tracker import Tracker

ENVIRON = "os.environ"

_LIBRARIES = """
    jax flax optax equinox haiku chex numpyro distrax brax diffrax jaxopt lineax optimistix orbax jmp rlax blackjax gymnax
    jraph tinygp dm_pix jax_md evosax objax levanter haliax neural_tangents e3nn_jax quax netket pgx jumanji
"""
IMPORTING = frozenset(_LIBRARIES.split())
"""Libraries that import JAX when they are imported; none of them computes anything then."""

OPTIONS_AT_START = frozenset({
    "jax_platforms", "jax_platform_name", "jax_num_cpu_devices", "jax_cpu_collectives_implementation",
    "jax_pjrt_client_create_options", "jax_enable_x64",
})  # fmt: skip
"""Options of ``jax.config`` that are settled by the first computation, for what it computed at least."""

DEVICES_AT_START = frozenset({"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"})
"""Variables of the driver, which it reads when JAX starts its backend."""
_OFF_BY_DEFAULT = frozenset({
    "JAX_CHECK_TRACER_LEAKS", "JAX_DEBUG_INFS", "JAX_DEBUG_KEY_REUSE", "JAX_DEBUG_NANS", "JAX_DISABLE_JIT",
    "JAX_ENABLE_CHECKS", "JAX_ENABLE_X64", "JAX_EXPLAIN_CACHE_MISSES", "JAX_LOG_COMPILES",
})  # fmt: skip
"""Switches whose default is known: to switch one off changes nothing."""

_QUESTIONS = """
    devices local_devices device_count local_device_count process_index process_count process_indices default_backend
    host_count host_id host_ids live_arrays device_put make_mesh
"""
_STARTING = frozenset([f"jax.{name}" for name in _QUESTIONS.split()])
_COMPUTING = ("jax.numpy.", "jax.random.", "jax.lax.", "jax.nn.", "jax.scipy.")
_READING = frozenset({"jax.numpy.load"})
"""Of an ``.npz`` file it gives NumPy's arrays, and computes nothing."""
_SPAWNING = (
    "subprocess.", "multiprocessing.", "concurrent.futures.", "os.system", "os.exec", "os.spawn", "os.fork", "os.popen",
    "os.posix_spawn", "os.environ.copy", "asyncio.create_subprocess", "ray.", "joblib.", "submitit.", "dask.",
    "distributed.", "torch.multiprocessing.", "pexpect.", "mpire.", "multiprocess.", "importlib.reload",
)  # fmt: skip
_FORGETTING = ("clear_backends", "get_backend.cache_clear")

IMPORTED, STARTED, COMPUTED = "imported", "started", "computed"

TAKEN = Const(True)
"""What a process says of a point that it has surely passed."""


class InitializationPoint(msgspec.Struct, frozen=True, eq=False):
    """Where a path passed a point. ``stack``: the calls around it."""

    scope: ModuleScope
    node: Any
    stack: tuple[Link, ...]


class Settings(msgspec.Struct):
    """What was set where, by path and subject, and which of it is superseded."""

    made: dict[tuple[str, str], list[int]] = {}
    superseded: set[tuple[str, str]] = set()


def new_process() -> dict[Any, Any]:
    """A process that has passed no point yet."""
    return {IMPORTED: NONE, STARTED: NONE, COMPUTED: NONE}


class Process(Tracker):
    """points: what the running path has surely done. environment: its variables. settings: what was set where."""

    def __init__(self, m: Machine) -> None:
        self.points = new_process()
        self.environment: dict[Any, Any] = {"set": NONE}
        self.settings = Settings()
        m.program.slot_ids.add(id(self.environment))

    def enter(self) -> dict[Any, Any]:
        saved, self.points = self.points, dict(self.points)
        return saved

    def leave(self, saved: Any, *, finished: bool) -> None:
        self.points = saved


# --- points --------------------------------------------------------------------------------------------


def track_point(m: Machine, scope: ModuleScope, node: Any, point: str) -> None:
    """From here on, JAX is imported, or has computed something."""
    if m.trackers[Process].points[point] is not TAKEN:
        m.journal.write(m.trackers[Process].points, point, TAKEN)
        m.trackers[Process].points[point, "at"] = InitializationPoint(scope, node, tuple(m.path.stack))


def track_import(m: Machine, frame: Frame, node: ir.Import | ir.ImportFrom, module: str) -> None:
    """A module was imported: does that import JAX, or even compute something?"""
    if m.trackers[Process].points[IMPORTED] is TAKEN and m.trackers[Process].points[STARTED] is TAKEN:
        return
    if module.partition(".")[0] in IMPORTING and not m.program.is_project(module):
        track_point(m, frame.scope, node, IMPORTED)
        return
    names = [module]
    if isinstance(node, ir.ImportFrom):
        names += [f"{module}.{name.name}" for name in node.names]
    while "." in module:
        module = module.rpartition(".")[0]
        if not f"{frame.scope.key}.".startswith(f"{module}."):
            names.append(module)  # the package around it runs first, unless it runs already
    for name in names:
        scope = m.program.scope_of(name)
        if scope is not None and scope.process is not None:
            for point in (IMPORTED, STARTED, COMPUTED):
                if scope.process[point] is TAKEN:
                    track_point(m, frame.scope, node, point)


def track_library_call(m: Machine, frame: Frame, node: Any, name: str, result: Value) -> None:
    """A library function was called: did that start JAX?"""
    if m.trackers[Process].points[COMPUTED] is TAKEN or m.path.mode.staged or not name.startswith("jax."):
        return
    if name in _READING:
        return
    computed = isinstance(result, Array) and name.startswith((*_COMPUTING, "jax.device_put"))
    if name in _STARTING or computed:
        track_point(m, frame.scope, node, STARTED)
    if computed and isinstance(result, Array) and result.dtype != "key":
        track_point(m, frame.scope, node, COMPUTED)


def track_spawn(m: Machine, frame: Frame, name: str) -> None:
    """A library function was called: one that starts another process, which inherits the environment, or JAX itself."""
    if name.startswith(_SPAWNING) and not name.endswith("cpu_count"):
        excuse(m, frame, "")
    elif name.startswith("jax.") and name.endswith(_FORGETTING):
        _is_superseded(m, frame.scope.path, "", SUPERSEDED)
        if m.trackers[Process].points[STARTED] is TAKEN:
            m.journal.write(m.trackers[Process].points, STARTED, NONE)


# --- settings -----------------------------------------------------------------------------------------


def set_variable(m: Machine, frame: Frame, node: Any, key: Value, value: Value) -> None:
    """``os.environ[key] = value``."""
    track_written(m, frame, node)
    if isinstance(key, Const) and isinstance(key.value, str):
        name = key.value
        starting = name in READ_AT_START or name in DEVICES_AT_START
        point = IMPORTED if name in READ_AT_IMPORT else STARTED if starting else ""
        if point or _is_misnamed(m, name):
            emit_setting(m, frame, node, Made(name, "variable", value, point))


def _is_misnamed(m: Machine, name: str) -> bool:
    """The variable is called like one that JAX reads, and no code of the project reads it."""
    if not meant_variable(name):
        return False
    reads = re.compile(
        rf"(?:getenv|environ\.get|environ\.pop)\(\s{{0,9}}[\"']{re.escape(name)}[\"']|[\"']{name}[\"'] (?:not )?in\b"
    )
    return not any(reads.search(scope.text) for scope in m.program.by_name.values())


def set_variables(m: Machine, frame: Frame, node: Any, values: Value) -> None:
    """``os.environ.update(values)``."""
    track_written(m, frame, node)
    if isinstance(values, DictValue):
        for slot, value in list(values.slots.items()):
            if type(slot) is tuple and slot[0] == "k" and isinstance(value, Value):
                set_variable(m, frame, node, Const(slot[1]), value)


def track_written(m: Machine, frame: Frame, node: Any) -> None:
    """The expression at ``node``, which starts with the name of the environment, changes it."""
    if node is not None:
        m.bus.record_fact(WRITTEN, frame.scope, node.start)


class Made(msgspec.Struct, frozen=True):
    """A setting that code makes: the variable or option of that name, a context manager that switches the option, or a
    call. point: the one that has to come later; empty where it may come at any time."""

    name: str
    kind: Literal["variable", "option", "context", "call"]
    value: Value
    point: str = ""


def emit_setting(m: Machine, frame: Frame, node: Any, made: Made) -> None:
    """Emit a setting, at the place that causes it."""
    if m.path.mode.presumed or node is None or not m.bus.wants(Setting):
        return
    process = m.trackers[Process]
    m.journal.write(process.environment, "set", NONE)
    scope, stack = frame.scope, m.path.stack
    known, by_program = _reached(m, scope)
    late = bool(made.point) and process.points[made.point] is TAKEN and not _is_in_force(process, made)
    if late:
        passed: InitializationPoint | None = process.points.get((made.point, "at"))
        is_open = made.name == "jax_platform_name" and _names_backend(passed)
        late = not (is_open or _may_run_before(m, scope, passed))
    if not late:
        process.points.setdefault(("value", made.name), NONE)
        m.journal.write(process.points, ("value", made.name), made.value)
    taken: InitializationPoint | None = process.points.get((made.point, "at")) if late else None
    at, place = node, scope
    late_call = _late_call(stack, taken) if taken is not None and taken.scope is not scope else None
    if late_call is not None:  # the helper is innocent: its caller calls it too late
        at, place, m.path.stack = stack[late_call].node, stack[late_call].scope, stack[:late_call]
    if not late and made.point and known:
        m.bus.record_fact(SUPERSEDED, place, at.start)
    _remember(m, made, place.path, at.start, late=late)
    since = site_of(taken.scope, taken.node) if taken is not None else None
    conditional = _is_conditional(m, frame)
    context, direct = m.path.context(place), at is node
    started = process.points[STARTED] is TAKEN
    m.bus.emit(
        Setting(
            context, at, made.name, made.kind, made.value, made.point, late, since, conditional, direct, by_program, started
        )
    )  # fmt: skip
    m.path.stack = stack


def _may_run_before(m: Machine, scope: ModuleScope, taken: InitializationPoint | None) -> bool:
    """Unknown code runs the function, and the module hands that, or its class, to other code before it reaches the point:
    ``tyro.cli(Args)``."""
    start = m.path.stack[0] if m.path.stack else None
    if start is None or start.node is not None or start.fn is None:
        return False  # code of the project calls it
    if taken is None or taken.scope is not scope or taken.stack:
        return False
    name = start.fn.qualname.partition(".")[0]
    before = [
        s for s in scope.tree.body if s.end <= taken.node.start and not isinstance(s, (ir.FunctionDef, ir.ClassDef))
    ]
    return any(isinstance(node, ir.Name) and node.id == name for statement in before for node in walk(statement))


def _names_backend(taken: InitializationPoint | None) -> bool:
    """``jax.devices("cpu")`` leaves open which backend is the default one, as that option says (run on 0.10.2)."""
    node = taken.node if taken is not None else None
    return isinstance(node, ir.Call) and bool(node.args) and last_name(node.func) in ("devices", "local_devices")


def _is_in_force(process: Process, made: Made) -> bool:
    """JAX has that value already: what was set in time, or the default."""
    if made.kind not in ("variable", "option") or not isinstance(made.value, Const):
        return False
    before, value = process.points.get(("value", made.name), NONE), made.value.value
    if before is not NONE:
        return isinstance(before, Const) and type(before.value) is type(value) and bool(before.value == value)
    return value is None or value == "" or (made.name.upper() in _OFF_BY_DEFAULT and not is_on(made.value))


def _reached(m: Machine, scope: ModuleScope) -> tuple[bool, bool]:
    """Whether the code surely runs, from the top level of some module; and whether it does so as a program of its own."""
    stack = m.path.stack
    if not stack:
        return True, True
    known = stack[0].kind == "call"
    return known, stack[0].scope is scope and (known or stack[0].function == "main")


def _late_call(stack: list[Link], taken: InitializationPoint) -> int | None:
    """The call around a late setting that the code which passed the point did not make."""
    common = 0
    while common < min(len(stack), len(taken.stack)) and stack[common] is taken.stack[common]:
        common += 1
    return next((i for i in range(common, len(stack)) if stack[i].node is not None), None)


def _remember(m: Machine, made: Made, path: str, start: int, *, late: bool) -> None:
    """Remember what was set at a place, and what it makes of other settings."""
    if late:
        for subject in ("", made.name) if made.kind == "variable" else (made.name,):
            _is_made(m, path, subject, start, SUPERSEDED)
    if isinstance(made.value, Const) and made.kind != "call":
        switched_off = f"{made.name.lower()} off"
        if is_on(made.value):
            _is_made(m, path, switched_off, start, OFF)
        elif made.kind == "option":
            _is_superseded(m, path, switched_off, OFF)


def _is_made(m: Machine, path: str, subject: str, start: int, fact: str) -> None:
    m.trackers[Process].settings.made.setdefault((path, subject), []).append(start)
    if (path, subject) in m.trackers[Process].settings.superseded:
        m.bus.recorded.add((fact, path, start))


def excuse(m: Machine, frame: Frame, subject: str) -> None:
    """Late settings of the subject are of use after all, in every file on the path."""
    for path in {frame.scope.path, *[link.scope.path for link in m.path.stack]}:
        _is_superseded(m, path, subject, SUPERSEDED)


def _is_superseded(m: Machine, path: str, subject: str, fact: str) -> None:
    m.trackers[Process].settings.superseded.add((path, subject))
    for start in m.trackers[Process].settings.made.get((path, subject), ()):
        m.bus.recorded.add((fact, path, start))


def _is_conditional(m: Machine, frame: Frame) -> bool:
    """A test decides whether the setting is made, other than whether the file is run as a program."""
    as_program = [("c", "str", "__main__") in key for key, _truth in m.path.conditions]
    if not all(as_program) or frame.attempts:
        return True
    return frame.branches > sum(as_program[m.path.condition_base :])
