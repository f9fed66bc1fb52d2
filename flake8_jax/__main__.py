"""``python -m flake8_jax``: the command line, also where another program is called ``jaxlint``."""

import sys

from flake8_jax.cli import main

if __name__ == "__main__":
    sys.exit(main())
