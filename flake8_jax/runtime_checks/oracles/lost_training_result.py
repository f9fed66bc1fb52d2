"""Why no run can show that a finding of ``lost-training-result`` is true."""

from __future__ import annotations

UNPROVED = "the program runs as it is written, and only its author knows that the values should differ"
