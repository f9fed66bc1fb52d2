"""The programs under ``data/``, and what their names say.

``RULE.py`` is about one rule, ``SUBJECT_flagged.py`` and ``SUBJECT_silent.py`` are about several. What needs a library
beside JAX stands in a program of its own, ``…_with_LIBRARY.py``, so that all others run on JAX alone.
"""

from __future__ import annotations

from pathlib import Path

PROGRAMS = sorted((Path(__file__).parent / "data").glob("*.py"))


def subject(program: Path) -> str:
    """The name of the rule that a program is about, or of the subject of several."""
    return program.stem.partition("_with_")[0].replace("_", "-")


def is_about_one_rule(program: Path) -> bool:
    return not subject(program).endswith(("-flagged", "-silent"))
