"""When a fix is safe: small questions that all fixers share. Each answers yes only where it is certain.

Vocabulary
----------
safe        the fixed program gives the same values, dtypes and effects for every caller; where the old one raised, the
            new one does what the old one meant. A fix that cannot promise this is unsafe, and its message says what may
            change. A fix after which the program surely raises, or surely computes something else, is not offered.
traced      the value is a tracer, or a container of tracers alone, in every run.
array       the value is a JAX array or a tracer in every run. fresh: nothing else refers to it.

All answers come from the text of the project, not from one path through it: the finding itself was made on one path.

Limitations: see ``_staging`` and ``_callers``; values that pass through attributes of objects, containers or methods are not
followed.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Applicability, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._callers import Use, binders, names, own_statements, scope_of
from flake8_jax.fixers._expressions import ARRAY_METHODS, is_update
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import binder_before, leaves, target_names
from flake8_jax.fixers._source import STATEMENTS, FixSource
from flake8_jax.fixers._staging import Running, is_computed_while_tracing, staging_of
from flake8_jax.knowledge import load

_STATIC_ATTRIBUTES = frozenset(
    {"shape", "ndim", "size", "dtype", "aval", "sharding", "weak_type", "itemsize", "nbytes"}
)
_VIEW_ATTRIBUTES = frozenset({"T", "mT", "real", "imag", "at"})
_VIEW_METHODS = frozenset({"diagonal", "ravel", "reshape", "squeeze", "swapaxes", "transpose", "get", "view"})
_VIEW_FUNCTIONS = frozenset({
    "array_split", "asarray", "astype", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to",
    "diag", "diagonal", "dsplit", "expand_dims", "flip", "fliplr", "flipud", "hsplit", "imag", "matrix_transpose",
    "moveaxis", "permute_dims", "ravel", "real", "reshape", "rollaxis", "rot90", "split", "squeeze", "swapaxes",
    "transpose", "trim_zeros", "unstack", "vsplit",
})  # fmt: skip
"""NumPy's functions of these names may give a view: what is written into the result shows in the argument."""
_ARRAYS = ("array", "float", "int", "bool", "complex", "key", "like(")
_JAX_FUNCTIONS = ("jax.numpy.", "jax.nn.", "jax.random.", "jax.scipy.", "jax.lax.")
_PLAIN_RESULTS = frozenset({
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "argwhere", "around", "array", "asarray", "astype",
    "bincount", "ceil", "count_nonzero", "digitize", "empty_like", "equal", "fix", "flatnonzero", "floor",
    "floor_divide", "full_like", "greater", "greater_equal", "heaviside", "isclose", "iscomplex", "isfinite", "isinf",
    "isnan", "isneginf", "isposinf", "isreal", "less", "less_equal", "logical_and", "logical_not", "logical_or",
    "logical_xor", "nonzero", "not_equal", "one_hot", "ones_like", "rint", "round", "searchsorted", "sign", "signbit",
    "stop_gradient", "trunc", "view", "zeros_like",
})  # fmt: skip
"""Functions and methods whose result depends on no derivative, or on a shape alone: ``grad`` and ``vmap`` without ``jit``
may compute it on plain values."""
_PLAIN_OPERATORS = frozenset({"//", "&", "|", "^", "<<", ">>"})
MOST_STEPS = 200
"""An answer that takes more steps is no."""


def decided(fix: Fix, *, safe: bool, otherwise: str) -> Fix:
    """The fix, safe if ``safe``; else unsafe, and its message ends in ``otherwise``: one sentence on what may change."""
    if safe:
        return fix
    return Fix(f"{fix.message}; {otherwise}", "unsafe", fix.edits)


def weaker(one: Applicability, other: Applicability) -> Applicability:
    return "safe" if one == other == "safe" else "unsafe"


# --- who runs the code -----------------------------------------------------------------------------


