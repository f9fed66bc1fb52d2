"""Why no run shows that a finding of ``eager-gather`` is true."""

from __future__ import annotations

UNPROVED = "the time that the operation takes depends on the machine"
