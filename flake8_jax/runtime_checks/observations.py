"""What a child saw, asked about one finding.

Vocabulary
----------
spot     the rows of a finding. here: the innermost of the user's frames stands there; through: one of the user's frames does.
run      one call of the function that the spot is in.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

Seen = dict[str, Any]


class Spot(msgspec.Struct, frozen=True):
    """Rows ``first`` to ``last`` (1-based, both included) of a file."""

    path: str
    first: int
    last: int

    def holds(self, place: list[Any]) -> bool:
        """Return whether a frame of a stack stands in these rows."""
        return bool(place[0] == self.path and self.first <= place[1] <= self.last)

    def is_on(self, stack: list[list[Any]]) -> bool:
        """Return whether a frame of a stack does."""
        return any(self.holds(place) for place in stack)


class Use(msgspec.Struct, frozen=True):
    """A use of a key that a finding names. places: what the stack of that use passes: path, row, and the rows of the statement
    there."""

    places: tuple[tuple[str, int, frozenset[int]], ...] = ()

    def is_on(self, stack: list[list[Any]]) -> bool:
        """Return whether a stack passes all places."""
        return all(
            any(at[0] == path and (at[1] == row or at[1] in rows) for at in stack) for path, row, rows in self.places
        )


def line_in_words(path: str, row: int, own: str) -> str:
    """Return ``line 3``, or for a file other than ``own``, ``line 3 of src/model.py``, because two files may have the
    same name.
    """
    return f"line {row}" if path == own else f"line {row} of {file_in_words(path)}"


def file_in_words(path: str) -> str:
    """Return a path from the current folder on; the name alone for a file elsewhere."""
    return os.path.relpath(path) if path.startswith(os.path.join(os.getcwd(), "")) else os.path.basename(path)


def error_in_words(seen: Seen, most: int = 200) -> str:
    """Return ``TypeError: its message``; a long message ends after a whole word with ``…``."""
    message = seen["message"]
    if len(message) > most:
        message = f"{message[: most - 2].rsplit(None, 1)[0]} …"
    return f"{seen['type']}: {message}" if message else str(seen["type"])


class Observations(msgspec.Struct, frozen=True):
    """Everything that one run of the workload showed. ``watch``: what was counted at this finding's rows. statement: the rows
    of the statement that it stands in. name: the text of the finding, where that is a name. first, again: the two
    uses of a key that the finding names. span: where it stands: first row and column, last row and column. chain: the
    places (path and row) of the calls that lead there. loop: the rows of the loop around it in its function, if there is
    one. words: of the statement."""

    spot: Spot
    watch: Seen
    all: Seen
    roots: tuple[str, ...] = ()
    statement: frozenset[int] = frozenset()
    name: str = ""
    first: Use = Use()
    again: Use = Use()
    span: tuple[int, int, int, int] | None = None
    chain: frozenset[tuple[str, int]] = frozenset()
    loop: frozenset[int] = frozenset()
    words: frozenset[str] = frozenset()

    def visits(self, *states: str) -> int:
        """Count how often the line began to run (in these states of tracing, or in all)."""
        counts = self.watch.get("visits", {})
        return sum(counts.get(state, 0) for state in states or counts)

    def most(self, *states: str) -> int:
        """Return the largest such count in one run of the function."""
        counts = self.watch.get("most", {})
        return max((counts.get(state, 0) for state in states or counts), default=0)

    def runs(self, *states: str) -> int:
        """Count the runs of the function in which the line ran (in these states of tracing, or in all)."""
        counts = self.watch.get("runs", {})
        return sum(counts.get(state, 0) for state in states or counts)

    def here(self, kind: str) -> list[Seen]:
        """Return what happened with a frame of these rows innermost."""
        return [seen for seen in self.all.get(kind, ()) if seen["stack"] and self.spot.holds(seen["stack"][0])]

    def through(self, kind: str) -> list[Seen]:
        """Return what happened with a frame of these rows anywhere on the stack."""
        return [seen for seen in self.all.get(kind, ()) if self.spot.is_on(seen["stack"])]

    def of_statement(self, kind: str) -> list[Seen]:
        """Return what happened outside of tracing with a frame of the statement's rows innermost."""
        found = [seen for seen in self.all.get(kind, ()) if seen["state"] == "eager" and seen["stack"]]
        return [s for s in found if s["stack"][0][0] == self.spot.path and s["stack"][0][1] in self.statement]

    def beside(self, seen: Seen) -> int | None:
        """Return the row of the same statement, or the neighboring row of the same function, at which something
        happened.
        """
        rows = self.statement | {self.spot.first - 1, self.spot.last + 1}
        found = next(
            (place[1] for place in seen["stack"] if place[0] == self.spot.path and place[1] in self.statement), None
        )
        if found is not None:
            return int(found)
        row = int(seen["stack"][0][1]) if seen["stack"] else 0
        return row if seen["stack"] and self.is_in_function(seen) and row in rows else None

    def precedes(self, seen: Seen) -> bool:
        """Return whether something happened in a row above the line, of its statement, or in the row after it."""
        row = int(seen["stack"][0][1])
        return row <= self.spot.last + 1 or row in self.statement

    def is_of_statement(self, places: Sequence[Sequence[Any]]) -> bool:
        """Return whether one of the places is in the line or its statement."""
        return any(
            place[0] == self.spot.path and (self.spot.first <= place[1] <= self.spot.last or place[1] in self.statement)
            for place in places
        )

    def row_above(self, places: Sequence[Sequence[Any]]) -> int | None:
        """Return the row at which the innermost place stands, if that is above the line in the same function."""
        names = {str(name).rpartition(".")[2] for name in self.watch.get("functions", ())}
        for path, row, function in places[:1]:
            if path == self.spot.path and row < self.spot.first and str(function).rpartition(".")[2] in names:
                return int(row)
        return None

    def misses(self, seen: Seen) -> bool:
        """Return whether something happened in these rows, but in another expression."""
        span = seen.get("span")
        if self.span is None or span is None or not self.spot.holds(seen["stack"][0]):
            return False
        return not (self.span[:2] < tuple(span[2:]) and tuple(span[:2]) < self.span[2:])

    def is_in_function(self, seen: Seen) -> bool:
        """Return whether something happened in the function that contains the line."""
        path, _, function, _ = seen["stack"][0]
        return path == self.spot.path and function in self.watch.get("functions", ())

    def run_of(self, seen: Seen) -> int | None:
        """Return the number of the run of the line's function that was on the stack; None if there was none."""
        return next((place[3] for place in seen["stack"] if self.spot.holds(place)), None)

    def in_one_run(self, found: Sequence[Seen]) -> Counter[tuple[Any, str]]:
        """Count what happened in the same run of the line's function, or of a function of the call chain, which may have the
        loop: by run and name.
        """
        here = [(self.run_of(seen), seen.get("name", "")) for seen in found]
        calls = [
            (place[3], seen.get("name", ""))
            for seen in found
            for place in seen["stack"]
            if (place[0], place[1]) in self.chain and not self.spot.holds(place)
        ]
        return Counter([*here, *calls])

    def is_user(self, path: str) -> bool:
        """Return whether a file is the user's."""
        return any(path == root or path.startswith(root.rstrip("/") + "/") for root in self.roots)

    def place(self, seen: Seen) -> tuple[str, int] | None:
        """Return the path and the row of the innermost user frame on the stack; None if there is none."""
        return next(((place[0], place[1]) for place in seen["stack"] if self.is_user(place[0])), None)

    def invocation(self, seen: Seen) -> int | None:
        """Return the number of the run of the outermost user function on the stack: what one caller from outside asked
        for.
        """
        runs = [place[3] for place in seen["stack"] if self.is_user(place[0])]
        return runs[-1] if runs else None
