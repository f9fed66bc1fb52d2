"""What the comparison of two runs says of one fix, in words.

Vocabulary
----------
compared   by number of a function: calls, leaves, differences (see ``child.compare``); and what was printed.
of a fix   its functions, innermost first: those around the finding, and those on the way to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flake8_jax.core.findings import Verdict
from flake8_jax.runtime_checks.contracts import Fix
from flake8_jax.runtime_checks.observations import error_in_words, line_in_words
from flake8_jax.runtime_checks.replays import Compared, Function, Replay
from flake8_jax.runtime_checks.sandbox import Message

_MOST_ULP = 100  # beyond it, a number near zero was hit, and ulps say nothing
_MOST_DRIFT = 1e-3
Found = Mapping[str, Any]


_YOURSELF = "check the results yourself"


def inconclusive(reason: str) -> Verdict:
    """Return the verdict ``inconclusive`` with a reason, which says what the user can do."""
    return Verdict("inconclusive", reason)


def not_reached(fix: Fix, reference: Replay, names: Sequence[Function], command: Sequence[str]) -> Verdict:
    """Return the verdict on a fix whose line did not run in the reference run, with the reason."""
    mine = {names[number] for number in fix.functions}
    inside = [raised for raised in reference.raised if any((path, name) in mine for path, _, name in raised["stack"])]
    if inside or reference.failure is not None:
        first = inside[0] if inside else reference.failure
        assert first is not None
        return Verdict("blocked", f"the line did not run; another error comes first: {error_in_words(first)}")
    if reference.status:
        said = f": {reference.said}" if reference.said else ""
        return Verdict(
            "blocked", f"the line did not run; `{' '.join(command)}` ended with status {reference.status}{said}"
        )
    return inconclusive("the line did not run; use a command that runs it")


# --- whether anything differs --------------------------------------------------------------------------------------


def same_at_all(compared: Compared, reference: Replay, other: Replay) -> bool:
    """Return whether nothing differs: no result, no exception, no text and no exit status."""
    if other.trouble or other.status != reference.status or compared.printed["status"] == "differs":
        return False
    return not any(_stands_out(found) for found in compared.functions.values())


def is_unsure(compared: Compared) -> bool:
    """Return whether a run in float64 could decide more."""
    return any(found["status"] in ("unsure", "drift") for found in compared.functions.values())


def stands_out(fix: Fix, compared: Compared) -> bool:
    """Return whether the results of one of the fix's own functions differ."""
    return any(_stands_out(compared.functions[f]) for f in fix.functions if f in compared.functions)


def _stands_out(found: Found) -> bool:
    return found["status"] in ("differs", "unsure") or bool(found["miscalled"])


def is_different(found: Found) -> bool:
    """Return whether the results or the number of calls of a function differ beyond rounding."""
    return _stands_out(found)


def restructured(compared: Compared, names: Sequence[Function]) -> Verdict | None:
    """Return the verdict ``differs`` if a result has another tree, shape or dtype, which no fix may change; otherwise
    None.
    """
    for number, found in compared.functions.items():
        if found["structural"]:
            return Verdict("differs", f"{_name(names[number])}: {found['structural']}")
    return None


def is_changed(compared: Compared) -> bool:
    """Return whether any result or any printed text changed, rounding included."""
    return compared.printed["status"] == "differs" or any(
        found["changed"] or found["miscalled"] for found in compared.functions.values()
    )


# --- verdicts ------------------------------------------------------------------------------------------------------


def preserved(fix: Fix, compared: Compared, names: Sequence[Function], others: Sequence[Fix] = ()) -> Verdict:
    """Return the verdict on a fix after which nothing differs. others: fixes of the same functions, judged in the same
    run.
    """
    lacking = unwitnessed(fix, compared)
    if lacking:
        return inconclusive(lacking)
    mine = _seen(fix, compared)
    retyped = next((found["retyped"] for found in mine.values() if found["retyped"]), "")
    if retyped and not fix.announces_kinds:
        return Verdict("differs", f"the numbers are the same, but {retyped}, which the fix does not announce")
    together = f"; judged together with {listed(others, fix.place.path)}" if others else ""
    same = "; ".join(part for part in (mine and _amounts(mine, names), retyped, printed_in_words(compared)) if part)
    return Verdict("preserved", same + together, details=details(mine))


