"""Verdicts for findings: the workload is run once for every way of watching that the rules ask for.

Limitations: findings in processes that the workload starts; rows of a statement that other findings share (what is seen
there counts for all of them whose oracle it fits).
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from flake8_jax.core.findings import Verdict
from flake8_jax.runtime_checks.attribution import Span, without_foreign
from flake8_jax.runtime_checks.judges import NEVER_RAN, NOT_REACHED, UNJITTED, is_artefact, times_in_words
from flake8_jax.runtime_checks.observations import (
    Observations,
    Seen,
    Spot,
    Use,
    error_in_words,
    file_in_words,
    line_in_words,
)
from flake8_jax.runtime_checks.oracles import all_oracles
from flake8_jax.runtime_checks.sandbox import (
    STANDARD,
    Ears,
    Input,
    Launch,
    Limits,
    Message,
    Outcome,
    describe,
    missing_jax,
    run_child,
)
from flake8_jax.runtime_checks.statements import rows_of_function

PLATFORMS = {"cpu": "cpu", "cuda": "cuda", "gpu": "cuda", "tpu": "tpu"}
_DEVICES = "xla_force_host_platform_device_count"
_STOPPED = ("timeout", "memory", "signal", "interrupted")
_INTERRUPTED = 130
"""The exit status of a program that Ctrl-C ended."""
_CTRL_C = f"the command was interrupted (status {_INTERRUPTED})"
REPLICAS = 4
"""So many devices the CPU poses as, where a finding is about several."""
_LEAST_SECONDS = 12.0
"""A run without jit gets at least that; else the time of the run as it is, which is slower than the command by itself."""
_UNKNOWN_SECONDS = 120.0
"""A run without jit gets that where there was no run as it is."""
_AGAIN = 2.0
"""A second run without jit, in which jit is off at more lines, gets so many times the time of the first."""
_BACKENDS = {"cuda": ("gpu", "cuda"), "cpu": ("cpu",), "tpu": ("tpu",)}


class Asked(msgspec.Struct, frozen=True):
    """A finding to be proved: its rule and its rows. statement: the rows of the statement that it stands in; chain: the places
    of the calls that lead there. targets: what to call where no command is given, the best first,
    and whether to call it under ``jax.jit``, because the finding is true only where it is traced; cases: texts of inputs.
    formula: the text of the finding, and what its fix would make of it. every: call all targets, also after one that
    reached it. name: the text of the finding, where that is a name. column: where it begins in its first row, from 1; 0 for
    anywhere. code: that of its rule. first, again: the uses of a key that it names.
    span, words: see ``attribution``. loop: the rows of the outermost loop around it in its function."""

    rule: str
    spot: Spot
    targets: tuple[tuple[str, bool], ...] = ()
    cases: tuple[str, ...] = ()
    formula: tuple[str, str] | None = None
    every: bool = False
    statement: frozenset[int] = frozenset()
    chain: tuple[tuple[str, int], ...] = ()
    name: str = ""
    column: int = 0
    code: str = ""
    first: Use = Use()
    again: Use = Use()
    span: Span | None = None
    words: frozenset[str] = frozenset()
    loop: frozenset[int] = frozenset()


_REAL = "pass a command that uses real inputs"
_RUNNING = "use a command that runs it"
_REACHING = "use a command that comes to it sooner"
_SHORTER = "use a command that runs for a shorter time"
_LONGER = "let it run longer"

Cells = Mapping[str, Sequence[tuple[int, str, bool]]]
"""The cells of notebooks, by path: the first row of each in the text of its notebook, its text, and whether it is to raise."""


class Workload(msgspec.Struct, frozen=True):
    """What is run, where. command: its plain words (see ``commands``); empty if functions are to be called with inputs made for
    the purpose. roots: files and folders whose code counts as the user's; target: a platform, or the default. given: the
    words as the user gave them; variables, options: what they mean besides. stdin: what it reads."""

    command: tuple[str, ...]
    roots: tuple[str, ...]
    cwd: str
    python: str = sys.executable
    target: str = ""
    limits: Limits = STANDARD
    given: tuple[str, ...] = ()
    variables: Mapping[str, str | None] = {}
    options: tuple[str, ...] = ()
    cells: Cells = {}
    stdin: Input = None

    def title(self) -> str:
        """Return the command for messages."""
        return f"`{shlex.join(self.given or self.command)}`"

    def environment(self, mode: str = "plain") -> dict[str, str | None]:
        """Return the variables that the child gets besides those of jaxlint; None removes one."""
        found: dict[str, str | None] = dict(self.variables)
        found |= {"JAX_PLATFORMS": PLATFORMS[self.target]} if self.target else {}
        flags = found.get("XLA_FLAGS") or os.environ.get("XLA_FLAGS", "")
        if mode == "replicas" and _DEVICES not in flags:
            found["XLA_FLAGS"] = f"{flags} --{_DEVICES}={REPLICAS}".strip()
        return found

    def launch(self, mode: str = "plain") -> Launch:
        """Return how to start the child that runs it."""
        return Launch(self.python, self.limits, self.environment(mode), self.cwd, self.options, self.stdin)

    def is_met_by(self, versions: dict[str, str]) -> bool:
        """Return whether it ran on the platform that the user asked for, or needed none."""
        if not self.target or ("backend" not in versions and "problem" not in versions):
            return True
        return versions.get("backend") in _BACKENDS[PLATFORMS[self.target]]


class Run(msgspec.Struct, frozen=True):
    """One run of the workload: what was seen, and what went wrong, if anything. called: by number, with which inputs a
    function was called that leads there, and what came of it. failed: an exception ended the command; stopped: a limit or
    a signal did; blind: the watching ended before the command. wall: seconds. interrupted: a signal ended it and us; cut: it
    was ended on purpose, in these words. partial: it ended without a last word, and what is seen is what it had said
    before. halted: the limit of time or Ctrl-C ended it, which is no error to mend."""

    seen: Message | None
    versions: dict[str, str]
    trouble: str = ""
    output: str = ""
    called: dict[int, Message] = {}
    failed: bool = False
    stopped: bool = False
    blind: bool = False
    wall: float = 0.0
    interrupted: bool = False
    cut: str = ""
    partial: bool = False
    halted: bool = False


class Verification(msgspec.Struct, frozen=True):
    """The verdicts, one for each finding asked about, and what a reader should know besides. interrupted: a signal came before
    all was run."""

    verdicts: tuple[Verdict, ...]
    versions: dict[str, str]
    notes: tuple[str, ...] = ()
    interrupted: bool = False


class RefusedCommand(Exception):
    """The command cannot be run; the message says what can."""


def modes_of(asked: Sequence[Asked]) -> list[str]:
    """Return the ways in which the workload has to run; the one that changes nothing comes first."""
    modes = {all_oracles()[one.rule].mode for one in asked if one.rule in all_oracles()}
    return sorted(modes, key=lambda mode: (mode != "plain", mode))


def runs_for(asked: Sequence[Asked], workload: Workload) -> list[str]:
    """Return the ways in which the workload has to run, with a first run that changes nothing in front of one without jit
    alone: it shows how long the command takes, and which lines it does not come to. Where ``--for`` says how much time
    that run has, there is none."""
    modes = modes_of(asked)
    is_bounded = not workload.command or workload.limits.enough is not None
    return modes if is_bounded or modes != ["keys"] else ["plain", *modes]


def verify(
    asked: Sequence[Asked], workload: Workload, progress: Callable[[str], None] = lambda text: None
) -> Verification:
    """Run the workload and judge every finding. A signal that would end jaxlint ends the run; jaxlint then judges what
    was seen.

    Raises RefusedCommand if the command cannot be run, and OSError if the interpreter cannot be started.
    """
    verdicts: dict[int, Verdict] = {}
    notes: list[str] = []
    versions: dict[str, str] = {}
    absent, interrupted = "", False
    for group in _batches(asked, workload):
        runs: dict[str, Run] = {}
        earlier: dict[str, Run] = {}
        batch = [asked[number] for number in group]
        for mode in [] if interrupted else runs_for(batch, workload):
            what = workload.title() if workload.command else f"the functions of {batch[0].spot.path}"
            known = runs.get("plain")
            reached = known or whole(runs.get("keys"))
            if reached is not None and _is_idle(batch, mode, reached):
                runs[mode] = reached
                continue
            progress(f"running {what} ({_MODES[mode]})")
            lines = _lines(batch, known) if workload.command and not workload.cells else None
            runs[mode] = observe(batch, limited(workload, mode, known), mode, lines=lines, known=known)
            if mode == "keys" and lines is not None and _is_hidden(batch, runs[mode], workload, lines, known):
                progress(f"running {what} ({_MODES[mode]}, now that it is known what is compiled)")
                lines = _lines(batch, runs[mode], lines)
                earlier[mode] = runs[mode]
                runs[mode] = observe(batch, limited(workload, mode, runs[mode], _AGAIN), mode, lines=lines, known=known)
            if not workload.is_met_by(runs[mode].versions):
                absent = workload.target
                workload = msgspec.structs.replace(workload, target="cpu")
                progress(f"there is no {absent} device here: tracing on cpu instead")
                runs[mode] = observe(batch, workload, mode)
            if runs[mode].interrupted:
                interrupted = True
                break
        versions = next((run.versions for run in runs.values() if run.versions), versions)
        made = {mode: run for mode, run in runs.items() if mode == "plain" or run is not runs.get("plain")}
        notes += [f"{_MODES[mode]}: {text}" for mode, run in made.items() for text in (run.trouble, run.cut) if text]
        for position, number in enumerate(group):
            verdict = verdict_of(
                position, batch, [runs, {**runs, **earlier}] if earlier else [runs], workload, versions
            )
            verdicts[number] = _without_device(verdict, asked[number], absent) if absent else verdict
    return Verification(tuple(verdicts[number] for number in range(len(asked))), versions, tuple(notes), interrupted)


def verdict_of(
    number: int, batch: Sequence[Asked], tries: Sequence[dict[str, Run]], workload: Workload, versions: dict[str, str]
) -> Verdict:
    """Return the verdict on one finding of a batch. tries: the runs by mode, the last ones first; what an earlier run
    confirms stays so, and where the last one was ended before it came to the line, the earlier one counts."""
    found: list[tuple[Verdict, bool]] = []
    for runs in tries:
        mine = {mode: _own(number, batch, run) for mode, run in runs.items()}
        verdict = named_by(batch, batch[number], judged(number, batch[number], mine, workload, versions))
        used = runs.get(_mode(batch[number]))
        came = used is None or used.seen is None or bool(used.seen["watches"][number]["visits"])
        found.append((verdict, came or used is None or not (used.cut or used.stopped)))
    return next(
        (one for one, _ in found if one.verdict.startswith("confirmed")),
        next((one for one, is_whole in found if is_whole), found[0][0]),
    )


def _own(number: int, batch: Sequence[Asked], run: Run) -> Run:
    """A run as one finding may use it."""
    return run if run.seen is None else msgspec.structs.replace(run, seen=without_foreign(number, batch, run.seen))


def named_by(batch: Sequence[Asked], one: Asked, verdict: Verdict) -> Verdict:
    """The same defect, but by uses of a key that another finding names: confirmed elsewhere."""
    first, again = verdict.details.get("first"), verdict.details.get("again")
    if verdict.verdict != "inconclusive" or not isinstance(first, list) or not isinstance(again, list):
        return verdict
    for other in batch:
        if other.first.places and other.first.is_on(first) and other.again.is_on(again) and other.spot.is_on(again):
            where = line_in_words(other.spot.path, other.spot.first, one.spot.path)
            said = verdict.reason.rpartition("; ")[0]
            return msgspec.structs.replace(
                verdict, verdict="confirmed-elsewhere", reason=f"{said}; {other.code} on {where} names these uses"
            )
    return verdict


Lines = frozenset[tuple[str, int]]
"""Paths and rows."""


def _lines(batch: Sequence[Asked], known: Run | None, before: Lines = frozenset()) -> Lines:
    """Where jit has to be off, so that what the findings mention is seen: at their own lines and those of their chains (in the
    whole function, where a finding names no other line), and at the lines that had one of these traced, as far as a run
    showed it."""
    found = set(before)
    for one in batch:
        if _mode(one) == "keys":
            found.update((one.spot.path, row) for row in {*range(one.spot.first, one.spot.last + 1), *one.statement})
            found.update(one.chain or _function_rows(one.spot))
    if known is not None and known.seen is not None:
        found.update((path, row) for path, row, _ in known.seen.get("callers", ()))
    return frozenset(found)


def _function_rows(spot: Spot) -> Lines:
    try:
        text = Path(spot.path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return frozenset()
    return frozenset((spot.path, row) for row in rows_of_function(text, spot.first))


def _is_hidden(batch: Sequence[Asked], run: Run, workload: Workload, lines: Lines, plain: Run | None) -> bool:
    """Whether a line of interest ran only while JAX traced, called by one that was not known to (``lines``)."""
    if run.seen is None or run.interrupted or run.cut:
        return False
    if all((path, row) in lines for path, row, _ in run.seen.get("callers", ())):
        return False
    mine = _needing(batch, "keys", plain)
    runs = {"keys": run}
    if all(judged(number, batch[number], runs, workload, {}).verdict == "confirmed" for number in mine):
        return False
    watches = [run.seen["watches"][number] for number in (*mine, *range(len(batch), len(run.seen["watches"])))]
    return any(watch["visits"].get("abstract") and not watch["visits"].get("eager") for watch in watches)


def _is_idle(batch: Sequence[Asked], mode: str, plain: Run) -> bool:
    """No line that this way of running is for was reached by a whole run: it would not be by another."""
    return mode in ("keys", "nans") and not _needing(batch, mode, plain)


def whole(run: Run | None) -> Run | None:
    """The run, if it came to its end by itself and well, so that another one comes to no other lines."""
    if run is None or run.seen is None:
        return None
    return None if run.failed or run.stopped or run.cut or run.blind or run.trouble else run


def _needing(batch: Sequence[Asked], mode: str, plain: Run | None) -> list[int]:
    """The findings that a run of this mode is for, without those that it would not come to either, or that it cannot decide."""
    return [
        number
        for number, one in enumerate(batch)
        if _mode(one) == mode and not _is_unreached(number, one.spot.path, mode, plain) and not _is_hopeless(one)
    ]


def _is_hopeless(one: Asked) -> bool:
    """A formula with no other to compare it with shows something only if its line returns a value from a function."""
    returns = not one.words or bool({"return", "<lambda>"} & one.words)
    return one.rule == "unstable-expression" and one.formula is None and not returns


def _is_unreached(number: int, path: str, mode: str, plain: Run | None) -> bool:
    """Whether a whole run did not come to a finding, or one that was cut not to its file, so that a run of this mode would not
    either."""
    if plain is None or plain.seen is None or mode not in ("keys", "nans"):
        return False
    if plain.interrupted or plain.called or plain.seen["watches"][number]["visits"]:
        return False
    files = plain.seen.get("files") or [path]  # a program loads its files at first
    return not plain.cut or path not in files


def _mode(one: Asked) -> str:
    oracle = all_oracles().get(one.rule)
    return oracle.mode if oracle is not None else ""


def limited(workload: Workload, mode: str, plain: Run | None, share: float = 1.0) -> Workload:
    """A slower way of running gets so much of the time of the run as it is; where there was none, what ``--for`` gives."""
    given = workload.limits.enough
    if mode != "keys" or not workload.command or (given is not None and (plain is None or plain.cut)):
        return workload
    enough = max(_LEAST_SECONDS, share * plain.wall) if plain is not None and plain.wall else _UNKNOWN_SECONDS
    if given is not None:
        enough = min(enough, given)
    return msgspec.structs.replace(workload, limits=msgspec.structs.replace(workload.limits, enough=enough))


def _without_device(verdict: Verdict, one: Asked, target: str) -> Verdict:
    """What a run on the CPU says of a device that is not here: what happens while JAX traces is the same for all."""
    oracle = all_oracles().get(one.rule)
    if oracle is not None and oracle.measures:
        return Verdict(
            "unsupported-target", f"there is no {target} device here to measure on", target, inputs=verdict.inputs
        )
    return msgspec.structs.replace(verdict, target=f"{target}, traced on cpu", mode="lower")


def _batches(asked: Sequence[Asked], workload: Workload) -> list[list[int]]:
    """What goes into one child: all of it with a command; else a file's findings, so that a crash costs no others."""
    if workload.command:
        return [list(range(len(asked)))]
    files: dict[str, list[int]] = {}
    for number, one in enumerate(asked):
        files.setdefault(one.spot.path, []).append(number)
    return list(files.values())


