"""What the children that measure answer with, as typed data. Times are in seconds, sizes in bytes.

The names are those of the requests and results that the modules of ``child`` document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


def peak(memory: Mapping[str, int]) -> int:
    """Return the bytes that arguments, results and temporaries of a program occupy together at most."""
    return memory.get("argument", 0) + memory.get("output", 0) + memory.get("temp", 0) - memory.get("alias", 0)


class Setting(msgspec.Struct, frozen=True):
    """The versions and the device on which something was run."""

    jax: str
    python: str
    platform: str
    device: str

    def __str__(self) -> str:
        device = self.device if self.device != self.platform else ""
        return ", ".join(part for part in (f"jax {self.jax}", self.platform, device) if part)


class FirstCall(msgspec.Struct, frozen=True):
    """The call that compiles, in seconds: ``seconds`` for all of it with one run, and its steps. compiled: programs."""

    seconds: float
    trace: float
    lower: float
    compile: float
    compiled: int


class Spread(msgspec.Struct, frozen=True):
    """Times of one call, in seconds."""

    median: float
    quartiles: tuple[float, float]
    least: float
    most: float


class PerCall(msgspec.Struct, frozen=True):
    """The number and the seconds of compilations for each call after the first."""

    count: float
    seconds: float


class Side(msgspec.Struct, frozen=True):
    """One function in a benchmark. mode: ``jitted``, ``jitted here`` or ``eager``. samples: seconds of one call each. calls:
    in a block. dispatch, returns: see ``child.bench``. cost: ``flops`` and ``bytes accessed`` of a call. memory: bytes."""

    name: str
    file: str
    line: int
    mode: str
    first_call: FirstCall
    donates: bool
    calls: int
    run: Spread
    samples: tuple[float, ...]
    recompiles: PerCall
    dispatch: float | None = None
    returns: float | None = None
    cost: dict[str, float] = {}
    memory: dict[str, int] = {}


class Comparison(msgspec.Struct, frozen=True):
    """ratio: time of the first ÷ time of the second. range: where it lies. band: what two halves of one function's own calls
    differ by in this run. measure: ``wall``, or ``processor`` for the time that the process had the processor.
    epochs: how often both were compiled."""

    ratio: float
    range: tuple[float, float]
    band: tuple[float, float]
    claim: str
    measure: str = "wall"
    epochs: int = 1


class Agreement(msgspec.Struct, frozen=True):
    """Whether two functions return the same. difference: the largest one, relative to the largest number."""

    same: bool
    difference: float | None
    reason: str


class Transfer(msgspec.Struct, frozen=True):
    """A transfer of the inputs from the host to the device: bytes, and seconds."""

    bytes: int
    seconds: float


class Peak(msgspec.Struct, frozen=True):
    """The most that the device can do, in operations and bytes per second. source: ``data sheet`` or ``measured here``."""

    flops: float
    bytes: float
    source: str


class BenchCase(msgspec.Struct, frozen=True):
    """One set of inputs. source: ``given``, ``file``, ``made up``, ``command`` or ``shapes``. alike: calls of the command
    that had such inputs. unlike: what tells them from earlier ones that look the same. tight: whether more rounds would
    have told no more."""

    label: str
    inputs: str
    source: str
    rounds: int
    tight: bool
    transfer: Transfer
    sides: tuple[Side, ...]
    noise: tuple[float, float]
    alike: int = 1
    unlike: str = ""
    comparison: Comparison | None = None
    agreement: Agreement | None = None


class Bench(msgspec.Struct, frozen=True):
    """A benchmark. load: load average for each processor before it began. left_out: calls of the user's command whose inputs
    were too many kinds to keep."""

    setting: Setting
    load: float
    busy: bool
    cores: int
    cases: tuple[BenchCase, ...]
    peak: Peak | None = None
    left_out: int = 0


class CacheKey(msgspec.Struct, frozen=True):
    """A difference between the inputs of two calls. kind: ``shape``, ``rank``, ``dtype``, ``weak-type``, ``static`` …"""

    kind: str
    where: str
    now: str
    before: str
    remedy: str


class RecompileCase(msgspec.Struct, frozen=True):
    """One set of inputs in its turn. counts: how often it was traced, lowered and compiled; steps: the seconds of each.
    memory: bytes of the program that was compiled. alike: calls of the user's command that had such inputs."""

    label: str
    inputs: str
    compiled: bool
    counts: dict[str, int]
    seconds: float
    differences: tuple[CacheKey, ...] = ()
    compared_with: str | None = None
    explanation: str = ""
    names: tuple[str, ...] = ()
    steps: dict[str, float] = {}
    memory: dict[str, int] = {}
    alike: int = 1
    unlike: str = ""
    source: str = "given"


