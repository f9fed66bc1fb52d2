"""What action.yml runs: ``jaxlint check`` with the options given here, and with the inputs, which come in the environment.

python scripts/github_action.py --output-format github

ARGS and PATHS are words as a shell reads them, so that a name with a blank can be quoted; nothing in them is run. Patterns in
PATHS stand for the files that they match. The exit status is that of jaxlint.
"""

from __future__ import annotations

import glob
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence


def command(options: Sequence[str], inputs: Mapping[str, str]) -> list[str]:
    """The arguments of ``jaxlint``. Raises ValueError for a quote that is not closed."""
    since = [f"--since={inputs['SINCE']}"] if inputs.get("SINCE") else []
    words = {name: _words(name, inputs.get(name, "")) for name in ("ARGS", "PATHS")}
    paths = [path for word in words["PATHS"] for path in sorted(glob.glob(word, recursive=True)) or [word]]
    return ["check", *options, *since, *words["ARGS"], "--", *paths]


def _words(name: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ValueError(f"input `{name.lower()}`: {error}: {text}") from error


def main() -> int:
    try:
        arguments = command(sys.argv[1:], os.environ)
    except ValueError as error:
        print(f"jaxlint: {error}", file=sys.stderr)
        return 2
    safe = {
        **os.environ,
        "PYTHONSAFEPATH": "1",
    }  # the current directory is the repository, and nothing of it is to be imported
    return subprocess.run([sys.executable, "-m", "flake8_jax", *arguments], check=False, env=safe).returncode


if __name__ == "__main__":
    sys.exit(main())
