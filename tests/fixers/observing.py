"""Everything that a program shows, on JAX; see ``support/jax_child.py``.

A program is a ``main.py``, with modules beside it, whose ``case_...`` functions (and ``meant_...``, see ``contexts``) are
called in order, each as if it were the first. What a case returns is observed whole, so it returns what it mutates, too.

observation   of one case: what it returned (``shown``), what it printed, and the type of what it raised.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

from jax_child import load

Observation = dict[str, Any]


def run(folder: Path) -> dict[str, Observation]:
    """The observation of each case of ``main.py``; of the import itself where that raises."""
    try:
        module = load(folder / "main.py", "main")
    except Exception as error:  # whatever a program raises is what it shows
        return {"import": {"raised": type(error).__name__, "says": str(error)[:300]}}
    return {name: observed(case) for name, case in list(vars(module).items()) if name.startswith(("case_", "meant_"))}


def observed(case: Any) -> Observation:
    import jax

    jax.clear_caches()  # what another case traced would not print again
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            value = case()
            jax.block_until_ready(value)
            found: Observation = {"value": shown(value)}
        except Exception as error:
            found = {"raised": type(error).__name__, "says": str(error)[:300]}
        jax.effects_barrier()
    return found | {"printed": printed.getvalue()}


def shown(value: Any) -> Any:
    """A value as JSON: structure, kinds, dtypes, weak types, and numbers to the last bit (NaN with its sign)."""
    import jax
    import numpy as np

    if isinstance(value, jax.Array):
        if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
            return ["key", shown(jax.random.key_data(value))]
        host = np.asarray(value)
        return [
            "jax",
            str(value.dtype),
            "weak" if value.weak_type else "strong",
            list(host.shape),
            host.tobytes().hex(),
        ]
    if isinstance(value, np.ndarray | np.generic):
        kind = "numpy" if isinstance(value, np.ndarray) else "scalar"
        numbers = [shown(one) for one in value.flat] if value.dtype == object else value.tobytes().hex()
        return [kind, str(value.dtype), list(value.shape), numbers]
    if isinstance(value, dict):
        return [type(value).__name__, [[repr(key), shown(one)] for key, one in value.items()]]
    if isinstance(value, list | tuple):
        return [type(value).__name__, [shown(one) for one in value]]
    if value is None or isinstance(value, str | bytes | bool | int | float | complex):
        return [type(value).__name__, repr(value)]
    return [type(value).__name__]
