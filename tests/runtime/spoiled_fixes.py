"""Fixes spoiled on purpose, for ``jaxlint prove``: programs that run on JAX, and what is done to the fixed text.

Each program has findings whose fixes are right; ``spoils`` has what a wrong fix might have done besides or instead. So
``prove`` has to accept the fixes of every program as they are (where it can know), and none of the spoiled ones. Each
family of rules has a module.

Limitations: no program for ``flax_collections``, which needs Flax.
"""

from __future__ import annotations

from runtime.spoiled import compilation, devices, host, keys, numerics, releases, state, traced_values

PROGRAMS = (
    *traced_values.PROGRAMS,
    *host.PROGRAMS,
    *keys.PROGRAMS,
    *compilation.PROGRAMS,
    *state.PROGRAMS,
    *devices.PROGRAMS,
    *numerics.PROGRAMS,
    *releases.PROGRAMS,
)