def unwitnessed(fix: Fix, compared: Compared) -> str:
    """Return why equal results prove nothing about a fix; an empty string if they do prove something."""
    mine = _seen(fix, compared)
    all_ = [compared.functions[f] for f in fix.functions if f in compared.functions]
    if mine:
        if not any(found["calls"] > found["drifted"] for found in mine.values()):
            return "no call of the functions around it had the same inputs in both runs; use a command with fewer steps"
        drift = max(found["drift"] for found in mine.values())
        if drift > _MOST_DRIFT:
            return (
                f"calls whose inputs differed already differ by {drift:.2g}, and no run in float64 could tell why; "
                "use a command with fewer steps"
            )
        return ""
    if any(found["noisy"] for found in all_):
        return "the results differ from run to run of the original already; make its seeds constant"
    if compared.printed["status"] == "same":
        return ""
    unseen = sum(found["unseen"] for found in all_)
    if unseen:
        return f"it ran, but none of its {unseen} result{'s' * (unseen != 1)} could be compared; print them as numbers"
    return (
        "it ran, but no function around it returned or changed anything that can be compared, and nothing was printed; "
        "print what depends on it"
    )


def differs(fix: Fix, compared: Compared, names: Sequence[Function], reference: Replay, other: Replay) -> Verdict:
    """Return the verdict on a fix after which something differs."""
    if other.trouble:
        return Verdict("differs", f"with the fix, {other.trouble}")
    found = difference(fix, compared, names)
    if found is not None:
        return found
    if other.failure is not None:
        return Verdict("differs", f"with the fix, the command ends with {other.failure['text'][:200]}")
    if other.status != reference.status:
        said = f": {other.said}" if other.said else ""
        return Verdict("differs", f"the command ends with status {other.status} instead of {reference.status}{said}")
    return Verdict("differs", f"with the fix, {compared.printed['what']}")


def difference(fix: Fix, compared: Compared, names: Sequence[Function]) -> Verdict | None:
    """Return the verdict on the first result that differs, those of the fix's own functions first; None if there is
    none.
    """
    ordered = [*fix.functions, *(f for f in compared.functions if f not in fix.functions)]
    found = {number: compared.functions[number] for number in ordered if number in compared.functions}
    for number, one in found.items():
        if one["first"] and one["status"] in ("differs", "unsure"):
            sure = one["status"] == "differs"
            missing = "" if sure else ", and no run in float64 could tell whether that is rounding"
            said = f"{_call(one['first'], names[number])}: {one['first']['what']}{missing}"
            return Verdict(
                "differs" if sure else "inconclusive", said, details={"function": names[number][1], **one["first"]}
            )
    for number, one in found.items():
        if one["miscalled"]:
            return inconclusive(f"{_name(names[number])} was called {one['miscalled']}, so its calls are not compared")
    return None


def _call(first: Found, function: Function) -> str:
    """``call 2 of `step```; a module has no calls."""
    return (
        f"a variable of {_name(function)}"
        if function[1] == "<module>"
        else f"call {first['call'] + 1} of {_name(function)}"
    )


def intended(fix: Fix, plain: Compared, names: Sequence[Function], proof: str, meant: Compared) -> Verdict:
    """Return the verdict on a fix that may change results and changes them as its contract says. proof: the comparison
    that showed it; plain: compared with the original as it is; meant: compared with what the contract means.
    """
    changed = {f: found for f, found in plain.functions.items() if found["first"] or found["changed"]}
    ordered = [*(f for f in fix.functions if f in changed), *(f for f in changed if f not in fix.functions)]
    first = next((plain.functions[f]["first"] for f in ordered if plain.functions[f]["first"]), None)
    where = next((_call(plain.functions[f]["first"], names[f]) for f in ordered if plain.functions[f]["first"]), "")
    what = f": {where}: {first['what']}" if first else ""
    mine = _seen(fix, meant)
    said = _amounts(mine, names) if mine else printed_in_words(meant)
    return Verdict(
        "intended-change",
        f"the results change, as they are meant to{what}; {proof}: {said}",
        details={**details(mine), **({"function": names[ordered[0]][1], **first} if first else {})},
    )


