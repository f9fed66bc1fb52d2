"""Answers about buffers: of the whole project, or focused on one of them.

Vocabulary
----------
setup      what a checker is made for. ``generation`` grows when a configuration may have changed: another checker then.
snapshot   all open buffers at one moment: path and text. ``unsaved``: some text is not what is on disk.
reaching   files with entries that are known to run code of a file.
part       a focused analysis that leaves out the entries which an edit inside one function cannot concern.

Nothing here knows the protocol or the event loop; a whole checker may live in a process of its own.
"""

from __future__ import annotations

import functools
import gc
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import msgspec

from flake8_jax.core.call_graph import CallGraph, FunctionName
from flake8_jax.core.findings import Edit, Finding, Positions
from flake8_jax.core.report import Diagnostic, FixCount, line_starts, place
from flake8_jax.fixing.passes import apply_fixes
from flake8_jax.pipeline.backend import AnalysisResult, Analyze, Backend, default_backend
from flake8_jax.pipeline.cache import Cache, digest
from flake8_jax.pipeline.discovery import Walker, context_files
from flake8_jax.pipeline.workspace import ProjectRun, Question, Workspace, cache_directory
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.server.functions import Known, Record, known_functions
from flake8_jax.server.merging import difference, line_edits, merged, moved_finding, rows_added
from flake8_jax.server.outline import Edited, Extent, edited_part, unaffected
from flake8_jax.server.preferences import preferences, usable
from flake8_jax.settings.options import Settings
from flake8_jax.settings.resolver import Resolver
from flake8_jax.settings.selection import ALWAYS_ON
from flake8_jax.settings.tables import ConfigError
from flake8_jax.syntax.noqa import insert_noqa, noqa_row

Answer = TypeVar("Answer")

_UNUSABLE = (ConfigError, ValueError, OSError)
"""What a setting can lead to: paths with null bytes and broken patterns raise errors of their libraries."""
_MANY = 20
"""So many files make freezing them again worth it."""
MOST_REACHING = 6
"""So many other files are entered for one buffer; what the rest would show waits for the whole answer."""
_TOO_SLOW = 0.1
"""Seconds of analysis from which no other files are entered at all."""


@dataclass(frozen=True)
class Setup:
    """``settings``: what the editor sent, as JSON. opened: whether the editor has ``cwd`` open as a folder."""

    cwd: str
    settings: bytes = b"{}"
    generation: int = 0
    opened: bool = True

    def workspace(
        self, change: Callable[[Backend], Backend] | None = None, *, jobs: int
    ) -> tuple[Workspace, list[str]]:
        """A workspace on the real rules, ``change``d, and what of the editor's settings cannot be used.

        Raises ConfigError.
        """
        kept = msgspec.json.decode(self.settings)
        try:
            return self._made(kept, jobs, change), []
        except _UNUSABLE:
            kept, errors = usable(kept, lambda setting: self._made(setting, 1))
            return self._made(kept, jobs, change), errors

    def _made(self, raw: object, jobs: int, change: Callable[[Backend], Backend] | None = None) -> Workspace:
        own, flags = preferences(raw)
        resolver = Resolver(self.cwd, explicit=own.configuration, isolated=own.isolated, flags=flags)
        try:
            settings = resolver.settings_for(self.cwd)
        except ConfigError:
            if own.configuration is not None:
                raise
            settings = None  # it is told of the files that it is for; those of other folders need none of it
        # Without a folder this runs wherever the editor was started; nothing is to be written there.
        ours = settings is not None and (
            self.opened or settings.cache_dir is not None or settings.project_root is not None
        )
        use_cache = own.cache and ours
        directory = cache_directory(settings, self.cwd) if use_cache and settings is not None else None
        backend = default_backend(Cache(directory) if directory is not None else None)
        alone = Resolver(self.cwd, isolated=True, flags=flags)
        Workspace(backend, alone, use_cache=False).selection(alone.settings_for(self.cwd))
        Walker(alone).excluded(os.path.join(self.cwd, "a.py"))
        return Workspace(change(backend) if change is not None else backend, resolver, use_cache=use_cache, jobs=jobs)


@dataclass(frozen=True)
class Snapshot:
    """``folders``: what to check beside the projects of the open buffers."""

    texts: Mapping[str, str]
    unsaved: bool = False
    folders: tuple[str, ...] = ()


