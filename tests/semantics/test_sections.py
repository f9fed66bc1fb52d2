"""Every section of the markdown documents here holds: of the engine, and of JAX itself."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from semantics.literate import Section, differences, outcome_of, sections_of

from flake8_jax.rules import all_rules

HERE = Path(__file__).parent
SECTIONS = [section for path in sorted(HERE.glob("*.md")) for section in sections_of(path)]
RAISING = {r.name for r in all_rules() if r.level == "error" and not r.name.startswith(("key-", "shared-key"))}
"""Rules whose findings are exceptions, so that JAX can be asked."""


@pytest.mark.parametrize("section", SECTIONS, ids=lambda s: s.name)
def test_engine(section: Section) -> None:
    wrong = differences(section, outcome_of(section))
    assert not wrong, "\n".join([f"{HERE.name}/{section.document}.md:{section.row}", *wrong])


def test_titles_are_unique() -> None:
    names = [s.name for s in SECTIONS]
    assert len(names) == len(set(names))


def index_entry(section: Section) -> dict[str, object]:
    """What ``run_on_jax`` needs to know of a section."""
    marks = list(section.marks())
    overruled = {(f, row) for f, row, mark, _ in marks if mark == "on JAX"}
    reveals = [
        [f, row, text, mark == "revealed eager"]
        for f, row, mark, text in marks
        if mark in ("revealed", "revealed eager", "on JAX") and ((f, row) not in overruled or mark == "on JAX")
    ]
    expects = [[f, row] for f, row, mark, text in marks if mark == "expect" and RAISING & set(text.split(", "))]
    return {
        "name": section.name,
        "files": section.files,
        "drives": section.drives,
        "reveals": reveals,
        "expects": expects,
    }


def run_on_jax(sections: list[Section], folder: Path, python: str = sys.executable) -> dict[str, list[str] | None]:
    """All sections that have a drive, in one process: name → differences, None where a package is missing."""
    index = folder / "index.json"
    index.write_text(json.dumps([index_entry(s) for s in sections if s.drives]), encoding="utf-8")
    done = subprocess.run(
        [python, str(HERE / "run_on_jax.py"), str(index)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    results: dict[str, list[str] | None] = json.loads(done.stdout.splitlines()[-1])
    return results


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
def test_jax_agrees(tmp_path: Path) -> None:
    results = run_on_jax(SECTIONS, tmp_path)
    wrong = [f"{name}\n  " + "\n  ".join(said) for name, said in results.items() if said]
    assert not wrong, "\n".join(wrong)
    assert any(said == [] for said in results.values())


if __name__ == "__main__":  # ``python test_sections.py PYTHON``: compare with the JAX of another environment
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        for section_name, said in run_on_jax(SECTIONS, Path(scratch), sys.argv[1]).items():
            if said is None or said:
                print(section_name, "needs a package that is missing" if said is None else "\n  ".join(["", *said]))