_MODES = {
    "plain": "as it is",
    "keys": "without jit, watching its keys",
    "nans": "stopping at the first NaN",
    "replicas": f"on {REPLICAS} devices",
}


def observe(
    asked: Sequence[Asked], workload: Workload, mode: str, *, lines: Lines | None = None, known: Run | None = None
) -> Run:
    """Run the workload once and watch the rows of all findings. A run that is not the command as it is, and slower,
    ends once all findings that need it are confirmed. lines: where jit is off in the mode ``keys``; everywhere if None.
    known: the run as it is; a finding that it did not come to needs no other run.
    """
    mine = _needing(asked, mode, known)

    def is_decided(messages: Sequence[Message]) -> bool:
        """Confirmed is confirmed, whatever comes after; another verdict may still change."""
        seen = next((message for message in reversed(messages) if message["kind"] == "observations"), None)
        if seen is None or not mine:
            return False
        runs = {mode: Run(seen, {})}
        return all(judged(number, asked[number], runs, workload, {}).verdict == "confirmed" for number in mine)

    request = observation_request(asked, workload, mode, lines)
    ears = Ears(judge=is_decided if workload.command and mode != "plain" else None)
    return run_of(run_child("observe", request, workload.launch(mode), ears=ears, keep=True), workload)


def observation_request(asked: Sequence[Asked], workload: Workload, mode: str, lines: Lines | None = None) -> Message:
    """Return what the child has to run and to watch; the places of call chains come after the findings."""
    chains = dict.fromkeys(place for one in asked if lines is not None and _mode(one) == "keys" for place in one.chain)
    return {
        "roots": list(workload.roots),
        "command": list(workload.command),
        "cells": {path: [list(cell) for cell in cells] for path, cells in workload.cells.items()},
        "calls": [
            {"watch": number, "targets": list(one.targets), "cases": list(one.cases), "every": one.every}
            for number, one in enumerate(asked)
        ],
        "folders": [workload.cwd, *[root for root in workload.roots if not root.endswith(".py")]],
        "mode": mode,
        "lines": None if lines is None else sorted(lines),
        "watches": [
            {
                "number": number, "path": one.spot.path, "first": one.spot.first, "last": one.spot.last,
                "keeps_old": one.rule in all_oracles() and all_oracles()[one.rule].keeps_old,
                "formula": one.formula if one.rule == "unstable-expression" else None,
                "unjit": _mode(one) == "keys",
                "name": one.name if one.rule == "captured-constant" else "",
                "column": one.column,
                "span": one.span,
            }
            for number, one in enumerate(asked)
        ] + [
            {"number": number, "path": path, "first": row, "last": row, "unjit": True}
            for number, (path, row) in enumerate(chains, len(asked))
        ],
    }  # fmt: skip


