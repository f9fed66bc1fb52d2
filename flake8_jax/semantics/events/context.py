"""How the code at an event runs: the field ``context`` of every event."""

from __future__ import annotations

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain.scopes import ModuleScope


class Context(msgspec.Struct, frozen=True, eq=False):
    """How the code at an event runs. Every event has a field ``context`` of this class.
    - ``staged``: JAX certainly traces the code.
    - ``ambient``: JAX traces the code, and every new array is a tracer here, even ``jnp.zeros(3)``.
    - ``once``: JAX keeps the trace, so Python runs the code only once (under ``jit`` or ``scan``, but not under ``grad`` or
      ``vmap`` alone).
    - ``mapped``: the code runs inside a ``vmap`` or ``pmap``.
    - ``differentiated``: the code runs inside a ``grad`` or another transform that needs derivatives.
    - ``shapes_only``: the innermost transform only computes shapes, as ``eval_shape`` does.
    - ``trace``: the number of the innermost trace; 0 outside tracing.
    - ``scope``: the module.
    - ``function``: the qualified name of the innermost function; ``""`` at module level.
    - ``inner``: the IR of the innermost function; None at module level.
    - ``loop``: the number of Python loops around the code in the innermost function. A loop in traced code does not count,
      because it runs only once, while JAX traces.
    - ``loop_ids``: the identities of all loops that run, in the callers, too.
    - ``iterations``: how often these loops run in total; 0 if jaxlint does not know it.
    - ``first``: jaxlint analyzes the first iteration of a loop, and does not know whether there is a second one.
    - ``ready``: the code has already waited for all results that the running loops started on the device.
    - ``guarded``: the code does not run in every iteration of a running loop, because it is inside an ``if`` that tests a
      counter of this loop, such as ``if step % 100 == 0``.
    - ``coarse``: each iteration of the innermost running loop contains a loop that runs on the device, or an ``epoch``.
    - ``epoch``: each iteration of the innermost running loop contains another Python loop that calls compiled functions, or
      a loop that runs on the device and is not part of a differentiated function.
    - ``steady``: what makes an iteration ``coarse`` is not inside an ``if``.
    - ``carries``: each iteration of the innermost running loop computes with results of the iteration before.
    - ``caught``: the code is in a ``try`` whose handlers catch the exception that the event would raise.
    - ``undecided``: the code runs only for one outcome of a test in the innermost function, and jaxlint does not know the
      outcome.
    - ``presumed``: no code in the project traces this code. jaxlint analyzes it as a user of the library would trace it, and
      shows the reports only with ``--preview``.
    - ``in_main``: a function ``main`` leads to this code."""

    scope: ModuleScope
    staged: bool
    ambient: bool
    once: bool
    mapped: bool
    trace: int
    function: str
    inner: ir.Function | None
    loop: int
    iterations: int
    first: bool
    ready: bool
    guarded: bool
    coarse: bool
    carries: bool
    caught: bool
    presumed: bool
    in_main: bool
    shapes_only: bool
    loop_ids: frozenset[int]
    differentiated: bool = False
    epoch: bool = False
    undecided: bool = False
    steady: bool = False

    def fresh_from_loop(self, dispatched: int) -> bool:
        """An array was dispatched inside a loop that is still running."""
        return dispatched in self.loop_ids
