"""The events that the interpreter emits and that rules receive.

The annotation of a rule's first parameter is one of these classes, or a union of them. The rule is called once for every
such event, and returns a report, a list of reports, or None. Events contain abstract values; rules must not compare names
in the source. ``at`` is the expression at which a finding is reported, unless the rule's page says otherwise: an IR node of
``scope``. ``context`` says how the code runs.

Vocabulary
----------
how         what the code did to cause the event. A Literal type next to the event lists the possible values.
certain     every path to the event goes through the cause that the event describes.
"""

from __future__ import annotations

from typing import Any, Final, Literal, Union

import msgspec

from flake8_jax.core import ir
from flake8_jax.knowledge.call_signatures import Problem
from flake8_jax.knowledge.history import Change, Support, Version
from flake8_jax.knowledge.model import FunctionFact, NamespaceFact
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import Site, Value
from flake8_jax.semantics.domain.varying import Variation
from flake8_jax.semantics.events.context import Context as Context
from flake8_jax.semantics.events.eager_loops import CopyKind as CopyKind
from flake8_jax.semantics.events.eager_loops import EagerStep as EagerStep
from flake8_jax.semantics.events.eager_loops import ElementAccess as ElementAccess
from flake8_jax.semantics.events.eager_loops import LoopCopy as LoopCopy
from flake8_jax.semantics.events.eager_loops import MaskedIndex as MaskedIndex
from flake8_jax.semantics.events.eager_loops import Repetition as Repetition
from flake8_jax.semantics.events.eager_loops import RepetitionKind as RepetitionKind
from flake8_jax.semantics.events.files import FileRead as FileRead
from flake8_jax.semantics.events.refused import (
    ArrayDefault,
    AugmentedVariable,
    ListIndex,
    MissingMember,
    PlainContainer,
    RelativePath,
    SequenceOperation,
    StaticAttribute,
    StraySubmodule,
)

TestKind = Literal[
    "if", "elif", "ternary", "while", "assert", "and", "or", "not", "comprehension", "match", "in", "compare", "case", "filter"
]  # fmt: skip
"""What asks for the truth of a value."""


class TruthTest(msgspec.Struct, frozen=True, eq=False):
    """The code tests whether ``value`` is true.
    - ``at``: the tested expression.
    - ``whole``: the statement or expression that tests it.
    - ``how``: the kind of the test: ``if``, ``while``, ``and``, ``assert`` …"""

    context: Context
    at: ir.Node
    value: Value
    how: TestKind
    whole: ir.Node


class LibraryCall(msgspec.Struct, frozen=True, eq=False):
    """The code calls a library function.
    - ``name``: the canonical name of the function: ``jax.numpy.zeros``, ``numpy.sin``, ``math.sqrt``, ``builtins.max``.
    - ``args``, ``kwargs``: the abstract values of the positional and of the keyword arguments.
    - ``nodes``: the IR of each positional argument. An element is None for an argument from a ``*``. The tuple is empty if
      ``map`` or a similar function passes the arguments.
    - ``keyword_nodes``: the IR of the keyword arguments, by name.
    - ``bound``, ``bound_nodes``: the abstract values and the IR of the arguments by the names of the parameters. They are empty
      if jaxlint does not know the signature.
    - ``used``: whether the code uses the result; False if the call is a statement of its own.
    - ``formatted``: the values that an f-string among the arguments contains without a format spec.
    - ``fact``, ``namespace``, ``fixed``: for rules of jaxlint itself."""

    context: Context
    at: ir.Call
    name: str
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    nodes: tuple[ir.Expr | None, ...]
    keyword_nodes: dict[str, ir.Expr]
    bound: dict[str, Value]
    bound_nodes: dict[str, ir.Expr]
    used: bool
    """False when the call stands alone as a statement."""
    fact: FunctionFact | None
    """What the knowledge tables say of the function; None for transforms, classes and unknown functions."""
    namespace: NamespaceFact | None
    """What they say of its module as a whole."""
    formatted: tuple[Value, ...]
    """Values interpolated, without a format spec, into the strings among the arguments."""
    fixed: bool
    """Staged code has given a seed to the host's generator that the function draws from (see ``host_seeds``)."""


