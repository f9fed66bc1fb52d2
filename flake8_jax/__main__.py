"""``python -m flake8_jax``: the command line, also where another program is called ``jaxlint``.

Python looks for modules in the working directory first. That is the project, whose ``json.py`` must not run, so the
directory is left out unless we stand in it ourselves.
"""

import os
import sys

if __name__ == "__main__":
    if not getattr(sys.flags, "safe_path", False):
        ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        if sys.path and os.path.realpath(sys.path[0]) != os.path.realpath(ours):
            del sys.path[0]

    from flake8_jax.cli import script

    script()
