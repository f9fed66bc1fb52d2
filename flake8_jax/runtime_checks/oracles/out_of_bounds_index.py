"""Why no run shows that a finding of ``out-of-bounds-index`` is true."""

from __future__ import annotations

UNPROVED = "JAX raises no error at the index"
