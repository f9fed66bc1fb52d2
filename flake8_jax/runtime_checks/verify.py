"""Verdicts for findings: the workload is run once for every way of watching that the rules ask for.

Not modelled: findings in processes that the workload starts; rows of a statement that other findings share (what is seen
there counts for all of them whose oracle it fits).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

import msgspec

from flake8_jax.core.findings import Verdict
from flake8_jax.runtime_checks.judges import NOT_REACHED
from flake8_jax.runtime_checks.observations import Observations, Seen, Spot
from flake8_jax.runtime_checks.oracles import all_oracles
from flake8_jax.runtime_checks.sandbox import (
    STANDARD,
    Launch,
    Limits,
    Message,
    Outcome,
    describe,
    missing_jax,
    run_child,
)

PLATFORMS = {"cpu": "cpu", "cuda": "cuda", "gpu": "cuda", "tpu": "tpu"}
_DEVICES = "xla_force_host_platform_device_count"
_STOPPED = ("timeout", "memory", "signal")
REPLICAS = 4
"""So many devices the CPU poses as, where a finding is about several."""
_BACKENDS = {"cuda": ("gpu", "cuda"), "cpu": ("cpu",), "tpu": ("tpu",)}


class Asked(msgspec.Struct, frozen=True):
    """A finding to be proved: its rule and its rows. targets: what to call where no command is given, the best first,
    and whether to call it under ``jax.jit``, because the finding is true only where it is traced; cases: texts of inputs.
    formula: the text of the finding, and what its fix would make of it. every: call all targets, also after one that
    reached it."""

    rule: str
    spot: Spot
    targets: tuple[tuple[str, bool], ...] = ()
    cases: tuple[str, ...] = ()
    formula: tuple[str, str] | None = None
    every: bool = False


class Workload(msgspec.Struct, frozen=True):
    """What is run, where. command: its words; empty if functions are to be called with inputs made for the purpose. roots:
    files and folders whose code counts as the user's; target: a platform, or the default."""

    command: tuple[str, ...]
    roots: tuple[str, ...]
    cwd: str
    python: str = sys.executable
    target: str = ""
    limits: Limits = STANDARD

    def environment(self, mode: str = "plain") -> dict[str, str]:
        """Variables that the child gets besides its own."""
        found = {"JAX_PLATFORMS": PLATFORMS[self.target]} if self.target else {}
        flags = os.environ.get("XLA_FLAGS", "")
        if mode == "replicas" and _DEVICES not in flags:
            found["XLA_FLAGS"] = f"{flags} --{_DEVICES}={REPLICAS}".strip()
        return found

    def launch(self, mode: str = "plain") -> Launch:
        """How the child starts that runs it."""
        return Launch(self.python, self.limits, self.environment(mode), self.cwd)

    def is_met_by(self, versions: dict[str, str]) -> bool:
        """It ran on the platform that was asked for, or nothing of it needed one."""
        if not self.target or ("backend" not in versions and "problem" not in versions):
            return True
        return versions.get("backend") in _BACKENDS[PLATFORMS[self.target]]


class Run(msgspec.Struct, frozen=True):
    """One run of the workload: what was seen, and what went wrong, if anything. called: by number, with which inputs a
    function was called that leads there, and what came of it. failed: an exception ended the command."""

    seen: Message | None
    versions: dict[str, str]
    trouble: str = ""
    output: str = ""
    called: dict[int, Message] = {}
    failed: bool = False


class Verification(msgspec.Struct, frozen=True):
    """The verdicts, one for each finding asked about, and what a reader should know besides."""

    verdicts: tuple[Verdict, ...]
    versions: dict[str, str]
    notes: tuple[str, ...] = ()


class RefusedCommand(Exception):
    """The command cannot be run; the message says what can."""


def modes_of(asked: Sequence[Asked]) -> list[str]:
    """The ways in which the workload has to be run."""
    return sorted({all_oracles()[one.rule].mode for one in asked if one.rule in all_oracles()})


def verify(
    asked: Sequence[Asked], workload: Workload, progress: Callable[[str], None] = lambda text: None
) -> Verification:
    """Run the workload and judge every finding.

    Raises RefusedCommand if it cannot be run, and OSError if the interpreter cannot be started.
    """
    verdicts: dict[int, Verdict] = {}
    notes: list[str] = []
    versions: dict[str, str] = {}
    absent = ""
    for group in _batches(asked, workload):
        runs: dict[str, Run] = {}
        batch = [asked[number] for number in group]
        for mode in modes_of(batch):
            what = f"`{' '.join(workload.command)}`" if workload.command else f"the functions of {batch[0].spot.path}"
            progress(f"running {what} ({_MODES[mode]})")
            runs[mode] = observe(batch, workload, mode)
            if not workload.is_met_by(runs[mode].versions):
                absent = workload.target
                workload = msgspec.structs.replace(workload, target="cpu")
                progress(f"there is no {absent} device here: tracing on cpu instead")
                runs[mode] = observe(batch, workload, mode)
        versions = next((run.versions for run in runs.values() if run.versions), versions)
        notes += [f"{_MODES[mode]}: {run.trouble}" for mode, run in runs.items() if run.trouble]
        for position, number in enumerate(group):
            verdict = judged(position, asked[number], runs, workload, versions)
            verdicts[number] = _without_device(verdict, asked[number], absent) if absent else verdict
    return Verification(tuple(verdicts[number] for number in range(len(asked))), versions, tuple(notes))


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


