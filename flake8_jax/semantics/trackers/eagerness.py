"""Whether a loop surely runs outside of tracing, also where the caller of its function is not known.

Vocabulary
----------
unknown caller   the run began with a function that jaxlint entered by itself: users of a library may stage it.
data loop        a loop over what its function was given: staged code loops over counts and layers.
model code       a method of a module: its loops go over layers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake8_jax.core import ir
from flake8_jax.core.testing import is_test_function
from flake8_jax.semantics.domain.code import path_of
from flake8_jax.semantics.domain.values import ExternalInstance, Instance, known_elements
from flake8_jax.semantics.machine.dispatch import lookup
from flake8_jax.semantics.trackers.freshness import Freshness, is_start

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import Frame
    from flake8_jax.semantics.domain.stack import Link, LoopState
    from flake8_jax.semantics.machine.core import Machine

_MODULES = ("flax.", "equinox.", "haiku.")


def is_model_code(link: Link) -> bool:
    """The function that runs is a method of a module of Flax, Haiku or Equinox."""
    if isinstance(link.receiver, Instance):
        return any(base.startswith(_MODULES) for base in link.receiver.cls.external_bases)
    return isinstance(link.receiver, ExternalInstance)


def has_known_caller(m: Machine) -> bool:
    """The top level of a module, ``main`` or a command of the program leads here."""
    stack = m.path.stack
    return not stack or stack[0].kind != "entry" or any(is_start(m, link) for link in stack)


def may_be_staged(m: Machine, loop: LoopState) -> bool:
    """The loop is staged, is model code, or runs for the sake of a test or behind an unknown decorator."""
    if m.path.mode.staged or m.path.mode.presumed:
        return True
    disguised = m.trackers[Freshness].disguised
    around = m.path.stack[: loop.links]
    return any(is_model_code(link) or id(link.fn) in disguised or _is_test(link) for link in around)


def _is_test(link: Link) -> bool:
    return link.scope.is_test or (link.fn is not None and is_test_function(link.fn))


def may_be_library(m: Machine, loop: LoopState) -> bool:
    """Users of a library may stage the function of the loop: another function makes it, or it is one of a family."""
    return "<locals>" in m.path.stack[0].function or any(_is_family(m, link) for link in m.path.stack[: loop.links])


def _is_family(m: Machine, link: Link) -> bool:
    """A method of an object of which only a base is known, or that implements a base."""
    receiver = link.receiver
    if not isinstance(receiver, Instance) or receiver.exact:
        return False
    return bool(m.program.subclasses(receiver.cls)) or bool(receiver.cls.bases)


def is_surely_eager(m: Machine, loop: LoopState) -> bool:
    """No code stages the loop."""
    if may_be_staged(m, loop):
        return False
    if has_known_caller(m):
        return True
    if may_be_library(m, loop):
        return False
    return loop.carries or loop.coarse or _goes_over_data(m, loop) or _is_for_python(loop)


_UNROLLABLE = 100
"""No user stages a loop of so many iterations, each of which becomes code of its own."""
_BARS = frozenset({"tqdm", "trange", "tqdm.tqdm", "tqdm.trange", "tqdm.auto.tqdm", "track", "progress_bar", "alive_it"})


def _is_for_python(loop: LoopState) -> bool:
    """The loop shows its progress, or has so many iterations that it would take minutes to compile."""
    node = loop.node
    if not isinstance(node, ir.For):
        return False
    shows = isinstance(node.iter, ir.Call) and path_of(node.iter.func) in _BARS
    return shows or loop.trip_count >= _UNROLLABLE


def fills_in_order(loop: LoopState) -> bool:
    """The loop numbers what it goes over: ``for i, row in enumerate(rows)``."""
    node = loop.node.iter if isinstance(loop.node, ir.For) else None
    while isinstance(node, ir.Call):
        if path_of(node.func) == "enumerate":
            return True
        node = node.args[0].value if node.args else None
    return False


def _goes_over_data(m: Machine, loop: LoopState) -> bool:
    if not isinstance(loop.node, ir.For):
        return False
    link = m.path.stack[loop.links - 1] if loop.links else None
    parameters = {p.name for p in link.fn.params} if link is not None and link.fn is not None else set()
    return not loop.counting and any(name in parameters for name in _data_of(loop.node.iter))


def _data_of(node: ir.Expr) -> list[str]:
    """The variables that an iterable goes over: those of ``enumerate(zip(xs, ys))``."""
    if isinstance(node, ir.Name):
        return [node.id]
    return [n for argument in node.args for n in _data_of(argument.value)] if isinstance(node, ir.Call) else []


def is_short(m: Machine, frame: Frame, loop: LoopState, few: int) -> bool:
    """The loop surely runs fewer than ``few`` times: it says so, or one of the sequences that it zips is so short."""
    if loop.trip_count:
        return loop.trip_count < few
    node = loop.node.iter if isinstance(loop.node, ir.For) else None
    while isinstance(node, ir.Call) and path_of(node.func) in ("enumerate", "tqdm", "tqdm.tqdm") and node.args:
        node = node.args[0].value
    if not isinstance(node, ir.Call) or path_of(node.func) != "zip":
        return False
    zipped = [lookup(m, frame, a.value.id) for a in node.args if isinstance(a.value, ir.Name)]
    known = [known_elements(value) for value in zipped if value is not None]
    written = [a.value.elts for a in node.args if isinstance(a.value, (ir.List, ir.Tuple))]
    if any(0 <= _count_in_range(a.value) < few for a in node.args):
        return True
    return any(found is not None and len(found) < few for found in [*known, *written])


def _count_in_range(node: ir.Expr) -> int:
    """3 of ``range(3)``; -1 of anything else."""
    if not isinstance(node, ir.Call) or path_of(node.func) != "range" or len(node.args) != 1:
        return -1
    count = node.args[0].value
    return count.value if isinstance(count, ir.Constant) and type(count.value) is int else -1
