"""``jaxlint server``: the language server, for editors to start."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Sequence

from flake8_jax.cli.parsing import CommandParser
from flake8_jax.cli.said import tell

_EPILOG = """\
An editor starts this command and talks to it over standard input and output. Findings show while you type, in every open file
that an edit concerns. The server offers quick fixes, a `source.fixAll.jaxlint` action, hover texts and inlay hints that say
what JAX traces and why, and code lenses with the call chain.

The editor can send settings as initialization options or under `jaxlint`. They override the configuration file. These are the
keys of `[tool.jaxlint]`, and `debounce` (milliseconds without a keystroke before the server lints), `configuration` (the path
of a file), `isolated`, `cache`, `inlayHints` and `codeLens` (true or false).

Neovim 0.8 and later:
  vim.lsp.start({ name = "jaxlint", cmd = { "jaxlint", "server" }, root_dir = vim.fn.getcwd() })

docs/editors.md explains the set-up of other editors.
"""


def parser() -> argparse.ArgumentParser:
    made = CommandParser(
        prog="jaxlint server",
        description="Run the language server.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--stdio", action="store_true", help="use standard input and output (the default)")
    return made


def run(arguments: Sequence[str]) -> int:
    """Run ``jaxlint server``; returns the exit status."""
    parser().parse_args(arguments)
    if importlib.util.find_spec("pygls") is None or importlib.util.find_spec("lsprotocol") is None:
        tell("the language server needs pygls: install the extra `server`, as in `pip install flake8-jax[server]`")
        return 2
    if sys.stdin is None:
        tell("the language server reads standard input, which is closed: an editor starts it")
        return 2
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        print("jaxlint: the server talks over standard input and output; do not close them", file=sys.stderr)
        return 2
    from flake8_jax.server.background import Background

    # Whatever prints must not do so into the conversation: children inherit the first three files.
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    background = Background()
    background.start()  # it gets ready while the modules of the protocol are imported
    from flake8_jax.server.app import make_server
    from flake8_jax.server.conversation import serve

    server = make_server(background)
    try:
        return serve(server, sys.stdin.buffer, channel)
    finally:
        server.stop()
