"""Runs inputs in turn through one jitted function: which of them compile again, and why.

Request: see ``subjects``. Result: see ``Recompiles`` in ``flake8_jax.runtime_checks.measurements``.

All inputs are made before the first call: making them compiles as well. What compiled is read from JAX's own events, by
the exact name of the function; why, from its explanation of cache misses and from comparing the inputs.
"""

from __future__ import annotations

import functools
import logging
import re
import time
from typing import Any

from flake8_jax.runtime_checks.child.cache_keys import Signature, closest, signature_of
from flake8_jax.runtime_checks.child.explanations import explain_misses
from flake8_jax.runtime_checks.child.jitting import (
    Compilations,
    Function,
    Inputs,
    answer,
    call,
    compiled_since,
    executables,
    fresh,
    memory_of,
    mode_of,
    setting,
    version,
)
from flake8_jax.runtime_checks.child.main import Channel
from flake8_jax.runtime_checks.child.subjects import measured


def run(request: dict[str, Any], channel: Channel) -> None:
    """Run the cases and tell."""
    answer(lambda asked: measured(asked, functools.partial(_compare, asked["roots"])), request, channel)


def _compare(roots: list[str], function: Function, inputs: list[Inputs]) -> dict[str, Any]:
    compilations = Compilations()
    explained = _Explanations(function)
    names = function.event_names
    compiled_before: dict[str, Signature] = {}
    cases = []
    for case in inputs:
        signature = signature_of(function.resolved.object, function.static, case.args, case.kwargs)
        own = fresh(case)
        known = executables()
        compilations.reset()
        explained.reset()
        started = time.perf_counter()
        call(function, own, roots)
        seconds = time.perf_counter() - started
        steps = compilations.of(names)
        counts = {step: int(facts["count"]) for step, facts in steps.items()}
        entry: dict[str, Any] = {
            "label": case.label,
            "inputs": case.text,
            "compiled": any(counts.values()),
            "counts": counts,
            "seconds": seconds,
            "steps": {step: facts["seconds"] for step, facts in steps.items()},
            "alike": case.alike,
            "unlike": case.unlike,
            "source": case.source,
        }
        if entry["compiled"]:
            label, differences = closest(signature, compiled_before)
            entry["compared_with"] = label
            entry["differences"] = [difference.as_data() for difference in differences]
            entry["explanation"] = explained.text() if label is not None else ""
            entry["names"] = compilations.compiled() if names is None else []
            made = compiled_since(known, function)
            entry["memory"] = memory_of(made) if made is not None else {}
            compiled_before[case.label] = signature
        cases.append(entry)
    resolved = function.resolved
    return {
        "setting": setting(),
        "name": resolved.qualname,
        "file": resolved.file,
        "line": resolved.line,
        "mode": mode_of(function),
        "static": None if function.static is None else sorted(function.static),
        "cases": cases,
    }


class _Explanations(logging.Handler):
    """Keeps what JAX says of cache misses of one function."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self._name = re.escape(getattr(function.call, "__name__", "") or "")
        self._said: list[str] = []
        if version() >= (0, 4, 31):  # explain_cache_misses is there since then
            explain_misses()
            logging.getLogger("jax").addHandler(self)

    def reset(self) -> None:
        self._said.clear()

    def text(self) -> str:
        """The last explanation, without the lines that only say which function it is about."""
        return self._said[-1] if self._said else ""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if "CACHE MISS" not in message or not re.search(rf"\b(for|function:)\s+{self._name}(\s|$)", message):
            return
        lines = [line.strip() for line in message.splitlines()[1:]]
        reason = [line for line in lines if line and not re.match(r"for .* defined at |all previously seen", line)]
        self._said.append("\n".join(reason))
