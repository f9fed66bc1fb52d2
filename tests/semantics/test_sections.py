"""Every section of the markdown documents here holds: of the engine, and of JAX itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from semantics.literate import Section, differences, outcome_of, sections_of, together
from support.jax_programs import Program, Runner, run_all

from flake8_jax.rules import all_rules

HERE = Path(__file__).parent
SECTIONS = [section for path in sorted(HERE.glob("*.md")) for section in sections_of(path)]
RAISING = {r.name for r in all_rules() if r.level == "error" and not r.name.startswith(("key-", "shared-key"))}
"""Rules whose findings are exceptions, so that JAX can be asked."""


@pytest.mark.parametrize("section", [pytest.param(s, id=s.name, marks=together(s)) for s in SECTIONS])
def test_engine(section: Section) -> None:
    wrong = differences(section, outcome_of(section))
    assert not wrong, "\n".join([f"{HERE.name}/{section.document}.md:{section.row}", *wrong])


def test_titles_are_unique() -> None:
    names = [s.name for s in SECTIONS]
    assert len(names) == len(set(names))


def program_of(section: Section) -> Program:
    """The section, for ``run_on_jax``."""
    marks = list(section.marks())
    overruled = {(f, row) for f, row, mark, _ in marks if mark == "on JAX"}
    reveals = [
        [f, row, text, mark == "revealed eager"]
        for f, row, mark, text in marks
        if mark in ("revealed", "revealed eager", "on JAX") and ((f, row) not in overruled or mark == "on JAX")
    ]
    expects = [[f, row] for f, row, mark, text in marks if mark == "expect" and RAISING & set(text.split(", "))]
    return Program(
        section.name,
        HERE / "run_on_jax.py",
        section.document,
        files=section.files,
        arguments={"drives": section.drives, "reveals": reveals, "expects": expects},
    )


DRIVEN = [program_of(section) for section in SECTIONS if section.drives]


@pytest.mark.parametrize("program", DRIVEN, ids=lambda program: program.name)
def test_jax_agrees(program: Program, on_jax: Runner) -> None:
    wrong = on_jax(program)
    assert not wrong, "\n".join(wrong)


if __name__ == "__main__":  # ``python test_sections.py PYTHON``: compare with the JAX of another environment
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        for section_name, said in run_all(DRIVEN, Path(scratch), sys.argv[1]).items():
            if said:
                print(section_name, said if isinstance(said, str) else "\n  ".join(["", *said]))
