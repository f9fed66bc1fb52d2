"""``python -m flake8_jax``: the command line, also where another program is called ``jaxlint``."""

from flake8_jax.cli import script

if __name__ == "__main__":
    script()
