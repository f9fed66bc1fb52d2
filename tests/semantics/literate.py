"""Small projects written down in markdown, with what the engine must know of them.

Vocabulary
----------
section     a ``##`` heading and the fenced blocks below it. A ``python`` block whose first line is ``# file: NAME`` is
            a file of the section's project. A ``python drive`` block is no part of the project: it calls it, on JAX.
mark        a comment on a line of a file that says what must hold there:

            ``# revealed: KIND``        what ``reveal(…)`` on this line sees: in staged runs if there are any, else in
                                        eager ones; several kinds in several runs are joined by `` | ``. Runs of which
                                        the engine does not know who starts them may add kinds that say less
            ``# revealed eager: KIND``  the same for its eager runs
            ``# expect: RULE[, RULE]``  these findings stand here, and nowhere else in the section
            ``# staged``, ``# eager``   the function defined on this line is staged somewhere, or never
            ``# on JAX: KIND``          what JAX shows here where the engine may know less than that

evidence    a block ``evidence FILE:LINE``: the chain of the finding there, one ``file:line sentence`` per step.
reveal      ``from jaxlint_testing import reveal``: a function that exists for the tests alone; a rule that the tests
            register listens to the calls of it, and on JAX it is a real function.

Limitations: two calls of ``reveal`` on one line.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from flake8_jax.core.findings import Finding, Positions
from flake8_jax.core.registry import Report, Rule
from flake8_jax.rules import all_rules
from flake8_jax.semantics.analysis.analyze import Analysis, analyze
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    CONCRETE,
    GRAD,
    Array,
    AtValue,
    BoundMethod,
    BuiltinValue,
    ClassValue,
    Const,
    DictValue,
    External,
    ExternalInstance,
    ExternalMethod,
    FunctionValue,
    GeneratorValue,
    HostArray,
    Instance,
    ListValue,
    ModuleValue,
    PartialValue,
    Static,
    TransformedValue,
    Tree,
    TupleValue,
    UnionValue,
    Value,
)
from flake8_jax.semantics.events.events import LibraryCall
from flake8_jax.syntax.lower import lower

ROOT = "/project"
"""Where the files of a section are said to stand."""

MARK = re.compile(r"#\s*(revealed eager|revealed|expect|on JAX|staged|eager)\b:?\s*(.*?)\s*$")
FENCE = re.compile(r"^```(.*)$")

_LEVELS = {ABSTRACT: "traced", GRAD: "traced concretely", CONCRETE: "concrete"}


@dataclass(slots=True)
class Section:
    """One small project. ``marks``: (file, row) → {mark: text}; rows are 1-based, in the file as it is analysed."""

    title: str
    document: str
    row: int
    files: dict[str, str] = field(default_factory=dict)
    drives: list[str] = field(default_factory=list)
    evidence: dict[tuple[str, int], list[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """For test ids."""
        return f"{self.document}: {self.title}"

    def marks(self) -> Iterator[tuple[str, int, str, str]]:
        """``(file, row, mark, text)`` in order."""
        for file, text in self.files.items():
            for row, line in enumerate(text.splitlines(), 1):
                found = MARK.search(line)
                if found is not None:
                    yield file, row, found[1], found[2]


def sections_of(path: Path) -> list[Section]:
    """The sections of a document that hold at least one file.

    Raises:
        ValueError: a fence is left open, or a project file has no name.
    """
    found: list[Section] = []
    info: str | None = None
    block: list[str] = []
    for row, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if info is None and line.startswith("## "):
            found.append(Section(line[3:].strip(), path.stem, row))
        elif fence is not None and info is None:
            info, block = fence[1].strip(), []
        elif fence is not None and info is not None:
            _add_block(found[-1], info, block, path, row)
            info = None
        elif info is not None:
            block.append(line)
    if info is not None:
        raise ValueError(f"{path}: a fence is left open")
    return [s for s in found if s.files]


def _add_block(section: Section, info: str, block: list[str], path: Path, row: int) -> None:
    if info == "python drive":
        section.drives.append("\n".join(block) + "\n")
    elif info.startswith("evidence "):
        file, _, line = info.removeprefix("evidence ").rpartition(":")
        section.evidence[file, int(line)] = [step for step in block if step.strip()]
    elif info == "python":
        if not block or not block[0].startswith("# file: "):
            raise ValueError(f"{path}:{row}: a project file starts with `# file: NAME`")
        section.files[block[0].removeprefix("# file: ").strip()] = "\n".join(block) + "\n"


# --- what the engine says ---------------------------------------------------------------------------------


def kind_of_value(value: Value, depth: int = 3) -> str:
    """One word, or a few, for a value; the inverse of what marks say."""
    if isinstance(value, Const):
        return "None" if value.value is None else f"static {value.value!r}"
    if isinstance(value, Static):
        return "static"
    if isinstance(value, Array):
        if value.dtype == "key":
            return "traced key" if value.level == ABSTRACT else "key"
        return _LEVELS.get(value.level, "array")
    if isinstance(value, Tree):
        return "pytree" if value.level in (ABSTRACT, GRAD) else "tree"
    if isinstance(value, HostArray):
        return "host"
    if isinstance(value, FunctionValue):
        return f"function {value.fn.qualname.rpartition('.')[2]}"
    if isinstance(value, BoundMethod) and isinstance(value.func, FunctionValue):
        return f"method {value.func.fn.qualname}"
    if isinstance(value, (PartialValue, BoundMethod, BuiltinValue, AtValue, ExternalMethod)):
        return "function"
    if isinstance(value, TransformedValue):
        return value.name
    if isinstance(value, ClassValue):
        return f"class {value.node.name}"
    if isinstance(value, ModuleValue):
        return f"module {value.scope.name}"
    if isinstance(value, External):
        return value.name
    if isinstance(value, (Instance, ExternalInstance)):
        return value.cls.node.name if isinstance(value, Instance) else value.cls
    if isinstance(value, (TupleValue, ListValue, DictValue, UnionValue, GeneratorValue)) and depth:
        return _kind_of_container(value, depth - 1)
    return "unknown"


def _kind_of_container(value: Value, depth: int) -> str:
    if isinstance(value, TupleValue):
        head = "tuple" if value.cls is None else getattr(getattr(value.cls, "node", None), "name", "namedtuple")
        return f"{head}[{', '.join(kind_of_value(v, depth) for v in value.elts)}]"
    if isinstance(value, ListValue):
        known = value.known()
        head = "tuple" if value.is_tuple else "list"
        if known is not None:
            return f"{head}[{', '.join(kind_of_value(v, depth) for v in known)}]"
        rest = value.slots.get("*")
        return f"{head}[{kind_of_value(rest, depth) if rest is not None else 'unknown'}, ...]"
    if isinstance(value, DictValue):
        items = [f"{k}: {kind_of_value(v, depth)}" for k, v in value.items()]
        return f"dict[{', '.join([*items, '...'] if value.slots['open'] else items)}]"
    if isinstance(value, UnionValue):
        return " or ".join(sorted({kind_of_value(v, depth) for v in value.members}))
    assert isinstance(value, GeneratorValue)
    return f"generator[{kind_of_value(value.element, depth)}]"


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A place whose offset also carries a number: findings at one offset are otherwise reported once."""

    start: int
    end: int


