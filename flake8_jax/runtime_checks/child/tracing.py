"""What JAX is doing right now, asked of its internals, which differ between releases.

Vocabulary
----------
eager      no trace is open. concrete: only such as ``grad``, whose tracers carry values. abstract: some open trace
           builds a jaxpr or maps an axis; under those a line of Python runs once a compilation.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

EAGER, CONCRETE, ABSTRACT = "eager", "concrete", "abstract"


def trace_state() -> str:
    """``eager``, ``concrete`` or ``abstract``; ``eager`` as long as JAX is not imported."""
    core = sys.modules.get("jax._src.core")
    if core is None:
        return EAGER
    context = getattr(core, "trace_ctx", None)
    if context is None:  # before JAX 0.4.36: a stack of traces, and a dynamic one where jit traces
        return _old_state(core)
    trace = context.trace
    state = EAGER
    while trace is not None and type(trace).__name__ != "EvalTrace":
        if type(trace).__name__ in ("DynamicJaxprTrace", "BatchTrace", "MapTrace", "ShardMapTrace"):
            return ABSTRACT
        state = CONCRETE
        trace = getattr(trace, "parent_trace", None)
    return state


def outside_trace() -> AbstractContextManager[object]:
    """In it, JAX computes as where no trace is open. Before JAX 0.4.36, tracers alone lead into a trace."""
    core = sys.modules.get("jax._src.core")
    return nullcontext() if core is None or not hasattr(core, "trace_ctx") else core.eval_context()


def is_ambient() -> bool:
    """Some open trace builds a jaxpr, so that ``jnp.zeros(3)`` is a tracer as well."""
    core = sys.modules.get("jax._src.core")
    context = getattr(core, "trace_ctx", None)
    if context is None:
        return trace_state() == ABSTRACT
    trace = context.trace
    while trace is not None and type(trace).__name__ != "EvalTrace":
        if type(trace).__name__ == "DynamicJaxprTrace":
            return True
        trace = getattr(trace, "parent_trace", None)
    return False


def _old_state(core: Any) -> str:
    state = core.thread_local_state.trace_state.trace_stack
    kinds = {main.trace_type.__name__ for main in state.stack}
    if kinds & {"DynamicJaxprTrace", "BatchTrace", "MapTrace", "ShardMapTrace"}:
        return ABSTRACT
    return EAGER if kinds <= {"EvalTrace"} else CONCRETE


def is_abstract_tracer(value: Any) -> bool:
    """A tracer without a value."""
    core = sys.modules.get("jax._src.core")
    return core is not None and isinstance(value, core.Tracer) and value_of(value) is None


def value_of(tracer: Any) -> Any:
    """The array that a tracer stands for, as under ``grad``; None where it has none."""
    core: Any = sys.modules["jax._src.core"]
    convert = getattr(core, "to_concrete_value", None)
    if convert is not None:
        return convert(tracer)
    aval = getattr(tracer, "aval", None)
    return getattr(aval, "val", None)  # of a ConcreteArray, before JAX 0.4.36