def run_of(outcome: Outcome, workload: Workload) -> Run:
    """Return the run that the messages of a child describe. Raises RefusedCommand."""
    refused = outcome.of("refused")
    if refused:
        raise RefusedCommand(refused[0]["text"])
    lacking = _missing_jax(outcome, workload)
    if lacking:
        raise RefusedCommand(lacking)
    seen, ended = outcome.of("observations"), outcome.of("ended")
    known, trouble = [*ended, *outcome.of("versions")], _trouble(outcome, workload)
    return Run(
        seen[-1] if seen else None,
        known[0]["versions"] if known else {},
        trouble,
        outcome.output,
        {message["watch"]: message for message in outcome.of("called")},
        failed=outcome.state not in _STOPPED and bool(ended and ended[0]["failure"]),
        stopped=outcome.state in _STOPPED or outcome.partial,
        blind=bool(ended and ended[0]["interrupted"]),
        wall=outcome.wall,
        interrupted=outcome.state == "interrupted",
        cut=_cut(outcome, workload),
        partial=outcome.partial,
        halted=outcome.state in ("timeout", "interrupted") or trouble == _CTRL_C,
    )


def _trouble(outcome: Outcome, workload: Workload) -> str:
    """What went wrong in a run."""
    seen, ended = outcome.of("observations"), outcome.of("ended")
    if outcome.state == "enough" and seen:
        return ""
    trouble = ""
    if outcome.state in _STOPPED or outcome.partial or not seen:
        trouble = describe(outcome, workload.limits)
    elif ended and ended[0]["status"] == _INTERRUPTED and not ended[0]["failure"]:
        trouble = _CTRL_C
    elif ended and (ended[0]["failure"] or ended[0]["status"]):
        trouble = f"the command ended with {ended[0]['failure'] or 'status ' + str(ended[0]['status'])}"
    if ended and ended[0]["interrupted"]:
        return f"{trouble}; " * bool(trouble) + "the command set its own trace function, which ended the watching"
    return trouble


