"""Why no run shows that a finding of ``argument-meaning`` is true."""

from __future__ import annotations

UNPROVED = "the call runs without an error, and a run does not show what its author meant"
