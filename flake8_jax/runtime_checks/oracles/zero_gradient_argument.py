"""Why no run shows that a finding of ``zero-gradient-argument`` is true."""

from __future__ import annotations

UNPROVED = "the run does not show the gradients, and a gradient may be zero on some inputs only"
