"""Why no run shows that a finding of ``loader-in-main-thread`` is true."""

from __future__ import annotations

UNPROVED = "the time that the loader takes depends on the data set and on the machine"
