"""What a fix may change, by the rule that it is for, and what says so.

Vocabulary
----------
same     nothing changes. draws: random numbers change, and nothing that keys do not decide: with draws that do not depend on
         their keys, nothing does. meant: the results are those of the original with what was meant put in.
finite   NaN and infinity may become numbers. nearer: results may come nearer to those in float64. shown: what is printed is
         what the original prints without jit. unknown: nothing but the fix says what the results should be.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from flake8_jax.runtime_checks.replays import Meant, Place

Contract = Literal["same", "draws", "meant", "finite", "nearer", "shown", "unknown"]

_DRAWS = ("key-", "shared-key-", "constant-key", "same-constant-key")
_BY_RULE: dict[str, Contract] = {
    "discarded-update": "meant",
    "nan-comparison": "meant",
    "where-nan-grad": "finite",
    "unstable-expression": "nearer",
    "print-in-staged": "shown",
    "host-rng-in-staged": "unknown",
    "late-bound-closure": "unknown",
    "late-configuration": "unknown",
    "overwritten-host-buffer": "unknown",
}
_MEANINGS = {
    "discarded-update": "update",
    "nan-comparison": "nan",
    "array-item-assignment": "put",
    "integer-grad": "float",
    "removed-api": "name",
    "deprecated-api": "name",
}
_ANNOUNCES = re.compile(r"array|dtype|type|number|Python|float|jnp\.|jax\.|\bkey")
_USE = re.compile(r"Use `([\w.]+)`")


class Fix(msgspec.Struct, frozen=True):
    """A fix to be judged. functions: numbers, innermost first. message: its own; safe: what it says of itself."""

    number: int
    rule: str
    code: str
    place: Place
    functions: tuple[int, ...]
    message: str = ""
    safe: bool = False

    @property
    def contract(self) -> Contract:
        if self.rule.startswith(_DRAWS):
            return "draws"
        return _BY_RULE.get(self.rule, "same")

    @property
    def is_intended(self) -> bool:
        """Whether it is there to change results: other random numbers, or right values for wrong ones."""
        return self.contract not in ("same", "shown")

    @property
    def announces_kinds(self) -> bool:
        """Whether its message says that values become others of the same numbers: an array for a number, and so on."""
        return not self.safe and _ANNOUNCES.search(self.message) is not None

    @property
    def allowed(self) -> frozenset[str]:
        """Differences that its contract and its message allow, in the words of ``child.closeness`` and ``child.printed``."""
        found = {"finite", "nearer"} & {self.contract}
        if self.rule == "legacy-prng-key":
            found.add("keys")
        if "dtypes" in self.message:
            found.add("kinds")
        return frozenset(found)

    def meaning(self) -> Meant | None:
        """What was meant at its place; None where nothing but the fix itself says that."""
        kind = _MEANINGS.get(self.rule)
        name = _USE.search(self.message)
        if kind is None or (kind == "name" and name is None):
            return None
        return Meant(self.number, kind, name.group(1) if name is not None and kind == "name" else "")
