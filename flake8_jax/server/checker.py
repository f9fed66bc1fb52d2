"""Answers about buffers: of the whole project, or focused on one of them.

Vocabulary
----------
setup      what a checker is made for. ``generation`` grows when a configuration may have changed: another checker then.
snapshot   all open buffers at one moment: path and text. ``unsaved``: some text is not what is on disk.
reaching   files with entries that are known to run code of a file.

Nothing here knows the protocol or the event loop; a whole checker may live in a process of its own.
"""

from __future__ import annotations

import functools
import gc
import os
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

import msgspec

from flake8_jax.backend import AnalysisRequest, AnalysisResult, Backend, ProgramFile, default_backend
from flake8_jax.cache import Cache, digest
from flake8_jax.config import Resolver, Settings
from flake8_jax.core import ir
from flake8_jax.core.findings import Finding, Positions
from flake8_jax.core.report import Diagnostic, line_starts, place
from flake8_jax.discovery import Walker, context_files
from flake8_jax.engine import ProjectRun, Question, Workspace, cache_directory
from flake8_jax.repairs import Outcome, repair
from flake8_jax.server.merging import difference, merged, moved_finding
from flake8_jax.server.preferences import preferences

Analyse = Callable[[list[ProgramFile], AnalysisRequest], AnalysisResult]

_MANY = 20
"""Files from which freezing anew is worth it."""
MOST_REACHING = 6
"""So many other files are entered for one buffer; what the rest would show waits for the whole answer."""


@dataclass(frozen=True)
class Setup:
    """``settings``: what the editor sent, as JSON."""

    cwd: str
    settings: bytes = b"{}"
    generation: int = 0

    def workspace(self, change: Callable[[Backend], Backend] | None = None, *, jobs: int) -> Workspace:
        """A workspace on the real rules, ``change``d. Raises ConfigError."""
        own, flags = preferences(msgspec.json.decode(self.settings))
        resolver = Resolver(self.cwd, explicit=own.configuration, isolated=own.isolated, flags=flags)
        directory = cache_directory(resolver.settings_for(self.cwd), self.cwd) if own.cache else None
        backend = default_backend(Cache(directory) if directory is not None else None)
        backend = change(backend) if change is not None else backend
        return Workspace(backend, resolver, use_cache=own.cache, jobs=jobs)


@dataclass(frozen=True)
class Snapshot:
    texts: Mapping[str, str]
    unsaved: bool = False


