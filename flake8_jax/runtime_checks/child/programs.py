"""What compiled programs say of the user's lines: which line an operation of theirs comes from.

Vocabulary
----------
program     what XLA compiled, one for each compilation of a function; its module has a name, as ``jit_step``.
operation   an instruction of the program after optimization. It carries the place of the operation of JAX that it was made
            of; a fusion that of its result.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Place = tuple[str, str, int]
_OPERATION = re.compile(r"^\s*(?:ROOT )?%?([\w.\-]+) = .*metadata=\{(.*)\}")
_FRAME = re.compile(r"stack_frame_id=(\d+)")
_INLINE = re.compile(r'source_file="([^"]*)".* source_line=(\d+)')
_HEADS = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")


def places_of(text: str, is_users: Callable[[str], bool]) -> dict[str, Place]:
    """The user's place of each operation of a program's text, by its name: path, function, row."""
    tables = _tables(text)
    found: dict[str, Place] = {}
    for line in text.splitlines():
        match = _OPERATION.match(line)
        if match is None:
            continue
        frame, inline = _FRAME.search(match[2]), _INLINE.search(match[2])
        place = None
        if frame is not None:
            place = _of_frame(int(frame[1]), tables, is_users)
        elif inline is not None and is_users(inline[1]):
            place = (inline[1], "", int(inline[2]))
        if place is not None:
            found[match[1]] = place
    return found


def _tables(text: str) -> dict[str, dict[int, Any]]:
    tables: dict[str, dict[int, Any]] = {head: {} for head in _HEADS}
    current = ""
    for line in text.splitlines():
        if line in _HEADS:
            current = line
        elif current:
            number, _, rest = line.partition(" ")
            if not number.isdigit():
                if line.strip():
                    break
                continue
            numbers = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", rest)}
            tables[current][int(number)] = numbers if rest.startswith("{") else rest.strip('"')
    return tables


def _of_frame(number: int, tables: dict[str, dict[int, Any]], is_users: Callable[[str], bool]) -> Place | None:
    """The innermost frame of the user's. Parents are written with 1 added: 1 means that there is none."""
    frames = tables["StackFrames"]
    for _ in range(len(frames) + 1):
        frame = frames.get(number)
        if frame is None:
            return None
        at = tables["FileLocations"].get(frame.get("file_location_id", 0), {})
        path = tables["FileNames"].get(at.get("file_name_id", 0), "")
        if is_users(path):
            return path, tables["FunctionNames"].get(at.get("function_name_id", 0), ""), at.get("line", 0)
        number = frame.get("parent_frame_id", 1) - 1
    return None


def self_times(events: list[dict[str, Any]]) -> dict[tuple[str, str], tuple[float, int]]:
    """Seconds and number of runs of each operation in a trace, by module and name, without the operations within it (a
    ``while`` holds those of its body). events: of the profiler's JSON."""
    found: dict[tuple[str, str], tuple[float, int]] = {}
    threads: dict[tuple[Any, Any], list[dict[str, Any]]] = {}
    for event in events:
        if event.get("ph") == "X" and "hlo_op" in event.get("args", {}):
            threads.setdefault((event.get("pid"), event.get("tid")), []).append(event)
    for row in threads.values():
        open_: list[tuple[float, tuple[str, str]]] = []
        for event in sorted(row, key=lambda e: (e["ts"], -e["dur"])):
            key = (str(event["args"].get("hlo_module", "")), str(event["args"]["hlo_op"]))
            start, took = event["ts"], event["dur"]
            while open_ and open_[-1][0] <= start:
                open_.pop()
            if open_:
                outer = open_[-1][1]
                seconds, count = found[outer]
                found[outer] = (seconds - took / 1e6, count)
            seconds, count = found.get(key, (0.0, 0))
            found[key] = (seconds + took / 1e6, count + 1)
            open_.append((start + took, key))
    return {key: (max(seconds, 0.0), count) for key, (seconds, count) in found.items()}
