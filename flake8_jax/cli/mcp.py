"""``jaxlint mcp``: the server of the Model Context Protocol, for programs to start."""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections.abc import Sequence

from flake8_jax.cli.running import command_parser
from flake8_jax.cli.said import tell

_EPILOG = """\
A client starts this command and talks to it over standard input and output. Every path that the client names has to be
in FOLDER, also after symbolic links are resolved, and jaxlint reads no configuration, project file or link outside of it.
The tools verify, prove, recompiles and probe run the project's code, and commands that the client names, with your rights.
With --read-only, the server does not offer these tools, and changes no file of yours. It still writes its cache
(.jaxlint_cache) to FOLDER.

This needs the extra `mcp`: pip install 'flake8-jax[mcp]'. docs/mcp.md shows the set-up of clients.

examples:
  jaxlint mcp ~/src/project
  jaxlint mcp --python .venv/bin/python .
  jaxlint mcp --read-only .
"""


def parser() -> argparse.ArgumentParser:
    made = command_parser("mcp", "Run a Model Context Protocol server, through which programs use jaxlint.", _EPILOG)
    made.add_argument(
        "folder", nargs="?", default=".", metavar="FOLDER", help="the folder of your project (default: .)"
    )
    made.add_argument(
        "--python",
        metavar="PATH",
        help="use this Python, which needs JAX (default: the first one with JAX among the Python of $VIRTUAL_ENV and of "
        "jaxlint)",
    )
    made.add_argument(
        "--read-only", action="store_true", help="offer no tools that run code, and refuse to change files"
    )
    return made


def run(arguments: Sequence[str]) -> int:
    """Run ``jaxlint mcp``; returns the exit status."""
    args = parser().parse_args(arguments)
    folder = os.path.realpath(args.folder)
    if not os.path.isdir(folder):
        tell(f"{args.folder} is not a folder; name the folder of the project")
        return 2
    if importlib.util.find_spec("mcp") is None or importlib.util.find_spec("mcp_types") is None:
        tell("the server needs the SDK of the protocol: install the extra `mcp`, as in `pip install 'flake8-jax[mcp]'`")
        return 2
    from flake8_jax.mcp_server.app import serve

    serve(folder, read_only=args.read_only, python=os.path.abspath(args.python) if args.python is not None else None)
    return 0