class Reveals:
    """The rule that listens to ``reveal`` and the kinds that it has met.

    Its reports say where and what by a number in the offset, so that only reports that the engine lets stand count:
    those of a loop's first passes do not.
    """

    def __init__(self) -> None:
        self.met: list[tuple[str, bool]] = []
        self.stride = 1 << 20
        self.rule = Rule("TST001", "reveal", "warning", "never", False, (LibraryCall,), self._listen, "")

    def _listen(self, event: LibraryCall) -> Report | None:
        if event.name != "jaxlint_testing.reveal" or event.context.presumed:
            return None
        said = (" & ".join(kind_of_value(v) for v in event.args), event.context.staged)
        if said not in self.met:
            self.met.append(said)
        start = event.at.start + self.stride * self.met.index(said)
        return Report(_Numbered(start, start), "revealed")

    def read(self, finding: Finding) -> tuple[int, str, bool]:
        """Offset, kind, and whether it was a staged run."""
        number, start = divmod(finding.start, self.stride)
        kind, staged = self.met[number]
        return start, kind, staged


@dataclass(slots=True)
class Outcome:
    """What the engine said of a section. Keys are (file, row)."""

    staged: dict[tuple[str, int], set[str]]
    eager: dict[tuple[str, int], set[str]]
    findings: dict[tuple[str, int], set[str]]
    evidence: dict[tuple[str, int], list[list[str]]]
    functions: dict[tuple[str, int], bool]
    crashes: list[str]
    capped: bool = False
    """The engine gave up on some run: there were too many contexts of a function, or steps, or calls in one another."""


def module_name(file: str) -> str:
    """``pkg/__init__.py`` → ``pkg``; a leading ``src/`` is no package."""
    return file.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def run_engine(files: Mapping[str, str]) -> tuple[Analysis, Reveals, dict[str, Positions]]:
    """Analyse a project given as texts, with every rule that is on by default or expected, and the reveals."""
    reveals = Reveals()
    chosen = [r for r in all_rules() if not r.opt_in or any(f"expect: {r.name}" in text for text in files.values())]
    sources: list[SourceFile] = []
    positions: dict[str, Positions] = {}
    for file, text in files.items():
        tree = lower(text)
        path = f"{ROOT}/{file}"
        positions[path] = Positions(tree.line_starts)
        sources.append(SourceFile(path, module_name(file), file.endswith("__init__.py"), tree, text))
    analysis = analyze(sources, AnalysisRequest(collect_functions=True), [*chosen, reveals.rule])
    return analysis, reveals, positions