def enables(
    fix: Fix, raised: Message, compared: Compared | None, names: Sequence[Function], missing: str, impure: str = ""
) -> Verdict:
    """The original raised there, the fix runs. compared: with the original under ``jax_disable_jit``; missing: why not.

    impure: what in these functions is known to run once under jit, and in every call without: after their first calls,
    the two then part for a reason that is not the fix.
    """
    said = f"the original raised {raised['type']} here, the fix runs"
    error: dict[str, Any] = {"exception": {"type": raised["type"], "message": raised["message"]}, "reference": None}
    if compared is None:
        return Verdict("inconclusive", f"{said}; nothing to compare with: {missing}; {_YOURSELF}", details=error)
    mine = {
        f: compared.functions[f]
        for f in fix.functions
        if f in compared.functions
        and names[f][1] != "<module>"
        and (compared.functions[f]["leaves"] or compared.functions[f]["first"])
    }
    printed = compared.printed
    if not mine and printed["status"] == "same":
        error["reference"] = "jax_disable_jit"
        text = f"the {printed['lines']} line{'s' * (printed['lines'] != 1)} that it prints"
        return Verdict("enables", f"{said}; the same under jax_disable_jit: {text}", details=error)
    if not mine:
        why = f"; {printed['what']}, compared with the original under jax_disable_jit" * (
            printed["status"] == "differs"
        )
        reason = f"{said}; no result of the original under jax_disable_jit could be compared{why}; {_YOURSELF}"
        return Verdict("inconclusive", reason, details=error)
    number, found = next(iter(mine.items()))  # further out, other errors of the program show as well
    return _enables(fix, said, error, number, found, mine, names, impure)


def _enables(  # noqa: PLR0913  the parts of a sentence
    fix: Fix,
    said: str,
    error: dict[str, Any],
    number: int,
    found: Found,
    mine: Mapping[int, Found],
    names: Sequence[Function],
    impure: str,
) -> Verdict:
    first = found["first"]
    if not first and found["calls"] <= found["drifted"]:
        reason = f"{said}; no call of {_name(names[number])} had the same inputs under jax_disable_jit; {_YOURSELF}"
        return Verdict("inconclusive", reason, details=error)
    error = {**error, "reference": "jax_disable_jit"}
    if not first:
        good = {f: one for f, one in mine.items() if not one["first"]}
        reason = f"{said}; compared with the original under jax_disable_jit, {_amounts(good, names)}"
        return Verdict("enables", reason, details={**error, **details(good)})
    if impure and first["call"] > 0:
        agree = f"the first {first['call']} calls agree" if first["call"] > 1 else "the first call agrees"
        return Verdict(
            "enables",
            f"{said}; of {_name(names[number])} {agree} with the original under jax_disable_jit, and later calls "
            f"differ because of {impure}",
            details={**error, **first},
        )
    unsure = found["status"] == "unsure"
    return Verdict(
        "inconclusive" if unsure else "differs",
        f"{said}, but not like the original under jax_disable_jit: {_call(first, names[number])}: {first['what']}",
        details={**error, **first},
    )


# --- amounts -------------------------------------------------------------------------------------------------------


def _seen(fix: Fix, compared: Compared) -> dict[int, Found]:
    """The functions of the fix of which something was compared."""
    return {f: compared.functions[f] for f in fix.functions if compared.functions.get(f, {}).get("leaves")}


def _amounts(mine: Mapping[int, Found], names: Sequence[Function]) -> str:
    """``480 calls of step: the same to the last bit``."""
    calls = ", ".join(_calls(found, names[number]) for number, found in list(mine.items())[:3])
    return f"{calls}: {_closeness(details(mine))}"


