"""Why no run shows that a finding of ``unjitted-function`` is true."""

from __future__ import annotations

UNPROVED = "the time that the operations take depends on the machine and on the arrays"
