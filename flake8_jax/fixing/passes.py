"""Applying fixes: which go together, what has to hold afterwards, and reverting those for which it does not.

Vocabulary
----------
pass      fixes that do not overlap, applied together to the texts in memory, and a new analysis of the result.
settled   the fixes of a pass that stay. withdrawn: a fix after which the file did not parse, the finding was still
          there or a new one had appeared; it is not tried again.
uncovered findings that a fix brings to light. Once nothing else can be fixed, a withdrawn fix is tried together with those
          of what it uncovers, and of what those uncover, until nothing is left or one has no fix.
region    what an edit put into the new text. Offsets outside regions only shift.
origin    path, code and offset of a finding before any fix: what it is known by, however often its text moves.

A fix is never taken from the cache: where stored findings show that something can be fixed, the files are parsed and analyzed
again. Nothing is written here; the outcome holds the texts before and after.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from flake8_jax.core.findings import Edit, Finding, Fix
from flake8_jax.core.report import Change, Diagnostic, FixCount, RunReport
from flake8_jax.fixers.unneeded_imports import unneeded_imports
from flake8_jax.pipeline.workspace import ProjectRun, Question, Workspace
from flake8_jax.syntax.edits import apply_edits, compose

MOST_PASSES = 100
MOST_UNCOVERED = 8
"""So many times the fixes of uncovered findings are added to a fix."""
MOST_FAILED_COMPLETIONS = 16
"""So many withdrawn fixes may fail together with those of what they uncover: each try analyzes the project."""

Origin = tuple[str, str, int]


@dataclass(frozen=True)
class Outcome:
    """What fixing led to: the report of what is left (with ``fixed``, ``withdrawn``, ``changes`` filled in).

    applied: the origins of the fixed findings. left: of the others, with their present offsets. reverted: of those whose
    fixes were tried and did not hold.
    """

    report: RunReport
    texts: dict[str, str]
    applied: tuple[Origin, ...] = ()
    left: Mapping[Origin, int] = field(default_factory=dict)
    reverted: frozenset[Origin] = frozenset()


class _Origins:
    """Where the first findings are now: by path and code, first and last present offset and the original one."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._places: dict[tuple[str, str], dict[int, tuple[int, int]]] = {}
        for finding in findings:
            kind = self._places.setdefault((finding.path, finding.code), {})
            kind[finding.start] = (finding.start, finding.start)
        self.applied: list[Origin] = []

    def of(self, finding: Finding) -> Origin | None:
        """None for a finding that was not there at first."""
        kind = (finding.path, finding.code)
        places = self._places.get(kind, {})
        exact = [start for start, place in places.items() if place == (finding.start, finding.start)]
        inside = [start for start, (first, last) in places.items() if first <= finding.start <= last]
        found = next(iter(exact or inside), None)
        return None if found is None else (*kind, found)

    def settle(self, settled: Sequence[Finding]) -> None:
        """These were fixed."""
        for origin in {found for finding in settled if (found := self.of(finding)) is not None}:
            self.applied.append(origin)
            del self._places[origin[:2]][origin[2]]

    def move(self, edits: Mapping[str, Sequence[Edit]]) -> None:
        """The others are somewhere else after these edits."""
        for (path, _), places in self._places.items():
            changed = edits.get(path, ())
            for start, (first, last) in places.items():
                places[start] = (moved(first, changed)[0], moved(last, changed)[1])

    def left(self) -> dict[Origin, int]:
        return {(*kind, start): place[0] for kind, places in self._places.items() for start, place in places.items()}


@dataclass(frozen=True)
class _Withdrawn:
    """A fix that did not hold. inserted: what it would have written: another fix for the same place is tried again.
    uncovers: it only brings findings that have fixes, as far as is known. is_tried: it was tried with those of what it
    uncovers, and did not hold."""

    name: str
    reason: str
    inserted: tuple[tuple[int, str], ...]
    uncovers: bool
    is_tried: bool = False