class Recompiles(msgspec.Struct, frozen=True):
    """What JAX compiled again. static: names of the static parameters, None where JAX does not say. left_out: as in Bench."""

    setting: Setting
    name: str
    file: str
    line: int
    mode: str
    static: tuple[str, ...] | None
    cases: tuple[RecompileCase, ...]
    left_out: int = 0


class Collective(msgspec.Struct, frozen=True):
    """``count`` operations in which ``group`` devices take part (0: unknown); bytes: of the result of one on one device."""

    kind: str
    count: int
    bytes: int
    group: int


class Stage(msgspec.Struct, frozen=True):
    """What became of a function on one platform.

    mode: ``device``, ``topology`` or ``lower``. state: ``ok``, ``failed``, or ``unavailable``. cost and memory: as the
    compiler states them, of one device. texts: the kinds of text there are, with their number of lines; previews: first lines
    of those that were asked for. devices: on how many it runs.
    """

    platform: str
    mode: str
    state: str
    device: str = ""
    problem: str = ""
    seconds: dict[str, float] = {}
    cost: dict[str, float] = {}
    memory: dict[str, int] = {}
    texts: dict[str, int] = {}
    previews: dict[str, str] = {}
    devices: int = 1
    collectives: tuple[Collective, ...] = ()


class ProbeCase(msgspec.Struct, frozen=True):
    """One set of inputs. preview: first lines of the jaxpr, if they were asked for."""

    label: str
    inputs: str
    source: str
    output: str
    equations: int
    primitives: dict[str, int]
    stages: tuple[Stage, ...]
    alike: int = 1
    unlike: str = ""
    preview: str = ""


class Probe(msgspec.Struct, frozen=True):
    """What a function compiles to. files: those that were written. left_out: as in Bench."""

    setting: Setting
    name: str
    file: str
    line: int
    mode: str
    cases: tuple[ProbeCase, ...]
    files: tuple[str, ...] = ()
    left_out: int = 0


class Device(msgspec.Struct, frozen=True):
    """A device. memory: bytes that JAX may use, where it says."""

    id: int
    kind: str
    platform: str
    memory: int | None = None


class Smoke(msgspec.Struct, frozen=True):
    """A small product of matrices, jitted. error: the largest difference from NumPy's, relative to the largest number."""

    ok: bool
    problem: str = ""
    error: float | None = None
    compile: float | None = None
    run: float | None = None
    platform: str = ""


class Environment(msgspec.Struct, frozen=True):
    """What there is to run on. problem: why JAX cannot start, if it cannot. process_index, process_count: of this process in a
    distributed run, None where no backend starts. config: settings of JAX with their defaults."""

    python: dict[str, str]
    jax: str | None
    packages: dict[str, str]
    problem: str
    backend: str
    process_index: int | None
    process_count: int | None
    devices: tuple[Device, ...]
    config: dict[str, dict[str, Any]]
    variables: dict[str, str]
    smoke: Smoke | None
    targets: dict[str, dict[str, Any]]
    sandbox: dict[str, Any]


class Hit(msgspec.Struct, frozen=True):
    """A place in JAX's source. kind: ``error class``, ``raise``, ``message``, ``definition``, ``docstring``,
    ``documentation``, ``test``, or ``frame`` (a line of a pasted traceback)."""

    path: str
    line: int
    text: str
    kind: str


class Located(msgspec.Struct, frozen=True):
    """Places where JAX treats a topic, the best first.

    error, message: what the topic was read as, if it was an error. more: how many places were left out. skipped: how many files
    have the words but were not parsed. has_tests, has_documentation: False if they were asked for but are not there.
    """

    jax: str
    root: str
    hits: tuple[Hit, ...]
    more: int
    error: str = ""
    message: str = ""
    skipped: int = 0
    has_tests: bool = True
    has_documentation: bool = True


class TreeNode(msgspec.Struct, frozen=True):
    """A node of a pytree. name: its key below its parent. bytes: of all below it. text: the value of a leaf that is no array,
    or ``weak`` for a weak type. same_as: the path of the leaf that holds the same array."""

    path: str
    name: str
    depth: int
    is_leaf: bool
    type: str
    bytes: int
    shape: tuple[int | str, ...] | None = None
    dtype: str = ""
    sharding: str = ""
    text: str = ""
    same_as: str = ""


class Tree(msgspec.Struct, frozen=True):
    """A pytree, parents before children. bytes: arrays that are there twice count once. devices: bytes on each device.
    inputs: of the function whose result it is. is_abstract: whether that function was traced only."""

    setting: Setting
    name: str
    nodes: tuple[TreeNode, ...]
    bytes: int
    devices: dict[str, int]
    inputs: str = ""
    is_abstract: bool = False
