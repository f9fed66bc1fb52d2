"""Why no run shows that a finding of ``unsupported-import`` is true."""

from __future__ import annotations

UNPROVED = "the code works with the installed release of JAX, and only another one shows that it does not"
