"""All programs that grow. Importing the modules of this package enters their generators."""

from growth import control_flow, definitions, expressions
from growth.registry import GENERATORS, SIZES

__all__ = ["GENERATORS", "SIZES", "control_flow", "definitions", "expressions"]
