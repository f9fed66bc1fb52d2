"""jaxlint finds and fixes mistakes in JAX code, across a whole project."""

__version__ = "0.2.0"