def _cut(outcome: Outcome, workload: Workload) -> str:
    """Why a run was ended on purpose."""
    if outcome.state != "enough":
        return ""
    enough = workload.limits.enough
    if enough is None or outcome.wall < enough:
        return f"ended after {outcome.wall:.0f} s, when all was confirmed"
    return f"ended after {enough:.0f} s"


def _missing_jax(outcome: Outcome, workload: Workload) -> str:
    """What to say where the interpreter has no JAX."""
    said = [
        str(message.get("text") or message.get("failure")) for message in (*outcome.of("failure"), *outcome.of("ended"))
    ]
    said += [raised["message"] for seen in outcome.of("observations") for raised in seen["raised"]]
    said += [message["outcome"] for message in outcome.of("called")]
    versions: dict[str, str] = next((ended["versions"] for ended in outcome.of("ended")), {})
    return missing_jax(workload.python, versions, said)


def _unchecked(number: int, runs: Mapping[str, Run], target: str) -> Verdict:
    """The verdict on a finding of a rule without an oracle."""
    seen = next((run.seen for run in runs.values() if run.seen is not None), None)
    count = sum(seen["watches"][number]["visits"].values()) if seen is not None else 0
    ran = f"the line ran {times_in_words(count)}; " if count else ""
    details: dict[str, object] = NEVER_RAN if seen is not None and not count else {}
    reason = f"{ran}jaxlint has no check of this rule in a run; read the code"
    return Verdict("inconclusive", reason, target, details=details)