def runs_only_traced(source: FixSource, node: ir.Node) -> bool:
    """Every caller of the function around a node is known, and traces all of it."""
    around = source.functions(node)
    staging = staging_of(source, around[0]) if around else None
    return staging is not None and staging.ambient and not is_computed_while_tracing(source, node)


# --- what a value surely is ------------------------------------------------------------------------


def is_surely_traced(source: FixSource, node: ir.Expr, running: Running | None = None) -> bool:
    """The value of an expression is traced in every run."""
    return _Judge(source, running, only_traced=True).holds(node)


def is_surely_array(source: FixSource, node: ir.Expr) -> bool:
    """The value of an expression is a JAX array in every run."""
    return _Judge(source, None, only_traced=False).holds(node)


def is_surely_host_array(source: FixSource, node: ir.Expr) -> bool:
    """The value is a NumPy array in every run: NumPy made it here, or the one statement that binds the name."""
    if isinstance(node, ir.Name):
        owner = scope_of(source, node)
        place = owner if owner is not None else source.module
        bound = binders(source, place, node.id)
        if len(bound) != 1 or not isinstance(bound[0], ir.Assign) or not isinstance(bound[0].targets[0], ir.Name):
            return False
        if owner is not None and any(p.name == node.id for p in owner.params):
            return False
        node = bound[0].value
    if not isinstance(node, ir.Call):
        return False
    fact = load().function(Imports(source, node).resolve(node.func) or "")
    return fact is not None and fact.returns == "host"


def may_be_tree(source: FixSource, node: ir.Expr, depth: int = 8) -> bool:
    """The value may be None or a container of arrays: it comes from a parameter, and not every call of the function surely
    gives that an array or a number."""
    while isinstance(node, ir.Subscript):
        node = node.value
    if not isinstance(node, ir.Name):
        return isinstance(node, (ir.Tuple, ir.List, ir.IfExp, ir.NamedExpr))
    owner = scope_of(source, node)
    if depth == 0 or owner is None:
        return True
    if not may_hold_argument(source, node, owner):
        values = [s.value for s in binders(source, owner, node.id) if isinstance(s, (ir.Assign, ir.AnnAssign))]
        return any(value is not None and may_be_tree(source, value, depth - 1) for value in values)
    definition = source.parent(owner)
    if not isinstance(definition, ir.FunctionDef) or source.program is None:
        return True
    uses = source.program.uses(source, definition)
    return not uses or not all(_gives_array(use, owner, node.id, depth - 1) for use in uses)


def _gives_array(use: Use, function: ir.Function, name: str, depth: int) -> bool:
    """One use of a function is a call that surely gives a parameter an array or a number."""
    call = use.source.parent(use.node)
    if not isinstance(call, ir.Call) or call.func is not use.node or any(a.star for a in call.args):
        return False
    positional = [p.name for p in function.params if p.kind in ("posonly", "positional")]
    for position, argument in enumerate(call.args):
        if name == (argument.keyword or (positional[position] if position < len(positional) else None)):
            value = argument.value
            if isinstance(value, ir.Constant):
                return value.kind in ("int", "float")
            known = is_surely_array(use.source, value) and not may_be_tree(use.source, value, depth)
            return known or is_surely_host_array(use.source, value)
    return False


def is_surely_host_array_of_numbers(source: FixSource, node: ir.Expr) -> bool:
    """The value is a NumPy array in every run, and holds neither strings nor objects: it is computed or made of numbers."""
    if not is_surely_host_array(source, node):
        return False
    if isinstance(node, ir.Name):
        owner = scope_of(source, node)
        (statement,) = binders(source, owner if owner is not None else source.module, node.id)
        node = statement.value if isinstance(statement, ir.Assign) and statement.value is not None else node
    if not isinstance(node, ir.Call):
        return False
    imports = Imports(source, node)
    dtypes = [a.value for a in node.args if a.keyword == "dtype"]
    if dtypes:
        name = imports.resolve(dtypes[0]) or source.slice(dtypes[0])
        return name.removeprefix("builtins.").removeprefix("numpy.").rstrip("0123456789_").strip("'\"") in _NUMBERS
    name = (imports.resolve(node.func) or "").rpartition(".")[2]
    if name in ("array", "asarray"):
        return (
            len(node.args) == 1
            and isinstance(node.args[0].value, (ir.List, ir.Tuple))
            and all(isinstance(e, ir.Constant) and e.kind in ("int", "float", "bool") for e in node.args[0].value.elts)
        )
    return (name in _OF_NUMBERS and len(node.args) == 1) or name in ("linspace", "sqrt", "exp", "log", "sin", "cos")