def observe(asked: Sequence[Asked], workload: Workload, mode: str, *, record: bool = False) -> Run:
    """Run the workload once, watching the rows of all findings."""
    outcome = run_child("observe", observation_request(asked, workload, mode, record=record), workload.launch(mode))
    return run_of(outcome, workload)


def observation_request(asked: Sequence[Asked], workload: Workload, mode: str, *, record: bool = False) -> Message:
    """What the child is told to run and to watch."""
    return {
        "roots": list(workload.roots),
        "command": list(workload.command),
        "calls": [
            {"watch": number, "targets": list(one.targets), "cases": list(one.cases), "every": one.every}
            for number, one in enumerate(asked)
        ],
        "folders": [workload.cwd, *[root for root in workload.roots if not root.endswith(".py")]],
        "mode": mode,
        "record": record,
        "watches": [
            {
                "number": number, "path": one.spot.path, "first": one.spot.first, "last": one.spot.last,
                "keeps_old": one.rule in all_oracles() and all_oracles()[one.rule].keeps_old,
                "formula": one.formula if one.rule == "unstable-expression" else None,
            }
            for number, one in enumerate(asked)
        ],
    }  # fmt: skip


def run_of(outcome: Outcome, workload: Workload) -> Run:
    """What a child says that has run the workload. Raises RefusedCommand."""
    refused = outcome.of("refused")
    if refused:
        raise RefusedCommand(refused[0]["text"])
    lacking = _missing_jax(outcome, workload)
    if lacking:
        raise RefusedCommand(lacking)
    seen, ended = outcome.of("observations"), outcome.of("ended")
    trouble = ""
    if outcome.state in _STOPPED or not seen:
        trouble = describe(outcome, workload.limits)
    elif ended and (ended[0]["failure"] or ended[0]["status"]):
        trouble = f"the command ended with {ended[0]['failure'] or 'status ' + str(ended[0]['status'])}"
    if ended and ended[0]["interrupted"]:
        trouble = (
            f"{trouble}; " * bool(trouble) + "the command set a trace function of its own, which ended the watching"
        )
    called = {message["watch"]: message for message in outcome.of("called")}
    return Run(
        seen[0] if seen else None,
        ended[0]["versions"] if ended else {},
        trouble,
        outcome.output,
        called,
        failed=outcome.state not in _STOPPED and bool(ended and ended[0]["failure"]),
    )


def _missing_jax(outcome: Outcome, workload: Workload) -> str:
    """What to say where the interpreter has no JAX."""
    said = [
        str(message.get("text") or message.get("failure")) for message in (*outcome.of("failure"), *outcome.of("ended"))
    ]
    said += [raised["message"] for seen in outcome.of("observations") for raised in seen["raised"]]
    said += [message["outcome"] for message in outcome.of("called")]
    versions: dict[str, str] = next((ended["versions"] for ended in outcome.of("ended")), {})
    return missing_jax(workload.python, versions, said)


def judged(number: int, one: Asked, runs: dict[str, Run], workload: Workload, versions: dict[str, str]) -> Verdict:
    """The verdict on one of the findings that were asked about. runs: by mode; versions: of one of them."""
    oracle = all_oracles().get(one.rule)
    target = versions.get("backend", workload.target)
    if oracle is None:
        return Verdict("inconclusive", "there is no way yet to prove this rule by running", target)
    run = runs[oracle.mode]
    inputs = "command" if workload.command else "recorded" if one.cases else "synthesised"
    if run.seen is None:
        return Verdict("inconclusive", run.trouble, target, inputs=inputs)
    watch: Seen = run.seen["watches"][number]
    verdict = oracle.judge(Observations(one.spot, watch, run.seen, workload.roots))
    if verdict is NOT_REACHED:
        verdict = _why_not_reached(one.spot, watch, run) or verdict
    details = verdict.details
    if number in run.called:
        call = run.called[number]
        details = {**details, "inputs": call["inputs"], "outcome": call["outcome"], "attempts": call["attempts"]}
        if verdict.verdict == "confirmed" and call["jitted"]:
            verdict = Verdict("confirmed-if-traced", verdict.reason)
        if verdict is NOT_REACHED:
            why = call["outcome"] or "it returned without coming to the line"
            verdict = Verdict(
                "inconclusive", f"the line was not reached: {call['inputs'] or 'nothing could be called'}: {why}"
            )
    if verdict.verdict == "refuted" and inputs == "synthesised":  # other inputs may tell otherwise
        verdict = Verdict("inconclusive", f"{verdict.reason}, on made-up inputs")
    elif verdict.verdict == "refuted" and run.trouble:  # what it did not come to may tell otherwise
        verdict = Verdict("inconclusive", f"{verdict.reason}, but {run.trouble}")
    return msgspec.structs.replace(verdict, target=target, inputs=inputs, details=details)


def _why_not_reached(spot: Spot, watch: Seen, run: Run) -> Verdict | None:
    """An error further up in the same function that nobody got past, or one that ended the command."""
    assert run.seen is not None
    for raised in run.seen["raised"]:
        path, row, function, _ = raised["stack"][0]
        if path == spot.path and row < spot.first and function in watch["functions"]:
            return Verdict(
                "blocked", f"the line did not run; line {row} raised {raised['type']}: {raised['message'][:120]}"
            )
    if run.failed:
        return Verdict("blocked", f"the line did not run; {run.trouble}")
    return None
