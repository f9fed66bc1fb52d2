"""``python -m flake8_jax``: the command line, also where another program is called ``jaxlint``.

Python lets such a process import from the current directory first. That is the linted project as a rule, and nothing in it
is to be run.
"""

import os
import sys


def leave_out_current_directory() -> None:
    """Import nothing from the current directory, unless the package itself comes from there."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if sys.path and sys.path[0] in ("", os.getcwd()) and os.path.realpath(package) != os.path.realpath(os.getcwd()):
        del sys.path[0]


if __name__ == "__main__":
    if not getattr(sys.flags, "safe_path", False):
        leave_out_current_directory()
    from flake8_jax.cli import script

    script()