def short(path: str) -> str:
    """A path as the documents write it."""
    return path.removeprefix(ROOT + "/")


def together(section: Section) -> pytest.MarkDecorator:
    """The mark of tests that share a worker, as they ask ``engine_on`` of neighboring sections."""
    return pytest.mark.xdist_group(f"engine on {section.document} {section.row // 200}")


def engine_on(section: Section) -> tuple[Analysis, Reveals, dict[str, Positions]]:
    """``run_engine`` on a section, once: many tests ask what is said of it. Nobody may change the result."""
    return _engine_on(tuple(section.files.items()))


@functools.cache
def _engine_on(files: tuple[tuple[str, str], ...]) -> tuple[Analysis, Reveals, dict[str, Positions]]:
    return run_engine(dict(files))


def outcome_of(section: Section) -> Outcome:
    """What the engine says of a section."""
    analysis, reveals, positions = engine_on(section)
    made = Outcome(defaultdict(set), defaultdict(set), defaultdict(set), defaultdict(list), {}, [])
    for finding in analysis.findings:
        file = short(finding.path)
        if finding.name == "reveal":
            start, kind, staged = reveals.read(finding)
            place = (file, positions[finding.path].row(start))
            (made.staged if staged else made.eager)[place].add(kind)
            continue
        place = (file, positions[finding.path].row(finding.start))
        made.findings[place].add(finding.name)
        made.evidence[place].append([f"{short(s.path)}:{s.row} {s.text}" for s in finding.evidence])
    for record in analysis.functions:
        place = (short(record.filename), record.line)
        made.functions[place] = made.functions.get(place, False) or record.staged
    made.capped = any(analysis.counters.get(cap) for cap in ("contexts", "recursion or depth", "step budget"))
    made.crashes = [f"{name} in {short(path)}\n{trace}" for name, path, trace in analysis.crashes]
    return made


# --- comparing --------------------------------------------------------------------------------------------


def _shown(kinds: Iterable[str]) -> str:
    return " | ".join(sorted(kinds)) or "nothing"


def _says_less(kind: str, wanted: set[str]) -> bool:
    """A kind that claims nothing beside those wanted: unknown, of unknown structure, a static without its constant."""
    if re.search(r"\b(unknown|pytree|tree|array)\b", kind):
        return True
    return kind == "static" and any(w.startswith("static ") for w in wanted)


def differences(section: Section, outcome: Outcome) -> list[str]:
    """What the engine says otherwise than the section does, one sentence each."""
    wrong = list(outcome.crashes)
    expected: dict[tuple[str, int], set[str]] = {}
    for file, row, mark, text in section.marks():
        place = (file, row)
        if mark == "expect":
            expected[place] = {name.strip() for name in text.split(",")}
        elif mark in ("revealed", "revealed eager"):
            seen = outcome.eager[place] if mark == "revealed eager" else outcome.staged[place] or outcome.eager[place]
            wanted = {kind.strip() for kind in text.split(" | ")}
            if not wanted <= seen or not all(_says_less(kind, wanted) for kind in seen - wanted):
                wrong.append(f"{file}:{row}: revealed {_shown(seen)}, not {text}")
        elif mark in ("staged", "eager"):
            staged = outcome.functions.get(place)
            if staged is not (mark == "staged"):
                said = "no function" if staged is None else "staged" if staged else "eager"
                wrong.append(f"{file}:{row}: {said}, not {mark}")
    for place in sorted(expected.keys() | outcome.findings.keys()):
        want, got = expected.get(place, set()), outcome.findings.get(place, set())
        wrong += [f"{place[0]}:{place[1]}: missed {name}" for name in sorted(want - got)]
        wrong += [f"{place[0]}:{place[1]}: false {name}" for name in sorted(got - want)]
    for place, chains in outcome.evidence.items():
        if len(chains) != len(outcome.findings[place]):
            wrong.append(f"{place[0]}:{place[1]}: reported {len(chains)} times")
    for place, steps in section.evidence.items():
        chains = outcome.evidence.get(place, [])
        if steps not in chains:
            shown = "\n    or ".join("; ".join(chain) for chain in chains) or "no finding"
            wrong.append(f"{place[0]}:{place[1]}: evidence is {shown}")
    return wrong