def judged(number: int, one: Asked, runs: dict[str, Run], workload: Workload, versions: dict[str, str]) -> Verdict:
    """Return the verdict on one finding. runs: by mode; versions: those of one of the runs."""
    oracle = all_oracles().get(one.rule)
    target = versions.get("backend", workload.target)
    if oracle is None:
        return _unchecked(number, runs, target)
    run = (
        runs["plain"] if _is_unreached(number, one.spot.path, oracle.mode, runs.get("plain")) else runs.get(oracle.mode)
    )
    if run is None:
        return Verdict(
            "inconclusive", f"interrupted before the run that it needs ({_MODES[oracle.mode]}); verify it again", target
        )
    inputs = "command" if workload.command else "recorded" if one.cases else "synthesised"
    if run.seen is None:
        return Verdict("inconclusive", run.trouble, target, inputs=inputs)
    watch: Seen = run.seen["watches"][number]
    seen = Observations(
        one.spot, watch, run.seen, workload.roots, one.statement, one.name, one.first, one.again, one.span,
        frozenset(one.chain), one.loop, one.words,
    )  # fmt: skip
    verdict = oracle.judge(seen)
    if verdict is NOT_REACHED:
        plain = runs.get("plain")
        before = None if plain is None or plain is run or plain.seen is None else plain.seen["watches"][number]
        verdict = _why_not_reached(one, watch, run) or verdict
        if before is not None and before["visits"] and (run.cut or run.stopped):
            verdict = _cut_before(one, before, run, oracle.mode)
    details = verdict.details
    if number in run.called:
        call = run.called[number]
        details = {**details, "inputs": call["inputs"], "outcome": call["outcome"], "attempts": call["attempts"]}
        verdict = _of_call(verdict, call)
    if verdict.verdict == "refuted" and inputs == "synthesised":  # other inputs may tell otherwise
        verdict = Verdict("inconclusive", f"{verdict.reason}, on made-up inputs; {_REAL}")
    elif inputs == "synthesised" and is_artefact(verdict):
        verdict = Verdict("inconclusive", f"{verdict.reason}; that may come of the made-up inputs; {_REAL}")
    elif verdict.verdict == "refuted":
        verdict = _as_far_as_seen(verdict, one, seen, run, oracle.mode, workload)
    elif verdict.verdict == "inconclusive" and run.cut and oracle.mode == "keys" and watch["visits"]:
        verdict = msgspec.structs.replace(verdict, reason=f"{verdict.reason} (the run was {run.cut})")
    return msgspec.structs.replace(verdict, target=target, inputs=inputs, details=details)