class MethodCall(msgspec.Struct, frozen=True, eq=False):
    """The code calls a method of an array, a pytree or an unknown value: ``value.method(args)``.
    - ``value``: the abstract value whose method is called. ``method``: the name of the method.
    - The other fields are as in ``LibraryCall``."""

    context: Context
    at: ir.Call
    value: Value
    method: str
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    nodes: tuple[ir.Expr | None, ...]
    keyword_nodes: dict[str, ir.Expr]
    used: bool
    fact: FunctionFact | None


IterationKind = Literal["for", "comprehension", "unpack", "zip", "enumerate", "star", "map", "list", "index"]
"""What iterates; ``index``: ``x[tuple(value)]``, which has no more elements than ``x`` has axes."""


class Iteration(msgspec.Struct, frozen=True, eq=False):
    """``value`` is iterated. count: number of targets when unpacking; for zip the least known length."""

    context: Context
    at: ir.Node
    value: Value
    how: IterationKind
    count: int | None


IndexMode = Literal["load", "at"]


class Indexing(msgspec.Struct, frozen=True, eq=False):
    """The code indexes ``base`` with ``index``.
    - ``mode``: ``load`` for ``base[index]``, and ``at`` for ``base.at[index].method(…)``."""

    context: Context
    at: ir.Subscript
    base: Value
    index: Value
    mode: IndexMode


class Slicing(msgspec.Struct, frozen=True, eq=False):
    """``base[lower:upper:step]``: one per slice in an index, with the values of its parts (None where absent)."""

    context: Context
    at: ir.Subscript
    slice: ir.Slice
    base: Value
    lower: Value | None
    upper: Value | None
    step: Value | None
    mode: IndexMode


HashKind = Literal["dict-key", "set-element", "membership", "dict-lookup", "cache"]


class Hashing(msgspec.Struct, frozen=True, eq=False):
    """``value`` is hashed."""

    context: Context
    at: ir.Node
    value: Value
    how: HashKind


FormatKind = Literal["f-string", "percent", "format-method", "format-builtin"]


class Formatting(msgspec.Struct, frozen=True, eq=False):
    """The code formats ``value`` with a non-empty format spec, such as ``.3f``.
    - ``how``: ``f-string``, ``percent``, ``format-method`` or ``format-builtin``.
    - ``spec``: the text of the format spec; ``""`` if jaxlint does not know it."""

    context: Context
    at: ir.Node
    value: Value
    how: FormatKind
    spec: str


StoreKind = Literal["item", "item-augmented", "item-delete"]
"""``x[i] = v``, ``x[i] += v``, ``del x[i]``."""


class Store(msgspec.Struct, frozen=True, eq=False):
    """An item is assigned to or deleted. base: the container; index: None for what is deleted.
    What is put into something older than the running trace, items or not, is a Mutation as well."""

    context: Context
    at: ir.Node
    how: StoreKind
    base: Value | None
    value: Value | None
    name: str
    op: str
    """The operator of an augmented assignment, else the empty string."""
    index: Value | None = None


KeyEffect = Literal["consume", "split"]
"""What uses a key up: numbers are drawn from it, or other keys are made of it."""


Intent = Literal[
    "",
    "fixed",
    "constant",
    "same-data",
    "discarded",
    "template",
    "shared",
    "paired",
    "mirrored",
    "parts",
    "evaluation",
    "alternatives",
    "apart",
]
"""Why equal draws may be meant: both runs take one fixed key of the module, or the module itself uses its key again; one
function sees the same data twice; two arrays are changed alike; a draw undoes or mirrors the other; the result of one use is
thrown away, or a file replaces its values; a loop only looks at what it computes; no result depends on both draws."""
Shared = Literal["", "numbers", "bits", "nothing", "new-keys", "unread"]


