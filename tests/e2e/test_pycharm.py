"""The external tool for PyCharm: what the page says runs, and its lines are links to PyCharm."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from e2e.projects import FINDING, write_project
from support.editors import ROOT, environment

# What PyCharm takes for a path and for a number, for the macros in an output filter. A path is a full one, of these characters.
MACROS = {
    "$FILE_PATH$": r"(?P<path>(?:[A-Za-z]:|/)[\w .\\/-]+)",
    "$LINE$": r"(?P<row>[0-9]+)",
    "$COLUMN$": r"(?P<column>[0-9]+)",
}


def _field(name: str) -> str:
    """A value of the page's table."""
    text = (ROOT / "docs" / "editors" / "pycharm.md").read_text(encoding="utf-8")
    found = re.search(rf"^\| {name}.* \| `(.+)` \|$", text, re.MULTILINE)
    assert found is not None, name
    return found[1]


def _output_filter() -> re.Pattern[str]:
    pattern = re.escape(_field("Output filters"))
    for macro, meaning in MACROS.items():
        assert re.escape(macro) in pattern
        pattern = pattern.replace(re.escape(macro), meaning)
    return re.compile(pattern, re.ASCII)


@pytest.mark.parametrize("asked", ["$FilePath$", "$ProjectFileDir$"])
def test_findings_are_links(tmp_path: Path, asked: str) -> None:
    root = write_project(tmp_path / "project")
    # As it often is, the environment lies in the project.
    variables = environment(root / ".venv")
    name, row, column, code = FINDING
    places = {
        "$FilePath$": str(root / name),
        "$ProjectFileDir$": str(root),
        "$PyInterpreterDirectory$": str(root / ".venv" / "bin"),
    }

    def filled(text: str) -> str:
        return re.sub(r"\$\w+\$", lambda macro: places[macro[0]], text)

    arguments = _field("Arguments")
    assert "$FilePath$" in arguments
    command = [filled(word) for word in [_field("Program"), *shlex.split(arguments.replace("$FilePath$", asked))]]
    cwd = filled(_field("Working directory"))
    done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    (line,) = [line for line in done.stdout.splitlines() if code in line]
    link = _output_filter().search(line)
    assert link is not None, line
    assert (link["path"], int(link["row"]), int(link["column"])) == (str(root / name), row, column)
    assert {path.name for path in (root / ".venv" / "bin").iterdir()} == {"jaxlint"}, "nothing is left there"
