"""What JAX compiled and traced around the line of a finding, by function, types of arguments and runs.

Vocabulary
----------
turn     what happens from one run of the line to the next: an iteration of the loop around it, or a call of its function.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from typing import Protocol

from flake8_jax.runtime_checks.observations import Observations, Seen, Spot

FLOWS = frozenset(("jit(scan)", "jit(while)", "jit(cond)", "scan", "while", "cond"))
"""Loops and branches of JAX. Outside of jit, JAX compiles them with their bodies, once for each new body."""


class Place(Protocol):
    """Where a finding stands. words: of the statement that it stands in."""

    @property
    def spot(self) -> Spot: ...
    @property
    def statement(self) -> frozenset[int]: ...
    @property
    def words(self) -> frozenset[str]: ...


def is_explained_by(place: Place, seen: Seen) -> bool:
    """Whether JAX says that it compiled because of a function that the place defines or names."""
    return any(
        path == place.spot.path
        and (place.spot.first <= int(row) <= place.spot.last or int(row) in place.statement or name in place.words)
        for name, path, row in _NEW_FUNCTION.findall(explained(seen))
    )


_NEW_FUNCTION = re.compile(r"^\s*(\S+) id=\d+ defined at (.+):(\d+)\s*$", re.MULTILINE)


def around(o: Observations, kind: str) -> list[Seen]:
    """What happened at the line, or in the run of the function that it stands in.

    Operations that JAX runs eagerly are compiled too. JAX explains why it had to compile a function of the user's and says
    nothing of those, so where it explains anything (JAX 0.4.31) what it does not explain does not count.
    """
    mine = [seen for seen in o.all.get(kind, ()) if run_around(o, seen) is not None]
    explains = any(explained(seen) for seen in o.all.get(kind, ()))
    return [seen for seen in mine if explained(seen)] if explains else mine


def explained(seen: Seen) -> str:
    """Return JAX's last explanation before a compilation, be it that of a function that the compiled one calls."""
    return str(seen.get("explained") or seen.get("reason") or "")


def run_around(o: Observations, seen: Seen) -> int | None:
    """The run of the spot's function, wherever in it the stack passes: a jit is made on one line and called on another."""
    for place in seen["stack"]:
        if place[0] == o.spot.path and place[3] in o.watch.get("numbers", ()):
            return int(place[3])
    return None


def rows_around_line(o: Observations, found: list[Seen]) -> set[int]:
    """The rows of the line's function that were on the stacks."""
    places = [place for seen in found for place in seen["stack"]]
    return {int(place[1]) for place in places if place[0] == o.spot.path and place[3] in o.watch.get("numbers", ())}


def grouped(o: Observations, found: Sequence[Seen], *, across_runs: bool, typed: bool) -> list[list[Seen]]:
    """What was compiled, by the function; and by the run around the line unless across_runs, and, if typed, by the types of its
    arguments."""
    groups: dict[tuple[int | None, str, str], list[Seen]] = {}
    for seen in found:
        run = None if across_runs else run_around(o, seen)
        groups.setdefault((run, seen["name"], seen.get("signature", "") if typed else ""), []).append(seen)
    return list(groups.values())


def turns(o: Observations, found: Sequence[Seen]) -> int:
    """In how many runs of the line something happened. What happens before the next run of the line belongs to the last one."""
    moments = o.watch.get("moments", ())
    return len(
        {bisect.bisect(moments, seen["moment"]) if "moment" in seen else number for number, seen in enumerate(found)}
    )