class KeyUse(msgspec.Struct, frozen=True, eq=False):
    """The code uses a PRNG key: a sampler draws from it, or ``split`` makes new keys from it. This happens at ``at``, or in a
    function that the code calls at ``at``.
    - ``effect``: ``consume`` if the use draws numbers, and ``split`` if it makes new keys. A function that splits the key and
      returns no keys consumes it.
    - ``key_node``: the IR of the argument that is the key.
    - ``through``: the called function that uses the key; None if ``at`` is itself a call of a sampler.
    - ``last``, ``last_in``: where this use is, perhaps in a called function, and the qualified name of that function.
    - ``earlier``, ``earlier_effect``: the earlier use of the same key and its effect; None if this is the first use.
    - ``first``, ``first_in``: where the earlier use is, perhaps in a called function, and the qualified name of that function.
    - ``in_loop``: the earlier use is the same expression in the previous iteration, and the key comes from outside the loop.
    - ``loop_kind``: the kind of this loop: ``for``, ``while``, ``comprehension``, ``scan``, ``fori_loop`` …
    - ``same_call``: both uses are arguments of one call.
    - ``draws``: whether both uses give random numbers.
    - ``intent``: why equal draws may be intended; ``""`` if nothing says so."""

    context: Context
    at: ir.Node
    key: Value
    effect: KeyEffect
    earlier: Site | None
    earlier_effect: KeyEffect
    in_loop: bool
    loop_kind: str
    same_call: bool
    through: str
    key_node: ir.Expr | None
    certain: bool = True
    """Every path to this use goes through the earlier one; false where the earlier one stands in a branch."""
    sampler: str = ""
    """Canonical name of the library function that uses the key, where it is used directly."""
    earlier_sampler: str = ""
    spelled: str = ""
    """Where ``key_node`` is None: the expression that leads to the key at ``at``, if there is one."""
    inner_key: ir.Expr | None = None
    """The argument that is the key in the end, in the file of ``last``."""
    was_split: bool = False
    """The earlier use is a split, whatever became of the new keys."""
    first: Site | None = None
    first_in: str = ""
    last: Site | None = None
    last_in: str = ""
    draws: bool = True
    intent: Intent = ""
    shares: Shared = ""
    """What two draws, or two splits, surely have in common; ``nothing``: no numbers, and yet JAX asks for two keys;
    ``unread``: a new key that one of two splits binds to a name which nothing reads."""
    collections: tuple[str, str] | None = None
    """Two names of Flax's rngs that have the key in this one call."""
    carried: bool = False
    """The earlier use was in the iteration before, of the key that it leaves for this one."""
    callees: tuple[str, str] = ("", "")
    """The unknown functions of the earlier use and of this one, which draw from the key by convention."""
    given: str = ""
    """A fact without which one of these functions does not draw from the key."""
    within: bool = False
    """The code that called this function used the key before, too, which is a collision of its own."""
    loop: Site | None = None
    """Where the loop stands, if there is a ``loop_kind``."""
    captured: bool = False
    """The function called at ``at`` reads the key from around itself, under the name of ``inner_key``: neither an argument nor
    the object of a method holds it."""


class EqualKeys(msgspec.Struct, frozen=True, eq=False):
    """Two keys that are made of one constant seed are both used, and the results meet. ``at``: where the function that is
    common to both gets the second key. seed: of both. earlier: where it gets the first one. shares: what the draws have in
    common. function: the qualified name of the common function, empty for a module."""

    context: Context
    at: ir.Node
    seed: int
    earlier: Site
    shares: Shared
    function: str


class SharedKey(msgspec.Struct, frozen=True, eq=False):
    """A key that is the same in every element of a vmap or pmap is consumed inside. ``at``: the call that passes it with
    ``in_axes`` None, or, for a captured key, the expression that consumes it. transform: canonical name. callee: the function
    that consumes it by convention, if that is not known."""

    context: Context
    at: ir.Node
    transform: str
    captured: bool
    callee: str = ""


class RootMet(msgspec.Struct, frozen=True, eq=False):
    """A transform is applied to ``operand``. name: canonical name. decorator: it was written as a decorator.
    options: its other arguments by parameter name. tracing: how it traces the operand (``TransformFact.tracing``)."""

    context: Context
    at: ir.Node
    name: str
    operand: Value
    options: dict[str, Value]
    decorator: bool
    tracing: str = "none"


class NameUse(msgspec.Struct, frozen=True, eq=False):
    """The code mentions the name of a library object, such as ``jax.pmap``, even if it does not call it.
    - ``name``: the canonical name. ``spelled``: the full name as the imports of the file spell it.
    - ``is_import``: whether the code imports the name.
    - ``at``: the name or attribute; for an import, the imported name."""

    context: Context
    at: ir.Node
    name: str
    spelled: str
    is_import: bool
    start: int
    end: int


ARITHMETIC: Final = "arithmetic"


