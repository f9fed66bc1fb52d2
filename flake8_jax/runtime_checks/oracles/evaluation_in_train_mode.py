"""Why no run shows that a finding of ``evaluation-in-train-mode`` is true."""

from __future__ import annotations

UNPROVED = "a model in the wrong mode raises no error"
