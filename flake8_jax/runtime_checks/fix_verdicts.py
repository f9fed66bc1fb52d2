"""What the comparison of two runs says of one fix, in words.

Vocabulary
----------
compared   by number of a function: calls, leaves, differences (see ``child.compare``).
of a fix   its functions, innermost first: those around the finding, and those on the way to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from flake8_jax.core.findings import Verdict
from flake8_jax.runtime_checks.replays import Function, Place, Replay
from flake8_jax.runtime_checks.sandbox import Message

Compared = Mapping[int, dict[str, Any]]

_INTENDED = ("key-", "shared-key-", "host-rng")
_ALSO_INTENDED = frozenset(
    {"legacy-prng-key", "constant-key", "discarded-update", "nan-comparison", "where-nan-grad", "unstable-expression"}
)
_MOST_ULP = 100  # beyond it, a number near zero was hit, and ulps say nothing


class Fix(msgspec.Struct, frozen=True):
    """A fix to be judged. functions: numbers, innermost first."""

    number: int
    rule: str
    code: str
    place: Place
    functions: tuple[int, ...]


def is_intended(rule: str) -> bool:
    """Whether a fix of the rule is there to change results: other random numbers, or right values for wrong ones."""
    return rule.startswith(_INTENDED) or rule in _ALSO_INTENDED


def inconclusive(reason: str) -> Verdict:
    return Verdict("inconclusive", reason)


def not_reached(fix: Fix, reference: Replay, names: Sequence[Function]) -> Verdict:
    """The line did not run in the reference."""
    mine = {names[number] for number in fix.functions}
    inside = [raised for raised in reference.raised if any((path, name) in mine for path, _, name in raised["stack"])]
    if inside or reference.failure is not None:
        first = inside[0] if inside else reference.failure
        assert first is not None
        error = f"{first['type']}: {first['message'][:200]}"
        return Verdict("blocked", f"the line did not run; another error comes first: {error}")
    return inconclusive("the line did not run")


def same_at_all(compared: Compared, reference: Replay, other: Replay) -> bool:
    """Nothing differs: no result, no exception, no exit status."""
    if other.trouble or other.status != reference.status:
        return False
    return all(found["status"] != "differs" for found in compared.values())


def stands_out(fix: Fix, compared: Compared) -> bool:
    """Some function of the fix differs."""
    return any(compared[f]["status"] == "differs" for f in fix.functions if f in compared)


def preserved(fix: Fix, compared: Compared, names: Sequence[Function], others: Sequence[Fix] = ()) -> Verdict:
    """The verdict where nothing differs. others: fixes that share functions with this one and were in the same run."""
    mine = {f: compared[f] for f in fix.functions if f in compared and compared[f]["leaves"]}
    if not mine:
        noisy = sum(compared[f]["noisy"] for f in fix.functions if f in compared)
        if noisy:
            return inconclusive("the results differ from run to run of the original already")
        return inconclusive("it ran, but no function around it returned arrays or numbers to compare")
    if not any(_witnessed(found) for found in mine.values()):
        return inconclusive("no call of the functions around it had the same inputs in both runs")
    together = f"; judged together with {_listed(others)}" if others else ""
    return Verdict("preserved", _amounts(mine, names) + together, details=_details(mine))


def differs(fix: Fix, compared: Compared, names: Sequence[Function], reference: Replay, other: Replay) -> Verdict:
    """The verdict where something does."""
    if other.trouble:
        return Verdict("differs", f"with the fix, {other.trouble}")
    ordered = [*fix.functions, *(f for f in compared if f not in fix.functions)]
    for number in ordered:
        first = compared.get(number, {}).get("first")
        if first:
            return Verdict(
                "differs", f"call {first['call'] + 1} of {_name(names[number])}: {first['what']}",
                details={"function": names[number][1], **first},
            )  # fmt: skip
    if other.failure is not None:
        return Verdict("differs", f"with the fix, the command ends with {other.failure['text'][:200]}")
    return Verdict("differs", f"the command ends with status {other.status} instead of {reference.status}")


def intended(fix: Fix, compared: Compared, names: Sequence[Function]) -> Verdict:
    """The verdict on a fix that may change results."""
    mine = {f: compared[f] for f in fix.functions if f in compared}
    for number, found in mine.items():
        first = found["first"]
        if first:
            call = f"call {first['call'] + 1} of {_name(names[number])}"
            reason = f"the results change, as they are meant to: {call}: {first['what']}"
            return Verdict("intended-change", reason, details={"function": names[number][1], **first})
    if any(found["status"] == "drift" for found in mine.values()):
        return Verdict(
            "intended-change", "the results change, as they are meant to, since the inputs do", details=_details(mine)
        )
    return preserved(fix, compared, names)


def enables(
    fix: Fix, raised: Message, compared: Compared | None, names: Sequence[Function], missing: str, impure: str = ""
) -> Verdict:
    """The original raised there, the fix runs. compared: with the original under ``jax_disable_jit``; missing: why not.

    impure: what in these functions is known to run once under jit, and in every call without: after their first calls,
    the two then part for a reason that is not the fix.
    """
    said = f"the original raised {raised['type']} here, the fix runs"
    error: dict[str, Any] = {"exception": {"type": raised["type"], "message": raised["message"]}}
    if compared is None:
        return Verdict("enables", f"{said}; nothing to compare with: {missing}", details={**error, "reference": None})
    mine = {f: compared[f] for f in fix.functions if f in compared and (compared[f]["leaves"] or compared[f]["first"])}
    if not mine:
        return Verdict(
            "enables", f"{said}; no result of the original under jax_disable_jit could be compared",
            details={**error, "reference": None},
        )  # fmt: skip
    number, found = next(iter(mine.items()))  # further out, other errors of the program show as well
    first = found["first"]
    error["reference"] = "jax_disable_jit"
    if not first and not _witnessed(found):
        reason = f"{said}; no call of {_name(names[number])} had the same inputs under jax_disable_jit"
        return Verdict("enables", reason, details={**error, "reference": None})
    if not first:
        good = {f: one for f, one in mine.items() if not one["first"]}
        reason = f"{said}; compared with the original under jax_disable_jit, {_amounts(good, names)}"
        return Verdict("enables", reason, details={**error, **_details(good)})
    if impure and first["call"] > 0:
        agree = f"the first {first['call']} calls agree" if first["call"] > 1 else "the first call agrees"
        return Verdict(
            "enables",
            f"{said}; of {_name(names[number])} {agree} with the original under jax_disable_jit, and later ones part "
            f"because of {impure}",
            details={**error, **first},
        )
    return Verdict(
        "differs",
        f"{said}, but not like the original under jax_disable_jit: call {first['call'] + 1} of "
        f"{_name(names[number])}: {first['what']}",
        details={**error, **first},
    )


def _witnessed(found: Mapping[str, Any]) -> bool:
    """Some call had inputs that were the same, or nearly."""
    return bool(found["calls"] > found["drifted"])


def _amounts(mine: Compared, names: Sequence[Function]) -> str:
    """``480 calls of step: the same to the last bit``."""
    calls = ", ".join(
        f"{found['calls']} call{'s' * (found['calls'] != 1)} of {_name(names[number])}" if names[number][1] != "<module>"
        else f"the variables of {names[number][0].rpartition('/')[2]}"
        for number, found in list(mine.items())[:3]
    )  # fmt: skip
    details = _details(mine)
    noisy = f"; {details['noisy']} results that differ from run to run were left out" * bool(details["noisy"])
    if details["max_relative"] == 0.0:
        said = f"{calls}: the same to the last bit"
    else:
        ulp = f"{details['max_ulp']:.0f} ulp, " if details["max_ulp"] < _MOST_ULP else ""
        said = f"{calls}: differences up to {ulp}{details['max_relative']:.2g} of the largest value"
    if details["drifted"]:
        calls = f"{details['drifted']} call{'s' * (details['drifted'] != 1)}"
        said += f", but for {calls} whose inputs differed already: up to {details['drift']:.2g}"
    return said + noisy


def _details(mine: Compared) -> dict[str, Any]:
    return {
        "calls": sum(one["calls"] for one in mine.values()),
        "results": sum(one["leaves"] for one in mine.values()),
        "max_ulp": max((one["ulp"] for one in mine.values()), default=0.0),
        "max_relative": max((one["relative"] for one in mine.values()), default=0.0),
        "noisy": sum(one["noisy"] for one in mine.values()),
        "drifted": sum(one["drifted"] for one in mine.values()),
        "drift": max((one["drift"] for one in mine.values()), default=0.0),
    }


def _name(function: Function) -> str:
    path, name = function
    return f"`{path.rpartition('/')[2]}`" if name == "<module>" else f"`{name}`"


def _listed(others: Sequence[Fix]) -> str:
    shown = [f"{fix.code} in line {fix.place.row}" for fix in others[:3]]
    return ", ".join(shown) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