class Discarded(msgspec.Struct, frozen=True, eq=False):
    """The code does not use a result, because a statement consists only of a call or of arithmetic.
    - ``value``: the result that is not used.
    - ``call_name``: what computed the result. For a library function, this is its canonical name; for a method of a built-in
      value, the method with a dot in front (``.sort``); for an update of an array, ``.at.set`` or a similar text; for
      arithmetic, ``arithmetic``.
    - ``pure``: the library function that is called has no effect besides its result.
    - ``manager``: the result is a context manager of a library, which the code does not enter."""

    context: Context
    at: ir.Node
    value: Value
    call_name: str
    pure: bool
    manager: bool = False


class Computation(msgspec.Struct, frozen=True, eq=False):
    """Arithmetic on arrays that remember how they were made (see ``recipes``). name: an operator, or the last part of
    a function's name; operands in the order of the parameters. foreign: functions further out on the call stack, by
    identity: recipes of theirs prove nothing here. differentiated: under ``grad`` or similar functions; tangents: what those
    differentiate by."""

    context: Context
    at: ir.Node
    name: str
    operands: tuple[Value, ...]
    result: Value
    foreign: frozenset[int]
    differentiated: bool
    tangents: set[Value]


class NanComparison(msgspec.Struct, frozen=True, eq=False):
    """A comparison with NaN, or membership among values of which one is. op: ``== != in not in``. value: what is
    compared; ``value_node``: its IR."""

    context: Context
    at: ir.Node
    op: str
    value: Value
    value_node: ir.Expr | None


class WideDtype(msgspec.Struct, frozen=True, eq=False):
    """A library function is asked for a 64-bit dtype, and nothing in the project enables those. dtype: its name. function:
    the last part of the function's name. number: what it makes an array of, where that is one known number. written: the
    name or the string that asks for it."""

    context: Context
    at: ir.Node
    dtype: str
    function: str
    number: float | None
    written: str


class UnboundAxis(msgspec.Struct, frozen=True, eq=False):
    """A collective over an axis name that nothing around it binds. bound: the names that are."""

    context: Context
    at: ir.Node
    axis: str
    bound: tuple[str, ...]


class MeshMismatch(msgspec.Struct, frozen=True, eq=False):
    """A ``PartitionSpec`` that does not fit the mesh it is used with: it names an axis that the mesh lacks, or (twice)
    one axis for two dimensions. axes: those of the mesh. mesh: the argument that is the mesh, where the call has one."""

    context: Context
    at: ir.Node
    axis: str
    axes: tuple[str, ...]
    twice: bool
    mesh: ir.Expr | None = None


ChangeKind = Literal["item", "item-augmented", "method", "attribute", "global", "nonlocal", "next"]
"""How something is changed: an element is stored (``x[i] = v``, ``x[i] += v``), a method changes its object (``append``,
``update`` …), an attribute or a variable of an outer scope is set, an iterator moves on."""


class Mutation(msgspec.Struct, frozen=True, eq=False):
    """Staged code changes what is older than the innermost trace (see ``allocations``): the change outlasts it.

    target: the container or object, None for a variable. value: what is put in, None where that is nothing.
    name: the attribute, variable or method. op: as in Store. once: it is also older than the innermost trace that is
    compiled, so Python makes the change once, whatever the number of calls. itself: the value was computed from what
    was there before. enclosed: it was made in the innermost compiled trace, so what ends first is a ``grad`` or ``vmap`` in
    there, and a traced value may belong to the compiled trace.
    """

    context: Context
    at: ir.Node
    how: ChangeKind
    target: Value | None
    value: Value | None
    name: str
    op: str
    once: bool
    itself: bool
    enclosed: bool


class CachedCall(msgspec.Struct, frozen=True, eq=False):
    """Staged code calls a function that remembers its results, or reads such a property. result: what it gives."""

    context: Context
    at: ir.Node
    result: Value
    name: str


class GlobalRead(msgspec.Struct, frozen=True, eq=False):
    """Staged code reads a module-level variable that may change: one that is rebound somewhere, a list or a dict.
    fact: what is recorded once it does change. scope: the module whose variable it is."""

    context: Context
    at: ir.Node
    value: Value
    name: str
    fact: str
    scope: ModuleScope


class StaleRead(msgspec.Struct, frozen=True, eq=False):
    """A compiled function reads a variable that is a constant to it, and that was rebound after JAX traced the function:
    an attribute, or a variable of an enclosing function (see ``staleness``). name: as spelled at ``at``. function: around
    ``at``. written: where it is rebound. unless: the fact that takes a report back."""

    context: Context
    at: ir.Node
    name: str
    function: ir.Function | None
    written: Site
    unless: str


