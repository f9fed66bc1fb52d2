"""JAX524: see the page of ``lossy_flatten``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._units import library_name
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.events.context import Context
from flake8_jax.semantics.events.files import FileRead


@rule("JAX524", "warning")
def lossy_flatten(event: FileRead) -> list[Report]:
    """A class that is registered as a pytree loses an attribute, or swaps two, when JAX rebuilds its objects.

    The rule is on only with `--preview`, because too few public repositories have such code to judge the rule.

    ## Why is this bad?

    `jax.jit`, `jax.vmap`, `jax.tree.map` and other functions of JAX take an object apart with `tree_flatten` and rebuild it
    with `tree_unflatten`. An attribute that neither of them passes on gets the default of the constructor. JAX raises no
    error, so the value that the caller has set has no effect inside a jitted function. In the same way, two attributes are
    swapped if `tree_flatten` lists them in another order than the parameters of the constructor.

    Put arrays into the children and other values into the auxiliary data, and pass all of them to the constructor.

    ## Example

    ```python
    import jax


    @jax.tree_util.register_pytree_node_class
    class Decay:
        def __init__(self, rate, floor=0.0):
            self.rate = rate
            self.floor = floor

        @jax.jit
        def step(self, x):
            return jax.numpy.maximum(x - self.rate * x, self.floor)

        def tree_flatten(self):
            return (self.rate,), None  # expect: lossy-flatten

        @classmethod
        def tree_unflatten(cls, aux, children):
            return cls(*children)


    def demonstrate():
        assert Decay(0.5, floor=0.9).step(1.0) == 0.5  # and not 0.9
    ```

    ```python
    import jax


    @jax.tree_util.register_pytree_node_class
    class Line:
        def __init__(self, slope, offset):
            self.slope = slope
            self.offset = offset

        def tree_flatten(self):
            return (self.offset, self.slope), None  # expect: lossy-flatten

        @classmethod
        def tree_unflatten(cls, aux, children):
            return cls(*children)


    def demonstrate():
        line = jax.tree.map(lambda x: x, Line(1.0, 2.0))
        assert (line.slope, line.offset) == (2.0, 1.0)
    ```

    ## Use instead

    ```python
    import jax


    @jax.tree_util.register_pytree_node_class
    class Decay:
        def __init__(self, rate, floor=0.0):
            self.rate = rate
            self.floor = floor

        @jax.jit
        def step(self, x):
            return jax.numpy.maximum(x - self.rate * x, self.floor)

        def tree_flatten(self):
            return (self.rate, self.floor), None

        @classmethod
        def tree_unflatten(cls, aux, children):
            return cls(*children)
    ```

    ## Not reported

    jaxlint does not report an attribute that no method reads, one that only matters for output, such as `verbose` or
    `name`, or one that the constructor computes from other attributes. It reports nothing if `tree_unflatten` makes the
    object without the constructor, or sets attributes afterwards.

    ```python
    import jax


    @jax.tree_util.register_pytree_node_class
    class Decay:
        def __init__(self, rate, label=""):
            self.rate = rate
            self.label = label
            self.cached = {}

        def __repr__(self):
            return f"Decay({self.label})"

        def tree_flatten(self):
            return (self.rate,), None

        @classmethod
        def tree_unflatten(cls, aux, children):
            return cls(*children)
    ```

    ## Limitations

    The rule reads classes that `register_pytree_node_class` or `register_pytree_with_keys_class` registers, and that define
    both methods and the constructor, or the fields of a data class, themselves. It misses classes that
    `register_pytree_node` registers.

    ## Fix safety

    No fix. The author has to decide whether the attribute is an array or a static value.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if JAX takes such an object apart.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX405 (`jit-on-method`), JAX503 (`self-write`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/custom_pytrees.html>
    """
    scope = event.context.scope
    if "register_pytree" not in scope.text:
        return []
    nodes = [node for statement in scope.tree.body for node in walk(statement)]
    called = {name for node in nodes if isinstance(node, ir.Call) for name in _names_registered(node, scope)}
    classes = [node for node in nodes if isinstance(node, ir.ClassDef)]
    registered = [cls for cls in classes if cls.name in called or _is_registered(cls, scope)]
    return [report for cls in registered for report in _of_class(event.context, cls)]


@dataclass(frozen=True)
class _Rebuilt:
    """What ``tree_unflatten`` passes to the constructor: by position or name, the attribute that the argument comes from; None
    where that is not known. at: where it does."""

    at: ir.Call
    positional: list[str | None] = field(default_factory=list)
    named: dict[str, str | None] = field(default_factory=dict)


_REGISTERING = ("register_pytree_node_class", "register_pytree_with_keys_class")


def _is_registered(cls: ir.ClassDef, scope: ModuleScope) -> bool:
    """A decorator registers the class by its methods."""
    return any(library_name(node, scope).endswith(_REGISTERING) for node in cls.decorators)


def _names_registered(call: ir.Call, scope: ModuleScope) -> Iterator[str]:
    """``Line`` of ``register_pytree_node_class(Line)``"""
    if call.args and isinstance(call.args[0].value, ir.Name) and library_name(call.func, scope).endswith(_REGISTERING):
        yield call.args[0].value.id


@dataclass(frozen=True)
class _Constructor:
    """What makes the objects. positional: parameters that may be passed by position, in order. optional: those with a default.
    stored: the parameters that it stores as they are, by attribute."""

    positional: list[str]
    optional: set[str]
    stored: dict[str, str]


def _constructor(cls: ir.ClassDef, methods: dict[str, ir.Function]) -> _Constructor | None:
    init = methods.get("__init__")
    if init is not None:
        parameters = init.params[1:]
        if any(parameter.kind in ("vararg", "kwarg") for parameter in parameters):
            return None
        positional = [parameter.name for parameter in parameters if parameter.kind != "kwonly"]
        return _Constructor(positional, {p.name for p in parameters if p.default is not None}, _stored(init))
    if cls.bases or "__post_init__" in methods or not any(last_name(node) == "dataclass" for node in cls.decorators):
        return None
    fields = [one for one in cls.body if isinstance(one, ir.AnnAssign) and isinstance(one.target, ir.Name)]
    if any(isinstance(one.value, ir.Call) or last_name(one.annotation) in ("ClassVar", "InitVar") for one in fields):
        return None  # ``field(init=False)``
    names = {one.target.id: one.value for one in fields if isinstance(one.target, ir.Name)}
    return _Constructor([*names], {name for name, value in names.items() if value is not None}, {n: n for n in names})


def _of_class(context: Context, cls: ir.ClassDef) -> Iterator[Report]:
    methods = {one.function.name: one.function for one in cls.body if isinstance(one, ir.FunctionDef)}
    constructor, unflatten = _constructor(cls, methods), methods.get("tree_unflatten")
    flatten = methods.get("tree_flatten") or methods.get("tree_flatten_with_keys")
    if constructor is None or flatten is None or unflatten is None:
        return
    given = _given(flatten)
    rebuilt = _rebuilt(unflatten, *given) if given is not None else None
    if rebuilt is None:
        return
    passed, stored = dict(zip(constructor.positional, rebuilt.positional)) | rebuilt.named, constructor.stored
    left = constructor.optional - passed.keys()
    read = {name for one in methods.values() if one.name not in _SILENT for name in _attributes(one)} - _OF_OUTPUT
    lost = [name for name, own in stored.items() if own in left and name in read]
    if lost:
        yield _report_lost(context, cls, rebuilt, flatten, lost)
    for name, attribute in passed.items():
        own = stored.get(attribute or "")
        if own is not None and own != name and name in stored.values():
            message = (
                f"`tree_unflatten` passes `self.{attribute}` for `{name}`, but the constructor takes it for `{own}`"
            )
            yield Report(_end_of(flatten), f"{message}; list the attributes in its order", preview=True)
            return


def _report_lost(
    context: Context, cls: ir.ClassDef, rebuilt: _Rebuilt, flatten: ir.Function, lost: list[str]
) -> Report:
    """Attributes fall back to the defaults of the constructor."""
    names = " and ".join(f"`self.{name}`" for name in lost[:3])
    default, them = ("their defaults", "them") if len(lost) > 1 else ("its default", "it")
    at = rebuilt.at if set(_attributes(flatten)).issuperset(lost) else _end_of(flatten)
    shown = quote(context, at.value if isinstance(at, ir.Return) else at)
    message = f"{shown} leaves out {names}, so JAX rebuilds the `{cls.name}` with {default}; pass {them} on"
    return Report(at, message, preview=True)


_OF_OUTPUT = frozenset({"verbose", "debug", "quiet", "silent", "logger", "name", "label", "description"})
"""Attributes for what a program prints: a value that is lost changes no result."""
_SILENT = frozenset(
    {"__init__", "__repr__", "__str__", "__eq__", "tree_flatten", "tree_flatten_with_keys", "tree_unflatten"}
)


def _attributes(function: ir.Function) -> Iterator[str]:
    """The attributes of the object that a method reads or writes."""
    receiver = function.params[0].name if function.params else ""
    for statement in function.body:
        for node in walk(statement):
            if isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name) and node.value.id == receiver:
                yield node.attr


def _stored(init: ir.Function) -> dict[str, str]:
    """The parameters that the constructor stores as they are, by attribute, if no other statement stores there."""
    receiver, parameters = init.params[0].name, {parameter.name for parameter in init.params[1:]}
    found: dict[str, str] = {}
    writes: dict[str, int] = {}
    for statement in init.body:
        for node in walk(statement):
            targets = node.targets if isinstance(node, ir.Assign) else []
            targets = [node.target] if isinstance(node, (ir.AnnAssign, ir.AugAssign)) else targets
            for target in targets:
                if (
                    isinstance(target, ir.Attribute)
                    and isinstance(target.value, ir.Name)
                    and target.value.id == receiver
                ):
                    writes[target.attr] = writes.get(target.attr, 0) + 1
                    value = node.value if isinstance(node, (ir.Assign, ir.AnnAssign)) else None
                    if isinstance(value, ir.Name) and value.id in parameters:
                        found[target.attr] = value.id
                elif isinstance(target, ir.Name):
                    parameters.discard(target.id)
    return {name: parameter for name, parameter in found.items() if writes[name] == 1}


def _end_of(function: ir.Function) -> ir.Return:
    """The ``return`` of a function that ends in one."""
    last = function.body[-1]
    assert isinstance(last, ir.Return)
    return last


_Parts = list["str | None"] | dict[str, "str | None"] | str | None
"""Attributes in their order or by key, one attribute, or what is not known."""


def _given(flatten: ir.Function) -> tuple[_Parts, _Parts] | None:
    """The attributes in the children and in the auxiliary data."""
    *before, last = flatten.body if flatten.body else [None]
    if not isinstance(last, ir.Return):
        return None
    bound = {
        statement.targets[0].id: statement.value
        for statement in before
        if isinstance(statement, ir.Assign) and isinstance(statement.targets[0], ir.Name)
    }
    pair = bound.get(last.value.id) if isinstance(last.value, ir.Name) else last.value
    if not isinstance(pair, ir.Tuple) or len(pair.elts) != 2:
        return None
    receiver = flatten.params[0].name if flatten.params else ""
    children, aux = (bound.get(e.id, e) if isinstance(e, ir.Name) else e for e in pair.elts)
    return _parts(children, receiver), _parts(aux, receiver)


def _parts(node: ir.Expr, receiver: str) -> _Parts:
    if isinstance(node, (ir.Tuple, ir.List)):
        if any(isinstance(element, ir.Starred) for element in node.elts):
            return None
        return [_attribute(element, receiver) for element in node.elts]
    if isinstance(node, ir.Dict):
        names = [key.value if isinstance(key, ir.Constant) else None for key in node.keys]
        values = [_attribute(value, receiver) for value in node.values]
        return {n: v for n, v in zip(names, values) if isinstance(n, str)} if None not in names else None
    return _attribute(node, receiver)


def _attribute(node: ir.Expr, receiver: str) -> str | None:
    if isinstance(node, ir.Tuple) and len(node.elts) == 2 and isinstance(node.elts[0], ir.Call):
        node = node.elts[1]  # ``(GetAttrKey("slope"), self.slope)``
    is_own = isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name) and node.value.id == receiver
    return node.attr if is_own and isinstance(node, ir.Attribute) else None


def _rebuilt(unflatten: ir.Function, children: _Parts, aux: _Parts) -> _Rebuilt | None:
    """What the call of the class gets, if ``tree_unflatten`` does nothing but that."""
    last = unflatten.body[-1] if unflatten.body else None
    if len(unflatten.params) != 3 or not isinstance(last, ir.Return) or not isinstance(last.value, ir.Call):
        return None
    receiver, *names = (parameter.name for parameter in unflatten.params)
    if last_name(last.value.func) != receiver:
        return None
    known: dict[str, _Parts] = dict(zip(names, (aux, children)))
    for statement in unflatten.body[:-1]:
        if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Name):
            target, parts = statement.targets[0], known.get(statement.value.id)
            if isinstance(target, (ir.Tuple, ir.List)) and isinstance(parts, list) and len(parts) == len(target.elts):
                known |= {e.id: part for e, part in zip(target.elts, parts) if isinstance(e, ir.Name)}
    made = _Rebuilt(last.value)
    for argument in last.value.args:
        if not _pass(argument, known, made):
            return None
    return made


def _pass(argument: ir.Argument, known: dict[str, _Parts], made: _Rebuilt) -> bool:
    """Add an argument to what is passed; False if it is not known how many there are."""
    parts = known.get(argument.value.id) if isinstance(argument.value, ir.Name) else None
    if argument.star == 1:
        if isinstance(parts, list):
            made.positional.extend(parts)
        return isinstance(parts, list)
    if argument.star == 2:
        if isinstance(parts, dict):
            made.named.update(parts)
        return isinstance(parts, dict)
    one = parts if isinstance(parts, str) else _item(argument.value, known)
    if argument.keyword is None:
        made.positional.append(one)
    else:
        made.named[argument.keyword] = one
    return True


def _item(node: ir.Expr, known: dict[str, _Parts]) -> str | None:
    """``children[0]`` or ``aux["rate"]``"""
    if (
        not isinstance(node, ir.Subscript)
        or not isinstance(node.value, ir.Name)
        or not isinstance(node.index, ir.Constant)
    ):
        return None
    parts, at = known.get(node.value.id), node.index.value
    if isinstance(parts, list) and type(at) is int and -len(parts) <= at < len(parts):
        return parts[at]
    return parts.get(at) if isinstance(parts, dict) and isinstance(at, str) else None
