"""What ``inspect`` says of parameters, held against what a profile recorded of the same functions.

Vocabulary
----------
row        what inspect says of one function, as its JSON: filename, line, first_line, qualname, params with kinds.
seen       a parameter that was an abstract tracer, or a pytree with one in it, in at least one recorded call.
found      of those seen, the ones of which inspect says ``traced``, ``pytree`` or ``key``: their share is the recall.
claimed    a parameter that inspect calls ``traced`` or ``pytree``, in a function that was recorded while JAX traced.
borne out  of those claimed, the ones that were tracers (of either tracing) in at least one call: the precision.

Functions are matched by file and by the line of their first decorator; where two share it (lambdas), by qualified name,
then by the names of their parameters; of functions that even these do not distinguish, the kinds are united.

Limitations: a claim about a function that nothing ran staged is neither right nor wrong here, and a parameter that the
recorded run happened never to pass a tracer counts as wrongly claimed although another caller may.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flake8_jax.runtime_checks.profile import Function

Row = dict[str, Any]

FINDS = frozenset({"traced", "pytree", "key"})
CLAIMS = frozenset({"traced", "pytree"})


@dataclass(frozen=True)
class Param:
    """One parameter of one recorded function beside what inspect says of it. ``kinds`` is None if it says nothing."""

    filename: str
    line: int
    qualname: str
    name: str
    counts: dict[str, int]
    staged_calls: int
    kinds: frozenset[str] | None

    @property
    def seen(self) -> bool:
        """Return whether the run passed a tracer."""
        return bool(self.counts.get("traced") or self.counts.get("tree"))

    @property
    def seen_concrete(self) -> bool:
        """Return whether traced calls passed values that were not tracers, but of a kind that inspect says."""
        return bool(self.counts.get("concrete")) and not self.seen

    @property
    def found(self) -> bool:
        return self.kinds is not None and bool(self.kinds & FINDS)

    @property
    def claimed(self) -> bool:
        return self.staged_calls > 0 and self.kinds is not None and bool(self.kinds & CLAIMS)

    @property
    def borne_out(self) -> bool:
        return self.seen or self.seen_concrete


@dataclass(frozen=True)
class Agreement:
    """Counts of parameters: see the vocabulary."""

    seen: int
    found: int
    claimed: int
    borne_out: int

    @property
    def recall(self) -> float:
        """Return the share of recorded tracers that inspect found (0 to 1; 1 if there are none)."""
        return self.found / self.seen if self.seen else 1.0

    @property
    def precision(self) -> float:
        """Return the share of parameters said to be traced that were recorded as tracers (0 to 1; 1 if there are none)."""
        return self.borne_out / self.claimed if self.claimed else 1.0


def agreement(params: Iterable[Param]) -> Agreement:
    """Count how far the inferred kinds of parameters agree with the recorded ones."""
    known = list(params)
    seen = [p for p in known if p.seen]
    claimed = [p for p in known if p.claimed]
    return Agreement(len(seen), sum(p.found for p in seen), len(claimed), sum(p.borne_out for p in claimed))


def said_of(agreed: Agreement) -> str:
    """Describe the agreement in four sentences for the user."""
    return (
        f"The run recorded {agreed.seen} parameters as tracers. jaxlint found {agreed.found} of them "
        f"({100 * agreed.recall:.1f} %). In the traced functions, jaxlint calls {agreed.claimed} parameters traced. "
        f"{agreed.borne_out} of them were tracers ({100 * agreed.precision:.1f} %)."
    )


def joined(recorded: Iterable[Function], inspected: Iterable[Row]) -> Iterator[Param]:
    """Yield every recorded parameter with what inspect says of it."""
    table = by_line(inspected)
    for function in recorded:
        kinds = kinds_by_name(matches(function, table))
        for name, counts in function.params.items():
            if counts:
                said = kinds.get(name)
                yield Param(
                    os.path.realpath(function.filename), function.line, function.qualname, name, counts,
                    function.staged_calls, said,
                )  # fmt: skip


def by_line(rows: Iterable[Row]) -> dict[tuple[str, int], list[Row]]:
    """Index inspected functions by file and line, both that of the ``def`` and that of the first decorator."""
    table: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        filename = os.path.realpath(row["filename"])
        for line in {row["line"], row["first_line"]}:
            table[filename, line].append(row)
    return table


def matches(recorded: Function, table: dict[tuple[str, int], list[Row]]) -> list[Row]:
    """Return the inspected functions that a recorded one may be: usually one, several if nothing distinguishes them."""
    candidates = table.get((os.path.realpath(recorded.filename), recorded.line), [])
    last = recorded.qualname.rsplit(".", 1)[-1]
    names = set(recorded.params)
    narrowings = (
        lambda row: row["qualname"] == recorded.qualname,
        lambda row: row["qualname"].rsplit(".", 1)[-1] == last,
        lambda row: row["first_line"] == recorded.line,
        lambda row: {param["name"].lstrip("*") for param in row["params"]} == names,
    )
    for keep in narrowings:
        candidates = [row for row in candidates if keep(row)] or candidates
    return candidates


def kinds_by_name(rows: Iterable[Row]) -> dict[str, frozenset[str]]:
    """Return the inspected kinds of parameters by name, joined over functions that may be meant."""
    kinds: dict[str, frozenset[str]] = {}
    for row in rows:
        for param in row["params"]:
            name = param["name"].lstrip("*")
            kinds[name] = kinds.get(name, frozenset()) | frozenset(param["kinds"])
    return kinds


def disagreements(params: Sequence[Param], most: int = 20) -> list[str]:
    """Describe where inference and record differ, one sentence each, at most ``most``; missed parameters come first."""
    missed = [p for p in params if p.seen and not p.found]
    wrong = [p for p in params if p.claimed and not p.borne_out]
    lines = [_sentence(p) for p in (*missed, *wrong)]
    rest = len(lines) - most
    return lines[:most] + ([f"… and {rest} more"] if rest > 0 else [])


def _sentence(p: Param) -> str:
    said = "nothing" if p.kinds is None else ", ".join(sorted(p.kinds)) or "nothing"
    was = Counter(p.counts).most_common()
    recorded = ", ".join(f"{kind} {count}×" for kind, count in was)
    return f"{os.path.relpath(p.filename)}:{p.line}: {p.qualname}({p.name}): recorded {recorded}; inspect says {said}"
