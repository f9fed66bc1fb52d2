"""Why no run shows that a finding of ``tree-map-result`` is true."""

from __future__ import annotations

UNPROVED = "the program runs without an error, and only its author knows what it is to do with the leaves"
