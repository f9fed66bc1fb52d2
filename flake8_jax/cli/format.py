"""``jaxlint format``: echoes its input.

Editors that were written for ruff ask every linter for formatting. jaxlint formats nothing, and an empty answer
would empty the user's file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from flake8_jax.cli.process import InputError, read_input
from flake8_jax.cli.said import tell


def run(arguments: Sequence[str]) -> int:
    if "-h" in arguments or "--help" in arguments:
        print("usage: jaxlint format [options] -\n\nCopies standard input to standard output: jaxlint formats nothing.")
        return 0
    try:
        data = read_input()
    except InputError as error:
        tell(error)
        return 2
    sys.stdout.buffer.write(data)
    sys.stdout.flush()
    return 0