class LateBinding(msgspec.Struct, frozen=True, eq=False):
    """A function that a loop has made runs when the loop has moved on, and reads a variable of the loop (see
    ``late_binding``). ``at``: where it does; function: its IR; loop: that of the loop."""

    context: Context
    at: ir.Name
    name: str
    function: ir.Function
    loop: ir.Node


class Fork(msgspec.Struct, frozen=True, eq=False):
    """The process is forked after JAX has started (see ``forks``). ``at``: the call that starts workers; name: what it calls.
    since: where JAX was started, if that is known. presumed: the call makes a loader, and the known code has not started JAX
    before; but a loader starts its workers whenever a loop begins to read it, and a training loop has made its parameters by
    then."""

    context: Context
    at: ir.Node
    name: str
    since: Site | None
    presumed: bool = False


class OverwrittenBuffer(msgspec.Struct, frozen=True, eq=False):
    """A NumPy array is written that JAX may still read (see ``host_buffers``). ``at``: the write; taker: the call that passed
    the array over; argument: the array there, if it is an argument; kept: the result shares the memory and is kept."""

    context: Context
    at: ir.Node
    taker: Site
    argument: ir.Expr | None
    kept: bool


class SignatureMismatch(msgspec.Struct, frozen=True, eq=False):
    """A function does not fit the transform it is passed to. name: canonical name of the transform; problem: a sentence
    that says what is wrong."""

    context: Context
    at: ir.Node
    name: str
    problem: str


class RuleIncomplete(msgspec.Struct, frozen=True, eq=False):
    """A ``custom_vjp`` or ``custom_jvp`` function whose derivative rule is missing or does not fit. problem: a sentence
    that says what is wrong. raises: JAX refuses such a rule; else it gives wrong derivatives."""

    context: Context
    at: ir.Node
    problem: str
    raises: bool = True


class MissingSync(msgspec.Struct, frozen=True, eq=False):
    """A step that runs on every device differentiates and uses the gradient, and nothing brings the gradients of the
    devices together. ``at``: where it differentiates; transform: canonical name of what runs it on every device. mapped_axis:
    the axis of the vmap whose elements are meant, over: that of the devices, which are averaged; else empty."""

    context: Context
    at: ir.Node
    transform: str
    mapped_axis: str = ""
    over: str = ""


class TransformCall(msgspec.Struct, frozen=True, eq=False):
    """What a transform returned is called: ``jax.jit(f)(x)``. name: canonical name of the transform; options: its other
    arguments. args/kwargs: the arguments of the call, ``nodes``/``keyword_nodes`` their IR. statics: positions and names
    of static arguments, None where those are not known. differentiated: positions of the arguments that it
    differentiates by (empty for other transforms), None where those are not known. operand: the transformed function.
    sure: the arguments surely go to it, past no unknown decorator, and it is not one of several functions.
    varying: how values vary over the loops that run, where that concerns the call (it runs compiled code, eagerly, in any
    iteration)."""

    context: Context
    at: ir.Node
    name: str
    options: dict[str, Value]
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    nodes: tuple[ir.Expr | None, ...]
    keyword_nodes: dict[str, ir.Expr]
    statics: tuple[set[int], set[str]] | None
    differentiated: tuple[int, ...] | None
    operand: Value
    sure: bool
    varying: dict[Value, Variation]


class JittedMethod(msgspec.Struct, frozen=True, eq=False):
    """A method is jitted where ``self`` is an argument, and the class is not a pytree. name: of the class. is_module: it is
    a module of Flax linen or Haiku. model: Equinox takes ``self`` for static, and the method reads this attribute of it,
    which holds the arrays of a model."""

    context: Context
    at: ir.Node
    name: str
    method: str
    is_module: bool = False
    model: str = ""


SettingKind = Literal["variable", "option", "context", "call"]


class Setting(msgspec.Struct, frozen=True, eq=False):
    """Something is set that JAX reads once, or that switches a debugging aid (see ``process``). ``at``: where it is set or,
    where that is done in time but for this caller, the call that leads there (``direct`` false).

    name: of the variable, of the option, of the function called. point: when it is read (imported, started, computed), the
    empty string where it always is. late: that is surely over, since ``since``. conditional: a test decides whether it is set.
    by_program: the top level of the same file, or its ``main``, leads to it. started: JAX has its devices by then.
    """

    context: Context
    at: ir.Node
    name: str
    kind: SettingKind
    value: Value
    point: str
    late: bool
    since: Site | None
    conditional: bool
    direct: bool
    by_program: bool
    started: bool = False


