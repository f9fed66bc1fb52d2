"""How a run shows that a finding of ``missing-gradient-sync`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, replicas_drift

ORACLE = Oracle(replicas_drift, "replicas")
