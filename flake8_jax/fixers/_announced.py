"""What an unsafe fix may change: one sentence for the message of the fix, and the kinds of difference that it covers.

Vocabulary
----------
announced   the fix's message says so: the last sentence of it, behind a semicolon.
difference  something that a program shows after the fix and did not show before, sorted by ``May``.

Where the old program raised the error that the finding is about, the new one may do anything, as intended. The tests run
programs before and after their fixes, and look up here whether each difference was announced.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from flake8_jax.core.findings import Edit, Fix


class May(enum.Flag):
    """Kinds of difference.

    VALUES: other numbers. OVERFLOW: other numbers where integers of 8 or 16 bits are among them, which wrap around in one
    dtype and not in the other, or booleans that became integers. ROUNDING: numbers that differ by the rounding of their dtype.
    DTYPE: another dtype or weak type, with the rounding that comes with it. KIND: an array of JAX in place of a number of
    Python or an array of NumPy. SHAPE: another shape. CONTAINER: an array in place of a list. RAISE: an error, or none, or
    another one. PRINT: other text, or the same at another time.
    """

    NOTHING = 0
    VALUES = enum.auto()
    OVERFLOW = enum.auto()
    ROUNDING = enum.auto()
    DTYPE = enum.auto()
    KIND = enum.auto()
    SHAPE = enum.auto()
    CONTAINER = enum.auto()
    RAISE = enum.auto()
    PRINT = enum.auto()


@dataclass(frozen=True, slots=True)
class Announced:
    """A sentence, and what a program may show otherwise after the fix."""

    sentence: str
    may: May


def unsafe(what: str, announced: Announced, edits: Iterable[Edit]) -> Fix:
    """An unsafe fix: what it does, and what that may change."""
    return Fix(f"{what}; {announced.sentence}", "unsafe", tuple(edits))


def decided(fix: Fix, *, safe: bool, otherwise: Announced) -> Fix:
    """The fix, safe if ``safe``; else unsafe, and its message says what may change."""
    return fix if safe else unsafe(fix.message, otherwise, fix.edits)


def extended(fix: Fix, more: str, sentences: Iterable[str], edits: Iterable[Edit]) -> Fix:
    """The fix with more edits, which its message names behind what it does. sentences: on what the edits may change; where
    there are none, the fix is as safe as it was."""
    what, *announced = fix.message.split("; ")
    new = dict.fromkeys(sentence for sentence in sentences if sentence not in announced)
    applicability = "unsafe" if new else fix.applicability
    return Fix("; ".join([f"{what}, {more}", *announced, *new]), applicability, tuple(edits))


def sentences_of(fix: Fix) -> list[str]:
    """What the message of a fix announces."""
    return fix.message.split("; ")[1:]


# --- arrays in place of Python's numbers -------------------------------------------------------------

SELECTS = Announced(
    "both branches run, and the result is one array with one dtype: integers overflow, booleans may become integers",
    May.DTYPE | May.KIND | May.SHAPE | May.ROUNDING | May.OVERFLOW | May.RAISE,
)
BRANCHES = Announced(
    "both branches must return arrays of one shape and dtype, and under `vmap` both run, so gradients may be NaN",
    May.DTYPE | May.KIND | May.RAISE | May.ROUNDING,
)
LOOPS = Announced(
    "the carried values become arrays of fixed shape and dtype, and the loop has no reverse-mode gradient",
    May.DTYPE | May.KIND | May.RAISE | May.ROUNDING,
)
COUNTS = Announced(
    "the carried values become arrays of fixed shape and dtype",
    May.DTYPE | May.KIND | May.RAISE | May.ROUNDING,
)
LOGIC = Announced(
    "all operands are evaluated, and the result is a boolean array",
    May.DTYPE | May.KIND | May.SHAPE | May.RAISE,
)
CHOOSES = Announced(
    "both operands run, and the result is one array with one dtype: integers overflow, booleans may become integers",
    May.DTYPE | May.KIND | May.SHAPE | May.RAISE | May.ROUNDING | May.OVERFLOW,
)
CAST = Announced(
    "the result is an array: its dtype decides promotion and overflow, and no value raises",
    May.DTYPE | May.KIND | May.SHAPE | May.ROUNDING | May.OVERFLOW | May.RAISE,
)
NO_ITEM = Announced(
    "the result is an array: its dtype decides overflow, gradients flow, and any shape passes",
    May.DTYPE | May.KIND | May.SHAPE | May.ROUNDING | May.VALUES | May.RAISE,
)
BUILTIN = Announced(
    "the result is an array of the promoted dtype and shape, NaN propagates, and several axes do not raise",
    May.DTYPE | May.KIND | May.SHAPE | May.VALUES | May.RAISE,
)
SORTED = Announced(
    "the result is an array, not a list, and each row is sorted by itself",
    May.DTYPE | May.KIND | May.SHAPE | May.CONTAINER | May.VALUES | May.RAISE,
)
OF_MATH = Announced(
    "the result is an array with a JAX dtype, and NaN or infinity where Python raises",
    May.DTYPE | May.KIND | May.RAISE | May.ROUNDING,
)
LOOKUP = Announced(
    "the item is an array, so its dtype decides promotion and overflow, and an index out of range is clamped",
    May.DTYPE | May.KIND | May.RAISE | May.ROUNDING | May.OVERFLOW,
)
REPLACED = Announced(
    "if the array holds no floats, the result gets the common dtype of array and value",
    May.DTYPE | May.VALUES | May.ROUNDING,
)
COUNTED = Announced("the length is an array, not a Python number", May.DTYPE | May.KIND)
MASKED = Announced(
    "the elements are added in another order, and the maximum or minimum of no elements is infinite",
    May.ROUNDING | May.RAISE | May.KIND | May.DTYPE,
)
ONE_BRANCH = Announced(
    "the other branch does not run, so it does not affect the shape and dtype",
    May.DTYPE | May.KIND | May.SHAPE | May.RAISE,
)
ON_HOST = Announced(
    "callers outside tracing get a Python number in double precision",
    May.DTYPE | May.KIND | May.VALUES | May.ROUNDING,
)
BY_ZERO = Announced("an integer divided by zero gives another number", May.VALUES)
NO_EMPTY = Announced("an empty array is an error", May.RAISE)
ARRAYS_ONLY = Announced("it takes only arrays and fewer options", May.DTYPE | May.KIND | May.RAISE | May.ROUNDING)
ONE_SHAPE = Announced("the elements must be numbers or arrays of one shape", May.RAISE)
JAX_DTYPES = Announced(
    "callers outside tracing get a JAX array with a JAX dtype, in which integers overflow earlier",
    May.DTYPE | May.KIND | May.RAISE | May.ROUNDING | May.OVERFLOW,
)
NO_WAIT = Announced(
    "callers outside tracing no longer wait, get the array itself, and no error for a NumPy array",
    May.KIND | May.DTYPE | May.RAISE,
)
PASSED_ON = Announced(
    "code that uses the result gets a JAX array with a JAX dtype, in which integers overflow earlier",
    May.DTYPE | May.KIND | May.RAISE | May.ROUNDING | May.OVERFLOW,
)

# --- indices and updates -----------------------------------------------------------------------------

CLAMPS = Announced(
    "a negative start counts from the end, and an out-of-range slice is shifted into range",
    May.VALUES | May.SHAPE,
)
WRAPS = Announced("a negative index counts from the end of the array", May.VALUES)
OWNER = Announced("the owner must accept the new array, and other references keep the old one", May.VALUES | May.RAISE)
NUMPY_CALLER = Announced(
    "a caller that passes a NumPy array gets an error or an unchanged array", May.VALUES | May.KIND | May.RAISE
)
OTHER_REFERENCES = Announced("other references to the array keep the old values", May.VALUES)
INDEX_FIRST = Announced("the index is computed before the value", May.VALUES | May.PRINT)
NEGATIVE = Announced(
    "adding the negative differs from subtracting for unsigned or boolean values", May.VALUES | May.RAISE
)
TWICE = Announced("an item whose index occurs twice is updated twice", May.VALUES)
UPDATED = Announced("the variable holds the updated array from here on", May.VALUES)
SNAPSHOT = Announced("JAX sees the values at that moment, not later changes", May.VALUES)

# --- random numbers ----------------------------------------------------------------------------------

OTHER_DRAWS = Announced("this draw and later ones give different numbers", May.VALUES)
TYPED_KEY = Announced("code that reads the key as an integer array fails", May.KIND | May.DTYPE | May.RAISE)

# --- compiling ---------------------------------------------------------------------------------------

ONCE = Announced("the function is traced in the first iteration only", May.PRINT)
STATIC = Announced("each new value recompiles, and an unhashable argument raises", May.RAISE | May.KIND | May.DTYPE)
DELETED = Announced("the passed array is deleted, so using it later raises", May.RAISE)
OTHER_NAME = Announced("the closest name may not be the intended one", May.RAISE)
LIST_OR_TUPLE = Announced("the function may treat a tuple and a list differently", May.RAISE)
BOUND_EARLY = Announced("the function keeps the value from its own iteration", May.VALUES)

# --- numerics ----------------------------------------------------------------------------------------

STABLE = Announced(
    "the result differs by rounding, or by more if the old formula lost digits, and booleans raise",
    May.VALUES | May.ROUNDING | May.DTYPE | May.RAISE,
)
GUARDED = Announced("gradients that were NaN become finite", May.VALUES)
FLOATS = Announced("the function gets a float instead of an integer", May.DTYPE | May.KIND)
FINDS_NAN = Announced("elements that are NaN now match", May.VALUES)
NUMBERS_ONLY = Announced(
    "elements that are NaN now match, a caller that passes a NumPy array gets a JAX array, and non-numbers raise",
    May.VALUES | May.RAISE | May.KIND | May.DTYPE,
)
WINDOWS = Announced("the windows no longer overlap, so the result is smaller", May.VALUES | May.SHAPE)

# --- versions, output, settings -------------------------------------------------------------------------

NEW_MODULE = Announced("the other module may lack a name that the code uses", May.RAISE)
NO_MESH = Announced("`jax.jit` does not read the mesh context, so a `PartitionSpec` needs a `NamedSharding`", May.RAISE)
SETS_MESH = Announced("`jax.set_mesh` sets the mesh as soon as it is called", May.VALUES | May.RAISE)
SHARD_MAP = Announced(
    "the mapped axis needs one entry per device, `lax.cond` runs both branches, and results may differ by rounding",
    May.RAISE | May.PRINT | May.ROUNDING,
)
REPLACED_IN_TESTS = Announced("a test replaces the function under its old name", May.VALUES | May.RAISE)
LACKED_BEFORE = Announced("older releases of the library may lack the new name", May.RAISE)
OLDER = Announced("the older function may behave differently", May.VALUES | May.RAISE)
NO_EXPORT = Announced("`jax.export` rejects functions that print", May.RAISE | May.PRINT)
NEVER_RUN = Announced("a function that is traced but never run prints nothing", May.PRINT)
PRINTED_ARRAYS = Announced("untraced values print as arrays with JAX dtypes", May.PRINT)
WAITS = Announced("the measured time now includes the computation", May.PRINT)
TAKES_EFFECT = Announced("the setting takes effect, so dtypes, devices or speed may change", May.VALUES | May.DTYPE)


def all_announced() -> dict[str, Announced]:
    """Everything that fixes announce, by its sentence."""
    return {one.sentence: one for one in globals().values() if isinstance(one, Announced)}