class ColdCall(msgspec.Struct, frozen=True, eq=False):
    """A call that compiles, between two readings of a clock. at: the expression that makes it, in the function that
    reads the clock (of ``scope``). key: what JAX looks compiled code up by; what: the function's name, if it has one. always:
    each run compiles here, because the size or the function is a new one each time."""

    at: ir.Node
    scope: ModuleScope
    key: Any
    what: str
    always: bool = False


class Timed(msgspec.Struct, frozen=True, eq=False):
    """The difference of two readings of a clock, where all that ran in between is known (see ``clocks``).

    ``at``: the later reading, or the call that makes it, in the function in which both are made. pending: the last
    expression of that function that dispatched work to the device for which no code has waited by then; what: the
    compiled function that it calls, if it has a name. cold: the calls in between that compile. traced: in place of the clock,
    the profiler was started and stopped. dispatches: how often the pending expression ran, 0 where that is not known.
    started: the earlier reading, or the call that makes it, if it is one. stepwise: the pending expression calls a function
    that computes step by step in a loop, and nothing in between is compiled. fed: a loop made it that waits for its data as
    well, so that little is in flight when it ends. magic: in place of the clock, this magic of IPython times the pending
    expression. settled: where nothing is pending, the first compiled call in between.
    """

    context: Context
    at: ir.Node
    pending: ir.Node | None
    what: str
    cold: tuple[ColdCall, ...]
    traced: bool = False
    dispatches: int = 1
    started: Site | None = None
    stepwise: bool = False
    fed: bool = False
    magic: str = ""
    settled: ir.Node | None = None


class TransformMismatch(msgspec.Struct, frozen=True, eq=False):
    """A transform does not fit its function or its arguments, or its result is taken wrongly. name: canonical name of the
    transform; problem: a sentence that says what is wrong. ``at`` may be the place where the transform was applied; else
    ``applied`` is that place, where the problem is one of the transform's options, which it names first."""

    context: Context
    at: ir.Node | Site
    name: str
    problem: str
    applied: Site | None = None


class DonatedUse(msgspec.Struct, frozen=True, eq=False):
    """The contents of a donated array are needed, here or inside the function called at ``at``.

    value: what is read; earlier: the call that gave its buffer away; taker: what was called there; argument: what the
    array was called there, if it was an argument of that very call.
    in_loop: by this very expression in the loop's previous iteration. same_call: by this very call, as another
    argument. through: the callee that reads it, if it is not read here. taken: it surely is a JAX array, and a result has
    room for it. certain: besides, every path to here goes through the donation.
    """

    context: Context
    at: ir.Node
    value: Value
    taker: Site
    earlier: Site
    argument: Site | None
    in_loop: bool
    same_call: bool
    through: str
    taken: bool
    certain: bool


class UnrolledLoop(msgspec.Struct, frozen=True, eq=False):
    """A Python loop of code that JAX compiles runs its body so often that it reaches ``unroll-threshold``. ``at``: what it
    goes over, or its test. copies: of the innermost body, loops inside of it included; trips: of this loop alone;
    both 0 of a loop over the length of an array or a list, whose iterations need nothing of one another.
    after: the variables of the function behind the loop. recurs: each iteration of such a loop needs the one before.
    option: the loop runs so often if the user of the program does not set this option; else empty. eager: ``grad``
    runs the loop, and nothing compiles it."""

    context: Context
    at: ir.Node
    copies: int
    trips: int
    after: dict[str, Value]
    recurs: bool = False
    option: str = ""
    eager: bool = False


class CapturedConstant(msgspec.Struct, frozen=True, eq=False):
    """A compiled function computes with a large array that it does not get as an argument. ``at``: where it is read.
    bytes: how large it is at least; 0 of the parameters of a network, whose size is not known. loaded: it is a data set of
    unknown size, by the code that assigns it."""

    context: Context
    at: ir.Node
    value: Value
    bytes: int
    loaded: bool = False


Verdict = Literal["removed", "removed-later", "deprecated", "too-new", "never-there"]


