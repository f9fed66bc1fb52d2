"""Why no run shows that a finding of ``sort-for-top-k`` is true."""

from __future__ import annotations

UNPROVED = "the time of a sort depends on the machine and on the array"
