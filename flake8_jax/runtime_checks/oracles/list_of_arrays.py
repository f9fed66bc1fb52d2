"""Why no run shows that a finding of ``list-of-arrays`` is true."""

from __future__ import annotations

UNPROVED = "How long the conversion takes depends on the machine and on the length of the list."
