"""What calls of transformed functions gave, as far as it shows in how that is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake8_jax.semantics.machine.tracker import Tracker

if TYPE_CHECKING:
    from flake8_jax.semantics.machine.core import Machine
    from flake8_jax.semantics.models.transform_signatures import Product


class Products(Tracker):
    """made: products by the identity of their value. chosen_at: depth of the call stack at which one of several functions
    is called or transformed."""

    def __init__(self, m: Machine) -> None:
        self.made: dict[int, Product] = {}
        self.chosen_at = -1

    def enter(self) -> int:
        return self.chosen_at

    def leave(self, m: Machine, saved: int, *, finished: bool) -> None:
        if not finished:
            self.chosen_at = saved
