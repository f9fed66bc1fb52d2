"""What other linters find of the labelled mistakes in tests/cases, and what they say of the programs that are right.

    python benchmarks/compare_tools.py [CASES] [--cache DIR]

Each tool is installed into a virtual environment of its own, once, under ``--cache``. A tool finds a label if it reports
anything on that line, whatever it says; so a tool that complains of every line would find all, and the last column counts the
lines of the right programs on which it reports something.

The programs are copied, each into a project of its own: nothing in one may tell of another, and none counts as a test.

Limitations: the labels are those of jaxlint's own tests. They say what each tool looks for, and not how well it does that.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from peers import Peer, interpreter

CASES = Path(__file__).resolve().parents[1] / "tests" / "cases"
_LABEL = re.compile(r"#\s*expect:")
_PLACE = re.compile(r"^(?P<path>[^:\n]+\.py):(?P<row>\d+):", re.MULTILINE)


@dataclass(frozen=True)
class Tool:
    """``command`` takes the interpreter of the tool's environment and the folder; its output names ``path:row:``."""

    name: str
    requirements: tuple[str, ...]
    command: Callable[[str, str], list[str]]


TOOLS = (
    Tool("ruff, all rules", ("ruff==0.14.5",), lambda python, path: [
        python, "-m", "ruff", "check", "--isolated", "--select", "ALL", "--preview",
        "--ignore", "D,ANN,INP,ERA,E501,COM,I,CPY,DOC", "--output-format", "concise", "--no-cache", path]),
    Tool("ruff, default rules", ("ruff==0.14.5",), lambda python, path: [
        python, "-m", "ruff", "check", "--isolated", "--output-format", "concise", "--no-cache", path]),
    Tool("flake8 + TorchFix", ("flake8==7.3.0", "torchfix==0.7.0"), lambda python, path: [
        python, "-m", "flake8", "--isolated", "--select", "F,TOR", path]),
    Tool("pylint, errors and warnings", ("pylint==4.0.2",), lambda python, path: [
        python, "-m", "pylint", "--disable=all", "--enable=E,W", "--disable=import-error", "--recursive=y",
        "--msg-template={path}:{line}:", path]),
    Tool("PyPI's jaxlint 0.1.0a1", ("jaxlint==0.1.0a1",), lambda python, path: [
        python, "-m", "jaxlint", "check", path]),
)  # fmt: skip
_OURS = Tool("flake8-jax", (), lambda python, path: [
    python, "-m", "flake8_jax", "check", "--isolated", "--no-cache", "--select", "ALL", "--preview", "--exit-zero",
    "--output-format", "concise", path])  # fmt: skip


def places(output: str, root: Path) -> set[tuple[Path, int]]:
    """The lines on which a tool reports something. Paths are relative to the current directory, or absolute."""
    return {((root / match["path"]).resolve(), int(match["row"])) for match in _PLACE.finditer(output)}


def labels(files: Iterable[Path]) -> tuple[set[tuple[Path, int]], set[Path]]:
    """The labelled lines, and the files of programs without any."""
    marked: set[tuple[Path, int]] = set()
    right: set[Path] = set()
    for path in files:
        rows = [row for row, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if _LABEL.search(line)]
        marked |= {(path.resolve(), row) for row in rows}
        if not rows and "good" in path.parent.name:
            right.add(path.resolve())
    return marked, right


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("cases", nargs="?", type=Path, default=CASES)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "flake8-jax-peers")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare(apart(args.cases, Path(folder).resolve() / "programs"), args.cache)
    return 0


def apart(cases: Path, folder: Path) -> Path:
    """A copy of the programs in which each folder is a project."""
    shutil.copytree(cases, folder, ignore=shutil.ignore_patterns("__pycache__", "oracle.py"))
    for project in {path.parent for path in folder.glob("*/*/*.py")}:
        (project / "jaxlint.toml").touch()
    return folder


def compare(cases: Path, cache: Path) -> None:
    """Print the table."""
    marked, right = labels(sorted(cases.rglob("*.py")))
    print(f"| tool | of {len(marked)} labelled lines | lines reported in {len(right)} right files |\n|---|---|---|")
    for tool in (_OURS, *TOOLS):
        python = sys.executable
        if tool.requirements:
            python = interpreter(cache, Peer(tool.name, tool.requirements, lambda python, paths: []))
        done = subprocess.run(tool.command(python, str(cases)), capture_output=True, text=True, check=False)
        found = places(done.stdout, Path.cwd())
        print(f"| {tool.name} | {len(found & marked)} | {sum(path in right for path, _ in found)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