class ApiUse(msgspec.Struct, frozen=True, eq=False):
    """A name that a supported release of JAX lacks, or says farewell to, is used where nothing guards it (``versions``).

    name: the name as the imports spell it; ``NAME(keyword=)`` of an argument, ``NAME()`` of a transform called without its
    function. ``at``: the Attribute, imported name, import statement (of a module that is gone) or Call; start, end: of the
    use itself. lacking: the newest release known to be without it. postponed: in an annotation that Python does not evaluate.
    guess: only names say what is used.
    """

    context: Context
    at: ir.Node
    name: str
    start: int
    end: int
    verdict: Verdict
    change: Change | None
    lacking: Version | None
    support: Support
    is_import: bool
    keyword: ir.Argument | None
    postponed: bool
    guess: bool = False


class CallMismatch(msgspec.Struct, frozen=True, eq=False):
    """A library function is called with arguments that no known release takes. name: its canonical name. title, newest: the
    library, and its newest known release. left: the parameters that the call may still name."""

    context: Context
    at: ir.Call
    name: str
    problem: Problem
    title: str
    newest: Version
    left: frozenset[str]


FrozenKind = Literal["frozen", "undeclared", "setup"]
"""The object is frozen; its class declares no such field, and so the constructor cannot set it; ``setup`` sets an argument of
the constructor."""


class FrozenStore(msgspec.Struct, frozen=True, eq=False):
    """An attribute of a frozen object of a library, or of a subclass of the project, is assigned to. library: the class that
    freezes it, by its canonical name. name: the attribute. owner: the class of the object."""

    context: Context
    at: ir.Node
    how: FrozenKind
    library: str
    owner: str
    name: str


class UndonatedStep(msgspec.Struct, frozen=True, eq=False):
    """A compiled call in an eager loop whose results replace arguments of it, none of which it donates. ``at``: the call.

    names: the parameters of those arguments; each assignment that replaces one may add to them. function: what was
    compiled, where that is known, and site: where. fact: recorded where code still reads a replaced value. large: its
    files, or what they import, name layers that mostly have many parameters.
    """

    context: Context
    at: ir.Call
    names: list[str]
    function: ir.Function | None
    site: Site
    fact: str
    large: bool


class RepeatedSeed(msgspec.Struct, frozen=True, eq=False):
    """Every iteration of an eager loop calls a function that makes a key of a constant seed and draws of it.

    context: of the draw, in the file of the seed. seed: where the key is made; maker: the function that does. called: the call
    in the loop that leads there, if it is known. handed_on: its result goes into the next iteration.
    """

    context: Context
    seed: Site
    maker: ir.Function
    called: Site | None
    handed_on: bool


LossKind = Literal["initial", "dropped", "optimizer"]
"""Code behind a loop reads the value from before the loop; every iteration drops the updated state; or the new state of
the optimizer."""


class LostResult(msgspec.Struct, frozen=True, eq=False):
    """A loop trains something, but no code uses the result (see ``updates``).

    ``at``: where the value from before the loop is read, or the call whose update is dropped. name: the variable that the
    loop updates, or was to. initial: the one that is read instead.
    """

    context: Context
    at: ir.Node
    how: LossKind
    name: str
    initial: str


Event = Union[
    TruthTest, LibraryCall, MethodCall, Iteration, Indexing, Slicing, Hashing, Formatting, Store, KeyUse, EqualKeys, SharedKey,
    RootMet, NameUse, Discarded, Computation, NanComparison, WideDtype, UnboundAxis, MeshMismatch, Mutation,
    CachedCall, GlobalRead, StaleRead, LateBinding, Fork, OverwrittenBuffer, SignatureMismatch, RuleIncomplete, MissingSync,
    TransformCall, JittedMethod, Setting, Repetition, Timed, TransformMismatch, DonatedUse, UnrolledLoop, CapturedConstant,
    ApiUse, CallMismatch, ArrayDefault, RelativePath, SequenceOperation, StraySubmodule, FrozenStore, UndonatedStep, LoopCopy,
    MissingMember, EagerStep, LostResult, PlainContainer, AugmentedVariable, FileRead, ListIndex, ElementAccess,
    StaticAttribute,
]  # fmt: skip


class Span(msgspec.Struct, frozen=True):
    """Where a finding stands: a part of a node, such as one argument of a call."""

    start: int
    end: int