_NUMBERS = frozenset({"float", "int", "uint", "bool", "complex", "double", "single"})
_OF_NUMBERS = frozenset({"zeros", "ones", "empty", "eye", "identity", "arange"})


def holds_surely_a_tracer(source: FixSource, call: ir.Call) -> bool:
    """In every run some argument of the call, or an element of one that is written out, is traced."""
    stack: list[ir.Expr] = [argument.value for argument in call.args if not argument.star]
    while stack:
        node = stack.pop()
        if isinstance(node, (ir.List, ir.Tuple)):
            stack += [element for element in node.elts if not isinstance(element, ir.Starred)]
        elif is_surely_traced(source, node):
            return True
    return False


@dataclass
class _Judge:
    """Follows a value to where it comes from. only_traced: a tracer is asked for, not just any array.

    ``_open`` holds the variables under way: one that is computed from itself is what its other bindings are.
    """

    source: FixSource
    running: Running | None
    only_traced: bool
    steps: int = 0

    def __post_init__(self) -> None:
        self._open: set[tuple[int, str]] = set()

    def holds(self, node: ir.Expr) -> bool:
        self.steps += 1
        if self.steps > MOST_STEPS:
            return False
        if isinstance(node, ir.Name):
            return self._name(node)
        if isinstance(node, ir.BinOp):
            if node.op in _PLAIN_OPERATORS and not self._stays_traced(node):
                return False
            return self.holds(node.left) or self.holds(node.right)
        if isinstance(node, ir.UnaryOp):
            return node.op != "not" and self.holds(node.operand)
        if isinstance(node, ir.Compare):
            ordinary = not any(op in ("is", "is not", "in", "not in") for op in node.ops)
            if not ordinary or len(node.ops) != 1 or not self._stays_traced(node):
                return False
            return self.holds(node.left) or self.holds(node.comparators[0])
        if isinstance(node, ir.Subscript):
            return self.holds(node.value)
        if isinstance(node, ir.Attribute):
            return node.attr not in _STATIC_ATTRIBUTES and node.attr != "at" and self.holds(node.value)
        if isinstance(node, ir.IfExp):
            return self.holds(node.body) and self.holds(node.orelse)
        if isinstance(node, ir.NamedExpr):
            return self.holds(node.value)
        if isinstance(node, (ir.Tuple, ir.List)):
            return self.only_traced and bool(node.elts) and all(self.holds(e) for e in node.elts)
        return isinstance(node, ir.Call) and self._call(node)

    def _call(self, node: ir.Call) -> bool:
        if is_update(node):
            assert isinstance(node.func, ir.Attribute) and isinstance(node.func.value, ir.Subscript)
            base = node.func.value.value
            return isinstance(base, ir.Attribute) and self.holds(base.value)
        if isinstance(node.func, ir.Call):
            return self._transformed(node, node.func)
        name = Imports(self.source, node).resolve(node.func)
        last = node.func.attr if isinstance(node.func, ir.Attribute) else (name or "").rpartition(".")[2]
        if last in _PLAIN_RESULTS and not self._stays_traced(node):
            return False
        found = self.source.program.called(self.source, node) if self.source.program is not None else None
        if found is not None:
            return self._returned(*found)
        if name is None:
            return (
                isinstance(node.func, ir.Attribute) and node.func.attr in ARRAY_METHODS and self.holds(node.func.value)
            )
        if name.startswith("numpy."):
            return self._host_call(node, name)
        if not gives_jax_array(name):
            return False
        if not self.only_traced:
            return True
        if any(self.holds(argument.value) for argument in node.args if not argument.star):
            return True
        # ``jnp.array`` of constants is left out: what it gives depends on the release.
        return name.rpartition(".")[2] not in ("array", "asarray") and self._is_ambient(node)

    def _returned(self, source: FixSource, definition: ir.FunctionDef) -> bool:
        """Everything that a function of the project returns is such a value, whoever calls it."""
        function = definition.function
        if function.is_generator or function.is_async:
            return False
        key = (id(function), "return")
        if key in self._open:
            return True
        returned = [s.value for s in own_statements(function) if isinstance(s, ir.Return)]
        if not returned or not leaves(function.body):
            return False
        here, self.source = self.source, source
        self._open.add(key)
        try:
            return all(value is not None and self.holds(value) for value in returned)
        finally:
            self._open.discard(key)
            self.source = here

    def _host_call(self, node: ir.Call, name: str) -> bool:
        """NumPy calls the tracer's own method, or raises: then nothing that follows ever ran."""
        fact = load().function(name)
        if fact is None or fact.host not in ("dispatches", "converts") or not self.only_traced or not node.args:
            return False
        return not node.args[0].star and not node.args[0].keyword and self.holds(node.args[0].value)

    def _transformed(self, node: ir.Call, transform: ir.Call) -> bool:
        """``jax.value_and_grad(f)(x)``: all results of a transform are tracers where an argument is one, and so is the rest."""
        fact = load().transform(Imports(self.source, node).resolve(transform.func) or "")
        if fact is None or fact.model != "wrap" or fact.tracing == "none" or fact.filters or not self.only_traced:
            return False
        if any(argument.keyword == fact.has_aux for argument in transform.args if argument.keyword):
            return False
        return self._is_ambient(node) and any(self.holds(a.value) for a in node.args if not a.star)

    def _stays_traced(self, node: ir.Node) -> bool:
        """Whatever is computed from a tracer here is one: no ``grad`` or ``vmap`` alone may see that it is constant."""
        return not self.only_traced or self._is_ambient(node)

    def _is_ambient(self, node: ir.Node) -> bool:
        if is_computed_while_tracing(self.source, node):
            return False
        around = self.source.functions(node)
        staging = staging_of(self.source, around[0], self.running) if around else None
        return staging is not None and staging.ambient

    def _name(self, node: ir.Name) -> bool:
        owner = scope_of(self.source, node)
        if owner is None:
            return False
        bound = binders(self.source, owner, node.id)
        parameter = may_hold_argument(self.source, node, owner)
        if parameter:
            staging = staging_of(self.source, owner, self.running)
            if staging is None or node.id not in staging.traced:
                return False
        key = (id(owner), node.id)
        if key in self._open:
            return True
        if not (parameter or bound) or _is_bound_elsewhere(self.source, owner, node.id):
            return False
        self._open.add(key)
        try:
            return all(self._binds(statement, node.id) for statement in bound)
        finally:
            self._open.discard(key)

    def _binds(self, statement: ir.Stmt, name: str) -> bool:
        """The value that a statement binds a name to is such a value."""
        if isinstance(statement, ir.Assign):
            return all(self._target(target, statement.value, name) for target in statement.targets)
        if isinstance(statement, ir.AnnAssign) and statement.value is not None:
            return self._target(statement.target, statement.value, name)
        if isinstance(statement, ir.AugAssign):
            return isinstance(statement.target, ir.Name)  # it was one before, by its other bindings
        if isinstance(statement, ir.For):
            return isinstance(statement.target, ir.Name) and self.holds(statement.iter)
        return False

    def _target(self, target: ir.Expr, value: ir.Expr, name: str) -> bool:
        if name not in target_names(target):
            return True
        if isinstance(target, ir.Name):
            return self.holds(value)
        if isinstance(target, (ir.Tuple, ir.List)) and not any(isinstance(e, ir.Starred) for e in target.elts):
            if isinstance(value, (ir.Tuple, ir.List)) and len(value.elts) == len(target.elts):
                return all(self._target(t, v, name) for t, v in zip(target.elts, value.elts, strict=True))
            return self.only_traced and self.holds(value)
        return False


