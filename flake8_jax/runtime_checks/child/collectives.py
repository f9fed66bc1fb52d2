"""What devices send each other, read from the text of a compiled program.

Vocabulary
----------
collective   an operation of several devices: ``all-reduce``, ``all-gather``, ``reduce-scatter``, ``all-to-all``,
             ``collective-permute``, ``collective-broadcast``. bytes: of its result on one device, each time that it runs.
group        the devices that take part in one: 0 where the text does not say.

Limitations: a collective in a loop counts once. How many bytes go over a link depends on the algorithm.
"""

from __future__ import annotations

import math
import re
from typing import Any

_KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "ragged-all-to-all", "collective-permute",
          "collective-broadcast")  # fmt: skip
_OPERATION = re.compile(rf"^\s*(?:ROOT )?%?[\w.\-]+ = (.+?) ({'|'.join(_KINDS)})(-start)?\((.*)$")
_SHAPE = re.compile(r"\b(pred|[a-z]+\d+(?:e\d+m\d+\w*)?)\[([\d,]*)\]")
_GROUPS = re.compile(r"replica_groups=(?:\{\{([\d,]*)\}|\[(\d+),(\d+)\])")
_MESH = re.compile(r"replica_groups=mesh\[([^\]]*)\] ?\{([^}]*)\}")
_PARTITIONS = re.compile(r"^HloModule .*?\bnum_partitions=(\d+)", re.MULTILINE)


def collectives(text: str) -> list[dict[str, Any]]:
    """The collectives of a program: ``kind``, ``count``, ``bytes`` and ``group``, most bytes first; equal ones together."""
    found: dict[tuple[str, int, int], int] = {}
    for line in text.splitlines():
        match = _OPERATION.match(line)
        if match is None:
            continue
        shapes = _SHAPE.findall(match[1])
        if match[3] and len(shapes) > 1:  # begun here and done elsewhere: the operands come before the results
            shapes = shapes[len(shapes) // 2 :]
        key = (match[2], sum(_bytes(dtype, dims) for dtype, dims in shapes), _group(match[4]))
        found[key] = found.get(key, 0) + 1
    rows = [
        {"kind": kind, "count": count, "bytes": size, "group": group} for (kind, size, group), count in found.items()
    ]
    return sorted(rows, key=lambda row: -row["bytes"] * row["count"])


def _group(rest: str) -> int:
    """How many devices take part, as one of three ways of writing says it."""
    mesh, groups = _MESH.search(rest), _GROUPS.search(rest)
    if mesh is not None:
        sizes = {name: int(size) for name, size in re.findall(r"'([^']*)'=(\d+)", mesh[1])}
        return math.prod(sizes.get(name, 1) for name in re.findall(r"'([^']*)'", mesh[2]))
    if groups is None:
        return 0
    return int(groups[3]) if groups[3] else len(groups[1].split(",")) if groups[1] else 0


def devices_of(text: str) -> int:
    """On how many devices the program runs."""
    match = _PARTITIONS.search(text)
    return int(match[1]) if match else 1


def _bytes(dtype: str, dims: str) -> int:
    bits = 8 if dtype == "pred" else int(re.findall(r"\d+", dtype)[0])
    size = 1
    for dim in filter(None, dims.split(",")):
        size *= int(dim)
    return -(-size * bits // 8)