@dataclass
class _State:
    """A project between passes. withdrawn: by path, code and present offset of the finding."""

    run: ProjectRun
    texts: dict[str, str]
    origins: _Origins
    before: dict[str, str] = field(default_factory=dict)
    withdrawn: dict[tuple[str, str, int], _Withdrawn] = field(default_factory=dict)
    fixed: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    failed_completions: int = 0
    """How many withdrawn fixes did not hold with those of what they uncover either."""

    def reverted_fixes(self) -> list[FixCount]:
        """The fixes that did not hold, by path and rule."""
        reasons: dict[tuple[str, str, str], list[str]] = {}
        for (path, code, _), withdrawn in self.withdrawn.items():
            reasons.setdefault((path, code, withdrawn.name), []).append(withdrawn.reason)
        return [FixCount(*key, len(said), said[0]) for key, said in sorted(reasons.items())]

    def move(self, edits: Mapping[str, Sequence[Edit]]) -> None:
        """The places that are known are those of the edited texts from now on."""
        self.origins.move(edits)
        self.withdrawn = {
            (path, code, moved(start, edits.get(path, ()))[0]): _moved_along(withdrawn, edits.get(path, ()))
            for (path, code, start), withdrawn in self.withdrawn.items()
        }

    def reverted(self) -> Iterator[Finding]:
        """The findings whose fixes did not hold."""
        return (one for one in self.run.findings if one.fix is not None and self.is_withdrawn(one))

    def is_withdrawn(self, finding: Finding) -> bool:
        known = self.withdrawn.get((finding.path, finding.code, finding.start))
        return known is not None and known.inserted == _inserted(finding)


def apply_fixes(
    workspace: Workspace, question: Question, *, unsafe: bool | None = None, only: Collection[Origin] | None = None
) -> Outcome:
    """Fix what the question is about. ``unsafe``: whether unsafe fixes count too; None for the settings' word.
    ``only``: these findings alone; None for all.

    Raises ConfigError.
    """
    found = workspace.find(question)
    states = []
    texts = dict(question.texts)
    for settings, asked in workspace.projects(found.asked):
        allowed = settings.unsafe_fixes if unsafe is None else unsafe
        run = workspace.run(settings, asked, replace(question, texts=texts))
        state = _State(run, texts, _Origins(run.findings))
        if run.stored and _candidates(workspace, question, state, allowed, only):
            run = workspace.run(settings, asked, replace(question, texts=texts, refresh=True))
            state = _State(run, texts, _Origins(run.findings))
        for _ in range(MOST_PASSES):
            if not _one_pass(workspace, replace(question, refresh=True), state, allowed, only):
                break
        _drop_imports(workspace, replace(question, refresh=True), state)
        texts = state.texts
        states.append(state)
    report = workspace.report([state.run for state in states], replace(question, texts=texts), found)
    changes = tuple(
        Change(path, before, texts[path]) for state in states for path, before in sorted(state.before.items())
    )
    fixed = tuple(FixCount(*key, count) for state in states for key, count in sorted(state.fixed.items()))
    withdrawn = tuple(count for state in states for count in state.reverted_fixes())
    applied = tuple(origin for state in states for origin in state.origins.applied)
    left = {origin: place for state in states for origin, place in state.origins.left().items()}
    reverted = [(state, finding) for state in states for finding in state.reverted()]
    report = msgspec.structs.replace(
        without_fixes(report, {(finding.path, finding.code, finding.start) for _, finding in reverted}),
        fixed=fixed,
        withdrawn=withdrawn,
        changes=tuple(c for c in changes if c.before != c.after),
    )
    origins = frozenset(origin for state, finding in reverted if (origin := state.origins.of(finding)) is not None)
    return Outcome(report, texts, applied, left, origins)


def without_fixes(report: RunReport, places: Collection[Origin]) -> RunReport:
    """The report, where the findings at these places have no fix: they had one that did not hold, and the next ``--fix`` would
    not apply it either."""

    def stripped(item: Diagnostic) -> Diagnostic:
        if (item.path, item.code, item.finding.start) not in places:
            return item
        return msgspec.structs.replace(item, finding=msgspec.structs.replace(item.finding, fix=None), edits=())

    return msgspec.structs.replace(report, diagnostics=tuple(map(stripped, report.diagnostics)))


