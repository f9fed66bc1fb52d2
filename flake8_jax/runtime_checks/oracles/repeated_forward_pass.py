"""Why no run shows that a finding of ``repeated-forward-pass`` is true."""

from __future__ import annotations

UNPROVED = "a run does not show that two forward passes are the same"
