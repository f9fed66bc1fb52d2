"""Programs to start from, one file each: ``jaxlint template NAME`` prints one.

A template runs on the CPU, has no finding of any rule, and checks its own result. Its name is that of the file, with ``-`` for
``_``; the first line of its docstring says what it is.

Limitations: they need JAX 0.4.30 or newer, and nothing here imports them.
"""

from __future__ import annotations

import ast
from pathlib import Path

_FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Return the names of all templates, sorted."""
    return sorted(path.stem.replace("_", "-") for path in _FOLDER.glob("*.py") if path.stem != "__init__")


def read(name: str) -> str:
    """Return the text of a template. Raises KeyError if there is none of this name."""
    if name not in names():
        raise KeyError(name)
    return (_FOLDER / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8")


def title(name: str) -> str:
    """Return the first line of a template's docstring, without the period. Raises KeyError if there is none of this name."""
    return (ast.get_docstring(ast.parse(read(name))) or "").partition("\n")[0].rstrip(".")
