"""The conditions of fixes: a named predicate for each. All fixers take them from here, and ``docs/fixing.md`` explains them.

Vocabulary
----------
safe        the fixed program gives the same values, dtypes and effects for every caller; where the old one raised, the
            new one does what the old one meant. A fix that cannot promise this is unsafe, and its message says what may
            change. A fix after which the program surely raises, or surely computes something else, is not offered.
surely      in every run of the program, as far as its text shows.

All answers come from the text of the project, not from one path through it: the finding itself was made on one path.
The analyses behind them stand apart: what is traced in ``_staging``, what one name alone refers to in ``_references``,
what loops change in ``_unchanged``, which draws are meant to be equal in ``_meant``, what a warm-up discards in
``_discarded``, what a function does with a list
in ``_list_uses``.

Limitations: see those modules, and ``_callers``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from flake8_jax.core import ir
from flake8_jax.fixers._discarded import is_discarded
from flake8_jax.fixers._expressions import Effect, effect
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._list_uses import Use, use_of_list
from flake8_jax.fixers._meant import (
    are_meant_to_be_equal,
    is_evaluated,
    is_joint_in_loop,
    is_measured,
    is_ranked,
    is_said_to_be_bad,
    is_said_to_be_equal,
    may_be_meant,
)
from flake8_jax.fixers._references import is_bound, is_local_array, is_new_array, is_read_after, keeps_no_reference
from flake8_jax.fixers._safety import (
    is_called_by_name,
    is_kernel,
    is_surely_host_array_of_numbers,
    may_be_host_attribute,
    may_be_tree,
    selects_each_item_once,
    takes_no_attribute,
)
from flake8_jax.fixers._source import FixSource
from flake8_jax.fixers._staging import holds_surely_a_tracer, is_surely_array, is_surely_traced, runs_only_traced
from flake8_jax.fixers._unchanged import stays_the_same
from flake8_jax.knowledge.history import Change
from flake8_jax.semantics.domain.values import Array, Const, DictValue, HostArray, Static, TupleValue, Value
from flake8_jax.semantics.events.events import ApiUse, LibraryCall

__all__ = [
    "Use",
    "are_meant_to_be_equal",
    "cannot_be_one_array",
    "evaluates_in_any_order",
    "every_release_has",
    "have_one_shape",
    "holds_surely_a_tracer",
    "is_bound",
    "is_called_by_name",
    "is_discarded",
    "is_evaluated",
    "is_joint_in_loop",
    "is_kernel",
    "is_local_array",
    "is_measured",
    "is_new_array",
    "is_patched",
    "is_ranked",
    "is_read_after",
    "is_said_to_be_bad",
    "is_said_to_be_equal",
    "is_signed",
    "is_surely_array",
    "is_surely_host_array_of_numbers",
    "is_surely_traced",
    "keeps_no_reference",
    "may_be_exported",
    "may_be_host_attribute",
    "may_be_meant",
    "may_be_traced_alone",
    "may_be_tree",
    "never_divides_by_zero",
    "runs_only_traced",
    "selects_each_item_once",
    "stays_the_same",
    "takes_no_attribute",
    "use_of_list",
]

_EXPORTS = r"\bjax(\.experimental)?(\.export\b|\s+import\b.*\b(export|jax2tf)\b|\.jax2tf\b)"
_NEVER_RUN = r"\b(eval_shape|make_jaxpr|linear_transpose)\b|\.lower\(\s*[^)\s]"
"""What traces a function without running it: its ``print`` ran while JAX traced, but ``jax.debug.print`` never does. Unlike
``jitted.lower(x)``, ``str.lower()`` takes no argument."""


# --- what the whole project says -------------------------------------------------------------------


def may_be_exported(source: FixSource) -> bool:
    """The project exports functions, which may not call the host then."""
    return source.program is not None and source.program.says(_EXPORTS)


def may_be_traced_alone(source: FixSource) -> bool:
    """The project traces functions without running them."""
    return source.program is not None and source.program.says(_NEVER_RUN)


def every_release_has(event: ApiUse, change: Change) -> bool:
    """Every supported release surely has the replacement. A project that names no lowest release may run with an old one, in
    which the old name works. This counts unless the newest release has removed the old name."""
    return event.support.lowest is not None or change.since == () or event.verdict == "removed"


def is_patched(source: FixSource, last: str) -> bool:
    """The project puts something else in the place of a name: ``mock.patch("jax.host_id")``, ``patch.object(jax, "host_id")``,
    ``monkeypatch.setattr(jax, "host_id", …)``. What stands there under another name is not replaced."""
    literal = rf"""["'](?:\w+\.)*{re.escape(last)}["']"""
    return source.program is not None and source.program.says(
        rf"\b(?:patch|patch\.object|setattr)\s*\([^()\n]{{0,200}}\s*[^()\n]{{0,200}}{literal}"
    )


# --- values and expressions ------------------------------------------------------------------------


def have_one_shape(elements: Sequence[Value]) -> bool:
    """Numbers and arrays that surely make one array. One array of unknown rank may stand for many of different shapes."""
    shapes = {_shape(element) for element in elements}
    return len(shapes) == 1 and None not in shapes


def cannot_be_one_array(elements: Sequence[Value]) -> bool:
    """Surely not of one shape, or not of numbers: lists of shapes, which have different lengths as a rule, and texts."""
    ranks = {element.ndim for element in elements if isinstance(element, (Array, HostArray))} - {None}
    ranks |= {0 for element in elements if _is_number(element)}
    shapes = {_shape(element) for element in elements} - {None}
    return len(ranks) > 1 or len(shapes) > 1 or any(_holds_no_number(element) for element in elements)


def _shape(value: Value) -> tuple[int, ...] | None:
    """The shape of a number, or of an array of rank 0 or 1; None where it is not known."""
    if _is_number(value):
        return ()
    if not isinstance(value, (Array, HostArray)) or value.ndim is None or value.ndim > 1:
        return None
    if value.ndim == 0:
        return ()
    return None if value.length is None else (value.length,)


def _is_number(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, (bool, int, float, complex))
    return isinstance(value, Static) and value.kind in ("int", "float", "bool")


def _holds_no_number(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, (str, bytes)) or value.value is None
    return isinstance(value, (TupleValue, DictValue)) or (isinstance(value, Static) and value.kind in ("str", "shape"))


def never_divides_by_zero(event: LibraryCall) -> bool:
    """The call divides no integers with a remainder, or by a number that is not 0. NumPy gives 0 for a divisor of 0, and JAX
    does not (JAX 0.10)."""
    if event.name not in ("numpy.floor_divide", "numpy.divmod"):
        return True
    divisor = event.at.args[1].value if len(event.at.args) > 1 else None
    return isinstance(divisor, ir.Constant) and isinstance(divisor.value, (int, float)) and bool(divisor.value)


def evaluates_in_any_order(index: ir.Expr, value: ir.Expr, imports: Imports) -> bool:
    """It is the same whether the index or the value is computed first, as far as the text tells."""
    if effect(index, imports) is not Effect.PURE:
        return isinstance(value, (ir.Constant, ir.Name))
    return effect(value, imports) is not Effect.EFFECT or isinstance(index, (ir.Constant, ir.Slice))


def is_signed(value: ir.Expr) -> bool:
    """A number that is written out, or a result of arithmetic with a float."""
    if isinstance(value, ir.Constant):
        return value.kind in ("int", "float")
    if isinstance(value, ir.UnaryOp):
        return value.op == "-" and is_signed(value.operand)
    if not isinstance(value, ir.BinOp):
        return False
    sides = (value.left, value.right)
    floats = any(isinstance(side, ir.Constant) and side.kind == "float" for side in sides)
    return value.op == "/" or floats or any(isinstance(side, ir.BinOp) and is_signed(side) for side in sides)