@dataclass(frozen=True)
class Whole:
    """diagnostics: of every file that has some. findings: of the open files, whatever is selected or suppressed.

    functions: the records of ``inspect``, by file; only if asked for.
    error: configurations that cannot be used. settings: what of the editor's settings cannot be used.
    """

    diagnostics: dict[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    findings: dict[str, tuple[Finding, ...]] = field(default_factory=dict)
    functions: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    crashes: tuple[tuple[str, str, str], ...] = ()
    error: str | None = None
    settings: tuple[str, ...] = ()


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
class Part:
    """A focused analysis after an edit of one function, on the same texts of other buffers."""

    edited: Edited
    skipped: frozenset[FunctionName]
    reaching: frozenset[str]
    others: str


@dataclass(frozen=True)
class Focused:
    """What to show of one buffer, and what the focused analysis said of this text and of the one before.

    findings: None where only a part was looked at; then: None where no answer needed it. unready: the part that would
    have been enough, had it been known what it showed before.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    findings: tuple[Finding, ...] | None = None
    then: tuple[Finding, ...] | None = None
    crashes: tuple[tuple[str, str, str], ...] = ()
    unready: Part | None = None


@dataclass(frozen=True)
class BufferFixes:
    """The edits that fix a buffer, and the fixes that did not hold."""

    edits: tuple[Edit, ...]
    withdrawn: tuple[FixCount, ...] = ()


@dataclass(frozen=True)
class _Look:
    """One buffer among the others of a snapshot. others: names the texts of those."""

    path: str
    question: Question
    settings: Settings
    asked: dict[str, bool]
    reaching: frozenset[str]
    others: str


@dataclass
class _Known:
    """What focused analyses of one buffer have taught.

    parts: what they said of a part of a text. alone: entering other files as well takes too long. seconds: how long the
    last analysis took.
    """

    calls: CallGraph = field(default_factory=CallGraph)
    parts: dict[tuple[Part, str], tuple[Finding, ...]] = field(default_factory=dict)
    alone: bool = False
    seconds: float = 0.0


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
        self.workspace, self._ignored = setup.workspace(jobs=0)
        self._memory = _Memory()

    def answer(self, snapshot: Snapshot, functions: bool) -> Whole:
        """Raises ConfigError for one that is not of some folder alone."""
        workspace = self.workspace
        paths, errors = self._configured(snapshot)
        question = Question(paths, snapshot.texts, force_exclude=True, collect_functions=functions)
        found = workspace.find(question)
        diagnostics: dict[str, list[Diagnostic]] = {}
        findings: dict[str, list[Finding]] = {}
        records: dict[str, list[dict[str, object]]] = {}
        messages = list(workspace.backend.troubles)
        crashes: list[tuple[str, str, str]] = []
        needed: set[str] = set()
        for settings, asked in workspace.projects(found.asked):
            # Do not write unsaved text to the cache on disk.
            try:
                workspace.cache_of(settings).read_only = snapshot.unsaved
                run = workspace.run(settings, {**self._around(settings, asked), **asked}, question)
            except ConfigError as error:
                errors.append(str(error))
                continue
            for item in workspace.diagnose(run, question)[0]:
                diagnostics.setdefault(item.path, []).append(item)
            for finding in run.findings:
                if finding.path in snapshot.texts:
                    findings.setdefault(finding.path, []).append(finding)
            for record in map(msgspec.to_builtins, run.functions):
                if record["filename"] in snapshot.texts:
                    records.setdefault(record["filename"], []).append(record)
            messages += [*run.messages, *run.notes]
            crashes += run.crashes
            needed.update(run.digests.values())
        workspace.forget(needed)
        self._memory.tidy(len(needed))
        return Whole(
            {path: tuple(said) for path, said in diagnostics.items()},
            {path: tuple(said) for path, said in findings.items()},
            records,
            tuple(messages),
            tuple(crashes),
            "\n".join(errors) or None,
            tuple(self._ignored),
        )

    def _configured(self, snapshot: Snapshot) -> tuple[tuple[str, ...], list[str]]:
        """What to check, without what has a configuration that cannot be used; and what is wrong with those."""
        places = {folder: folder for folder in filter(os.path.isdir, snapshot.folders)}
        places.update((path, os.path.dirname(path)) for path in snapshot.texts)
        found: list[str] = []
        errors: list[str] = []
        for path, directory in places.items():
            try:
                self.workspace.resolver.settings_for(directory)
                found.append(path)
            except ConfigError as error:
                errors.append(str(error))
        return tuple(found), list(dict.fromkeys(errors))

    def _around(self, settings: Settings, asked: Mapping[str, bool]) -> dict[str, bool]:
        """The other files of the same project.

        Files that lie together without a project, as in a folder of downloads, are not one program: what the asked
        ones import, and what imports them, is found without being asked for.
        """
        if settings.project_root is None:
            return {}
        resolver = self.workspace.resolver
        files, _ = context_files(list(asked), settings, Walker(resolver))
        return {path: False for path in files if resolver.settings_for(os.path.dirname(path)) is settings}


class FocusedChecker:
    """Analyses one buffer with all it imports. One thread at a time may use it."""

    def __init__(self, setup: Setup) -> None:
        self.workspace, _ = setup.workspace(
            lambda backend: replace(
                backend, analyze=functools.partial(self._analyze, backend.analyze), remembered=False
            ),
            jobs=1,
        )
        self._entries: frozenset[str] = frozenset()
        self._skipped: frozenset[FunctionName] = frozenset()
        self._known: dict[str, _Known] = {}
        self._programs: dict[str, frozenset[str]] = {}
        self._only = threading.Lock()
        self._memory = _Memory()

    def _analyze(self, analyze: Analyze, files: list[SourceFile], request: AnalysisRequest) -> AnalysisResult:
        """Enter only what was asked for."""
        began = time.perf_counter()
        entries, skipped = self._entries, self._skipped
        part = msgspec.structs.replace(request, entries=entries, skipped=skipped, lazy=True, collect_calls=True)
        found = analyze(files, part)
        for path in request.wanted or [file.path for file in files]:
            if found.calls is not None and path in entries:
                known = self._known.setdefault(path, _Known())
                known.calls.learn(found.calls)
                known.seconds = time.perf_counter() - began
        return found

    def answer(self, path: str, snapshot: Snapshot, reaching: Collection[str], then: Then | None) -> Focused:
        """What to show of a buffer that has changed since it was last analyzed whole. Raises ConfigError."""
        with self._only:
            look = self._look(path, snapshot, reaching)
            return self._answer(look, then) if look is not None else Focused()

    def prepare(self, path: str, snapshot: Snapshot, reaching: Collection[str], then: Then, part: Part) -> None:
        """Find out, while no request waits, what a part of the text before shows: the next edit is likely in it too.

        Raises ConfigError.
        """
        with self._only:
            look = self._look(path, snapshot, reaching)
            if look is not None and path in self._known:
                self._known[path].parts[part, then.text] = self._run(look, then.text, part).findings

    def _look(self, path: str, snapshot: Snapshot, reaching: Collection[str]) -> _Look | None:
        """None where the path is excluded."""
        question = Question((path,), snapshot.texts, force_exclude=True)
        for settings, asked in self.workspace.projects(self.workspace.find(question).asked):
            others = identity(Snapshot({name: text for name, text in snapshot.texts.items() if name != path}))
            return _Look(path, question, settings, asked, frozenset(sorted(reaching)[:MOST_REACHING]), others)
        return None

    def _answer(self, look: _Look, then: Then | None) -> Focused:
        text = look.question.texts[look.path]
        if self.workspace.lowered(text) is None:
            run = self._run(look, text, Extent.NOTHING)
            answer = Focused(then=then.focused if then is not None else None)
        elif then is None:
            run = self._run(look, text)
            answer = Focused(findings=run.findings)
        else:
            run, answer = self._since(look, text, then)
        said = self.workspace.diagnose(run, look.question)[0]
        if then is not None and look.path in run.problems:
            said += carried(then, text)
        kept = {digest(then.text)} if then is not None else set()
        self._programs[look.path] = frozenset(run.digests.values()) | kept
        self.workspace.forget(frozenset().union(*self._programs.values()))
        return replace(answer, diagnostics=tuple(said), crashes=tuple(run.crashes))

    def _since(self, look: _Look, text: str, then: Then) -> tuple[ProjectRun, Focused]:
        """A run with the findings to show, and what was learned on the way; diagnostics are not placed yet."""
        edit, before = difference(then.text, text), then.focused
        edited = self._edited(then.text, text, edit)
        part = self._part(look, edited) if isinstance(edited, Edited) else None
        seen = self._known[look.path].parts.get((part, then.text)) if part is not None else None
        if edited is Extent.NOTHING:
            base: tuple[Finding, ...] = ()
            run = self._run(look, text, Extent.NOTHING)
            answer = Focused(findings=before if then.text == text else None, then=before)
        elif part is not None and (seen is not None or before is None):
            base = seen if seen is not None else self._run(look, then.text, part).findings
            run = self._run(look, text, part)
            # Those of other edits are not asked for again: who types goes on where he is.
            self._known[look.path].parts = {(part, then.text): base, (part, text): run.findings}
            answer = Focused(then=before)
        else:
            base = before if before is not None else self._run(look, then.text).findings
            run = self._run(look, text)
            answer = Focused(findings=run.findings, then=base, unready=part)
        run.findings = tuple(merged(edit, rows_added(then.text, edit), then.whole, base, run.findings))
        return run, answer

    def _edited(self, then: str, now: str, edit: Edit) -> Edited | Extent:
        """What of a text an edit concerns."""
        old, new = self.workspace.lowered(then), self.workspace.lowered(now)
        if old is None or new is None:
            return Extent.EVERYTHING
        return edited_part(old, new, then, now, edit)

    def _part(self, look: _Look, edited: Edited) -> Part | None:
        """What has to be run again after an edit; None as long as it is not known who calls whom."""
        known = self._known.get(look.path)
        if known is None:
            return None
        return Part(edited, unaffected(known.calls, look.path, edited), look.reaching, look.others)

    def _run(self, look: _Look, text: str, extent: Part | Extent = Extent.EVERYTHING) -> ProjectRun:
        """Analyse one text of a buffer, as far as is asked for."""
        path, known = look.path, self._known.get(look.path)
        alone = known is not None and known.alone
        self._entries = frozenset() if extent is Extent.NOTHING else frozenset({path})
        if not alone and self._entries:
            self._entries |= look.reaching
        self._skipped = extent.skipped if isinstance(extent, Part) else frozenset()
        question = replace(look.question, texts={**look.question.texts, path: text})
        run = self.workspace.run(look.settings, look.asked, question)
        learned = self._known.get(path)
        if known is None and learned is not None and learned.seconds > _TOO_SLOW and look.reaching:
            learned.alone = True
            return self._run(look, text, extent)
        return run

    def tidy(self) -> None:
        """Let go of what analyses left behind, while no request waits."""
        with self._only:
            self._memory.tidy(len(frozenset().union(*self._programs.values())))

    def close(self, path: str) -> None:
        with self._only:
            self._programs.pop(path, None)
            self._known.pop(path, None)

    def about_functions(
        self, text: str, records: Sequence[Record], ask: Callable[[list[Known]], Answer]
    ) -> Answer | None:
        """What ``ask`` says of the functions of a text that there are records of; None where it does not parse."""
        with self._only:
            module = self.workspace.lowered(text)
        return ask(known_functions(module, records)) if module is not None else None

    def silencing(self, text: str, places: Sequence[tuple[str, int]]) -> list[tuple[str, list[Edit]]]:
        """For each code at an offset the edits that put it into a ``# noqa`` comment on its line."""
        with self._only:
            module = self.workspace.lowered(text)
        if module is None:
            return []
        rows = dict.fromkeys((code, noqa_row(text, module, start)) for code, start in places if code not in ALWAYS_ON)
        return [(code, list(insert_noqa(text, {row: [code]}, module))) for code, row in rows]

    def fixable(self, path: str) -> frozenset[str]:
        """The codes that may be fixed in a file. Raises ConfigError."""
        with self._only:
            settings = self.workspace.resolver.settings_for(os.path.dirname(path))
            return frozenset(self.workspace.selection(settings).fixable)

    def fixed(
        self,
        path: str,
        snapshot: Snapshot,
        reaching: Collection[str],
        only: tuple[str, int] | None,
        unsafe: bool | None,
    ) -> BufferFixes:
        """Fix one buffer; ``only`` the finding with this code at this offset. Raises ConfigError."""
        with self._only:
            self._entries = frozenset({path, *sorted(reaching)[:MOST_REACHING]})
            self._skipped = frozenset()
            question = Question((path,), snapshot.texts, force_exclude=True)
            chosen = None if only is None else {(path, *only)}
            outcome = apply_fixes(self.workspace, question, unsafe=unsafe, only=chosen)
        before = snapshot.texts[path]
        return BufferFixes(tuple(line_edits(before, outcome.texts.get(path, before))), outcome.report.withdrawn)


def carried(then: Then, text: str) -> list[Diagnostic]:
    """What was shown, moved to where it is in a text that does not parse."""
    edit = difference(then.text, text)
    positions = Positions(line_starts(text))
    found: list[Diagnostic] = []
    for item in then.shown:
        moved = moved_finding(item.finding, edit, rows_added(then.text, edit))
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
    """Names the texts of a snapshot, and what else is checked."""
    return digest(*(part for pair in sorted(snapshot.texts.items()) for part in pair), *snapshot.folders)
