"""Why no run shows that a finding of ``late-bound-closure`` is true."""

from __future__ import annotations

UNPROVED = "a run sees the value that the function reads, not the one that its iteration had"