def _candidates(
    workspace: Workspace,
    question: Question,
    state: _State,
    unsafe: bool,
    only: Collection[Origin] | None,
    *,
    withdrawn: bool = False,
) -> list[Finding]:
    """The findings whose fixes are to be applied. withdrawn: those whose fixes did not hold, and no others."""
    return [
        finding
        for finding in _fixable(workspace, question, state.run, state.texts, unsafe)
        if state.is_withdrawn(finding) == withdrawn and (only is None or state.origins.of(finding) in only)
    ]


def _fixable(
    workspace: Workspace, question: Question, run: ProjectRun, texts: Mapping[str, str], unsafe: bool
) -> list[Finding]:
    """The findings of a run that have a fix of a kind and a rule that is to be applied."""
    selection = workspace.selection(run.settings)
    said, _ = workspace.diagnose(run, replace(question, texts=texts))
    return [
        item.finding
        for item in said
        if (fix := item.finding.fix) is not None
        and (unsafe or fix.applicability == "safe")
        and item.code in selection.fixable
    ]


def _one_pass(
    workspace: Workspace, question: Question, state: _State, unsafe: bool, only: Collection[Origin] | None
) -> bool:
    """Apply what can be applied together; False when nothing changed."""
    trial = _Trial(workspace, question, state)
    chosen = within_lines(
        compatible(_candidates(workspace, question, state, unsafe, only)),
        trial.text,
        lambda path: workspace.resolver.style_in(os.path.dirname(path), state.run.settings).line_length,
    )
    if not chosen:
        return _complete_one(workspace, question, state, unsafe, only)
    settled, run, texts = trial.settle(chosen)
    opinions = _opinions(workspace)
    for finding, regression in trial.refused:
        if settled and regression.code in opinions and regression.code != finding.code:
            continue  # it was refused for fixes of that rule beside it, and the next pass has none of them
        state.withdrawn[finding.path, finding.code, finding.start] = _Withdrawn(
            finding.name, regression.reason, _inserted(finding), regression.is_fixable
        )
    if not settled:
        return bool(trial.refused)
    _keep(trial, state, settled, run, texts)
    return True


def _opinions(workspace: Workspace) -> set[str]:
    """The codes of the rules that one has to ask for."""
    return {code for code, rule in workspace.backend.rules.items() if rule.opt_in}


def _keep(trial: _Trial, state: _State, settled: Sequence[Finding], run: ProjectRun, texts: dict[str, str]) -> None:
    """These fixes stay."""
    edits = _edits_by_path(settled)
    for path in edits:
        state.before.setdefault(path, trial.text(path))
    for finding in settled:
        state.withdrawn.pop((finding.path, finding.code, finding.start), None)
        state.fixed[finding.path, finding.code, finding.name] += 1
    state.origins.settle(settled)
    state.move(edits)
    state.run, state.texts = run, texts


def _complete_one(
    workspace: Workspace, question: Question, state: _State, unsafe: bool, only: Collection[Origin] | None
) -> bool:
    """Apply one withdrawn fix together with the fixes of what it uncovers; False when there is none that holds."""
    for finding in _candidates(workspace, question, state, unsafe, only, withdrawn=True):
        place = (finding.path, finding.code, finding.start)
        known = state.withdrawn[place]
        if known.is_tried or state.failed_completions >= MOST_FAILED_COMPLETIONS or not known.uncovers:
            continue
        state.withdrawn[place] = replace(known, is_tried=True)
        trial = _Trial(workspace, question, state)
        found = trial.complete(finding, lambda run, texts: _fixable(workspace, question, run, texts, unsafe))
        if found is not None:
            _keep(trial, state, *found)
            return True
        state.failed_completions += 1
    return False


def _drop_imports(workspace: Workspace, question: Question, state: _State) -> None:
    """Take away the imports that the fixes left without a use, unless that changes what is found."""
    trial = _Trial(workspace, question, state)
    edits: dict[str, tuple[Edit, ...]] = {}
    for path, before in state.before.items():
        others = (trial.text(other) for other in state.run.digests if other != path)
        style = workspace.resolver.style_in(os.path.dirname(path), state.run.settings)
        if found := unneeded_imports(path, before, trial.text(path), others, style):
            edits[path] = tuple(sorted(found))
    if not edits:
        return
    texts = {**state.texts, **{path: apply_edits(trial.text(path), found) for path, found in edits.items()}}
    run = workspace.run(state.run.settings, state.run.asked, replace(question, texts=texts))
    kinds = [Counter((finding.path, finding.code) for finding in one.findings) for one in (state.run, run)]
    if kinds[0] != kinds[1] or len(run.crashes) > len(state.run.crashes):
        return
    state.move(edits)
    state.run, state.texts = run, texts


