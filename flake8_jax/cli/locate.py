"""``jaxlint locate``: where the installed JAX treats a topic or raises an error."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from flake8_jax.cli.running import RunError, add_run_options, ask, command_parser, converted, fail, positive
from flake8_jax.cli.said import print_json, tell
from flake8_jax.core.printable import one_line
from flake8_jax.runtime_checks.measurements import Located

_EPILOG = """\
Error classes and `raise` statements come first, then definitions, then docstrings; documentation and tests where JAX
is a checkout of its repository. The text of a message may hold values of your program: what is said around them counts.

The exit status is 0 if something was found, 1 if not, 2 if there is no JAX.

examples:
  jaxlint locate TracerBoolConversionError
  jaxlint locate 'Shapes must be 1D sequences of concrete values of integer type'
  jaxlint locate jax.lax.scan --output-format json
  $EDITOR $(jaxlint locate donate_argnums --limit 1 | cut -d: -f1)
"""


def parser() -> argparse.ArgumentParser:
    made = command_parser(
        "locate",
        "Find where the source of the installed JAX treats a topic or raises an error; prints path:line: text.",
        _EPILOG,
    )
    made.add_argument("topic", nargs="+", metavar="TOPIC", help="a name, words, or the text of an error")
    made.add_argument("--limit", type=positive, default=20, metavar="N", help="most places to print (default: 20)")
    add_run_options(made, platform=False)
    return made


def run(arguments: Sequence[str]) -> int:
    """Run ``jaxlint locate``; returns the exit status."""
    args = parser().parse_args(arguments)
    topic = " ".join(args.topic)
    try:
        located = converted(ask(args, "locate", {"topic": topic, "limit": args.limit}), Located)
    except RunError as error:
        return fail(error)
    if args.output_format == "json":
        print_json(located)
    else:
        for hit in located.hits:
            print(one_line(f"{hit.path}:{hit.line}: {hit.text}"))
        if not located.hits:
            tell(f"jax {located.jax} in {located.root} says nothing of `{topic}`")
        elif located.more:
            tell(f"{located.more} more places; --limit shows more")
    return 0 if located.hits else 1
