"""``jaxlint format``: echoes its input.

Editors that were written for ruff ask every linter for formatting. jaxlint formats nothing, and an empty answer
would empty the user's file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def run(arguments: Sequence[str]) -> int:
    if "-h" in arguments or "--help" in arguments:
        print("usage: jaxlint format [options] -\n\nCopies standard input to standard output: jaxlint formats nothing.")
        return 0
    sys.stdout.buffer.write(sys.stdin.buffer.read())
    sys.stdout.flush()
    return 0
