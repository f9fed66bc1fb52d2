"""From paths to diagnostics: finds the files, lowers and analyzes them, and selects the findings to report.

Vocabulary
----------
workspace   everything that is kept between questions: settings, the cache, lowered files in memory.
question    paths, unsaved texts, and whether comments may suppress findings.
project run the analysis of one project for one question. Its findings are not selected or suppressed yet.

Each file is linted with its nearest configuration, and each configuration is one project. If the paths of a question are in
several projects, there are several runs. ``fixing`` applies fixes.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial

import msgspec

from flake8_jax import __version__
from flake8_jax.core import ir
from flake8_jax.core.cells import SUFFIX, Rows, broken_cell, evidence_in_cells
from flake8_jax.core.collector import collector_paused
from flake8_jax.core.findings import Edit, Finding
from flake8_jax.core.reading import NO_LIMITS, SizeLimits, TooLarge, read_regular
from flake8_jax.core.recorded import RecordedFunction
from flake8_jax.core.report import Diagnostic, RunReport, as_text
from flake8_jax.core.style import DEFAULT_STYLE, CodeStyle
from flake8_jax.pipeline.backend import UNUSED_NOQA, Backend
from flake8_jax.pipeline.cache import Cache, cache_home, digest, why_unusable
from flake8_jax.pipeline.diagnosis import Selection, named_in_comments, placed, syntax_diagnostic
from flake8_jax.pipeline.discovery import Found, Walker, context_files, discover
from flake8_jax.pipeline.import_scan import Imported, ImportScan, Modules, relevant_files, scan_imports
from flake8_jax.pipeline.lowering import (
    Lowered,
    Problem,
    copied,
    lower_all,
    lower_text,
    read_text,
)
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.settings.options import Settings
from flake8_jax.settings.resolver import Resolver, place_of
from flake8_jax.settings.tables import ConfigError

_SETTLED_NS = 2_000_000_000
"""A file changed this shortly before it was read may change again within the same tick of its clock."""


@dataclass(frozen=True)
class Question:
    """paths: absolute files and directories. texts: by absolute path, instead of what is on disk.

    force_exclude: None for what the settings say. ignore_noqa: report what comments would suppress. recorded: what a
    recorded run showed of functions. refresh: take no findings from the cache, and lower the files in question whatever the
    cache holds; fixes that are written are made from nothing else.
    """

    paths: tuple[str, ...]
    texts: Mapping[str, str] = field(default_factory=dict)
    force_exclude: bool | None = None
    ignore_noqa: bool = False
    collect_functions: bool = False
    refresh: bool = False
    recorded: tuple[RecordedFunction, ...] = ()


class _Seen(msgspec.Struct, frozen=True, array_like=True):
    """An import scan with the state of the file at that time; ``problem``: the file could not be decoded."""

    mtime_ns: int
    size: int
    read_ns: int
    scan: ImportScan
    problem: Problem | None = None

    def still_holds(self, found: os.stat_result) -> bool:
        same = (self.mtime_ns, self.size) == (found.st_mtime_ns, found.st_size)
        return same and self.mtime_ns < self.read_ns - _SETTLED_NS


@dataclass(frozen=True)
class _Links:
    """The modules of a project by name, and the files that each file imports. ``places``: where names start."""

    places: tuple[str | None, ...]
    imports: Mapping[str, tuple[Imported, ...]]
    modules: Modules
    edges: Mapping[str, set[str]]


class _Stored(msgspec.Struct, frozen=True, array_like=True):
    """The analysis of a program, as the cache keeps it."""

    findings: tuple[Finding, ...]
    problems: dict[str, Problem]
    counters: dict[str, int]
    cuts: tuple[str, ...] = ()


@dataclass
class ProjectRun:
    """One project, analyzed. ``asked`` maps the paths in question to whether they were given by name.

    stored: whether the findings, or the lowered form of a file in question, come from the cache.
    """

    settings: Settings
    cache: Cache
    asked: dict[str, bool]
    digests: dict[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    problems: dict[str, Problem] = field(default_factory=dict)
    functions: tuple[msgspec.Struct, ...] = ()
    crashes: list[tuple[str, str, str]] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stored: bool = False


def cache_parent(settings: Settings, cwd: str) -> str:
    """The folder in which the cache of a project is: the configured one, else the project's, else where the command runs."""
    return settings.cache_dir if settings.cache_dir is not None else settings.project_root or cwd


