"""Where a run spent its time and memory: sums by the user's lines, by compiled functions, and by findings of the linter.

Vocabulary
----------
line       a place of the user's code: path, function, row. own: time of samples whose innermost frame of the user's it is;
           with callees: of all samples that have it on their stack.
share      of the wall time of the run, without importing what comes before the first sample.
function   one that JAX compiled, by its name: all its programs together.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

Line = tuple[str, str, int]
Row = tuple[str, int]
ACTIVITIES = {
    "compile": "compiling", "lower": "lowering", "trace": "tracing", "wait": "waiting for the device or a copy",
    "jax": "JAX's own Python", "library": "other libraries", "program": "the program and its compiled functions",
}  # fmt: skip


class Stack(msgspec.Struct, frozen=True, array_like=True):
    """A stack that was sampled: its frames, outermost first, what the program did there, and the seconds it stands for."""

    frames: tuple[Line, ...]
    activity: str
    seconds: float


class Event(msgspec.Struct, frozen=True):
    """One step of one compilation, in seconds. step: ``trace``, ``lower`` or ``compile``. name: empty before JAX 0.6.1."""

    step: str
    name: str
    seconds: float
    stack: tuple[Line, ...]


class Operation(msgspec.Struct, frozen=True):
    """An operation on the device: the seconds of all its runs together, and the line of the user's code that it comes
    from.
    """

    module: str
    operation: str
    seconds: float
    count: int
    place: Line | None = None


class Program(msgspec.Struct, frozen=True):
    """A compiled program. memory: bytes by kind; see ``measurements.peak``."""

    module: str
    memory: dict[str, int]


class Hotspots(msgspec.Struct, frozen=True):
    """What a run was seen to do. wall: seconds. traced: seconds of the trace of the device. live: the lines that made the
    arrays at the moment when they took most bytes, an empty path for those of libraries. trouble: why there is no trace."""

    wall: float
    samples: int
    stacks: tuple[Stack, ...]
    compilations: tuple[Event, ...]
    device: tuple[Operation, ...]
    programs: tuple[Program, ...]
    live: tuple[tuple[str, str, int, int], ...]
    live_bytes: int
    traced: float
    trouble: str
    status: int
    failure: str
    stopped: bool
    versions: dict[str, str]

    @property
    def seconds(self) -> float:
        """Sum the seconds of all samples."""
        return sum(stack.seconds for stack in self.stacks) or self.wall


class LineCost(msgspec.Struct, frozen=True):
    """What one line costs: seconds on the host (own, and with callees), on the device, of compiling; bytes that it keeps."""

    path: str
    function: str
    row: int
    own: float = 0.0
    total: float = 0.0
    activity: str = ""
    device: float = 0.0
    compiled: int = 0
    compiling: float = 0.0
    live: int = 0


class FunctionCost(msgspec.Struct, frozen=True):
    """What one compiled function costs. name: of its module, without ``jit_``. memory: of its largest program."""

    name: str
    compiled: int = 0
    compiling: float = 0.0
    device: float = 0.0
    memory: dict[str, int] = {}


def by_activity(found: Hotspots) -> list[tuple[str, float]]:
    """Sum the seconds of each activity; the largest sum comes first."""
    sums: dict[str, float] = defaultdict(float)
    for stack in found.stacks:
        sums[stack.activity] += stack.seconds
    return sorted(sums.items(), key=lambda pair: -pair[1])


def by_line(found: Hotspots) -> list[LineCost]:
    """Sum the cost of every line that has one; sorted by seconds on the host (callees left out) and on the device."""
    own: dict[Row, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    total: dict[Row, float] = defaultdict(float)
    functions: dict[Row, str] = {}
    for stack in found.stacks:
        for path, function, row in stack.frames:
            functions.setdefault((path, row), function)
        for line in {(path, row) for path, _, row in stack.frames}:
            total[line] += stack.seconds
        if stack.frames:
            own[stack.frames[-1][0], stack.frames[-1][2]][stack.activity] += stack.seconds
    device: dict[Row, float] = defaultdict(float)
    for operation in found.device:
        if operation.place is not None:
            path, function, row = operation.place
            device[path, row] += operation.seconds
            functions.setdefault((path, row), function)
    steps: dict[Row, list[Event]] = defaultdict(list)
    for event in found.compilations:
        if event.stack and event.step in ("lower", "compile"):
            steps[event.stack[-1][0], event.stack[-1][2]].append(event)
    live = {(path, row): count for path, _, row, count in found.live if path}
    functions.update({(path, row): function for path, function, row, _ in found.live if (path, row) not in functions})
    costs = []
    for line in dict.fromkeys([*total, *device, *steps, *live]):
        activities, events = own.get(line, {}), steps.get(line, [])
        costs.append(
            LineCost(
                line[0], functions.get(line, ""), line[1], sum(activities.values()), total.get(line, 0.0),
                max(activities, key=lambda name: activities[name], default=""), device.get(line, 0.0),
                sum(event.step == "compile" for event in events), sum(event.seconds for event in events),
                live.get(line, 0),
            )
        )  # fmt: skip
    return sorted(costs, key=lambda cost: -(cost.own + cost.device))


def by_function(found: Hotspots) -> list[FunctionCost]:
    """Sum the cost of every compiled function; sorted by seconds on the device and of compiling."""
    names: dict[str, list[Event]] = defaultdict(list)
    for event in found.compilations:
        names[_plain(event.name)].append(event)
    device: dict[str, float] = defaultdict(float)
    for operation in found.device:
        device[_plain(operation.module)] += operation.seconds
    memory: dict[str, dict[str, int]] = {}
    for program in found.programs:
        name = _plain(program.module)
        memory[name] = max(memory.get(name, {}), program.memory, key=lambda sizes: sum(sizes.values()))
    costs = [
        FunctionCost(
            name, sum(event.step == "compile" for event in names[name]),
            sum(event.seconds for event in names[name]), device.get(name, 0.0), memory.get(name, {}),
        )
        for name in dict.fromkeys([*names, *device, *memory])
    ]  # fmt: skip
    return sorted(costs, key=lambda cost: -(cost.device + cost.compiling))


def _plain(name: str) -> str:
    """``step`` of ``jit(step)`` and ``jit_step``; XLA allows letters, digits and ``_``."""
    inner = re.sub(r"^jit\((.*)\)$", r"\1", name)
    return re.sub(r"\W", "_", inner.removeprefix("jit_")).strip("_")


def cost_at(found: Hotspots, path: str, first: int, last: int) -> tuple[float, float]:
    """Return the seconds of the host whose stack holds one of these rows, and the seconds of the device for operations
    from them.
    """

    def is_here(line: Line) -> bool:
        return line[0] == path and first <= line[2] <= last

    host = sum(stack.seconds for stack in found.stacks if any(map(is_here, stack.frames)))
    return host, sum(op.seconds for op in found.device if op.place is not None and is_here(op.place))


def trees(stacks: Iterable[Stack]) -> Node:
    """Join all stacks into one tree whose innermost nodes are the activities."""
    root = Node("all", None, 0.0, {})
    for stack in stacks:
        node = root
        node.seconds += stack.seconds
        steps: Sequence[tuple[str, Line | None]] = [
            *((line[1], line) for line in stack.frames), (ACTIVITIES.get(stack.activity, stack.activity), None),
        ]  # fmt: skip
        for name, line in steps:
            node = node.children.setdefault((name, line), Node(name, line, 0.0, {}))
            node.seconds += stack.seconds
    return root


class Node(msgspec.Struct):
    """A frame of the tree. line: None where it is an activity."""

    name: str
    line: Line | None
    seconds: float
    children: dict[tuple[str, Line | None], Node]
