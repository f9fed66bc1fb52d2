"""What a function compiles to: shapes, jaxpr, StableHLO, machine code, and what the compiler says of cost and memory.

Request: see ``subjects``, and ``platforms`` (empty: the one of JAX), ``topology`` or null, ``devices``: a number of virtual
ones or null, ``write``: a folder for the texts or null, ``dialects``: texts that are wanted, ``lines``: of each to show.
Result: see ``Probe`` in ``flake8_jax.runtime_checks.measurements``. Nothing is run: the inputs are shapes only.
"""

from __future__ import annotations

import functools
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from flake8_jax.runtime_checks.child.inputs import describe
from flake8_jax.runtime_checks.child.jitting import (
    Function,
    Inputs,
    Refusal,
    answer,
    failure,
    mode_of,
    setting,
)
from flake8_jax.runtime_checks.child.main import Channel
from flake8_jax.runtime_checks.child.platforms import Stage, own_platform, prepare, stage
from flake8_jax.runtime_checks.child.subjects import measured
from flake8_jax.runtime_checks.child.wrappers import OfArrays

_SUFFIXES = {
    "jaxpr": "jaxpr.txt", "stablehlo": "stablehlo.mlir", "hlo": "hlo.txt", "unoptimized-hlo": "unoptimized-hlo.txt",
}  # fmt: skip


def run(request: dict[str, Any], channel: Channel) -> None:
    """Compile and tell."""
    prepare(request["devices"])
    answer(lambda asked: measured(asked, functools.partial(_probe, asked), abstract=True), request, channel)


def _probe(request: Mapping[str, Any], function: Function, inputs: list[Inputs]) -> dict[str, Any]:
    platforms = request["platforms"] or [own_platform()]
    files: list[str] = []
    cases = [_case(function, case, platforms, request, files) for case in inputs]
    resolved = function.resolved
    return {
        "setting": setting(),
        "name": resolved.qualname,
        "file": resolved.file,
        "line": resolved.line,
        "mode": mode_of(function),
        "cases": cases,
        "files": files,
    }


def _case(
    function: Function, inputs: Inputs, platforms: list[str], request: Mapping[str, Any], files: list[str]
) -> dict[str, Any]:
    try:
        jaxpr, output = _traced(function, inputs)
    except Exception as error:  # the user's function runs here
        raise Refusal(failure(function, inputs, error, request["roots"])) from error
    counts = Counter(str(equation.primitive) for equation in _equations(jaxpr)) if jaxpr is not None else Counter()
    stages = [stage(function, inputs, platform, request["topology"]) for platform in platforms]
    if request.get("write"):
        stem = re.sub(r"\W+", "_", f"{function.resolved.qualname}_{inputs.label}").strip("_")
        wanted = request["dialects"] or ["jaxpr", "stablehlo", "hlo"]
        if jaxpr is not None and "jaxpr" in wanted:
            files.append(_written(request["write"], f"{stem}.{_SUFFIXES['jaxpr']}", str(jaxpr)))
        for found in stages:
            files += [
                _written(request["write"], f"{stem}.{found.platform}.{_SUFFIXES[kind]}", text)
                for kind, text in found.texts.items()
                if kind in wanted
            ]
    return {
        "label": inputs.label,
        "inputs": inputs.text,
        "source": inputs.source,
        "alike": inputs.alike,
        "unlike": inputs.unlike,
        "output": output,
        "equations": sum(counts.values()),
        "primitives": dict(counts.most_common()),
        "stages": [_data(found, request) for found in stages],
        "preview": _preview(str(jaxpr), request) if jaxpr is not None and "jaxpr" in request["dialects"] else "",
    }


def _data(found: Stage, request: Mapping[str, Any]) -> dict[str, Any]:
    shown = {kind: _preview(text, request) for kind, text in found.texts.items() if kind in request["dialects"]}
    return {
        **vars(found), "texts": {kind: len(text.splitlines()) for kind, text in found.texts.items()}, "previews": shown,
    }  # fmt: skip


def _preview(text: str, request: Mapping[str, Any]) -> str:
    """The first lines of a text."""
    lines = text.rstrip().splitlines()
    most = request["lines"]
    rest = len(lines) - most
    return "\n".join([*lines[:most], *([f"… {rest} more lines (--lines, or --write DIR)"] if rest > 0 else [])])


def _written(folder: str, name: str, text: str) -> str:
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text if text.endswith("\n") else text + "\n")
    return path


def _traced(function: Function, inputs: Inputs) -> tuple[Any, str]:
    """The jaxpr, None if this JAX does not show it; and what comes out."""
    call: Any = function.call
    if hasattr(call, "trace"):
        traced = call.trace(*inputs.args, **inputs.kwargs)
        inner = getattr(traced, "_inner_obj", traced)  # nnx.jit wraps what jax.jit returns
        return getattr(inner, "jaxpr", None), describe(getattr(inner, "out_info", None))
    of_arrays = OfArrays(call, inputs)
    output = describe(of_arrays.result())
    jitted = of_arrays.jitted()
    return (jitted.trace(of_arrays.arrays).jaxpr if hasattr(jitted, "trace") else None), output


def _equations(jaxpr: Any) -> Iterator[Any]:
    """All equations, those of inner jaxprs too: the equation that holds them is counted as one more."""
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    for equation in getattr(inner, "eqns", ()):
        yield equation
        for value in equation.params.values():
            for part in value if isinstance(value, (list, tuple)) else (value,):
                if hasattr(part, "eqns") or hasattr(getattr(part, "jaxpr", None), "eqns"):
                    yield from _equations(part)
