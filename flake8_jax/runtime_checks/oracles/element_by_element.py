"""Why no run shows that a finding of ``element-by-element`` is true."""

from __future__ import annotations

UNPROVED = "the time that it takes depends on the machine and on the length of the array"
