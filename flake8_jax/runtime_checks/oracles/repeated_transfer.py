"""Why no run shows that a finding of ``repeated-transfer`` is true."""

from __future__ import annotations

UNPROVED = "the time that a copy takes depends on the machine and on the size of the array"
