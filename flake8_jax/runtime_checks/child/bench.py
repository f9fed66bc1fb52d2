"""Times a function, alone or against another: what is paid once, what for moving inputs, and what every call costs.

Request: ``target``, ``vs`` or null, ``cases``, ``rounds``, ``seconds`` (budget of a case for its rounds), ``static``,
``donate``, ``eager``, ``cores`` or null (all; one for a comparison on the CPU), ``roots``, ``seed``, ``dims``. Result:
``setting``, ``load``, ``busy``, ``cores``, and ``cases``: ``sides`` (times in seconds), ``comparison``, ``agreement``.

Vocabulary
----------
first call   tracing, lowering, compiling, and one run. steady: the calls after it.
fresh        copies of the inputs for every call, made outside of the time measured, where the function donates them.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import time
from collections.abc import Mapping
from typing import Any

from flake8_jax.runtime_checks.child import timing
from flake8_jax.runtime_checks.child.jitting import (
    Compilations,
    Function,
    Inputs,
    all_inputs,
    answer,
    call,
    find,
    import_jax,
    mode_of,
    setting,
)
from flake8_jax.runtime_checks.child.main import Channel

_FRESH_BYTES = 64 << 20
_TRANSFERS = 7


def run(request: dict[str, Any], channel: Channel) -> None:
    """Measure and tell."""
    answer(_measure, request, channel)


def _measure(request: Mapping[str, Any]) -> dict[str, Any]:
    load = timing.machine_load()
    alone = 1 if request.get("vs") and _only_cpu() else None
    cores = _pin(request.get("cores") or alone)
    first = find(request["target"], request["roots"], request["static"], request["donate"], request["eager"])
    functions = [first]
    if request.get("vs"):
        # What is static or donated is told for the first; the second may have other parameters, or be jitted already.
        other = find(request["vs"], request["roots"], (), (), request["eager"])
        if other.wrapped and (request["static"] or request["donate"]):
            other = find(request["vs"], request["roots"], request["static"], request["donate"], request["eager"])
        functions.append(other)
    heard = Compilations()
    cases = [_case(functions, inputs, heard, request, load) for inputs in all_inputs(request, first)]
    return {"setting": setting(), "load": load, "busy": timing.is_busy(load), "cores": cores, "cases": cases}


def _only_cpu() -> bool:
    """Whether JAX will run on the processor, as far as one can know before it starts: afterwards it is late to pin."""
    asked = os.environ.get("JAX_PLATFORMS")
    plugins = ("jax_cuda12_plugin", "jax_cuda13_plugin", "jax_rocm60_plugin", "libtpu", "jax_plugins")
    return asked == "cpu" if asked else not any(importlib.util.find_spec(name) for name in plugins)


def _pin(wanted: int | None) -> int:
    """Keep the process to so many processors; how many it has."""
    if not hasattr(os, "sched_setaffinity"):  # Linux only
        return os.cpu_count() or 1
    allowed = sorted(os.sched_getaffinity(0))
    if wanted is not None:
        os.sched_setaffinity(0, allowed[:wanted])
    return min(len(allowed), wanted or len(allowed))


def _case(
    functions: list[Function], inputs: Inputs, heard: Compilations, request: Mapping[str, Any], load: float
) -> dict[str, Any]:
    transfer = _transfer(inputs)
    facts: list[dict[str, Any]] = []
    sides: list[timing.Side] = []
    results: list[Any] = []
    for function in functions:
        first, result, donates = _first_call(function, inputs, heard, request["roots"])
        results.append(result)
        facts.append({**_identity(function), "first_call": first, "donates": donates})
        sides.append(_side(function, inputs, donates))
    agreement = _agreement(*results) if len(results) == 2 else None
    del results
    sizes = [timing.calls_for(side) for side in sides]
    calls = [number for number, _ in sizes]
    each = sum(number * max(seconds, 1e-7) for number, seconds in [*sizes, sizes[0]])
    number = max(timing.LEAST_ROUNDS, min(request["rounds"], int(request["seconds"] / each)))
    heard.reset()
    samples = timing.rounds(sides, calls, number)
    again = heard.of(None)
    total = number * (sum(calls) + calls[0])
    for place, fact in enumerate(facts):
        own = samples[place] + samples[-1] if place == 0 else samples[place]
        fact.update(calls=calls[place], run=timing.summary(own), samples=own)
        names = functions[place].event_names
        during = heard.of(names) if names is not None or len(functions) == 1 else None
        made = number * calls[place] * (2 if place == 0 else 1)
        fact["recompiles"] = _per_call(during, made) if during is not None else _per_call(again, total)
    least = timing.LEAST_RATIO_BUSY if timing.is_busy(load) else timing.LEAST_RATIO
    return {
        "label": inputs.label,
        "inputs": inputs.text,
        "source": inputs.source,
        "rounds": number,
        "asked_rounds": request["rounds"],
        "transfer": transfer,
        "sides": facts,
        "comparison": timing.compare(samples[0], samples[-1], samples[1], least) if len(sides) == 2 else None,
        "noise": timing.compare(samples[0], samples[-1], samples[0], least)["band"],
        "agreement": agreement,
    }


def _identity(function: Function) -> dict[str, Any]:
    resolved = function.resolved
    return {
        "name": resolved.qualname,
        "file": resolved.file,
        "line": resolved.line,
        "mode": mode_of(function),
    }


def _per_call(events: dict[str, dict[str, float]], calls: int) -> dict[str, float]:
    """Compilations while steady, for one call: there should be none."""
    seconds = sum(step["seconds"] for step in events.values())
    return {"count": events["compile"]["count"] / calls, "seconds": seconds / calls}


def _fresh(inputs: Inputs) -> tuple[Any, Any]:
    jax: Any = import_jax()
    return jax.block_until_ready(  # type: ignore[no-any-return]
        jax.tree_util.tree_map(
            lambda leaf: leaf.copy() if isinstance(leaf, jax.Array) else leaf, (inputs.args, dict(inputs.kwargs))
        )
    )


def _first_call(
    function: Function, inputs: Inputs, heard: Compilations, roots: list[str]
) -> tuple[dict[str, Any], Any, bool]:
    """What the first call costs, its result, and whether it takes the buffers of its inputs."""
    import jax

    args, kwargs = _fresh(inputs)
    heard.reset()
    started = time.perf_counter()
    result = call(function, Inputs(inputs.label, inputs.text, args, kwargs, inputs.source), roots)
    seconds = time.perf_counter() - started
    events = heard.of(function.event_names)
    leaves = jax.tree_util.tree_leaves((args, kwargs))
    donates = any(isinstance(leaf, jax.Array) and leaf.is_deleted() for leaf in leaves)
    steps: dict[str, Any] = {step: values["seconds"] for step, values in events.items()}
    return {"seconds": seconds, **steps, "compiled": events["compile"]["count"]}, result, donates


def _side(function: Function, inputs: Inputs, donates: bool) -> timing.Side:
    jax: Any = import_jax()
    wait, target = jax.block_until_ready, function.call
    given = (inputs.args, dict(inputs.kwargs))

    def timed(item: tuple[Any, Any]) -> Any:
        return wait(target(*item[0], **item[1]))

    if not donates:
        return timing.Side(lambda calls: [given] * calls, timed)
    size = max(1, _bytes(inputs))
    most = max(1, min(100, _FRESH_BYTES // size))
    return timing.Side(lambda calls: [_fresh(inputs) for _ in range(calls)], timed, most)


def _bytes(inputs: Inputs) -> int:
    import jax

    leaves = jax.tree_util.tree_leaves((inputs.args, dict(inputs.kwargs)))
    return sum(int(getattr(leaf, "nbytes", 0)) for leaf in leaves)


def _transfer(inputs: Inputs) -> dict[str, Any]:
    """Bytes of the arrays among the inputs, and the seconds that moving them to the device takes."""
    jax: Any = import_jax()
    import numpy as np

    leaves = jax.tree_util.tree_leaves((inputs.args, dict(inputs.kwargs)))
    hosts = [
        np.array(leaf)
        for leaf in leaves
        if isinstance(leaf, (jax.Array, np.ndarray)) and not jax.numpy.issubdtype(leaf.dtype, jax.dtypes.extended)
    ]
    took = []
    for _ in range(_TRANSFERS if hosts else 0):
        started = time.perf_counter()
        for moved in [jax.device_put(host) for host in hosts]:
            moved.block_until_ready()
        took.append(time.perf_counter() - started)
    return {"bytes": sum(host.nbytes for host in hosts), "seconds": statistics.median(took) if took else 0.0}


def _agreement(first: Any, second: Any) -> dict[str, Any]:
    """Whether two results are the same: ``same``, ``difference`` relative to the largest number, ``reason``."""
    jax: Any = import_jax()
    import numpy as np

    ours, structure = jax.tree_util.tree_flatten(first)
    theirs, other = jax.tree_util.tree_flatten(second)
    if structure != other:
        return {"same": False, "difference": None, "reason": "the results are structured differently"}
    worst, same = 0.0, True
    for one, two in zip(ours, theirs):
        if not hasattr(one, "dtype"):
            same = same and (one is two or bool(one == two))
            continue
        if one.shape != getattr(two, "shape", None) or one.dtype != two.dtype:
            kinds = [f"{side.dtype}{list(side.shape)}" for side in (one, two) if hasattr(side, "dtype")]
            return {"same": False, "difference": None, "reason": f"a result is {' and '.join(kinds)}"}
        if jax.numpy.issubdtype(one.dtype, jax.dtypes.prng_key):
            one, two = jax.random.key_data(one), jax.random.key_data(two)
        inexact = jax.numpy.issubdtype(one.dtype, np.inexact)
        limit = float(np.sqrt(jax.numpy.finfo(one.dtype).eps)) if inexact else 0.0
        wide = np.complex128 if jax.numpy.issubdtype(one.dtype, np.complexfloating) else np.float64
        a, b = np.asarray(one).astype(wide), np.asarray(two).astype(wide)
        if not a.size:
            continue
        if not np.array_equal(np.isfinite(a), np.isfinite(b)):
            return {"same": False, "difference": None, "reason": "one result is finite where the other is not"}
        a, b = np.where(np.isfinite(a), a, 0), np.where(np.isfinite(b), b, 0)
        scale = float(np.max(np.abs(a))) or 1.0
        difference = float(np.max(np.abs(a - b))) / scale
        worst, same = max(worst, difference), same and difference <= limit
    return {"same": bool(same), "difference": worst, "reason": ""}
