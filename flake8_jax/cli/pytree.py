"""``jaxlint pytree``: a tree of arrays with shapes, dtypes, bytes and sharding, as text or as a picture."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from flake8_jax.cli.pytree_picture import facts, picture
from flake8_jax.cli.running import (
    RunError,
    add_run_options,
    ask,
    command_parser,
    converted,
    fail,
    positive,
    show_result,
    size,
)
from flake8_jax.cli.said import tell
from flake8_jax.cli.subjects import add_array_options
from flake8_jax.runtime_checks.measurements import Tree, TreeNode

_EPILOG = """\
TARGET is a variable or a function: module:NAME or file.py:NAME, or file.py:Class.NAME. jaxlint only traces a function, so it
creates no arrays, and the tree may be larger than this machine's memory. --run runs the function. For a variable, and with
--run, the output also shows the device of each array.

examples:
  jaxlint pytree train.py:params
  jaxlint pytree train.py:init_state --case 'key, 512' --svg state.svg
  jaxlint pytree train.py:init_state --run --output-format json
"""


def parser() -> argparse.ArgumentParser:
    made = command_parser(
        "pytree",
        "Show a variable, or the result of a function, as a tree with the shapes, dtypes, bytes and shardings of its arrays.",
        _EPILOG,
    )
    made.add_argument("target", metavar="TARGET", help="the variable or function: module:NAME or file.py:NAME")
    made.add_argument("--svg", metavar="FILE", help="also draw the tree, and write the picture to this file")
    made.add_argument(
        "--limit", type=positive, default=200, metavar="N", help="show at most N nodes of the tree (default: 200)"
    )
    group = made.add_argument_group("if TARGET is a function")
    group.add_argument("--run", action="store_true", help="run the function (default: only trace it)")
    group.add_argument(
        "--case",
        metavar="INPUTS",
        help="call the function with these inputs, such as 'key, f32[64,64]' (default: made up from the signature)",
    )
    add_array_options(group)
    add_run_options(made)
    return made


def run(arguments: Sequence[str]) -> int:
    """Run ``jaxlint pytree``; returns the exit status."""
    args = parser().parse_args(arguments)
    request = {
        "target": args.target,
        "run": args.run,
        "cases": [{"text": args.case}] if args.case is not None else [],
        "dims": dict(args.dim),
        "seed": args.seed,
    }
    try:
        tree = converted(ask(args, "pytree", request, args.platform), Tree)
    except RunError as error:
        return fail(error)
    show_result(args, tree, lambda shown: described(shown, args.limit))
    if args.svg is not None:
        try:
            Path(args.svg).write_text(picture(tree, args.limit), encoding="utf-8")
        except OSError as error:
            tell(f"--svg {args.svg}: {error.strerror}; name a file that can be written")
            return 2
        tell(f"wrote {args.svg}")
    return 0


def described(tree: Tree, limit: int) -> str:
    """The tree for a reader: one line for each node."""
    head = tree.name + (f"({tree.inputs})" if tree.inputs else "")
    how = ", traced only" if tree.is_abstract else ""
    lines = [f"{head}: {size(tree.bytes)} in {_count(tree)}{how}; {tree.setting}", ""]
    rows = [(_label(node), facts(node), size(node.bytes), node.sharding) for node in tree.nodes[:limit]]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    for label, fact, bytes_, sharding in rows:
        lines.append(f"{label:<{widths[0]}}  {fact:<{widths[1]}}  {bytes_:>{widths[2]}}  {sharding}".rstrip())
    if len(tree.nodes) > limit:
        lines.append(f"{len(tree.nodes) - limit} more nodes; --limit shows more")
    if tree.devices:
        lines += ["", *(f"on {device}: {size(bytes_)}" for device, bytes_ in tree.devices.items())]
    return "\n".join(lines) + "\n"


def _count(tree: Tree) -> str:
    leaves = sum(node.is_leaf for node in tree.nodes)
    return f"{leaves} {'leaf' if leaves == 1 else 'leaves'}"


def _label(node: TreeNode) -> str:
    return "  " * node.depth + (node.name or "(root)")
