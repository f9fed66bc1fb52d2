#!/usr/bin/env python3
"""One command for a fresh checkout: makes an environment, installs jaxlint into it, and shows it or tests it.

    python3 dev.py demo             lint the project in examples/
    python3 dev.py test             run the tests that need no JAX, editor or server
    python3 dev.py test ARGS …      run pytest with ARGS: `-n auto` runs all tests, as .ci/run does

Needs Python 3.10 or newer, and nothing else. The environment is .venv beside this file; one that is there is used as it is,
and gets what is missing. --environment DIR takes another folder. Exit status: that of the tests; 0 after the demo, although
jaxlint finds something there; 2 where the environment cannot be made.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OLDEST = (3, 10)
FAST = ["-n", "auto", "-m", "not slow"]
"""Arguments of pytest for a first proof."""
STAMP = "jaxlint-dev.txt"
"""A file in the environment: which requirements were installed there."""


class CannotPrepare(Exception):
    """The environment could not be made. The text says what to do."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--environment", type=Path, default=HERE / ".venv", metavar="DIR", help="default: .venv")
    parser.add_argument("command", choices=["demo", "test"])
    arguments, rest = parser.parse_known_args()
    if rest and arguments.command == "demo":
        parser.error(f"demo takes no {rest[0]}")
    try:
        programs = prepare(arguments.environment)
    except CannotPrepare as problem:
        print(f"dev.py: {problem}", file=sys.stderr)
        return 2
    if arguments.command == "test":
        if not rest:
            say(
                "running the fast tests: about eight minutes on two cores; `dev.py test -n auto` runs all, in some twenty"
            )
        return run([programs["pytest"], *(rest or FAST)])
    say("jaxlint examples/")
    status = run([programs["jaxlint"], "examples/"])
    return 0 if status == 1 else status


def prepare(environment: Path) -> dict[str, str]:
    """Make the environment where it is missing, and install what it lacks. Gives the paths of its programs.

    Raises CannotPrepare where Python is too old, cannot make environments, or the packages cannot be had.
    """
    if sys.version_info < OLDEST:
        raise CannotPrepare(f"this is Python {sys.version.split()[0]}; use 3.10 or newer: python3.12 dev.py …")
    folder = environment / ("Scripts" if os.name == "nt" else "bin")
    suffix = ".exe" if os.name == "nt" else ""
    programs = {name: str(folder / f"{name}{suffix}") for name in ("python", "pytest", "jaxlint")}
    if not Path(programs["python"]).exists():
        say(f"making the environment {environment}")
        made = subprocess.run([sys.executable, "-m", "venv", str(environment)], capture_output=True, text=True)
        if made.returncode:
            said = (made.stdout + made.stderr).strip()
            raise CannotPrepare(f"{said}\nOn Debian and Ubuntu: apt install python3-venv. Then run this again.")
    wanted = hashlib.sha256((HERE / "pyproject.toml").read_bytes() + str(HERE).encode()).hexdigest()
    stamp = environment / STAMP
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted or not Path(programs["jaxlint"]).exists():
        say("installing jaxlint and what its tests need: about two minutes, once")
        install = [programs["python"], "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", ".[dev]"]
        if subprocess.run(install, cwd=HERE).returncode:
            raise CannotPrepare("pip could not install the packages; what it says above names the reason")
        stamp.write_text(wanted, encoding="utf-8")
    return programs


def run(command: list[str]) -> int:
    """The exit status of a program, started in the checkout with its environment first on the path."""
    path = os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", "")])
    return subprocess.run(command, cwd=HERE, env={**os.environ, "PATH": path}).returncode


def say(text: str) -> None:
    print(f"dev.py: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
