"""Why no run shows that a finding of ``pickled-array`` is true."""

from __future__ import annotations

UNPROVED = "only another release of JAX shows that it cannot read the file"
