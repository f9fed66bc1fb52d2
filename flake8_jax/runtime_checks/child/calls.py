"""A workload for findings without a command: the functions that lead to them, called with inputs made for the purpose.

Vocabulary
----------
call     for one finding, targets (see ``targets``) that lead to it, the best first, and texts of inputs that a user
         recorded or declared, tried before any that are made up.
reached  the watched line ran, or an exception of the line itself was seen.

Limitations: functions inside of functions (what is around them is
called), inputs of classes of the user's that are neither dataclasses nor named tuples.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from flake8_jax.runtime_checks.child.grammar import Case, InputError, parse_case
from flake8_jax.runtime_checks.child.inputs import describe_case, guesses, make_case
from flake8_jax.runtime_checks.child.spelling import FILLS, call_code
from flake8_jax.runtime_checks.child.targets import Resolved, TargetError, resolve
from flake8_jax.runtime_checks.child.watching import Watch, Watcher

MOST_CASES = 24  # tried of one target
MORE = 8  # tried after the line raised: another error than the one that is looked for may come of a wrong shape
MOST_OBJECTS = 12  # tried of a class
AGAIN = 3  # further calls with the inputs that work: what happens in every call shows only then


def run_calls(calls: list[dict[str, Any]], roots: list[str], watcher: Watcher, say: Callable[..., None]) -> None:
    """Call what leads to each watched line until it is reached; tell with which inputs, and of every try the outcome and
    the call as Python code, once for each filling of arrays."""
    for call in calls:
        tries: list[_Try] = []
        reached = functools.partial(_reached, watcher, watcher.watches[call["watch"]])
        jitted = False
        for target, jitted in call["targets"]:
            if _try(target, jitted, call["cases"], roots, reached, tries) and not call.get("every"):
                break
        last = tries[-1] if tries else _Try("", "")
        say(
            "called",
            watch=call["watch"],
            inputs=last.inputs,
            outcome=last.outcome,
            attempts=len(tries),
            jitted=jitted,
            tries=[{"outcome": one.outcome, "code": one.code, "reached": one.reached} for one in tries if one.code],
        )


@dataclass(frozen=True)
class _Try:
    inputs: str
    outcome: str
    code: tuple[str, ...] = ()
    reached: bool = False


def _reached(watcher: Watcher, watch: Watch) -> bool:
    return bool(watch.visits) or watcher.raised_at(watch)


def _try(
    target: str,
    jitted: bool,
    cases: list[str],
    roots: list[str],
    reached: Callable[[], bool],
    tries: list[_Try],
) -> bool:
    """Whether some call of the target came to the line. jitted: call it under ``jax.jit``."""
    try:
        found = resolve(target, roots)
    except TargetError as error:
        tries.append(_Try("", str(error)))
        return False
    try:
        from jax import jit

        function, made = _bound(found)
        failed = 0
        for case in itertools.islice(_cases(function, cases), MOST_CASES):
            args, kwargs = make_case(case)
            outcome = _call(jit(function) if jitted else function, args, kwargs)
            inputs = f"{found.qualname}({describe_case(args, kwargs)})"
            tries.append(_Try(inputs, outcome, _code(found, made, jitted, case), reached()))
            if not tries[-1].reached:
                continue
            if not outcome:
                for number in range(AGAIN):
                    _call(jit(function) if jitted else function, *make_case(case, seed=number + 1))
                return True
            failed += 1
            if failed == MORE or cases:  # inputs that were recorded are taken at their word
                return True
    except InputError as error:
        tries.append(_Try(found.qualname, str(error)))
        return False
    return reached()


def _cases(function: Callable[..., Any], texts: list[str]) -> Iterator[Case]:
    for text in texts:
        try:
            yield parse_case(text)
        except InputError:  # a recorded type that is no input: ``pkg.State``
            continue
    yield from guesses(function)


def _bound(found: Resolved) -> tuple[Callable[..., Any], Case | None]:
    """A method of an object of its class, made with inputs made up for it; and with which."""
    function: Callable[..., Any] = found.object
    owner, _, name = found.qualname.rpartition(".")
    if not owner:
        return function, None
    cls: Any = found.module
    for part in owner.split("."):
        cls = getattr(cls, part)
    if isinstance(inspect.getattr_static(cls, name), (staticmethod, classmethod)):
        return function, None
    failed = "it has no signature"
    for case in itertools.islice(guesses(cls, scalars_first=True), MOST_OBJECTS):
        args, kwargs = make_case(case)
        try:
            made = cls(*args, **kwargs)
        except Exception as error:  # the user's constructor
            failed = type(error).__name__
            continue
        return getattr(made, name), case
    raise InputError(f"{owner} cannot be made with inputs made up for it ({failed})")


def _code(found: Resolved, made: Case | None, jitted: bool, case: Case) -> tuple[str, ...]:
    """The call as Python code, for each way of filling arrays. made: the inputs of the object whose method it is."""
    owner, _, name = found.qualname.rpartition(".")
    codes = []
    for fill in FILLS:
        called = found.qualname if made is None else f"{call_code(owner, made, fill)}.{name}"
        codes.append(call_code(f"jax.jit({called})" if jitted else called, case, fill))
    return tuple(codes)


def _call(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> str:
    """Call it; the exception in a few words, or nothing."""
    try:
        function(*args, **kwargs)
    except Exception as error:  # the user's function: that it fails may be the point
        lines = str(error).strip().splitlines()
        return f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__
    return ""
