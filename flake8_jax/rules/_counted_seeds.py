"""Seeds that a counter or a setting of the code gives, in place of the seed or the streams that the program has.

    for step in range(args.steps):
        key = jax.random.key(step)                   no draw depends on args.seed
    x = nnx.Dropout(0.5, rngs=nnx.Rngs(block))(x)    traced code keeps one mask

Vocabulary
----------
counter     the variable of a loop that counts.
reachable   a seed that the function around the key reads, or gets.

Limitations: counters that the code counts up itself, streams that a variable holds.
"""

from __future__ import annotations

import posixpath
import re

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.rules._constant_seeds import stream_of_module
from flake8_jax.rules._restarts import EVALUATING, RUNS, is_counter, targets_of
from flake8_jax.semantics.domain.code import last_name, nodes_around, path_of, paths_read
from flake8_jax.semantics.domain.values import Const, Static, Value
from flake8_jax.semantics.events.events import LibraryCall

STREAMS = "flax.nnx.Rngs"
"""The class whose objects hold named streams of keys, each made of a seed."""
_SEED = re.compile(r"(?:.*_)?seed")


def counter_of(event: LibraryCall) -> str:
    """The counter of a loop around the call, of which alone the seed is made; empty if it is made of anything else."""
    context, node = event.context, _seed_node(event)
    body = context.inner.body if context.inner is not None else context.scope.tree.body
    if not isinstance(node, (ir.Name, ir.BinOp)):
        return ""
    read = paths_read(node)
    if not read or any(isinstance(part, (ir.Call, ir.Subscript)) for part in walk(node)):
        return ""
    loops = [n for n in nodes_around(body, event.at.start, event.at.end) if isinstance(n, ir.For)]
    counters = {name for loop in loops if is_counter(loop, context.scope) for name in targets_of(loop)}
    is_counted = read <= counters and not any(RUNS.search(name) for name in read)
    return min(read) if is_counted else ""


def reachable_seed(event: LibraryCall) -> str:
    """A seed that the function around the call could use, as the code spells it; empty if it has none, or evaluates."""
    context, fn = event.context, event.context.inner
    if any(
        EVALUATING.search(name) for name in (posixpath.basename(context.scope.path), fn.name if fn is not None else "")
    ):
        return ""
    given = next((p.name for p in fn.params if _SEED.fullmatch(p.name)), "") if fn is not None else ""
    body = fn.body if fn is not None else context.scope.tree.body
    statements = [one for one in body if not isinstance(one, (ir.FunctionDef, ir.ClassDef))]
    nodes = (node for one in statements for node in walk(one) if isinstance(node, (ir.Name, ir.Attribute)))
    return given or next((path for node in nodes if _SEED.fullmatch(last_name(node)) and (path := path_of(node))), "")


def ignored_seed(event: LibraryCall) -> str:
    """``config.seed``, which the function around the call or its class reads, where the call has a number; empty if none."""
    context, node = event.context, _seed_node(event)
    if context.inner is None or not isinstance(node, ir.Constant) or context.staged:
        return ""
    around = list(nodes_around(context.scope.tree.body, event.at.start, event.at.end))
    owner = next((n for n in around if isinstance(n, ir.ClassDef)), None)
    body = owner.body if owner is not None else context.inner.body
    read = (n for s in body for n in walk(s) if isinstance(n, ir.Attribute) and _SEED.fullmatch(n.attr))
    paths = [path_of(n) for n in read]
    return next((p for p in paths if p and _SETTINGS.search(p)), "")


_SETTINGS = re.compile(r"(?i)(?:cfg|config|args|hparams|hp|settings|params|flags|opts?|options|conf)\.\w*seed$")


def ignored_stream(event: LibraryCall) -> str:
    """The parameter of a constructor in whose place it makes streams of a number or a counter; empty if there is none."""
    fn, node = event.context.inner, _seed_node(event)
    stream = stream_of_module(fn) if fn is not None else ""
    if not stream or fn is None or any(_stands_in(one, event.at) for part in fn.body for one in walk(part)):
        return ""
    return stream if isinstance(node, ir.Constant) or counter_of(event) else ""


def _stands_in(node: object, made: ir.Call) -> bool:
    """``rngs or nnx.Rngs(0)``, ``nnx.Rngs(0) if rngs is None else rngs``, and the same as a statement."""
    return isinstance(node, (ir.If, ir.IfExp, ir.BoolOp)) and node.start <= made.start < node.end


def makes_constant_mask(event: LibraryCall) -> bool:
    """Traced code whose trace is kept makes the streams of a layer that drops elements, of numbers that it has while it is
    traced: ``Dropout(0.5, rngs=Rngs(0))``."""
    context = event.context
    if not (context.staged and context.once and _is_known(event)) or context.inner is None:
        return False
    around = list(nodes_around(context.inner.body, event.at.start, event.at.end))
    calls = [node for node in around if isinstance(node, ir.Call) and node is not event.at]
    return bool(calls) and last_name(calls[-1].func).endswith("Dropout")


def _is_known(event: LibraryCall) -> bool:
    seeds: list[Value] = [*event.args, *event.kwargs.values()]
    return bool(seeds) and all(isinstance(seed, (Const, Static)) for seed in seeds)


def _seed_node(event: LibraryCall) -> ir.Expr | None:
    """The seed, as the code has it; None if there are several."""
    nodes = [*event.nodes, *event.keyword_nodes.values()]
    return nodes[0] if len(nodes) == 1 or (event.fact is not None and nodes) else None