def may_hold_argument(source: FixSource, node: ir.Name, owner: ir.Function) -> bool:
    """A name may be what the caller of a function gave: it is a parameter, and not surely bound anew before it is read."""
    if not any(p.name == node.id for p in owner.params):
        return False
    around = source.functions(node)
    return owner.is_lambda or around[0] is not owner or binder_before(source, source.statement(node), node.id) is None


def _is_bound_elsewhere(source: FixSource, owner: ir.Function, name: str) -> bool:
    """Whether a function inside of another binds a variable of that (``nonlocal``)."""
    found = source.remember(
        "nonlocal",
        owner,
        lambda: {n for inner in _functions_in(owner) for n in inner.nonlocal_names},
    )
    return name in found


def _functions_in(owner: ir.Function) -> list[ir.Function]:
    return [node for statement in owner.body for node in walk(statement) if isinstance(node, ir.Function)]


def gives_jax_array(name: str) -> bool:
    """The function with this qualified name gives one JAX array, whatever it is given."""
    if not name.startswith(_JAX_FUNCTIONS):
        return False
    knowledge = load()
    fact = knowledge.function(name)
    if fact is None:
        return False
    return fact.returns.startswith(_ARRAYS) and "(" not in fact.returns.removeprefix("like(")


# --- arrays that one name alone refers to ----------------------------------------------------------


