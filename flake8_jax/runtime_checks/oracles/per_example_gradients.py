"""Why no run shows that a finding of ``per-example-gradients`` is true."""

from __future__ import annotations

UNPROVED = "a run does not show how the gradients could be computed"
