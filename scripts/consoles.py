"""Run the shell sessions that the documentation shows, and compare or rewrite what they print.

Vocabulary
----------
session   a fenced ``console`` block: lines after ``$ `` are commands, the lines below are what they print (standard
          output and error together). A line ``…`` stands for any number of lines.
file      a fenced block of any language whose first line is a comment ``# file: NAME``; it is written as it stands
          before the sessions below it run.

All sessions of one document run in one scratch directory that holds a copy of ``examples`` and is a project of its
own. A command may exit with 0 or 1; 2 is a failure unless the session shows it by ``echo $?``. ``jaxlint``,
``flake8`` and ``python`` are those of the running interpreter, with the package from this checkout. Not modeled:
commands over several lines, changing the directory other than by ``cd NAME``.

    python scripts/consoles.py [--update] [DOCUMENT…]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GENERATED = frozenset(
    ROOT / "docs" / line.strip("/") for line in (ROOT / "docs" / ".gitignore").read_text(encoding="utf-8").splitlines()
)
"""Pages of the site that are copies of other texts."""
DOCUMENTS = (
    "README.md",
    "examples/README.md",
    *sorted(
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "docs").rglob("*.md")
        if path not in GENERATED and path.parent not in GENERATED
    ),
)

_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# file: (\S+)\n")
_ANY = "…"
PLACE = "/home/you/project"
"""What the scratch directory is called in documents."""


@dataclass(frozen=True)
class Command:
    """One command of a session, and what the document says that it prints."""

    text: str
    printed: str


@dataclass(frozen=True)
class Difference:
    """``row`` (1-based) is that of the session's opening fence."""

    document: str
    row: int
    command: str
    shown: str
    printed: str

    def __str__(self) -> str:
        return (
            f"{self.document}:{self.row}: $ {self.command}\n--- shown\n{self.shown}--- printed\n{self.printed}"
            "(python scripts/consoles.py --update rewrites it)"
        )


class Scratch:
    """A directory to run commands in."""

    def __init__(self, directory: Path) -> None:
        self.top = directory.resolve() / "project"
        self.cwd = self.top
        programs = directory / "bin"
        site = directory / "site"
        shutil.copytree(ROOT / "examples", self.top / "examples", ignore=shutil.ignore_patterns("__pycache__", ".*"))
        (self.top / ".git").mkdir()  # a project ends here, whatever lies above
        programs.mkdir()
        for name, module in (("jaxlint", "-m flake8_jax"), ("flake8", "-m flake8"), ("python", "")):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n', encoding="utf-8")
            program.chmod(0o755)
        declare_plugin(site)
        kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "GITHUB_ACTIONS")}
        self.environment = {
            **kept,
            "PATH": os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)]),
            "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONIOENCODING": "utf-8",
            "COLUMNS": "80",
        }

    def write(self, name: str, text: str) -> None:
        path = self.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, command: str) -> str:
        """What the command prints. Raises AssertionError where it fails."""
        if command.startswith("cd "):
            self.cwd = (self.cwd / command[3:]).resolve()
            assert self.cwd.is_dir(), command
            return ""
        done = subprocess.run(
            command, shell=True, cwd=self.cwd, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False,
        )  # fmt: skip
        assert done.returncode in (0, 1), f"$ {command}\n{done.stdout}exit status {done.returncode}"
        return done.stdout.replace(str(self.top), PLACE)


def declare_plugin(site: Path) -> None:
    """Make flake8 find the plugin also where the checkout is not installed."""
    metadata = site / "flake8_jax-0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: flake8-jax\nVersion: 0\n", encoding="utf-8")
    declaration = "[flake8.extension]\nJAX = flake8_jax.flake8_plugin:JaxChecker\n"
    (metadata / "entry_points.txt").write_text(declaration, encoding="utf-8")


def commands_of(body: str) -> Iterator[Command]:
    """The commands of a session's text. Raises ValueError where it does not start with one."""
    first, *parts = re.split(r"^\$ ", body, flags=re.MULTILINE)
    if first.strip():
        raise ValueError(f"a session starts with a command, not with {first!r}")
    for part in parts:
        text, _, printed = part.partition("\n")
        yield Command(text, printed)


def agrees(shown: str, printed: str) -> bool:
    """Whether what is printed is what the document shows."""
    pattern = "".join(r"(?:.*\n)*" if line == _ANY else re.escape(line) + r"\n" for line in shown.splitlines())
    return re.fullmatch(pattern, printed) is not None


def rerun(document: str) -> tuple[str, list[Difference]]:
    """The text of the document with what its sessions print now, and where that differs.

    Raises AssertionError where a command fails. What a ``…`` cuts short stays as it is.
    """
    text = (ROOT / document).read_text(encoding="utf-8")
    differences: list[Difference] = []
    with tempfile.TemporaryDirectory() as directory:
        scratch = Scratch(Path(directory))

        def replaced(fence: re.Match[str]) -> str:
            body = fence["body"]
            if (named := _FILE.match(body)) is not None:
                scratch.write(named[1], body)
            if fence["language"] != "console":
                return fence[0]
            out = ["```console\n"]
            for command in commands_of(body):
                printed = scratch.run(command.text)
                if not agrees(command.printed, printed):
                    row = text.count("\n", 0, fence.start()) + 1
                    differences.append(Difference(document, row, command.text, command.printed, printed))
                kept = _ANY in command.printed.splitlines()
                out.append(f"$ {command.text}\n{command.printed if kept else printed}")
            return "".join([*out, "```"])

        updated = _FENCE.sub(replaced, text)
    return updated, differences


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Run the sessions that the documentation shows.")
    parser.add_argument("documents", nargs="*", default=DOCUMENTS, metavar="DOCUMENT")
    parser.add_argument("--update", action="store_true", help="write what is printed into the documents")
    args = parser.parse_args(arguments)
    failed = False
    for document in args.documents:
        updated, differences = rerun(document)
        if args.update:
            (ROOT / document).write_text(updated, encoding="utf-8")
        for difference in differences:
            failed = failed or not args.update
            print(difference)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