def is_local_array(source: FixSource, name: ir.Name, statement: ir.Stmt) -> bool:
    """A name is bound to new JAX arrays only, and nothing else refers to them: binding it anew loses no reference.

    A parameter counts where every run makes a new tracer of it (a caller that is traced itself would hand on its own), and
    something reads it after ``statement``.
    """
    owner = scope_of(source, name)
    if owner is not None and (owner.is_generator or _is_bound_elsewhere(source, owner, name.id)):
        return False
    place = owner if owner is not None else source.module
    bound = binders(source, place, name.id)
    if owner is None and (source.functions(name) or _hands_on(source, name.id)):
        return False
    if owner is not None and may_hold_argument(source, name, owner):
        staging = staging_of(source, owner)
        if staging is None or not staging.at_boundary or not is_surely_traced(source, name):
            return False
        if not is_read_after(source, name, statement):
            return False
    elif not bound:
        return False
    if not all(_binds_new_array(source, one) for one in bound):
        return False
    reads = [node for node in names(source, name.id) if scope_of(source, node) is owner and not is_bound(source, node)]
    return all(_keeps_no_reference(source, node, owner) for node in reads)


def _hands_on(source: FixSource, name: str) -> bool:
    """Whether other files may take a name of the module, or functions of it rebind it."""
    if source.program is None or name in (source.module.star_exports or ()):
        return True
    declared = any(isinstance(n, ir.Function) and name in n.global_names for n in walk(source.module))
    return declared or source.program.imported_elsewhere(source, name)


def _binds_new_array(source: FixSource, statement: ir.Stmt) -> bool:
    if isinstance(statement, ir.AugAssign):
        return isinstance(statement.target, ir.Name)
    if isinstance(statement, ir.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ir.Name):
        return is_new_array(source, statement.value)
    if isinstance(statement, ir.AnnAssign) and statement.value is not None and isinstance(statement.target, ir.Name):
        return is_new_array(source, statement.value)
    return False