def _calls(found: Found, function: Function) -> str:
    if function[1] == "<module>":
        return f"the variables of {function[0].rpartition('/')[2]}"
    of = f"{found['calls']} of {found['counts'][0]} calls" if found["counts"][0] > found["calls"] else ""
    return f"{of or str(found['calls']) + ' call' + 's' * (found['calls'] != 1)} of {_name(function)}"


def _closeness(amounts: Mapping[str, Any]) -> str:
    parts = []
    settled = amounts["rounding"] + amounts["scaled"]
    if not amounts["max_ulp"] and not amounts["max_relative"]:
        parts.append("the same to the last bit")
    elif amounts["max_ulp"] < _MOST_ULP:
        parts.append(
            f"differences up to {amounts['max_ulp']:.0f} ulp, {amounts['max_relative']:.2g} of the largest value"
        )
    else:
        parts.append(f"differences up to {amounts['max_relative']:.2g} of the largest value")
    if amounts["rounding"]:
        parts.append(
            f"in {_results(amounts['rounding'])} more than a few ulp, but in float64 they shrink as rounding does"
        )
    if amounts["scaled"]:
        parts.append(
            f"in {_results(amounts['scaled'])} of the size of rounding in the largest number around (no run in float64)"
        )
    if amounts["drifted"]:
        calls = f"{amounts['drifted']} call{'s' * (amounts['drifted'] != 1)}"
        parts.append(f"but for {calls} whose inputs differed already: up to {amounts['drift']:.2g}")
    if amounts["unseen"]:
        all_ = amounts["unseen"] + amounts["results"]
        parts.append(f"{amounts['unseen']} of {_results(all_)} could not be compared")
    if amounts["noisy"]:
        differ = "differs" if amounts["noisy"] == 1 else "differ"
        parts.append(f"{_results(amounts['noisy'])} that {differ} from run to run left out")
    assert parts and settled >= 0
    return ", ".join(parts[:1]) + "".join(f"; {part}" for part in parts[1:])


def _results(count: int) -> str:
    return f"{count} result{'s' * (count != 1)}"


def printed_in_words(compared: Compared) -> str:
    """Return how the printed texts compare; an empty string if nothing was printed, or something else."""
    printed = compared.printed
    if printed["status"] == "noisy":
        return "the text that is printed differs from run to run"
    if printed["status"] != "same":
        return ""
    text = {
        "same": "the same text is printed",
        "close": "the same text is printed, with numbers that differ by rounding",
        "others": "the same words are printed, with other numbers",
    }[printed["numbers"]]
    noisy = printed["noisy"]
    lines = "1 line that differs" if noisy == 1 else f"{noisy} lines that differ"
    return text + f", but for {lines} from run to run, such as times" * bool(noisy)


def details(mine: Mapping[int, Found]) -> dict[str, Any]:
    """Return the numbers of a verdict: counts of calls and results, and the largest differences (relative, and in
    ulps).
    """

    def total(name: str) -> int:
        return sum(one[name] for one in mine.values())

    def most(name: str) -> float:
        return max((one[name] for one in mine.values()), default=0.0)

    return {
        "calls": total("calls"), "results": total("leaves"), "unseen": total("unseen"), "max_ulp": min(most("ulp"), 1e300),
        "max_relative": min(most("relative"), 1e300), "noisy": total("noisy"), "drifted": total("drifted"),
        "drift": most("drift"), "rounding": total("rounding"), "scaled": total("scaled"),
    }  # fmt: skip


def _name(function: Function) -> str:
    path, name = function
    return f"`{path.rpartition('/')[2]}`" if name == "<module>" else f"`{name}`"


def listed(others: Sequence[Fix], own: str = "") -> str:
    """Return the places of fixes as ``JAX203 in line 30 of model.py``; without the file if it is ``own``."""
    shown = [f"{fix.code} in {line_in_words(fix.place.path, fix.place.row, own)}" for fix in others[:3]]
    return ", ".join(shown) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
