"""``jaxlint locate``: find where the installed JAX implements a topic or raises an error."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from flake8_jax.cli.running import RunError, add_run_options, ask, command_parser, converted, fail, names_list, positive
from flake8_jax.cli.said import print_json, tell
from flake8_jax.core.printable import one_line
from flake8_jax.runtime_checks.measurements import Located

KINDS = ("errors", "definitions", "docs", "tests")
_LARGEST_INPUT = 1_000_000
_SHOWN_TOPIC = 80

_EPILOG = """\
TOPIC is a name, a few words, the text of an error, or a whole traceback; `-` reads it from standard input. jaxlint takes
the last error of a traceback and searches for the fixed parts of its message, so values from your program do not matter.

Error classes and `raise` statements come first, then definitions, then docstrings. JAX's wheels have no documentation
pages and no tests. To search those, install JAX from a checkout of its repository, or pass a checkout with --source.

Exit status: 0 if jaxlint found something, 1 if not, 2 if there is no JAX.

examples:
  jaxlint locate TracerBoolConversionError
  jaxlint locate 'Shapes must be 1D sequences of concrete values of integer type'
  python train.py 2>&1 | jaxlint locate -
  jaxlint locate jax.lax.scan --output-format json
  jaxlint locate custom_vjp --kind docs,tests --source ~/src/jax
  $EDITOR $(jaxlint locate donate_argnums --limit 1 | cut -d: -f1)
"""


def parser() -> argparse.ArgumentParser:
    made = command_parser(
        "locate",
        "Find where the source of the installed JAX implements a topic or raises an error; prints path:line: text.",
        _EPILOG,
    )
    made.add_argument(
        "topic", nargs="+", metavar="TOPIC", help="a name, a few words, an error or a traceback; - reads standard input"
    )
    made.add_argument(
        "--kind", dest="kinds", action="extend", type=_kinds, default=[], metavar="KINDS",
        help=f"search only for these kinds of places, separated by commas: {', '.join(KINDS)} (default: all)",
    )  # fmt: skip
    made.add_argument("--source", metavar="FOLDER", help="search this checkout of JAX (default: the installed JAX)")
    made.add_argument("--limit", type=positive, default=20, metavar="N", help="print at most N places (default: 20)")
    add_run_options(made, platform=False)
    return made


def _kinds(text: str) -> list[str]:
    names = names_list(text)
    unknown = [name for name in names if name not in KINDS]
    if unknown or not names:
        raise argparse.ArgumentTypeError(f"{text!r}: the kinds are {', '.join(KINDS)}, separated by commas")
    return names


def run(arguments: Sequence[str]) -> int:
    """Run ``jaxlint locate``; returns the exit status."""
    args = parser().parse_args(arguments)
    try:
        topic = _standard_input() if args.topic == ["-"] else " ".join(args.topic)
        request = {
            "topic": topic,
            "limit": args.limit,
            "kinds": args.kinds,
            "source": os.path.abspath(args.source) if args.source is not None else None,
        }
        located = converted(ask(args, "locate", request), Located)
    except RunError as error:
        return fail(error)
    if args.output_format == "json":
        print_json(located)
    else:
        _print(located, topic)
    return 0 if located.hits else 1


def _standard_input() -> str:
    """The end of standard input: a long log has its error there. Raises RunError if there is none."""
    text = sys.stdin.buffer.read().decode("utf-8", "replace")[-_LARGEST_INPUT:]
    if not text.strip():
        raise RunError(
            "standard input is empty; pipe a traceback into it, as in `python train.py 2>&1 | jaxlint locate -`"
        )
    return text


def _print(located: Located, topic: str) -> None:
    for hit in located.hits:
        print(one_line(f"{hit.path}:{hit.line}: {hit.text}"))
    absent = [
        name
        for name, present in (("documentation pages", located.has_documentation), ("tests", located.has_tests))
        if not present
    ]
    if not located.hits:
        asked = ": ".join(part for part in (located.error, located.message) if part) or topic
        asked = asked if len(asked) <= _SHOWN_TOPIC else asked[: _SHOWN_TOPIC - 1] + "…"
        tell(f"jax {located.jax} in {located.root} has no text like `{asked}`" + _not_of_jax(located))
    elif located.more:
        tell(f"{located.more} more places; --limit shows more")
    if located.skipped:
        tell(f"{located.skipped} more files have these words; name more words to narrow the search")
    if absent:
        tell(f"{located.root} has no {' and no '.join(absent)}; name a checkout of JAX with --source")


def _not_of_jax(located: Located) -> str:
    if not located.error:
        return ""
    return (
        "; the message may come from XLA, CPython or another library: set JAX_TRACEBACK_FILTERING=off and paste again"
    )