def is_new_array(source: FixSource, node: ir.Expr) -> bool:
    """The value is a JAX array in every run, and NumPy would have made a new one here."""
    if isinstance(node, ir.IfExp):
        return is_new_array(source, node.body) and is_new_array(source, node.orelse)
    if isinstance(node, (ir.BinOp, ir.UnaryOp, ir.Compare)):
        return is_surely_array(source, node)
    if not isinstance(node, ir.Call):
        return False
    qualified = Imports(source, node).resolve(node.func)
    if qualified is None:
        if is_update(node):
            return is_surely_array(source, node)
        func = node.func
        copies = isinstance(func, ir.Attribute) and func.attr in ARRAY_METHODS - _VIEW_METHODS
        return copies and is_surely_array(source, node)
    if not gives_jax_array(qualified) or qualified.startswith("jax.lax."):
        return False
    return qualified.rpartition(".")[2] not in _VIEW_FUNCTIONS and not any(a.keyword == "copy" for a in node.args)


def is_bound(source: FixSource, node: ir.Name) -> bool:
    """Whether a name stands where it is bound, or is what an item of it is assigned to."""
    below: msgspec.Struct = node
    for above in source.ancestors(node):
        if isinstance(above, ir.Subscript) and above.value is below and _is_stored(source, above):
            return True
        if not isinstance(above, (ir.Tuple, ir.List, ir.Starred)):
            return _is_stored(source, below)
        below = above
    return False


def _is_stored(source: FixSource, node: msgspec.Struct) -> bool:
    """Whether an expression is the target of an assignment."""
    above = source.parent(node)
    if isinstance(above, ir.Assign):
        return any(target is node for target in above.targets)
    return isinstance(above, (ir.AugAssign, ir.AnnAssign, ir.For, ir.WithItem, ir.Generator)) and above.target is node


def _keeps_no_reference(source: FixSource, node: ir.Expr, owner: ir.Function | None) -> bool:
    """What an array is read for leaves no second reference to it, and no view of it."""
    below, above = node, source.parent(node)
    while _is_view(source, below, above):
        if isinstance(above, ir.Argument):
            above = source.parent(above)
        below, above = above, source.parent(above)  # type: ignore[assignment]
    if isinstance(
        above, (ir.BinOp, ir.UnaryOp, ir.Compare, ir.If, ir.While, ir.Assert, ir.ExprStmt, ir.FormattedValue)
    ):
        return True
    if isinstance(above, (ir.IfExp, ir.BoolOp)):
        return isinstance(above, ir.IfExp) and above.test is below
    leaving = above
    while isinstance(leaving, (ir.Tuple, ir.List, ir.Dict)):
        leaving = source.parent(leaving)
    if isinstance(leaving, ir.Return):
        around = source.functions(leaving)
        return bool(around) and around[0] is owner
    if isinstance(above, ir.Subscript):
        return above.index is below
    if isinstance(above, (ir.AugAssign, ir.Assign)):
        return above.value is below and isinstance(above, ir.AugAssign)
    if isinstance(above, ir.Attribute):
        return above.attr in _STATIC_ATTRIBUTES or above.attr in ARRAY_METHODS - _VIEW_METHODS or above.attr == "at"
    if isinstance(above, ir.Argument):
        call = source.parent(above)
        return isinstance(call, ir.Call) and _only_reads(source, call)
    return False


def _is_view(source: FixSource, node: ir.Expr, above: msgspec.Struct) -> bool:
    """What stands above an array may be the array itself or a view of it."""
    if isinstance(above, ir.Subscript):
        return above.value is node
    if isinstance(above, ir.Attribute):
        return above.attr in _VIEW_ATTRIBUTES - {"at"}
    if isinstance(above, ir.Call):
        return isinstance(node, ir.Attribute) and node.attr in _VIEW_METHODS
    if isinstance(above, ir.Argument):
        call = source.parent(above)
        name = Imports(source, call).resolve(call.func) if isinstance(call, ir.Call) else None
        return name is not None and name.startswith(_JAX_FUNCTIONS) and name.rpartition(".")[2] in _VIEW_FUNCTIONS
    return False


