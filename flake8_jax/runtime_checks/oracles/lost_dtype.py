"""Why no run shows that a finding of ``lost-dtype`` is true."""

from __future__ import annotations

UNPROVED = "the call runs without an error, and a run does not show which dtype its author wanted"