def cache_directory(settings: Settings, cwd: str) -> str:
    """The folder that is the cache of a project. Raises ConfigError."""
    if settings.cache_dir is not None and (reason := why_unusable(settings.cache_dir)) is not None:
        raise ConfigError(f"{place_of(settings, ('cache-dir',))}: `cache-dir`: {reason}")
    return cache_home(cache_parent(settings, cwd))


PhaseProgress = Callable[[str, int, int], None]


class Workspace:
    """Answers questions about the files of one machine. Methods raise ConfigError.

    use_cache: whether to keep a cache on disk. jobs: processes for lowering, 0 for one per processor. progress: called with
    the phase and its project, and how many of how many files are done; the total is 0 where it is not known.
    """

    def __init__(
        self,
        backend: Backend,
        resolver: Resolver,
        *,
        use_cache: bool = True,
        jobs: int = 0,
        progress: PhaseProgress | None = None,
    ) -> None:
        self.backend = backend
        self.resolver = resolver
        self.jobs = jobs
        self.use_cache = use_cache
        self.progress = progress
        self._caches: dict[str | None, Cache] = {}
        self._modules: dict[str, ir.Module] = {}
        self._stored: set[str] = set()
        self._limits: dict[str, SizeLimits] = {}
        self._texts: dict[str, str] = {}
        self._looks: dict[str, dict[str, _Seen]] = {}
        self._links: _Links | None = None
        self._selections: dict[int, tuple[Settings, Selection]] = {}

    # --- what to look at ---------------------------------------------------------------------------

    def find(self, question: Question) -> Found:
        """The files that the question is about."""
        walker = Walker(self.resolver)
        on_disk = [path for path in question.paths if path not in question.texts]
        found = discover(on_disk, walker, force_exclude=question.force_exclude)
        for path in question.paths:
            if path in question.texts:
                settings = self.resolver.settings_for(os.path.dirname(path))
                forced = settings.force_exclude if question.force_exclude is None else question.force_exclude
                if not (forced and walker.excluded(path)):
                    found.asked[path] = True
        return found

    def projects(self, asked: Mapping[str, bool]) -> list[tuple[Settings, dict[str, bool]]]:
        """The asked files by the project that they belong to, in the order of their paths."""
        groups: dict[tuple[str | None, str | None], tuple[Settings, dict[str, bool]]] = {}
        for path in sorted(asked):
            settings = self.resolver.settings_for(os.path.dirname(path))
            key = (settings.config_path, settings.project_root)
            groups.setdefault(key, (settings, {}))[1][path] = asked[path]
        return list(groups.values())

    def selection(self, settings: Settings) -> Selection:
        key = id(settings)
        if key not in self._selections:
            self._check_transforms(settings)
            self._selections[key] = (settings, Selection(settings, self.backend))
        return self._selections[key][1]

    def _check_transforms(self, settings: Settings) -> None:
        if settings.transforms:
            try:
                self.backend.check_transforms(settings.transforms)
            except ValueError as error:
                raise ConfigError(f"{place_of(settings, ('transforms',))}: {error}") from error

    def cache_of(self, settings: Settings) -> Cache:
        directory = cache_directory(settings, self.resolver.cwd) if self.use_cache else None
        if directory not in self._caches:
            self._caches[directory] = Cache(directory, read_only=not self.backend.remembered)
        return self._caches[directory]

    # --- one project ---------------------------------------------------------------------------------

    def run(self, settings: Settings, asked: dict[str, bool], question: Question) -> ProjectRun:
        """Analyse the program around the asked files."""
        run = ProjectRun(settings, self.cache_of(settings), asked)
        selection = self.selection(settings)
        with collector_paused():
            seen = self._scans(run, question.texts)
            scans = {path: entry.scan for path, entry in seen.items() if entry.problem is None}
            links = self._linked(scans, settings)
            program = relevant_files(scans, links.edges, [path for path in asked if path in scans])
        program |= {path for path, by_name in asked.items() if by_name and path in scans}
        for path in asked:
            if path in seen and (problem := seen[path].problem) is not None:
                run.problems[path] = problem
        run.digests = {path: scans[path].digest for path in sorted(program)}
        wanted = frozenset(asked) if any(path not in asked for path in program) else None
        required_in = {path: self.resolver.required_in(os.path.dirname(path), settings) for path in run.digests}
        required = self.resolver.required_in(settings.project_root or settings.root, settings)
        request = AnalysisRequest(
            codes=selection.codes,
            asked=selection.asked,
            transforms=settings.transforms,
            required=required,
            required_in={path: asked for path, asked in required_in.items() if asked != required},
            recorded=tuple(one for one in question.recorded if one.path in program),
            unroll_threshold=settings.unroll_threshold,
            x64=self.resolver.may_enable_x64(settings),
            preview=settings.preview,
            wanted=wanted,
            collect_functions=question.collect_functions,
            styles=self._styles(run),
        )
        self._forget_texts(run, seen, question.texts)
        self._analyze(run, links.modules, request, refresh=question.refresh)
        return run

    def _styles(self, run: ProjectRun) -> dict[str, CodeStyle]:
        """How the files in question are laid out, where that is not the default."""
        found = {
            path: self.resolver.style_in(os.path.dirname(path), run.settings)
            for path in run.asked
            if path in run.digests
        }
        return {path: style for path, style in found.items() if style != DEFAULT_STYLE}

    def _linked(self, scans: Mapping[str, ImportScan], settings: Settings) -> _Links:
        """What imports what: as at the last time, if no import of any file is another one."""
        imports = {path: found.imports for path, found in scans.items()}
        places = (settings.project_root, *settings.src)
        if self._links is None or (self._links.places, self._links.imports) != (places, imports):
            modules = Modules(scans, settings.project_root, settings.src)
            edges = {path: modules.imported_paths(path, names) for path, names in imports.items()}
            self._links = _Links(places, imports, modules, edges)
        return self._links

    def _forget_texts(self, run: ProjectRun, seen: Mapping[str, _Seen], texts: Mapping[str, str]) -> None:
        """Let go of texts that were read for a look only."""
        needed = {*run.digests.values(), *(seen[path].scan.digest for path in texts if path in seen)}
        for entry in seen.values():
            if entry.scan.digest not in needed:
                self._texts.pop(entry.scan.digest, None)

    def _scans(self, run: ProjectRun, texts: Mapping[str, str]) -> dict[str, _Seen]:
        """A look at every file of the project, out of the cache where the file has not changed since."""
        settings = run.settings
        context, more = context_files(list(run.asked), settings, Walker(self.resolver))
        if more:
            run.notes.append(
                f"{settings.project_root or settings.root}: more than {len(context)} files; calls between the asked "
                "files and those beyond are not followed (`exclude` what is not part of the program)"
            )
        limits = settings.size_limits
        key = digest(settings.project_root or settings.root, str(limits))
        kept = self._looks.get(key)
        if kept is None:
            kept = self._looks[key] = run.cache.load("glances", key, dict[str, _Seen]) or {}
        seen: dict[str, _Seen] = {}
        changed = False
        paths = dict.fromkeys((*run.asked, *context))
        for done, path in enumerate(paths):
            self._report_progress(run, "Scanning", done, len(paths))
            if path in texts:
                text = texts[path]
                if len(text) > limits.source:
                    run.messages.append(_left_out(path, TooLarge(path, limits.source)))
                    continue
                seen[path] = _Seen(0, 0, 0, scan_imports(text, self._remember(text), self.backend.libraries))
                continue
            try:
                found = os.stat(path)
                entry = kept.get(path)
                if entry is None or not entry.still_holds(found):
                    changed = True
                    kept[path] = entry = self._look(path, found, limits)
                seen[path] = entry
            except OSError as error:
                if path in run.asked:
                    run.messages.append(_left_out(path, error))
                elif isinstance(error, TooLarge):
                    run.notes.append(_left_out(path, error))
        if changed:
            run.cache.store("glances", key, kept)
        return seen

    def _report_progress(self, run: ProjectRun, phase: str, done: int, total: int) -> None:
        if self.progress is not None:
            root = run.settings.project_root or run.settings.root
            self.progress(f"{phase} {os.path.basename(root) or root}", done, total)

    def _look(self, path: str, found: os.stat_result, limits: SizeLimits) -> _Seen:
        now = time.time_ns()
        self._limits[path] = limits
        text, problem = read_text(path, limits)
        look = (
            ImportScan("", False, ()) if problem else scan_imports(text, self._remember(text), self.backend.libraries)
        )
        return _Seen(found.st_mtime_ns, found.st_size, now, look, problem)

    def _remember(self, text: str) -> str:
        key = digest(text)
        self._texts[key] = text
        return key

    def text_of(self, path: str, key: str) -> str:
        """The text with this digest, which ``path`` held when it was looked at."""
        if key not in self._texts:
            self._texts[key] = read_text(path, self._limits.get(path, NO_LIMITS))[0]
        return self._texts[key]

    def _analyze(self, run: ProjectRun, modules: Modules, request: AnalysisRequest, *, refresh: bool) -> None:
        files = [(path, modules.names[path], key) for path, key in run.digests.items()]
        name = _key_of(request, files, self.backend.installed)
        kept = self.backend.remembered and not request.collect_functions
        stored = run.cache.load("findings", name, _Stored) if kept and not refresh else None
        if stored is not None:
            run.findings, run.counters, run.stored = stored.findings, stored.counters, True
            run.problems.update(stored.problems)
            run.messages += stored.cuts
            return
        looked_at = dict(run.digests)
        problems, cuts = self._program(run, modules, request, refresh=refresh)
        run.problems.update(problems)
        run.messages += cuts
        # Crashes are tried again the next time: the run that shows them must not be the only one. And a name is
        # for the files that were looked at, not for what some of them changed to since.
        if not run.crashes and kept and run.digests == looked_at:
            run.cache.store("findings", name, _Stored(run.findings, problems, run.counters, cuts))

    def _program(
        self, run: ProjectRun, modules: Modules, request: AnalysisRequest, *, refresh: bool
    ) -> tuple[dict[str, Problem], tuple[str, ...]]:
        """Lower and analyze; returns the problems of the files that do not parse, and what was not analyzed to its end."""
        problems: dict[str, Problem] = {}
        files: list[SourceFile] = []
        # The analysis tells nodes apart by identity, so files of equal text need nodes of their own.
        taken: set[str] = set()
        with collector_paused():
            lowered = self._lower(run, refresh=refresh)
            for path, key in run.digests.items():
                result = lowered[key]
                if result.module is not None:
                    if not _shadowed_stub(path, run.digests):
                        is_package = path in modules.packages
                        text = self.text_of(path, key)
                        module = copied(result.module, text) if key in taken else result.module
                        taken.add(key)
                        files.append(SourceFile(path, modules.names[path], is_package, module, text))
                        if path.endswith(SUFFIX) and (broken := broken_cell(text)) is not None:
                            problems[path] = Problem(broken[2], broken[0], broken[1])
                elif result.problem is not None:
                    problems[path] = result.problem
                else:
                    run.crashes.append(("engine", path, result.crash or ""))
        self._report_progress(run, f"Analyzing {len(files)} file{'s' * (len(files) != 1)} of", 0, 0)
        analysis = self.backend.analyze(files, request)
        self._report_progress(run, "Analyzing", 1, 1)
        texts = {file.path: file.text for file in files}
        found = (_tidied(texts.get(finding.path, ""), finding) for finding in analysis.findings)
        run.findings = tuple(sorted(dict.fromkeys(found), key=_order))
        run.functions = analysis.functions
        run.crashes += analysis.crashes
        run.counters = dict(analysis.counters)
        return problems, analysis.cuts

    def _lower(self, run: ProjectRun, *, refresh: bool) -> dict[str, Lowered]:
        """The lowered files of the run, by digest. A file that changed since the look at it counts as it is now.

        ``refresh``: the files in question are lowered here, unless this process did so before.
        """
        missing: dict[str, str] = {}
        lowered: dict[str, Lowered] = {}
        distrusted: set[str] = set()
        for path, key in run.digests.items():
            if refresh and path in run.asked and (key in self._stored or key not in self._modules):
                text = self.text_of(path, key)
                run.digests[path] = key = self._remember(text)
                missing[key] = text
                distrusted.add(key)
            elif key in self._modules:
                lowered[key] = Lowered(module=self._modules[key])
            else:
                text = self.text_of(path, key)
                run.digests[path] = key = self._remember(text)
                missing[key] = text
        progress = partial(self._report_progress, run, "Reading")
        found = lower_all(missing, run.cache, self.jobs, progress, refresh=distrusted)
        for key, result in found.items():
            self._keep(key, result)
        run.stored = any(path in run.asked and key in self._stored for path, key in run.digests.items())
        return {**lowered, **found}

    def module_of(self, run: ProjectRun, path: str) -> ir.Module | None:
        """The lowered form of a file of the run, if it parses."""
        key = run.digests.get(path)
        if key is None:
            return None
        if key not in self._modules:
            text = self.text_of(path, key)
            run.digests[path] = key = self._remember(text)
            self._keep(key, lower_all({key: text}, run.cache, 1)[key])
        return self._modules.get(key)

    def _keep(self, key: str, result: Lowered) -> None:
        """Keep a lowered file in memory, and whether it comes from the cache."""
        if result.module is not None:
            self._modules[key] = result.module
            (self._stored.add if result.stored else self._stored.discard)(key)

    def forget(self, needed: Collection[str]) -> None:
        """Let go of all lowered files and texts but those with these digests: who types makes many."""
        self._modules = {key: module for key, module in self._modules.items() if key in needed}
        self._texts = {key: text for key, text in self._texts.items() if key in needed}
        self._stored &= self._modules.keys()

    def lowered(self, text: str) -> ir.Module | None:
        """A text in its lowered form, if it parses; kept for the next run."""
        return self._modules.get(digest(text)) if self.problem_in(text) is None else None

    def problem_in(self, text: str) -> str | None:
        """Why a text does not parse, if it does not. Its lowered form is kept for the next run."""
        key = digest(text)
        if key not in self._modules:
            result = lower_text(text)
            if result.module is None:
                return result.problem.message if result.problem is not None else "the parser fails on it"
            self._modules[key] = result.module
        return None

    # --- what to say -----------------------------------------------------------------------------------

    def diagnose(self, run: ProjectRun, question: Question) -> tuple[list[Diagnostic], dict[str, str]]:
        """The findings of a run that are selected and not suppressed, and the texts of their files."""
        selection = self.selection(run.settings)
        by_path: dict[str, list[Finding]] = {}
        for finding in run.findings:
            if finding.path in run.asked and selection.is_on(finding.code, finding.path):
                by_path.setdefault(finding.path, []).append(finding)
        if UNUSED_NOQA.code in selection.codes and not question.ignore_noqa:
            for path in run.digests:
                if path in run.asked and selection.is_on(UNUSED_NOQA.code, path):
                    by_path.setdefault(path, [])
        diagnostics: list[Diagnostic] = []
        texts: dict[str, str] = {}
        for path in sorted({*by_path, *run.problems}):
            if path not in run.asked:
                continue
            text = self._text_of_run(run, path, question)
            off = selection.off_as_test(path, text)
            said = [syntax_diagnostic(path, text, run.problems[path])] if path in run.problems else []
            module = self.module_of(run, path) if path in by_path else None
            if module is not None:
                findings = [finding for finding in by_path[path] if finding.code not in off]
                if path not in question.texts:
                    findings = self._with_usable_fixes(run, path, findings)
                said += placed(path, findings, text, module, selection, question.ignore_noqa)
                if not question.ignore_noqa:
                    named = named_in_comments(path, text, module, selection.code_of)
                    run.notes += [note for note in named if note not in run.notes]
            if said:
                diagnostics += said
                texts[path] = text

        @cache
        def rows_of(path: str) -> Rows | None:
            return Rows(self.text_of(path, run.digests[path])) if path in run.digests else None

        return [evidence_in_cells(item, rows_of) for item in diagnostics], texts

    def _with_usable_fixes(self, run: ProjectRun, path: str, findings: list[Finding]) -> list[Finding]:
        """The findings in a file, without their fixes if the file is a notebook that cannot be written as it was."""
        from flake8_jax.pipeline.notebooks import why_not_rewritten

        if not path.endswith(SUFFIX) or all(finding.fix is None for finding in findings):
            return findings
        try:
            reason = why_not_rewritten(read_regular(path, NO_LIMITS.notebook))
        except OSError as error:
            reason = error.strerror
        if reason is None:
            return findings
        note = f"{path}: its findings cannot be fixed: {reason}"
        if note not in run.notes:
            run.notes.append(note)
        return [msgspec.structs.replace(finding, fix=None) for finding in findings]

    def _text_of_run(self, run: ProjectRun, path: str, question: Question) -> str:
        """The text of a file as it was analyzed; what was asked, or nothing, of one that could not be decoded."""
        if path in run.problems and path in question.texts:
            return question.texts[path]
        key = run.digests.get(path)
        return self.text_of(path, key) if key is not None else ""

    def check(self, question: Question) -> RunReport:
        """Answer a question without changing anything."""
        found = self.find(question)
        runs = [self.run(settings, asked, question) for settings, asked in self.projects(found.asked)]
        return self.report(runs, question, found)

    def report(self, runs: Iterable[ProjectRun], question: Question, found: Found) -> RunReport:
        diagnostics: list[Diagnostic] = []
        texts: dict[str, str] = {}
        messages = [*self.backend.troubles, *found.messages]
        notes: list[str] = []
        remarks: list[str] = []
        root = ""
        crashes: list[tuple[str, str, str]] = []
        counters: dict[str, int] = {}
        for run in runs:
            said, read = self.diagnose(run, question)
            diagnostics += said
            texts.update(read)
            messages += run.messages
            notes += run.notes
            root = root or run.settings.project_root or ""
            notes += [run.cache.trouble] if run.cache.trouble is not None else []
            remarks += [run.cache.distrust] if run.cache.distrust is not None else []
            crashes += run.crashes
            for name, count in run.counters.items():
                counters[name] = counters.get(name, 0) + count
        diagnostics.sort(key=lambda item: (item.path, item.cell or 0, item.row, item.column, item.code))
        return RunReport(
            diagnostics=tuple(diagnostics),
            texts=texts,
            rules=self.backend.rules,
            messages=tuple(messages),
            notes=tuple(dict.fromkeys(notes)),
            remarks=tuple(dict.fromkeys(remarks)),
            missing=tuple(found.missing),
            unusable=self.backend.troubles,
            crashes=tuple(crashes),
            checked=len(found.asked),
            counters=counters,
            root=root or self.resolver.cwd,
            version=__version__,
        )