def _only_reads(source: FixSource, call: ir.Call) -> bool:
    """A call of a library function that gives something new, or of a builtin that keeps nothing."""
    name = Imports(source, call).resolve(call.func)
    if name is None:
        return isinstance(call.func, ir.Name) and call.func.id in (
            "print",
            "len",
            "float",
            "int",
            "bool",
            "str",
            "repr",
        )
    if name in ("jax.debug.print", "numpy.array"):
        return True
    return gives_jax_array(name) or name.startswith("jax.lax.")


def is_read_after(source: FixSource, name: ir.Name, statement: ir.Stmt) -> bool:
    """Whether anything may read the variable after a statement: later in the text, in a loop around it that does not bind
    it first, or in a function that captures it."""
    owner = scope_of(source, name)
    loops: list[tuple[int, int]] = []
    for above in source.ancestors(statement):
        if isinstance(above, (ir.Function, ir.ClassDef)):
            break
        if isinstance(above, ir.For) and name.id in target_names(above.target):
            break
        if isinstance(above, (ir.For, ir.While)):
            loops.append((above.start, above.end))
    start = max((end for _, end in loops), default=statement.end)
    for node in names(source, name.id):
        if scope_of(source, node) is not owner or (is_bound(source, node) and not _augments(source, node)):
            continue
        inside = any(first <= node.start < last for first, last in loops)
        outside = statement.start <= node.start < statement.end
        captured = source.functions(node)[:1] != ([owner] if owner is not None else [])
        if captured or (not outside and (node.start >= min(start, statement.end) or inside)):
            return True
    return False


def _augments(source: FixSource, node: ir.Name) -> bool:
    above = source.parent(node)
    return isinstance(above, ir.AugAssign) and above.target is node


def takes_no_attribute(source: FixSource, target: ir.Attribute) -> bool:
    """Assigning to an attribute surely raises: it is one of an array's own, of a frozen class, or a property."""
    if target.attr in ("T", "mT", "real", "imag", "at", "flat"):
        return True
    definition = _class_of(source, target.value)
    if definition is None:
        return False
    imports = Imports(source, definition)
    if any(imports.resolve(base.value) in _FROZEN for base in definition.bases):
        return not _in_constructor(source, target)
    for decorator in definition.decorators:
        options = decorator.args if isinstance(decorator, ir.Call) else []
        name = imports.resolve(decorator.func if isinstance(decorator, ir.Call) else decorator)
        if name in _FROZEN or any(
            o.keyword == "frozen" and isinstance(o.value, ir.Constant) and o.value.value is True for o in options
        ):
            return True
    found = [s for s in definition.body if isinstance(s, ir.FunctionDef) and s.function.name == target.attr]
    texts = [source.slice(d) for s in found for d in s.decorators]
    return bool(found) and texts == ["property"]


_FROZEN = frozenset({"typing.NamedTuple", "flax.struct.dataclass", "flax.struct.PyTreeNode", "equinox.Module"})


def _in_constructor(source: FixSource, node: ir.Node) -> bool:
    around = source.functions(node)
    return bool(around) and around[0].name in ("__init__", "__post_init__", "setup")


def _class_of(source: FixSource, node: ir.Expr) -> ir.ClassDef | None:
    """The class of this file that the value of a name surely is an instance of."""
    if not isinstance(node, ir.Name):
        return None
    owner = scope_of(source, node)
    place = owner if owner is not None else source.module
    bound = binders(source, place, node.id)
    parameter = next((p for p in owner.params if p.name == node.id), None) if owner is not None else None
    if parameter is not None and not bound and owner is not None:
        above = source.parent(source.parent(owner)) if isinstance(source.parent(owner), ir.FunctionDef) else None
        if isinstance(above, ir.ClassDef) and parameter is owner.params[0]:
            return above
        return _named_class(source, parameter.annotation)
    if len(bound) == 1 and isinstance(bound[0], ir.Assign) and isinstance(bound[0].targets[0], ir.Name):
        value = bound[0].value
        return _named_class(source, value.func) if isinstance(value, ir.Call) else None
    return None


