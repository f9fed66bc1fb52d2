"""How a run shows that a finding of ``unknown-mesh-axis`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, raises

ORACLE = Oracle(raises("ValueError", "KeyError", "DuplicateSpecError", anywhere="axis|axes|mesh|spec"))
