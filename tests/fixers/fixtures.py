"""Reading the fixtures: programs before and after their fix.

A file ``fixtures/RULE.txt`` holds cases. ``#### name`` opens one with the program before; ``#### becomes`` opens the
program after; without it the program must stay as it is. ``#### becomes, safe`` says that safe fixes alone lead there,
``#### becomes, unsafe`` that safe fixes alone change nothing.

A file may open with ``values: WORDS``, which say how the values of ``main()`` compare before and after (``run_on_jax.py``
lists them); without it they are the same.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "fixtures"


@dataclass(frozen=True)
class Case:
    rule: str
    name: str
    before: str
    after: str | None
    safety: str = ""
    """``safe``, ``unsafe`` or, where the case says nothing of it, the empty string."""
    values: str = "same"

    @property
    def module(self) -> str:
        return f"case_{self.name.replace('-', '_')}"


def cases_of(path: Path) -> list[Case]:
    found: list[Case] = []
    opening, *blocks = ("\n" + path.read_text(encoding="utf-8")).split("\n#### ")
    values = opening.strip().removeprefix("values: ") or "same"
    for block in blocks:
        name, _, body = block.partition("\n")
        text = body if body.endswith("\n") else body + "\n"
        if name.partition(", ")[0] == "becomes":
            found.append(dataclasses.replace(found.pop(), after=text, safety=name.partition(", ")[2]))
        else:
            found.append(Case(path.stem, name, text, None, values=values))
    return found


def all_cases() -> list[Case]:
    return [case for path in sorted(FOLDER.glob("*.txt")) for case in cases_of(path)]