def _named_class(source: FixSource, node: ir.Expr | None) -> ir.ClassDef | None:
    name = node.id if isinstance(node, ir.Name) else node.value if isinstance(node, ir.Constant) else None
    found = [s for s in source.module.body if isinstance(s, ir.ClassDef) and s.name == name]
    return found[0] if len(found) == 1 and len(binders(source, source.module, found[0].name)) == 1 else None


def is_kernel(source: FixSource, node: ir.Node) -> bool:
    """A function around a node is handed to Pallas: its arguments are references, whose items are assigned to."""
    for function in source.functions(node):
        definition = source.parent(function)
        uses = [Use(source, name) for name in names(source, function.name)]
        if isinstance(definition, ir.FunctionDef) and source.program is not None:
            uses += source.program.uses(source, definition) or []
        elif isinstance(definition, ir.Lambda):
            uses.append(Use(source, definition))
        if any(_is_for_pallas(use) for use in uses):
            return True
    return False


def _is_for_pallas(use: Use) -> bool:
    """Whether an expression is in an argument of ``pallas_call`` or its kin."""
    for above in use.source.ancestors(use.node):
        if isinstance(above, STATEMENTS):
            return False
        if isinstance(above, ir.Call):
            fact = load().transform(Imports(use.source, above).resolve(above.func) or "")
            if fact is not None and fact.model.startswith("pallas"):
                return True
    return False


# --- indices ---------------------------------------------------------------------------------------


def selects_each_item_once(source: FixSource, index: ir.Expr) -> bool:
    """No item is selected twice by an index: it has integers, slices, ``None`` and ``...`` only."""
    parts = index.elts if isinstance(index, ir.Tuple) else [index]
    return all(isinstance(part, ir.Slice) or _is_number(source, part) for part in parts)


def _is_number(source: FixSource, node: ir.Expr, depth: int = 8) -> bool:
    """A Python integer, None or ``...`` for certain."""
    if depth == 0:
        return False
    if isinstance(node, ir.Constant):
        return node.kind in ("int", "none", "ellipsis")
    if isinstance(node, ir.UnaryOp):
        return node.op == "-" and _is_number(source, node.operand, depth - 1)
    if isinstance(node, ir.BinOp):
        return _is_number(source, node.left, depth - 1) and _is_number(source, node.right, depth - 1)
    if isinstance(node, ir.Subscript):
        return (
            isinstance(node.value, ir.Attribute) and node.value.attr == "shape" and not isinstance(node.index, ir.Slice)
        )
    if isinstance(node, ir.Attribute):
        return node.attr in ("ndim", "size")
    if isinstance(node, ir.Call):
        return isinstance(node.func, ir.Name) and node.func.id in ("len", "int") and node.func.id not in _taken(source)
    if not isinstance(node, ir.Name):
        return False
    owner = scope_of(source, node)
    if owner is None or any(p.name == node.id for p in owner.params):
        return False
    bound = binders(source, owner, node.id)
    return bool(bound) and all(_binds_number(source, statement, node.id, depth - 1) for statement in bound)


def _taken(source: FixSource) -> set[str]:
    return set(source.module.bound_names)


def _binds_number(source: FixSource, statement: ir.Stmt, name: str, depth: int) -> bool:
    if (
        isinstance(statement, ir.For)
        and isinstance(statement.iter, ir.Call)
        and isinstance(statement.iter.func, ir.Name)
    ):
        called, target = statement.iter.func.id, statement.target
        if called in _taken(source):
            return False
        if called == "enumerate":
            return isinstance(target, ir.Tuple) and isinstance(target.elts[0], ir.Name) and target.elts[0].id == name
        return called == "range" and isinstance(target, ir.Name)
    if isinstance(statement, ir.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ir.Name):
        value = statement.value
        return not isinstance(value, ir.Name) and _is_number(source, value, depth)
    return False
