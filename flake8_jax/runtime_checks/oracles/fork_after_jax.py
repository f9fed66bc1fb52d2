"""Why no run shows that a finding of ``fork-after-jax`` is true."""

from __future__ import annotations

UNPROVED = "the observing process may not fork a copy of what observes it, and a hang is a matter of luck"
