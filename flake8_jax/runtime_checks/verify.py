"""Verdicts for findings: the workload is run once for every way of watching that the rules ask for.

Not modelled: findings in processes that the workload starts; rows of a statement that other findings share (what is seen
there counts for all of them whose oracle it fits).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import msgspec

from flake8_jax.core.findings import Verdict
from flake8_jax.runtime_checks.observations import Observations, Seen, Spot
from flake8_jax.runtime_checks.oracles import NOT_REACHED, ORACLES
from flake8_jax.runtime_checks.sandbox import STANDARD, Limits, Message, describe, run_child

PLATFORMS = {"cpu": "cpu", "cuda": "cuda", "gpu": "cuda", "tpu": "tpu"}


class Asked(msgspec.Struct, frozen=True):
    """A finding to be proved: its rule and its rows."""

    rule: str
    spot: Spot


class Workload(msgspec.Struct, frozen=True):
    """What is run, where. roots: files and folders whose code counts as the user's; target: a platform, or the default."""

    command: tuple[str, ...]
    roots: tuple[str, ...]
    cwd: str
    python: str = sys.executable
    target: str = ""
    limits: Limits = STANDARD
    inputs: str = "command"

    def environment(self) -> dict[str, str]:
        return {"JAX_PLATFORMS": PLATFORMS[self.target]} if self.target else {}


class Run(msgspec.Struct, frozen=True):
    """One run of the workload: what was seen, and what went wrong, if anything."""

    seen: Message | None
    versions: dict[str, str]
    trouble: str = ""
    output: str = ""


class Verification(msgspec.Struct, frozen=True):
    """The verdicts, one for each finding asked about, and what a reader should know besides."""

    verdicts: tuple[Verdict, ...]
    versions: dict[str, str]
    notes: tuple[str, ...] = ()


class RefusedCommand(Exception):
    """The command cannot be run; the message says what can."""


def modes_of(asked: Sequence[Asked]) -> list[str]:
    """The ways in which the workload has to be run."""
    return sorted({ORACLES[one.rule].mode for one in asked if one.rule in ORACLES})


def verify(
    asked: Sequence[Asked], workload: Workload, progress: Callable[[str], None] = lambda text: None
) -> Verification:
    """Run the workload and judge every finding.

    Raises RefusedCommand if it cannot be run, and OSError if the interpreter cannot be started.
    """
    runs: dict[str, Run] = {}
    for mode in modes_of(asked):
        progress(f"running `{' '.join(workload.command)}` ({_MODES[mode]})")
        runs[mode] = observe(asked, workload, mode)
    versions = next((run.versions for run in runs.values() if run.versions), {})
    verdicts = tuple(_judged(number, one, runs, workload, versions) for number, one in enumerate(asked))
    notes = tuple(f"{_MODES[mode]}: {run.trouble}" for mode, run in runs.items() if run.trouble)
    return Verification(verdicts, versions, notes)


_MODES = {
    "plain": "as it is",
    "keys": "without jit, watching its keys",
    "nans": "stopping at the first NaN",
}


def observe(asked: Sequence[Asked], workload: Workload, mode: str, *, record: bool = False) -> Run:
    """Run the workload once, watching the rows of all findings."""
    request = {
        "roots": list(workload.roots),
        "command": list(workload.command),
        "mode": mode,
        "record": record,
        "watches": [
            {"number": number, "path": one.spot.path, "first": one.spot.first, "last": one.spot.last}
            for number, one in enumerate(asked)
        ],
    }
    outcome = run_child(
        "observe", request, python=workload.python, limits=workload.limits, environment=workload.environment(),
        cwd=workload.cwd,
    )  # fmt: skip
    refused = outcome.of("refused")
    if refused:
        raise RefusedCommand(refused[0]["text"])
    seen, ended = outcome.of("observations"), outcome.of("ended")
    trouble = ""
    if outcome.state in ("timeout", "memory", "signal") or not seen:
        trouble = describe(outcome, workload.limits)
    elif ended and (ended[0]["failure"] or ended[0]["status"]):
        trouble = f"the command ended with {ended[0]['failure'] or 'status ' + str(ended[0]['status'])}"
    if ended and ended[0]["interrupted"]:
        trouble = (
            f"{trouble}; " * bool(trouble) + "the command set a trace function of its own, which ended the watching"
        )
    return Run(seen[0] if seen else None, ended[0]["versions"] if ended else {}, trouble, outcome.output)


def _judged(number: int, one: Asked, runs: dict[str, Run], workload: Workload, versions: dict[str, str]) -> Verdict:
    oracle = ORACLES.get(one.rule)
    target = versions.get("backend", workload.target)
    if oracle is None:
        return Verdict("inconclusive", "there is no way yet to prove this rule by running", target)
    run = runs[oracle.mode]
    if run.seen is None:
        return Verdict("inconclusive", run.trouble, target, inputs=workload.inputs)
    watch: Seen = run.seen["watches"][number]
    verdict = oracle.judge(Observations(one.spot, watch, run.seen, workload.roots))
    if verdict is NOT_REACHED:
        verdict = _why_not_reached(one.spot, watch, run.seen) or verdict
    return msgspec.structs.replace(verdict, target=target, inputs=workload.inputs)


def _why_not_reached(spot: Spot, watch: Seen, seen: Message) -> Verdict | None:
    """An error further up in the same function that nobody got past."""
    for raised in seen["raised"]:
        path, row, function, _ = raised["stack"][0]
        if path == spot.path and row < spot.first and function in watch["functions"]:
            return Verdict(
                "blocked", f"the line did not run; line {row} raised {raised['type']}: {raised['message'][:120]}"
            )
    return None
