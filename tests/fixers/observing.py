"""Everything that a program shows, on JAX; see ``support/jax_child.py``.

A program is a ``main.py``, with modules beside it, whose ``case_...`` functions (and ``meant_...``, see ``contexts``) are
called in order, each as if it were the first. What a case returns is observed whole, so it returns what it mutates, too.

observation   of one case: what it returned (``shown``), what it printed, and the type of what it raised.

Values are seen by the module that ``jaxlint prove`` sees them by, so a difference that escapes one escapes both.
"""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from typing import Any

from jax_child import load

sys.path.append(str(Path(__file__).resolve().parents[2]))  # where this runs under another interpreter

from flake8_jax.runtime_checks.child.snapshots import Snapshots, Store

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
    """A value as ``jaxlint prove`` looks at it: its leaves (structure, kinds, dtypes, weak types), and the bytes of the arrays
    among them by digest, so that what is equal is equal to the last bit (NaN with its sign)."""
    store = Store()
    leaves = Snapshots(store, lambda kind: kind.__module__ == "main").take(value)
    return {"leaves": leaves, "contents": {digest: data.hex() for digest, data in store.contents.items()}}
