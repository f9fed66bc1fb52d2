"""Why no run shows that a finding of ``root-at-zero`` is true."""

from __future__ import annotations

UNPROVED = "the run does not show the gradients, and the operand may be zero on some inputs only"
