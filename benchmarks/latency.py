"""How long the language server keeps someone waiting who types.

    python benchmarks/latency.py PATHS [--lines 500] [--edits 20] [--files 1] [--max-median 150] [--max-start 1500]

Copies the paths (packages, say) into one project, starts the real server on it, opens a file of about as many lines as
asked for, and types into functions of it. Everything goes over the server's standard input and output, as with an editor.

Vocabulary
----------
latency    milliseconds from an edit to the diagnostics of that version, less the debounce: what the server itself takes.
whole      milliseconds from an edit to the next whole answer, by which other files are up to date as well.
start      milliseconds from starting the process to the first diagnostics; warm: everything is in the cache on disk.

What it does not model: an editor's own time, and edits while an earlier one is still being answered.

Exit code: 0; 1 where the median latency or the warm start is above its limit.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.language_client import LanguageClient

DEBOUNCE = 100
PAUSE = 0.05
LINE = "    _typed = {number}\n"


@dataclass(frozen=True)
class Typed:
    """Milliseconds for every edit of one file."""

    path: Path
    lines: int
    latencies: list[float]
    wholes: list[float]


def copied(paths: Sequence[str], target: Path) -> int:
    """Copy the sources into one project; returns how many lines they have."""
    (target / ".git").mkdir()
    for path in map(Path, paths):
        ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.pyc")
        shutil.copytree(path, target / path.name, ignore=ignored)
    return sum(file.read_bytes().count(b"\n") for file in target.rglob("*.py"))


def near(project: Path, lines: int, count: int) -> list[Path]:
    """The files that mention JAX and whose length is nearest to the wanted one."""
    speaking = [file for file in project.rglob("*.py") if b"jax" in file.read_bytes()]
    return sorted(speaking, key=lambda file: (abs(file.read_bytes().count(b"\n") - lines), file))[:count]


def started(project: Path, file: Path) -> float:
    """Milliseconds from nothing to the first diagnostics of a file."""
    begin = time.monotonic()
    with LanguageClient(project) as client:
        client.initialize(project, options={"debounce": DEBOUNCE})
        client.open(file.as_uri(), file.read_text(encoding="utf-8"))
        client.published(file.as_uri())
        return 1000 * (time.monotonic() - begin)


def body_rows(text: str) -> list[int]:
    """Rows (from 0) that open the body of a function: where a statement may be put."""
    rows = text.splitlines()
    plain = [row for row, line in enumerate(rows) if line.startswith("def ") and line.rstrip().endswith(":")]
    return [row + 1 for row in plain if row + 1 < len(rows) and rows[row + 1].startswith("    ")] or [len(rows)]


def typed(client: LanguageClient, file: Path, edits: int) -> Typed:
    """Put a line into one function after the other, and take it out again."""
    uri, text = file.as_uri(), file.read_text(encoding="utf-8")
    client.open(uri, text)
    client.published(uri)
    time.sleep(1.5)  # as someone who looks at the file before typing
    rows = body_rows(text)
    latencies: list[float] = []
    wholes: list[float] = []
    for number in range(edits):
        row = rows[number // 2 % len(rows)]
        start, end = {"line": row, "character": 0}, {"line": row + number % 2, "character": 0}
        content = "" if number % 2 else LINE.format(number=number) if row < len(text.splitlines()) else "_typed = 1\n"
        version = number + 2
        begin = time.monotonic()
        client.change(uri, version, {"range": {"start": start, "end": end}, "text": content})
        notice = client.wait_for(
            lambda notice, version=version: (  # type: ignore[misc]
                notice["method"] == "textDocument/publishDiagnostics"
                and notice["params"]["uri"] == uri
                and notice["params"]["version"] == version
            ),
            f"version {version}",
        )
        latencies.append(1000 * (notice["at"] - begin) - DEBOUNCE)
        if number % 5 == 4:
            client.request("workspace/diagnostic", {"previousResultIds": []})
            wholes.append(1000 * (time.monotonic() - begin) - DEBOUNCE)
        time.sleep(PAUSE)
    return Typed(file, text.count("\n"), latencies, wholes)


def percentile(values: Sequence[float], part: int) -> float:
    return quantiles(values, n=100, method="inclusive")[part - 1] if len(values) > 1 else values[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--edits", type=int, default=20)
    parser.add_argument("--files", type=int, default=1, help="how many files to type into")
    parser.add_argument("--max-median", type=float, default=150)
    parser.add_argument("--max-start", type=float, default=1500)
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        project = Path(directory)
        print(f"project: {copied(args.paths, project):,} lines")
        files = near(project, args.lines, args.files)
        cold = started(project, files[0])
        warm = [started(project, files[0]) for _ in range(3)]
        print(f"start: cold {cold:.0f} ms, warm {', '.join(f'{one:.0f}' for one in warm)} ms")
        everything: list[float] = []
        with LanguageClient(project) as client:
            client.initialize(project, options={"debounce": DEBOUNCE})
            for file in files:
                one = typed(client, file, args.edits)
                everything += one.latencies
                print(
                    f"{one.path.relative_to(project)} ({one.lines} lines): median {median(one.latencies):.0f} ms, "
                    f"p95 {percentile(one.latencies, 95):.0f} ms; whole {median(one.wholes or [0]):.0f} ms"
                )
        print(f"all: median {median(everything):.0f} ms, p95 {percentile(everything, 95):.0f} ms")
    return int(median(everything) > args.max_median or median(warm) > args.max_start)


if __name__ == "__main__":
    sys.exit(main())
