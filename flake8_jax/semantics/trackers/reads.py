"""Whether it matters that the contents of an array are read.

It does once a buffer was donated (see ``buffers``) or a step was taken that could donate one (see ``steps``). Before that,
the question costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake8_jax.semantics.machine.tracker import Tracker

if TYPE_CHECKING:
    from flake8_jax.semantics.machine.core import Machine


class Reads(Tracker):
    """matter: from now on."""

    def __init__(self, m: Machine) -> None:
        self.matter = False