def _key_of(request: AnalysisRequest, files: list[tuple[str, str, str]], installed: str) -> str:
    """The name of an answer: a digest of all that the request holds, of path, module name and digest of each file, and of what
    names the rules of installed packages."""
    return digest(repr((msgspec.to_builtins(request, order="deterministic"), files)), installed)


def _left_out(path: str, error: OSError) -> str:
    """Why a file is not linted, and what to do about it."""
    if not isinstance(error, TooLarge):
        return f"{path}: cannot be read: {error.strerror}; it was left out"
    key = "max-notebook-size" if path.endswith(SUFFIX) and error.unit == "bytes" else "max-file-size"
    return f"{path}: {error.strerror}; it was left out (`{key}` is the limit)"


def _order(finding: Finding) -> tuple[str, int, str, int, str]:
    return finding.path, finding.start, finding.code, finding.end, finding.message


def _tidied(text: str, finding: Finding) -> Finding:
    """The finding with a message that can be written, and a fix that ends its lines like the file does.

    Messages may name modules whose file names are no text; fixers write LF.
    """
    message = as_text(finding.message)
    if message != finding.message:
        finding = msgspec.structs.replace(finding, message=message)
    ending = re.search(r"\r\n|\r|\n", text)
    if finding.fix is None or ending is None or ending[0] == "\n":
        return finding
    edits = tuple(Edit(edit.start, edit.end, re.sub(r"\r\n|\n", ending[0], edit.content)) for edit in finding.fix.edits)
    return msgspec.structs.replace(finding, fix=msgspec.structs.replace(finding.fix, edits=edits))


def _shadowed_stub(path: str, files: Mapping[str, str]) -> bool:
    """A ``.pyi`` beside the ``.py`` that it describes: the same module twice, and without any bodies."""
    return path.endswith(".pyi") and path[:-1] in files
