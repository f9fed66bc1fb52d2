"""How a value differs from one iteration of a loop to the next; ``trackers.variation`` finds out which do.

Vocabulary
----------
variation   the loop, and what changes: the number itself, or the shape of an array.
distinct    no two iterations have the same.
ragged      a size is the same in all iterations but the last, which gets what is left.
few         another size in each iteration, but so few of them that they are meant.
drifting    the loop computes the number from its old value, but not in every iteration, or with a limit.
masked      a mask has selected the elements, and JAX has compiled that for their number.
open        a list that an inner loop fills until the data ends it, such as an episode.
batch       what a loader yields: arrays whose leading axes are ragged, in an unknown structure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from flake8_jax.semantics.domain.values import Array, HostArray, ListValue, Static, Tree, Unknown, Value

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.stack import LoopState


VARYING = frozenset({Static, Array, HostArray, Unknown, Tree, ListValue})
"""What may differ from one iteration of a loop to the next (see ``variation``)."""


FEW = 4
"""So many values of a static argument, or shapes, may be meant."""


class Variation(msgspec.Struct, frozen=True, eq=False):
    """See the vocabulary above. source: of an integer, the loop's own, which it was computed from. listed: the loop runs
    over values that are written out, so they are meant."""

    loop: LoopState
    of_shape: bool = False
    distinct: bool = True
    numbers: tuple[int, ...] | None = None
    source: Value | None = None
    ragged: bool = False
    listed: bool = False
    few: bool = False
    batch: bool = False
    masked: bool = False
    drifts: bool = False
    open: bool = False

    @property
    def mark(self) -> tuple[bool, bool, bool, bool, bool, bool, tuple[int, ...] | None]:
        """What a function could tell from it."""
        return self.of_shape, self.distinct, self.ragged, self.few, self.drifts, self.open, self.numbers
