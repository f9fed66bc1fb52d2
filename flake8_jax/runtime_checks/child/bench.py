"""Times a function, alone or against another: what is paid once, what for moving inputs, and what every call costs.

Request: see ``subjects``, and ``vs`` (a target, ``eager``, ``jit`` or null), ``rounds`` (at most), ``seconds`` (budget of a
case for its rounds), ``limit`` (seconds after which the process is ended), ``cores`` or null (all; one for a comparison on the
CPU). Result: see ``Bench`` in
``flake8_jax.runtime_checks.measurements``.

Vocabulary
----------
first call   tracing, lowering, compiling, and one run. steady: the calls after it.
fresh        copies of the inputs for every call, made outside of the time measured, where the function donates them.
dispatch     what a call costs that computes nothing: a jitted function with the same arguments and an empty body. return:
             when the call comes back, with the work still going on.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import os
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flake8_jax.runtime_checks.child import timing
from flake8_jax.runtime_checks.child.jitting import (
    Compilations,
    Function,
    Inputs,
    Refusal,
    answer,
    call,
    compiled_since,
    devices,
    executables,
    find,
    fresh,
    import_jax,
    loops_in,
    memory_of,
    mode_of,
    prepared,
    setting,
)
from flake8_jax.runtime_checks.child.main import Channel
from flake8_jax.runtime_checks.child.roofline import peak_of
from flake8_jax.runtime_checks.child.subjects import measured

_FRESH_BYTES = 64 << 20
_TRANSFERS = 7
_RETURNS, _MOST_RETURNS = 15, 300
_RETURNS_SECONDS = 0.02
"""Short calls are slower at first: so many seconds of them count."""


def run(request: dict[str, Any], channel: Channel) -> None:
    """Measure and tell."""
    answer(_begin, request, channel)


def _begin(request: Mapping[str, Any]) -> Mapping[str, Any]:
    request = {**request, "ends": time.monotonic() + request["limit"]}
    load = timing.machine_load()
    alone = 1 if request.get("vs") and _only_cpu() else None
    cores = _pin(request.get("cores") or alone)
    return measured(request, functools.partial(_measure, request, load, cores))


def _measure(
    request: Mapping[str, Any], load: float, cores: int, first: Function, inputs: list[Inputs]
) -> dict[str, Any]:
    functions = [first]
    if request.get("vs"):
        functions.append(_other(request, first))
    compilations = Compilations()
    cases = [_case(functions, case, compilations, request) for case in inputs]
    device = devices()[0]
    peaks = peak_of(device.platform, device.device_kind, any(_is_narrow(case) for case in inputs))
    return {
        "setting": setting(), "load": load, "busy": timing.is_busy(load), "cores": cores, "cases": cases, "peak": peaks,
    }  # fmt: skip


def _other(request: Mapping[str, Any], first: Function) -> Function:
    """What the function is compared with. Raises Refusal."""
    wanted, target = request["vs"], request["target"]
    plain = first.resolved.object
    if wanted == "eager":
        if first.jitted and not first.wrapped:
            plain = getattr(plain, "__wrapped__", None)
        if plain is None or not first.jitted:
            raise Refusal(f"--vs eager: {target} {'shows no function inside' if first.jitted else 'is not jitted'}")
        return _named(Function(first.resolved, plain, False, False, frozenset()), "without jit")
    if wanted == "jit":
        if first.jitted:
            raise Refusal(f"--vs jit: {target} is jitted; add --eager to time it without")
        return _named(prepared(first.resolved, target, request["static"], request["donate"], False), "jitted")
    # What is static or donated is told for the first; the second may have other parameters, or be jitted already.
    other = find(wanted, request["roots"], (), (), request["eager"])
    if other.wrapped and (request["static"] or request["donate"] or first.wrapped):
        static = request["static"] or sorted(first.static or ())
        other = find(wanted, request["roots"], static, request["donate"], request["eager"])
    return other


def _named(function: Function, how: str) -> Function:
    resolved = dataclasses.replace(function.resolved, qualname=f"{function.resolved.qualname} {how}")
    return dataclasses.replace(function, resolved=resolved)


def _is_narrow(inputs: Inputs) -> bool:
    import jax

    leaves = jax.tree_util.tree_leaves((inputs.args, dict(inputs.kwargs)))
    return any(str(getattr(leaf, "dtype", "")) in ("bfloat16", "float16") for leaf in leaves)


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
    functions: list[Function], inputs: Inputs, compilations: Compilations, request: Mapping[str, Any]
) -> dict[str, Any]:
    transfer = _transfer(inputs)
    facts: list[dict[str, Any]] = []
    results: list[Any] = []
    for function in functions:
        known = executables()
        first, result, donates = _first_call(function, inputs, compilations, request["roots"])
        results.append(result)
        facts.append({**_identity(function), "first_call": first, "donates": donates, **_program(function, known)})
    agreement = _agreement(*results) if len(results) == 2 else None
    del results
    measures = ("wall", "processor") if _never_sleeps(functions, facts) else ("wall",)
    plan = _Plan(functions, inputs, [fact["donates"] for fact in facts], measures)
    cost = sum(fact["first_call"]["seconds"] for fact in facts)
    epochs = _epochs(plan, cost, compilations, request)
    for place, fact in enumerate(facts):
        own = [call for epoch in epochs for call in epoch.samples[place].calls()]
        fact.update(run=timing.summary(own), samples=own, calls=epochs[-1].calls[place])
        fact["recompiles"] = _per_call([epoch.compiled[place] for epoch in epochs], len(own))
        fact.update(_dispatch(functions[place], inputs, fact["donates"]))
    pairs = [(epoch.samples[0], epoch.samples[-1]) for epoch in epochs]
    return {
        "label": inputs.label,
        "inputs": inputs.text,
        "source": inputs.source,
        "alike": inputs.alike,
        "unlike": inputs.unlike,
        "rounds": sum(len(epoch.samples[0].halves[0]) for epoch in epochs),
        "tight": timing.is_tight(pairs, measures),
        "transfer": transfer,
        "sides": facts,
        "comparison": timing.compare(pairs, measures) if len(functions) == 2 else None,
        "noise": timing.compare([(one, one) for one, _ in pairs], measures)["band"],
        "agreement": agreement,
    }


@dataclass(frozen=True)
class _Plan:
    """What is timed, and by which measures."""

    functions: list[Function]
    inputs: Inputs
    donates: list[bool]
    measures: tuple[str, ...]


@dataclass(frozen=True)
class _Epoch:
    """Samples, and calls in a block, of each function; and what compiled in the meantime."""

    samples: list[timing.Samples]
    calls: list[int]
    compiled: list[dict[str, dict[str, float]]]


def _epochs(plan: _Plan, cost: float, compilations: Compilations, request: Mapping[str, Any]) -> list[_Epoch]:
    """One where one function is timed. Of two, as many as compile within the budget, but enough for a claim, unless the process
    would be ended before. cost: seconds of the first calls."""
    jax: Any = import_jax()
    budget = request["seconds"]
    affordable = 1 + int(budget / max(cost, 1e-6))
    number = min(timing.EPOCHS, max(timing.FEWEST, affordable)) if len(plan.functions) == 2 else 1
    most = max(1, -(-request["rounds"] // number))
    found: list[_Epoch] = []
    for _ in range(number):
        own = plan.inputs
        if found and time.monotonic() + 2 * cost + budget / number > request["ends"]:
            break
        if found:
            jax.clear_caches()
            own = fresh(own)
        sides = [_side(function, own, donates) for function, donates in zip(plan.functions, plan.donates)]
        calls = [timing.calls_for(side)[0] for side in sides]
        compilations.reset()
        samples = timing.rounds(sides, calls, most, budget / number, plan.measures)
        names = [function.event_names for function in plan.functions]
        found.append(_Epoch(samples, calls, [compilations.of(own_names) for own_names in names]))
    return found


def _program(function: Function, known: list[Any]) -> dict[str, Any]:
    """What the compiler says of the program that was compiled last: floating-point operations and bytes of a call, and
    the memory that it needs."""
    found: dict[str, Any] = {"memory": {}, "cost": {}}
    largest = compiled_since(known, function) if function.jitted else None
    if largest is None:
        return found
    found["memory"] = memory_of(largest)
    try:
        said = largest.cost_analysis()
    except Exception:  # not every backend counts
        return found
    facts = (said[0] if said else {}) if isinstance(said, (list, tuple)) else said or {}
    found["cost"] = {name: float(facts[name]) for name in ("flops", "bytes accessed") if facts.get(name, -1) >= 0}
    texts = [module.to_string() for module in largest.hlo_modules()]
    found["cost"] |= loops_in("\n".join(texts)) if found["cost"] else {}
    if any("callback" in text for text in texts):
        found["calls_back"] = True
    return found


def _never_sleeps(functions: list[Function], facts: list[dict[str, Any]]) -> bool:
    """Whether the time of the processor is that of the work: compiled programs without calls of Python, on one processor.

    The facts lose what only this asks for.
    """
    calls_back = [fact.pop("calls_back", not fact["memory"]) for fact in facts]
    alone = hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) == 1
    compiled = all(function.jitted for function in functions)
    return alone and compiled and not any(calls_back) and devices()[0].platform == "cpu"


@functools.cache
def _computing_nothing() -> Any:
    """Return a jitted function that takes any arguments: one for all calls, so that JAX compiles it once for each kind of
    arguments."""
    jax: Any = import_jax()
    return jax.jit(lambda *args, **kwargs: ())


def _dispatch(function: Function, inputs: Inputs, donates: bool) -> dict[str, float | None]:
    """Seconds of a call that computes nothing, and until a call of the function comes back; None where it is not jitted,
    or where an argument is no array."""
    jax: Any = import_jax()
    if not function.jitted:
        return {"dispatch": None, "returns": None}
    empty = _computing_nothing()
    args, kwargs = inputs.args, dict(inputs.kwargs)
    idle: float | None = None
    try:
        empty(*args, **kwargs)
        idle = timing.quantile(
            timing.block(timing.Side(lambda n: [0] * n, lambda _: empty(*args, **kwargs)), 200), 0.25
        )
    except TypeError:  # a static argument
        pass
    took: list[float] = []
    while len(took) < _RETURNS or (sum(took) < _RETURNS_SECONDS and len(took) < _MOST_RETURNS):
        item = fresh(inputs) if donates else inputs
        started = time.perf_counter()
        result = function.call(*item.args, **item.kwargs)
        took.append(time.perf_counter() - started)
        jax.block_until_ready(result)
    return {"dispatch": idle, "returns": timing.quantile(took, 0.25)}


def _identity(function: Function) -> dict[str, Any]:
    resolved = function.resolved
    return {
        "name": resolved.qualname,
        "file": resolved.file,
        "line": resolved.line,
        "mode": mode_of(function),
    }


def _per_call(events: list[dict[str, dict[str, float]]], calls: int) -> dict[str, float]:
    """Compilations while steady, for one call: there should be none."""
    seconds = sum(step["seconds"] for epoch in events for step in epoch.values())
    return {"count": sum(epoch["compile"]["count"] for epoch in events) / calls, "seconds": seconds / calls}


def _first_call(
    function: Function, inputs: Inputs, compilations: Compilations, roots: list[str]
) -> tuple[dict[str, Any], Any, bool]:
    """What the first call costs, its result, and whether it takes the buffers of its inputs."""
    import jax

    own = fresh(inputs)
    compilations.reset()
    started = time.perf_counter()
    result = call(function, own, roots)
    seconds = time.perf_counter() - started
    events = compilations.of(function.event_names)
    leaves = jax.tree_util.tree_leaves((own.args, own.kwargs))
    donates = any(isinstance(leaf, jax.Array) and leaf.is_deleted() for leaf in leaves)
    steps: dict[str, Any] = {step: values["seconds"] for step, values in events.items()}
    return {"seconds": seconds, **steps, "compiled": events["compile"]["count"]}, result, donates


def _side(function: Function, inputs: Inputs, donates: bool) -> timing.Side:
    jax: Any = import_jax()
    wait, target = jax.block_until_ready, function.call

    def timed(item: Inputs) -> Any:
        return wait(target(*item.args, **item.kwargs))

    if not donates:
        return timing.Side(lambda calls: [inputs] * calls, timed)
    size = max(1, _bytes(inputs))
    most = max(1, min(100, _FRESH_BYTES // size))
    return timing.Side(lambda calls: [fresh(inputs) for _ in range(calls)], timed, most)


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
    took: list[float] = []
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
