"""How a run shows that a finding of ``control-flow-signature`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import SIGNATURE_ERROR, Oracle

ORACLE = Oracle(SIGNATURE_ERROR)