def _of_call(verdict: Verdict, call: Seen) -> Verdict:
    """The verdict where jaxlint itself called the function."""
    if verdict.verdict == "confirmed" and call["jitted"]:
        return Verdict("confirmed-if-traced", verdict.reason)
    if verdict is NOT_REACHED:
        why = call["outcome"] or "it returned without coming to the line"
        said = f"the line was not reached: {call['inputs'] or 'nothing could be called'}: {why}"
        return Verdict("inconclusive", said)
    return verdict


def _as_far_as_seen(
    refuted: Verdict, one: Asked, seen: Observations, run: Run, mode: str, workload: Workload
) -> Verdict:
    """A refutation where what the run did not come to may tell otherwise."""
    if elsewhere := _chain_elsewhere(one, seen):
        said = f"{refuted.reason}, but the finding is about a call from {elsewhere}, of which nothing ran"
        return Verdict("inconclusive", f"{said}; use a command that runs it")
    if run.cut:
        reason = f"{refuted.reason}; the run was {run.cut}"
        if workload.limits.enough is not None:  # asked for
            return Verdict("refuted", reason)
        return Verdict("inconclusive", f"{reason}; {_more_time(one, run) if mode == 'keys' else _SHORTER}")
    if run.trouble:
        return Verdict("inconclusive", f"{refuted.reason}, but {run.trouble}; {_what_lets_it_end(refuted, run)}")
    return refuted


