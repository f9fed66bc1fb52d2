"""Real programs to start from: the examples, the labelled cases, and every program in the project's own tests.

Nothing is downloaded and nothing outside of the repository is read, so that a seed gives the same inputs everywhere.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^#### .*\n", re.MULTILINE)
_FILE = re.compile(r"# file: (\S+)")
_LONGEST = 12_000

Texts = dict[str, str]


@functools.cache
def projects() -> tuple[Texts, ...]:
    """All of them, each as its files by name; the same order every time."""
    found: dict[tuple[tuple[str, str], ...], None] = {}
    for texts in (*_folders(), *_sections(), *_single_files(), *_literals()):
        if texts and sum(map(len, texts.values())) <= _LONGEST:
            found.setdefault(tuple(texts.items()))
    return tuple(dict(items) for items in found)


@functools.cache
def texts() -> tuple[str, ...]:
    """The files of all projects, each once."""
    return tuple(dict.fromkeys(text for project in projects() for text in project.values()))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _folders() -> Iterator[Texts]:
    """Projects that are folders: the labelled cases and the examples."""
    tops = [path.parent for path in (ROOT / "tests/cases").rglob("code.py")]
    for folder in sorted({*tops, *(path.parent for path in (ROOT / "examples").rglob("*.py"))}):
        yield {str(path.relative_to(folder)): _read(path) for path in sorted(folder.rglob("*.py"))}


def _sections() -> Iterator[Texts]:
    """Projects in the sections of the markdown files."""
    for path in sorted((ROOT / "tests/semantics").glob("*.md")):
        for section in re.split(r"^## ", _read(path), flags=re.MULTILINE):
            blocks = [(name[1], block) for block in _BLOCK.findall(section) if (name := _FILE.match(block))]
            yield dict(blocks)


def _single_files() -> Iterator[Texts]:
    for path in sorted((ROOT / "tests/rules/data").glob("*.py")):
        yield {"m.py": _read(path)}
    for path in sorted((ROOT / "tests/fixers/fixtures").glob("*.txt")):
        for text in _SECTION.split(_read(path)):
            yield {"m.py": text}


def _literals() -> Iterator[Texts]:
    """String constants of tests and rules that are programs, and the examples in the pages of the rules."""
    for folder in ("tests", "flake8_jax/rules", "docs"):
        for path in sorted((ROOT / folder).rglob("*.md")):
            yield from ({"m.py": block} for block in _BLOCK.findall(_read(path)))
        for path in sorted((ROOT / folder).rglob("*.py")):
            if {"cases", "data", "corpus", "fuzz"} & set(path.relative_to(ROOT).parts):
                continue
            for node in ast.walk(ast.parse(_read(path))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value:
                    found = _BLOCK.findall(node.value) or ([node.value] if "import " in node.value else [])
                    yield from ({"m.py": text} for text in found if _is_program(text))


def _is_program(text: str) -> bool:
    try:
        return len(ast.parse(text).body) > 1
    except (SyntaxError, ValueError):
        return False
