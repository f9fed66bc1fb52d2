"""The engine against JAX on random programs: whatever JAX shows, the engine allowed for; whatever it says fails, does.

Not compared: what the engine could have known better.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from semantics.literate import Section, outcome_of
from semantics.programs import pipeline, program
from semantics.run_on_jax import split_top
from semantics.test_sections import RAISING
from support.jax_programs import Program, Runner, run_all

HERE = Path(__file__).parent
SEEDS = range(100)


def programs_of(write: Callable[[int], str], seeds: range) -> tuple[Program, ...]:
    """What a writer makes of each seed."""
    name, script = write.__name__, HERE / "watch_on_jax.py"
    return tuple(
        Program(f"{name} {seed}", script, f"{name} from {seeds[0]}", arguments={"text": write(seed)}) for seed in seeds
    )


def judge(text: str, shown: dict[str, Any]) -> list[str]:
    """Where the engine contradicts JAX."""
    section = Section("a program", "programs", 0, files={"program.py": text})
    outcome = outcome_of(section)
    wrong = list(outcome.crashes)
    if outcome.capped:
        return wrong
    for row_text, facts in shown["reveals"].items():
        row = int(row_text)
        for staged, fact in facts:
            kinds = (outcome.staged if staged else outcome.eager)[("program.py", row)]
            if not kinds:
                wrong.append(f"line {row}: JAX runs it {'staged' if staged else 'eagerly'}, the engine does not")
            elif not any(allows(kind, fact) for kind in kinds):
                wrong.append(f"line {row}: JAX shows {fact}, the engine {' | '.join(sorted(kinds))}")
    reached = {int(row) for row in shown["reveals"]}
    lines = text.splitlines()
    first = lines.index("def step(x, y, t):") if "def step(x, y, t):" in lines else 0
    for (_, row), names in outcome.findings.items():
        if row <= first or " or " in lines[row - 1] or " and " in lines[row - 1]:
            continue  # in a helper another call may fail, and an operand that fails may not be asked for
        before = max((r for r in reached if r < row), default=0)
        if not shown["raised"] and names & RAISING and before == row - 1:
            wrong.append(f"line {row}: {names & RAISING}, but JAX runs it")
    return wrong


def allows(kind: str, fact: Any) -> bool:
    """Whether a kind that the engine names covers what JAX shows: ``[type, repr or parts]``."""
    choices = split_top(kind, " or ")
    if len(choices) > 1:
        return any(allows(c, fact) for c in choices)
    head: str = fact[0]
    content: Any = fact[1]
    if kind in ("unknown", "tree"):
        return True
    if head == "tracer":
        return kind in ("traced", "pytree", "traced key", "array", "traced concretely")
    if head == "array":
        return kind in ("concrete", "array", "key")
    if kind == "static":
        return head == "value"
    if kind == "None":
        return head == "value" and bool(content == "None")
    if kind.startswith("static "):
        return head == "value" and bool(content == kind.removeprefix("static "))
    if kind == "pytree":
        return True
    if head in ("tuple", "list") and kind.startswith(head + "["):
        parts = split_top(kind[len(head) + 1 : -1], ",")
        if parts and parts[-1] == "...":
            return all(allows(parts[0], c) for c in content)
        return len(parts) == len(content) and all(allows(p, c) for p, c in zip(parts, content, strict=True))
    if head == "dict" and kind.startswith("dict["):
        parts = split_top(kind[5:-1], ",")
        known = dict(p.split(": ", 1) for p in parts if p != "...")
        if content.keys() - known.keys() and "..." not in parts:
            return False
        return all(k not in known or allows(known[k], v) for k, v in content.items())
    return head == "other"


def contradictions(programs: tuple[Program, ...], shown: list[dict[str, Any]]) -> list[str]:
    return [
        f"{program.name}: {'; '.join(wrong)}"
        for program, facts in zip(programs, shown)
        if (wrong := judge(program.arguments["text"], facts))
    ]


PROGRAMS = [
    programs_of(write, SEEDS[first : first + 25]) for write in (program, pipeline) for first in range(0, len(SEEDS), 25)
]


@pytest.mark.parametrize("programs", PROGRAMS, ids=lambda programs: f"{programs[0].name} to {programs[-1].name}")
def test_programs(programs: tuple[Program, ...], on_jax: Runner) -> None:
    shown = [on_jax(program) for program in programs]
    ran = sum(not facts["raised"] for facts in shown)
    assert ran > len(programs) / 2, "most programs should run to their end"
    assert not contradictions(programs, shown)


if __name__ == "__main__":  # ``python test_soundness.py FIRST LAST``
    import tempfile

    for writer in (program, pipeline):
        written = programs_of(writer, range(int(sys.argv[1]), int(sys.argv[2])))
        with tempfile.TemporaryDirectory() as scratch:
            seen = run_all(written, Path(scratch))
        for said in contradictions(written, [seen[each.name] for each in written]):
            print(said)