def _what_lets_it_end(refuted: Verdict, run: Run) -> str:
    """What to do where a run did not come to its end: only an error is something to fix."""
    if not run.halted:
        return "fix that first"
    if UNJITTED in refuted.reason:
        return "use a command that runs the line under `jit`"
    return f"{_SHORTER}, or {_LONGER}"


def _why_not_reached(one: Asked, watch: Seen, run: Run) -> Verdict | None:
    """An error further up in the same function that stopped every run, one that ended a function that leads here or kept the
    module from being imported, or one that ended the command."""
    assert run.seen is not None
    if watch.get("passed"):
        ran = f"the line ran {times_in_words(watch['passed'])}, but not this part of it"
        return Verdict("inconclusive", f"{ran}; use inputs for which it runs")
    for raised in run.seen["raised"]:
        path, row, function, _ = raised["stack"][0]
        where = line_in_words(path, row, one.spot.path)
        found = Verdict("blocked", f"the line did not run; {where} raised {error_in_words(raised)}")
        if raised["type"] == "SystemExit":  # that is no error
            found = Verdict("inconclusive", f"the program ended on {where}, before the line; {_RUNNING}")
        if path == one.spot.path and row < one.spot.first and function in watch["functions"]:
            return found
        if any(_leads_here(one, *left) for left in raised.get("left", ())):
            # Without the error, the program might not have come to the line either.
            advice = "; fix that, or use a command that comes to the line" * (found.verdict == "blocked")
            return msgspec.structs.replace(found, reason=found.reason + advice)
    what, advice = _end_before(one, run)
    if not what:
        return None
    verdict = "blocked" if run.failed else "inconclusive"
    return Verdict(verdict, f"{what}; {advice}", details={} if run.blind or run.partial else NEVER_RAN)