def compatible(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, in order, whose fixes can be applied together: each is taken whole or left for later."""
    taken: dict[str, list[Edit]] = {}
    chosen: list[Finding] = []
    for finding in findings:
        edits = _fix(finding).edits
        there = taken.setdefault(finding.path, [])
        if all(edit in there or not any(_collide(edit, other) for other in there) for edit in edits):
            there.extend(edit for edit in edits if edit not in there)
            chosen.append(finding)
    return chosen


def within_lines(
    findings: Sequence[Finding], text_of: Callable[[str], str], width_of: Callable[[str], int]
) -> list[Finding]:
    """The findings without those whose fixes make a line too long only together with others: each fix is laid out as if it
    were the only one, so they are left for a later pass."""
    chosen: list[Finding] = []
    there: dict[str, set[Edit]] = {}
    for finding in findings:
        taken = there.setdefault(finding.path, set())
        new = set(_fix(finding).edits) - taken
        if taken and new and _is_crowded(text_of(finding.path), new, taken, width_of(finding.path)):
            continue
        taken |= new
        chosen.append(finding)
    return chosen


def _is_crowded(text: str, new: Collection[Edit], taken: Collection[Edit], width: int) -> bool:
    """Whether a line that both have edits in would be longer than ``width``."""
    for edit in new:
        start, end = _line_around(text, edit.start)
        others = [other for other in taken if start <= other.start <= end]
        if others:
            inside = [*others, *(other for other in new if start <= other.start <= end)]
            if end - start + sum(len(one.content) - (one.end - one.start) for one in inside) > width:
                return True
    return False


def _line_around(text: str, offset: int) -> tuple[int, int]:
    end = text.find("\n", offset)
    return text.rfind("\n", 0, offset) + 1, len(text) if end < 0 else end


def _inserted(finding: Finding) -> tuple[tuple[int, str], ...]:
    """What a fix puts where. Another fix of the same finding may hold: its cause may be another one by then."""
    return tuple((edit.start, edit.content) for edit in _fix(finding).edits)


def _moved_along(withdrawn: _Withdrawn, edits: Sequence[Edit]) -> _Withdrawn:
    inserted = tuple((moved(start, edits)[0], content) for start, content in withdrawn.inserted)
    return replace(withdrawn, inserted=inserted)


def _fix(finding: Finding) -> Fix:
    assert finding.fix is not None
    return finding.fix


def _collide(one: Edit, other: Edit) -> bool:
    """Whether the order of two edits would matter: they overlap, or insert at the same place."""
    if one.start == one.end and other.start == other.end:
        return one.start == other.start
    return one.start < other.end and other.start < one.end


def _edits_by_path(findings: Sequence[Finding]) -> dict[str, tuple[Edit, ...]]:
    by_path: dict[str, set[Edit]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, set()).update(_fix(finding).edits)
    return {path: tuple(sorted(edits)) for path, edits in by_path.items()}


def moved(offset: int, edits: Sequence[Edit]) -> tuple[int, int]:
    """Where an offset of the old text is in the new one: a region (first, last), or one place twice."""
    shift = 0
    for edit in edits:
        inside = edit.start <= offset < edit.end or edit.start == offset == edit.end
        if inside:
            return edit.start + shift, edit.start + shift + len(edit.content)
        if edit.start >= offset:
            break
        shift += len(edit.content) - (edit.end - edit.start)
    return offset + shift, offset + shift


class _Trial:
    """Finds the largest part of a pass that holds, by halving what does not. ``refused``: findings and reasons."""

    def __init__(self, workspace: Workspace, question: Question, state: _State) -> None:
        self.workspace = workspace
        self.question = question
        self.state = state
        self.refused: list[tuple[Finding, Regression]] = []
        self._best: tuple[list[Finding], ProjectRun, dict[str, str]] = ([], state.run, state.texts)

    def text(self, path: str) -> str:
        known = self.state.texts.get(path)
        return known if known is not None else self.workspace.text_of(path, self.state.run.digests[path])

    def settle(self, batch: list[Finding]) -> tuple[list[Finding], ProjectRun, dict[str, str]]:
        """The findings whose fixes hold together, the analysis with them, and the texts.

        Where the regressions say which fixes they are about, those go; else the batch is halved until they show.
        """
        batch = self._parsing(batch)
        if not batch:
            return self._best
        settled = [*self._best[0], *batch]
        texts = {**self.state.texts, **self._edited(settled)}
        run = self.workspace.run(self.state.run.settings, self.state.run.asked, replace(self.question, texts=texts))
        opinions = _opinions(self.workspace)
        raised = regressions(self.state.run, run, settled, opinions)
        if not raised:
            self._best = (settled, run, texts)
            return self._best
        regressing = regressing_fixes(raised, batch, settled)
        if regressing is None and len(batch) == 1:
            regressing = {batch[0]: raised[0]}
        if regressing is not None:
            self.refused += regressing.items()
            rest = [finding for finding in batch if finding not in regressing]
            return self.settle(rest) if rest else self._best
        middle = len(batch) // 2
        self.settle(batch[:middle])
        return self.settle(batch[middle:])

    def complete(
        self, finding: Finding, fixable: Callable[[ProjectRun, dict[str, str]], list[Finding]]
    ) -> tuple[list[Finding], ProjectRun, dict[str, str]] | None:
        """The finding with a fix that also fixes what its own uncovers, and what comes of it; None where that does not end.

        fixable: the findings of a run that may be fixed. Fixes of other files do not count.
        """
        opinions = _opinions(self.workspace)
        for _ in range(MOST_UNCOVERED):
            texts = {**self.state.texts, **self._edited([finding])}
            if self.workspace.problem_in(texts[finding.path]) is not None:
                return None
            run = self.workspace.run(self.state.run.settings, self.state.run.asked, replace(self.question, texts=texts))
            raised = regressions(self.state.run, run, [finding], opinions)
            if not raised:
                return [finding], run, texts
            new = {(regression.path, regression.offset) for regression in raised if regression.is_fixable}
            added_fixes = [f for f in fixable(run, texts) if (f.path, f.start) in new and f.path == finding.path]
            if len(new) < len(raised) or {(f.path, f.start) for f in added_fixes} != new:
                return None
            added = _edits_by_path(compatible(added_fixes))[finding.path]
            edits = compose(self.text(finding.path), _fix(finding).edits, added)
            fix = msgspec.structs.replace(_fix(finding), edits=tuple(edits))
            finding = msgspec.structs.replace(finding, fix=fix)
        return None

    def _edited(self, fixes: Sequence[Finding]) -> dict[str, str]:
        return {path: apply_edits(self.text(path), edits) for path, edits in _edits_by_path(fixes).items()}

    def _parsing(self, batch: list[Finding]) -> list[Finding]:
        """The batch without the fixes after which their file would not parse: cheaper to find than by analyses."""
        kept: list[Finding] = []
        by_path: dict[str, list[Finding]] = {}
        for finding in batch:
            by_path.setdefault(finding.path, []).append(finding)
        for path, fixes in by_path.items():
            pending = [fixes]
            good = [finding for finding in self._best[0] if finding.path == path]
            while pending:
                part = pending.pop()
                problem = self.workspace.problem_in(self._edited([*good, *part])[path])
                if problem is None:
                    good += part
                    kept += part
                elif len(part) == 1:
                    self.refused.append((part[0], Regression(f"the file would no longer parse: {problem}")))
                else:
                    middle = len(part) // 2
                    pending += [part[middle:], part[:middle]]
        return kept


@dataclass(frozen=True)
class Regression:
    """Why fixes must not stay. ``offset`` is a place in the new text of ``path``; -1 for no place in particular.
    is_fixable: it is about a new finding that has a fix. code: of the finding that it is about."""

    reason: str
    path: str = ""
    offset: int = -1
    is_fixable: bool = False
    code: str = ""


def regressing_fixes(
    raised: Sequence[Regression], batch: Sequence[Finding], settled: Sequence[Finding]
) -> dict[Finding, Regression] | None:
    """The fixes of a batch that the regressions are about, each with one of them; None where one is about no one."""
    edits = _edits_by_path(settled)
    regressing: dict[Finding, Regression] = {}
    for regression in raised:
        in_file = [finding for finding in batch if finding.path == regression.path]
        touching = [finding for finding in in_file if _touches(finding, regression.offset, edits[finding.path])]
        culprits = touching or (in_file if len(in_file) == 1 else [])
        if not culprits:
            return None
        for finding in culprits:
            regressing.setdefault(finding, regression)
    return regressing


def _touches(finding: Finding, offset: int, edits: Sequence[Edit]) -> bool:
    """Whether an offset of the new text is in what a fix put there, or at the finding itself."""
    regions = [moved(edit.start, edits) for edit in _fix(finding).edits]
    regions.append(moved(finding.start, edits))
    return any(first <= offset <= last for first, last in regions)


def regressions(
    before: ProjectRun, after: ProjectRun, fixed: Sequence[Finding], opinions: Collection[str]
) -> list[Regression]:
    """Why these fixes, applied together, must not stay; none if they may.

    ``opinions``: codes of rules that one has to ask for. Their findings may show up: a setting that takes effect at last
    may be one for debugging.
    """
    edits = _edits_by_path(fixed)
    if len(after.crashes) > len(before.crashes):
        return [Regression("the analysis fails on the result")]
    # What may be there afterwards: every old finding but the fixed ones, at its new place.
    expected = _places(before.findings, edits, with_others=True)
    fixed_places = _places(fixed, edits)
    for kind, places in fixed_places.items():
        expected[kind] = expected.get(kind, Counter()) - places
    raised: list[Regression] = []
    unfixed = _said(before.findings) - _said(fixed)
    more = _said(after.findings) - unfixed
    for finding in after.findings:
        kind = (finding.path, finding.code)
        place = _holding(expected.get(kind), finding.start)
        if place is not None:
            expected[kind][place] -= 1
            continue
        said = (*kind, finding.message)
        if unfixed[said] and not more[said]:
            continue  # an old finding, which the fix has moved
        if finding.code in opinions and kind not in fixed_places:
            continue
        remains = _holding(fixed_places.get(kind), finding.start) is not None
        reason = (
            f"{finding.code} would still be there" if remains else f"it would add {finding.code}: {finding.message}"
        )
        is_fixable = not remains and finding.fix is not None
        raised.append(Regression(reason, finding.path, finding.start, is_fixable, finding.code))
    return raised


def _said(findings: Iterable[Finding]) -> Counter[tuple[str, str, str]]:
    """How often a finding of a path and code says the same."""
    return Counter((finding.path, finding.code, finding.message) for finding in findings)


_Region = tuple[int, int]


def _places(
    findings: Sequence[Finding], edits: Mapping[str, Sequence[Edit]], *, with_others: bool = False
) -> dict[tuple[str, str], Counter[_Region]]:
    """How many findings of each path and code are to be expected at each region of the new texts. with_others: one finding
    stands for all uses of a value, or for others of its cause; when the first is fixed, the next one shows up."""
    places: dict[tuple[str, str], Counter[_Region]] = {}
    for finding in findings:
        region = moved(finding.start, edits.get(finding.path, ()))
        places.setdefault((finding.path, finding.code), Counter())[region] += 1
        for step in finding.evidence if with_others else ():
            if step.kind == "use" and step.path == finding.path and step.start > finding.start:
                places[finding.path, finding.code][moved(step.start, edits.get(step.path, ()))] += 1
        for start in finding.others if with_others else ():
            places[finding.path, finding.code][moved(start, edits.get(finding.path, ()))] += 1
    return places


def _holding(places: Counter[_Region] | None, offset: int) -> _Region | None:
    """A region with findings left that the offset is in."""
    if not places:
        return None
    if places[offset, offset] > 0:
        return offset, offset
    return next((r for r, count in places.items() if count > 0 and r[0] <= offset <= r[1]), None)
