"""What the tests with real editors share: the pages on editors, and a ``jaxlint`` of this checkout for the editor to find."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_HEADING = re.compile(r"^#+ (?P<title>.+)\n(?P<body>(?:(?!^#+ ).*\n)*)", re.MULTILINE)


def blocks(page: str, language: str) -> dict[str, str]:
    """The code that ``docs/editors/PAGE.md`` shows in this language, by the heading above it."""
    text = (ROOT / "docs" / "editors" / f"{page}.md").read_text(encoding="utf-8")
    fence = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    # A `#` at the start of a line of code would pass for a heading, so the code is put aside first.
    code: list[str] = []

    def put_aside(match: re.Match[str]) -> str:
        code.append(match[1])
        return f"\0{len(code) - 1}\n"

    bare = fence.sub(put_aside, text)
    found: dict[str, str] = {}
    for section in _HEADING.finditer(bare):
        kept = re.findall(r"\0(\d+)", section["body"])
        if kept:
            found[section["title"]] = "\n".join(code[int(number)] for number in kept)
    return found


def environment(directory: Path) -> dict[str, str]:
    """The variables of an editor that knows no configuration but ours, and finds ``jaxlint`` where it looks for commands."""
    program = directory / "bin" / "jaxlint"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m flake8_jax "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    home = directory / "home"
    home.mkdir()
    places = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    search = os.pathsep.join([str(program.parent), os.environ.get("PATH", os.defpath)])
    return {**os.environ, "PATH": search, "HOME": str(home), "XDG_CONFIG_DIRS": str(home), **places}
