"""jaxlint: sees the sharp bits of JAX code across a whole project, and repairs them."""

__version__ = "0.2.0"
