"""Why no run shows that a finding of ``probabilities-as-logits`` is true."""

from __future__ import annotations

UNPROVED = "logits may lie between 0 and 1, too, so the values alone do not show what they stand for"