@dataclass(frozen=True)
class Whole:
    """diagnostics: of every file that has some. findings: of the open files, whatever is selected or suppressed.

    checked: the open files that are not excluded. functions: the records of ``inspect``, by file; only if asked for.
    error: a configuration that cannot be used.
    """

    diagnostics: dict[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    findings: dict[str, tuple[Finding, ...]] = field(default_factory=dict)
    checked: frozenset[str] = frozenset()
    functions: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    crashes: tuple[tuple[str, str, str], ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class Then:
    """The last text with a whole answer. focused: what the focused analysis said of it; None if it was not asked.

    shown: what was shown of it in the end.
    """

    text: str
    whole: tuple[Finding, ...]
    shown: tuple[Diagnostic, ...]
    focused: tuple[Finding, ...] | None = None


@dataclass(frozen=True)
class Focused:
    """What to show of one buffer, and what the focused analysis said of this text and of the one before."""

    diagnostics: tuple[Diagnostic, ...] = ()
    findings: tuple[Finding, ...] = ()
    then: tuple[Finding, ...] | None = None
    crashes: tuple[tuple[str, str, str], ...] = ()


class _Memory:
    """Keeps the garbage collector away from lowered files: millions of objects in which it never finds anything.

    They are frozen whenever many have come, right after a collection, so that no garbage is frozen with them.
    """

    def __init__(self) -> None:
        self._frozen = 0

    def tidy(self, files: int) -> None:
        grown = files > self._frozen + _MANY
        if grown:
            gc.unfreeze()
        gc.collect()
        if grown:
            gc.freeze()
            self._frozen = files


class WholeChecker:
    """Analyses the projects of the open buffers, all files of them."""

    def __init__(self, setup: Setup) -> None:
        self.workspace = setup.workspace(jobs=0)
        self._memory = _Memory()

    def answer(self, snapshot: Snapshot, functions: bool) -> Whole:
        """Raises ConfigError."""
        workspace = self.workspace
        question = Question(tuple(snapshot.texts), snapshot.texts, force_exclude=True, collect_functions=functions)
        found = workspace.find(question)
        diagnostics: dict[str, list[Diagnostic]] = {}
        findings: dict[str, list[Finding]] = {}
        records: dict[str, list[dict[str, object]]] = {}
        messages: list[str] = []
        crashes: list[tuple[str, str, str]] = []
        needed: set[str] = set()
        for settings, asked in workspace.projects(found.asked):
            # What was typed and not saved is nobody else's business: the cache on disk stays as it is.
            workspace.cache_of(settings).read_only = snapshot.unsaved
            run = workspace.run(settings, {**self._around(settings, asked), **asked}, question)
            for item in workspace.diagnose(run, question)[0]:
                diagnostics.setdefault(item.path, []).append(item)
            for finding in run.findings:
                if finding.path in asked:
                    findings.setdefault(finding.path, []).append(finding)
            for record in map(msgspec.to_builtins, run.functions):
                if record["filename"] in asked:
                    records.setdefault(record["filename"], []).append(record)
            messages += [*run.messages, *run.notes]
            crashes += run.crashes
            needed.update(run.digests.values())
        workspace.forget(needed)
        self._memory.tidy(len(needed))
        return Whole(
            {path: tuple(said) for path, said in diagnostics.items()},
            {path: tuple(said) for path, said in findings.items()},
            frozenset(found.asked),
            records,
            tuple(messages),
            tuple(crashes),
        )

    def _around(self, settings: Settings, asked: Mapping[str, bool]) -> dict[str, bool]:
        """The other files of the same project."""
        resolver = self.workspace.resolver
        files, _ = context_files(list(asked), settings, Walker(resolver))
        return {path: False for path in files if resolver.settings_for(os.path.dirname(path)) is settings}


class FocusedChecker:
    """Analyses one buffer with all it imports. One thread at a time may use it."""

    def __init__(self, setup: Setup) -> None:
        self.workspace = setup.workspace(
            lambda backend: replace(
                backend, analyse=functools.partial(self._analyse, backend.analyse), remembered=False
            ),
            jobs=1,
        )
        self._reaching: frozenset[str] = frozenset()
        self._programs: dict[str, frozenset[str]] = {}
        self._only = threading.Lock()
        self._memory = _Memory()

    def _analyse(self, analyse: Analyse, files: list[ProgramFile], request: AnalysisRequest) -> AnalysisResult:
        """Enter the wanted files alone, and those that are known to reach them."""
        wanted = request.wanted if request.wanted is not None else {file.path for file in files}
        return analyse(files, replace(request, entries=self._reaching | wanted))

    def answer(self, path: str, snapshot: Snapshot, reaching: Collection[str], then: Then | None) -> Focused:
        """What to show of a buffer that has changed since it was last analysed whole. Raises ConfigError."""
        with self._only:
            return self._answer(path, snapshot, reaching, then)

    def _answer(self, path: str, snapshot: Snapshot, reaching: Collection[str], then: Then | None) -> Focused:
        self._reaching = frozenset(sorted(reaching)[:MOST_REACHING])
        before = then.focused if then is not None else None
        if then is not None and before is None:
            first = self._run(path, {**snapshot.texts, path: then.text})
            before = first[0].findings if first is not None else ()
        asked = self._run(path, snapshot.texts)
        if asked is None:
            return Focused(then=before)
        run, question = asked
        text, findings = snapshot.texts[path], run.findings
        if then is not None and path not in run.problems:
            run.findings = tuple(merged(difference(then.text, text), then.whole, before or (), findings))
        said = self.workspace.diagnose(run, question)[0]
        if path in run.problems and then is not None:
            said += carried(then, text)
        self._programs[path] = frozenset(run.digests.values())
        self.workspace.forget(frozenset().union(*self._programs.values()))
        return Focused(tuple(said), findings, before, tuple(run.crashes))

    def _run(self, path: str, texts: Mapping[str, str]) -> tuple[ProjectRun, Question] | None:
        """None where the path is excluded."""
        question = Question((path,), texts, force_exclude=True)
        found = self.workspace.find(question)
        for settings, asked in self.workspace.projects(found.asked):
            return self.workspace.run(settings, asked, question), question
        return None

    def tidy(self) -> None:
        """Let go of what analyses left behind, while nobody waits."""
        with self._only:
            self._memory.tidy(len(frozenset().union(*self._programs.values())))

    def close(self, path: str) -> None:
        with self._only:
            self._programs.pop(path, None)

    def tree(self, text: str) -> ir.Module | None:
        """A text in its lowered form, if it parses."""
        with self._only:
            return self.workspace.lowered(text)

    def fixable(self, path: str) -> frozenset[str]:
        """The codes that may be repaired in a file. Raises ConfigError."""
        with self._only:
            settings = self.workspace.resolver.settings_for(os.path.dirname(path))
            return frozenset(self.workspace.selection(settings).fixable)

    def repaired(
        self,
        path: str,
        snapshot: Snapshot,
        reaching: Collection[str],
        only: tuple[str, int] | None,
        unsafe: bool | None,
    ) -> Outcome:
        """Repair one buffer; ``only`` the finding with this code at this offset. Raises ConfigError."""
        with self._only:
            self._reaching = frozenset(sorted(reaching)[:MOST_REACHING])
            question = Question((path,), snapshot.texts, force_exclude=True)
            chosen = None if only is None else {(path, *only)}
            return repair(self.workspace, question, unsafe=unsafe, only=chosen)


def carried(then: Then, text: str) -> list[Diagnostic]:
    """What was shown, moved to where it is in a text that does not parse."""
    edit = difference(then.text, text)
    positions = Positions(line_starts(text))
    found: list[Diagnostic] = []
    for item in then.shown:
        moved = moved_finding(item.finding, edit)
        if moved is not None and item.code != "JAX001":
            found.append(place(moved, positions, positions.row(moved.start)))
    return found


def reaching_files(whole: Whole, path: str) -> frozenset[str]:
    """The other files with entries that run code of this one: from evidence and from records, as far as known."""
    found = {step.path for finding in whole.findings.get(path, ()) for step in finding.evidence}
    for record in whole.functions.get(path, ()):
        for root in record["roots"]:  # type: ignore[attr-defined]
            found.add(root["filename"])
            found.update(step["filename"] for step in root["chain"])
    return frozenset(found - {path, ""})


def identity(snapshot: Snapshot) -> str:
    """Names the texts of a snapshot."""
    return digest(*(part for pair in sorted(snapshot.texts.items()) for part in pair))