def _end_before(one: Asked, run: Run) -> tuple[str, str]:
    """How a run ended that did not come to a line, and what the user can do; nothing where it ended well."""
    assert run.seen is not None
    if run.failed and _is_entered(one, run.seen):
        return f"the line did not run; {run.trouble}", "fix that, or use a command that comes to the line"
    if run.failed:
        said = f"the line did not run; nothing of its file ran before {run.trouble}"
        return said, "fix that, or use a command that comes to its file"
    why = run.trouble or "the run was " * bool(run.cut) + run.cut
    if run.blind:
        return f"the line was not seen to run; {why}", "use a command that sets none"
    if run.cut or run.stopped:
        what = "the line was not seen to run" if run.partial else "the line did not run"
        files = run.seen.get("files")
        if files is None or one.spot.path in files:
            return f"{what}; {why}", _REACHING + f", or {_LONGER}" * bool(run.cut or run.halted)
        return f"{what}, and nothing of its file; {why}", _RUNNING
    return (f"the line did not run; {why}", _RUNNING) if why else ("", "")


def _cut_before(one: Asked, before: Seen, run: Run, mode: str) -> Verdict:
    """The line ran in the run as it is; the other one was ended before it came there."""
    count = sum(before["visits"].values())
    ran = f"the line ran {times_in_words(count)} in the first run"
    why = run.trouble or f"it was {run.cut}"
    return Verdict(
        "inconclusive", f"{ran}, but was not seen in the further run ({_MODES[mode]}): {why}; {_more_time(one, run)}"
    )


def _more_time(one: Asked, run: Run) -> str:
    """What gives a slow way of running more time: without findings of other rules, there is no first run that limits it."""
    alone = f"--select {one.code} " * bool(one.code)
    return f"give that run more time with `{alone}{'--for 4m' if run.cut else '--timeout 900'}`"


def _chain_elsewhere(one: Asked, seen: Observations) -> str:
    """The file of the user's in the call chain of which nothing ran, so that the line ran in another way than the finding
    says; empty if there is none."""
    files = seen.all.get("files")
    if files is None:
        return ""
    return next((file_in_words(path) for path, _ in one.chain if seen.is_user(path) and path not in files), "")


def _is_entered(one: Asked, seen: Message) -> bool:
    """Whether something ran of the files of a finding and of the calls that lead there: if not, the command may never come
    there."""
    files = seen.get("files")
    return files is None or any(path in files for path in (one.spot.path, *(place[0] for place in one.chain)))


def _leads_here(one: Asked, path: str, first: int, last: int, row: int) -> bool:
    """Whether code that an exception left at a row would have come to a finding. first, last: its rows; 0 of a module."""
    if not first:  # a module, whose functions no code can call then
        return path == one.spot.path
    places = ((one.spot.path, one.spot.first), *one.chain)
    return any(path == place[0] and first <= place[1] <= last and row < place[1] for place in places)
