"""jaxlint: sees the sharp bits of JAX code across a whole project, repairs them, and proves both on the compiler."""

__version__ = "0.2.0"
