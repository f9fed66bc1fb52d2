"""Why no run shows that a finding of ``too-new-api`` is true."""

UNPROVED = "it needs the older JAX"
