"""JAX522: see the page of ``nnx_state_update``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._modes import methods_of
from flake8_jax.rules._units import Unit, calls_in, library_name, text_of, units_of
from flake8_jax.semantics.domain.code import all_statements, last_name, path_of
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import ClassValue, Instance
from flake8_jax.semantics.events.files import FileRead
from flake8_jax.semantics.events.refused import AugmentedVariable, StaticAttribute


@rule("JAX522", "error", raises="another error")
def nnx_state_update(event: AugmentedVariable | StaticAttribute | FileRead) -> Report | list[Report] | None:
    """A method changes state of `flax.nnx` in a way that Flax refuses, or that compiles again at each call.

    The rule is on only with `--preview`, because few public repositories with such code have been read so far. It
    reports an operator on a variable and a module in a static attribute as errors, and a plain number as a warning.

    ## Why is this bad?

    Since Flax 0.12, an operator such as `self.count += 1` raises `NotImplementedError` if `self.count` is an
    `nnx.Variable` or an `nnx.Param`. Write `self.count[...] += 1`. In releases before Flax 0.12.1,
    write `self.count.value += 1`.

    An attribute that is a plain number belongs to the static structure of an `nnx` object. If a method changes it under
    `nnx.jit`, the next call finds another structure and compiles again. If the new value is an array, Flax 0.12 raises
    `ValueError`, at once or in the next call of the jitted function. Keep the number in an `nnx.Variable`.

    The first value of an attribute decides whether it is static. If the constructor first writes `self.head = None`, then
    Flax 0.12 raises `ValueError` when a module, a variable or an array follows. Write `self.head = nnx.data(None)`, or
    assign None only if nothing else follows.

    ## Example

    ```python
    import jax.numpy as jnp
    from flax import nnx


    class Counter(nnx.Module):
        def __init__(self):
            self.count = nnx.Variable(jnp.array(0))

        def __call__(self):
            self.count += 1  # expect: nnx-state-update


    def demonstrate():
        Counter()()  # raises: NotImplementedError
    ```

    ```python
    import jax.numpy as jnp
    from flax import nnx

    traces = []


    class Counter(nnx.Module):
        def __init__(self):
            self.total = 0

        def update(self, x):
            self.total += len(x)  # expect: nnx-state-update


    @nnx.jit
    def step(counter, x):
        counter.update(x)
        return x * 2


    def demonstrate():
        counter = Counter()
        sizes = []
        for _ in range(3):
            step(counter, jnp.ones(2))
            sizes.append(counter.total)
        assert sizes == [2, 4, 6]
    ```

    ```python
    from flax import nnx


    class Network(nnx.Module):
        def __init__(self, width, has_head, rngs):
            self.head = None
            if has_head:
                self.head = nnx.Linear(width, 1, rngs=rngs)  # expect: nnx-state-update


    def demonstrate():
        Network(2, True, nnx.Rngs(0))  # raises: ValueError
    ```

    ## Use instead

    ```python
    from flax import nnx


    class Network(nnx.Module):
        def __init__(self, width, has_head, rngs):
            self.head = nnx.data(nnx.Linear(width, 1, rngs=rngs) if has_head else None)
    ```

    ```python
    import jax.numpy as jnp
    from flax import nnx


    class Counter(nnx.Module):
        def __init__(self):
            self.total = nnx.Variable(jnp.array(0))

        def update(self, x):
            self.total[...] += len(x)


    @nnx.jit
    def step(counter, x):
        counter.update(x)
        return x * 2
    ```

    ## Not reported

    jaxlint does not report a number that only code outside of `nnx.jit` changes. It does not report None after a
    module, or an attribute that the class declares.

    ```python
    from flax import nnx


    class Network(nnx.Module):
        body: nnx.Data[nnx.Linear | None]

        def __init__(self, width, has_head, rngs):
            self.body = None
            self.body = nnx.Linear(width, width, rngs=rngs)
            if has_head:
                self.head = nnx.Linear(width, 1, rngs=rngs)
            else:
                self.head = None
            self.tail = nnx.Linear(width, 1, rngs=rngs)
            self.tail = None
            self.tail = nnx.Linear(width, 2, rngs=rngs)


    class Trainer(nnx.Module):
        def __init__(self):
            self.epoch = 0

        def next_epoch(self):
            self.epoch += 1
    ```

    ## Limitations

    The rule misses an operator on a variable that a layer of Flax makes, such as `linear.kernel`. It finds a plain number
    only if the constructor assigns a literal. It takes a method for traced if a function under `nnx.jit` calls a method of
    this name, unless the project says under the name of the object that it is of another class.

    ## Fix safety

    No fix. The right form depends on the releases of Flax that the project supports.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if Flax raises `NotImplementedError` or
    `ValueError` at the line of the finding.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX520 (`plain-container-in-module`), JAX517 (`frozen-attribute`), JAX802 (`deprecated-api`).

    ## Further reading

    <https://flax.readthedocs.io/en/latest/nnx_basics.html>
    """
    if isinstance(event, FileRead):
        return list(_plain_numbers(event))
    if event.context.caught:
        return None
    if isinstance(event, StaticAttribute):
        return _of_static(event)
    target = " ".join(text_of(event.at.target, event.context.scope).split())
    return Report(
        event.at,
        f"`{target} {event.at.op}=` raises NotImplementedError since Flax 0.12, because `{target}` is a variable of nnx; "
        f"write {target}[...] {event.at.op}=",
        None if event.exact and not event.context.presumed else "warning",
        preview=True,
    )


def _of_static(event: StaticAttribute) -> Report | None:
    """``self.head = None; self.head = nnx.Linear(…)``."""
    if event.context.presumed:
        return None
    return Report(
        event.at,
        f"`{event.name}` is static in the nnx module `{event.owner}`, because its first value is {event.first}, so Flax 0.12 "
        f"raises ValueError here; start with nnx.data({event.first})",
        preview=True,
    )


_BASES = frozenset(
    {"flax.nnx.Module", "flax.nnx.Metric", "flax.nnx.metrics.Metric", "flax.nnx.Pytree", "flax.nnx.Object"}
)
_HOST_METHODS = frozenset({"__init__", "reset", "train", "eval", "__post_init__"})
_DEPTH = 3


def _plain_numbers(event: FileRead) -> Iterator[Report]:
    """Numbers that constructors of the file set, and that methods under ``nnx.jit`` change."""
    scope = event.context.scope
    if is_test(event.context) or scope.is_test or "nnx" not in scope.text:
        return
    traced: set[tuple[str, str]] | None = None
    for statement in scope.tree.body:
        value = scope.slots.get(statement.name) if isinstance(statement, ir.ClassDef) else None
        if not isinstance(statement, ir.ClassDef) or not isinstance(value, ClassValue):
            continue
        if value.has_unknown_base or not _BASES & set(value.external_bases):
            continue
        updates = list(_updates_of(statement))
        if updates and traced is None:
            shared = _shared_by(event.files)
            traced = set(_traced_methods((*shared, scope)) if scope not in shared else _traced_of(shared))
        seen: set[str] = set()
        for method, update, name in updates:
            if traced and {(statement.name, method.name), ("", method.name)} & traced and name not in seen:
                seen.add(name)
                yield _number_report(update, name, scope)


def _updates_of(cls: ir.ClassDef) -> Iterator[tuple[ir.Function, ir.Assign | ir.AugAssign, str]]:
    """The statements of methods that change an attribute which the constructor sets to a number."""
    methods = methods_of(cls)
    constructor = next((f for f in methods if f.name == "__init__"), None)
    if constructor is None:
        return
    numbers: set[str] = set()
    others: set[str] = set()
    for statement in all_statements(constructor.body):
        for target in statement.targets if isinstance(statement, ir.Assign) else []:
            if isinstance(statement, ir.Assign) and path_of(target).startswith("self."):
                is_number = isinstance(statement.value, ir.Constant) and statement.value.kind in ("int", "float")
                (numbers if is_number else others).add(path_of(target))
    for method in methods:
        if method.name in _HOST_METHODS:
            continue
        for statement in all_statements(method.body):
            if isinstance(statement, ir.AugAssign):
                path = path_of(statement.target)
            elif isinstance(statement, ir.Assign) and len(statement.targets) == 1:
                path = path_of(statement.targets[0])
                path = path if any(path_of(n) == path for n in walk(statement.value)) else ""
            else:
                continue
            if path in numbers - others and isinstance(statement, (ir.Assign, ir.AugAssign)):
                yield method, statement, path


def _shared_by(files: tuple[ModuleScope, ...]) -> tuple[ModuleScope, ...]:
    """The files with nnx that may run in one program with any other: a notebook is a program of its own."""
    return tuple(f for f in files if not f.cells and "nnx" in f.text)


@lru_cache(maxsize=1)
def _traced_of(files: tuple[ModuleScope, ...]) -> frozenset[tuple[str, str]]:
    """Computed once for all files of a project."""
    return frozenset(_traced_methods(files))


def _traced_methods(files: tuple[ModuleScope, ...]) -> Iterator[tuple[str, str]]:
    """The methods that functions under ``nnx.jit`` call, and those that it decorates: the class, empty for any class, and the
    name."""
    classes = _classes_by_name(files)
    for scope in files:
        yield from _traced_in(scope, classes)


def _traced_in(scope: ModuleScope, classes: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    units = [unit for unit in units_of(scope) if unit.function is not None]
    jitted = [u for u in units if any(_is_jit(d, scope) for d in u.decorators)]
    names = {
        last_name(call.args[0].value)
        for statement in scope.tree.body
        for call in calls_in(statement)
        if library_name(call.func, scope) == "flax.nnx.jit" and call.args
    }
    jitted += [u for u in units if u.function is not None and u.function.name in names]
    todo = [(unit, _DEPTH) for unit in jitted]
    seen: set[int] = set()
    while todo:
        unit, depth = todo.pop()
        if id(unit) in seen or not depth or unit.function is None:
            continue
        seen.add(id(unit))
        if unit.owner is not None:
            yield unit.owner.name, unit.function.name
        around = [u for u in units if u.function is not None and _contains(u.function, unit.function)]
        for owners, name in _called_in(unit, _objects_in(around), classes):
            yield from ((owner, name) for owner in owners)
            todo += [(u, depth - 1) for u in units if _may_be(u, name, owners)]


def _may_be(unit: Unit, name: str, owners: set[str]) -> bool:
    """The unit is what a call of the name runs. owners: the classes that it may be a method of."""
    is_named = unit.function is not None and unit.function.name == name
    return is_named and (unit.owner is None or "" in owners or unit.owner.name in owners)


def _contains(outer: ir.Function, inner: ir.Function) -> bool:
    return outer is inner or inner.qualname.startswith(f"{outer.qualname}.<locals>.")


def _classes_by_name(files: tuple[ModuleScope, ...]) -> dict[str, set[str]]:
    """What code calls its objects, with their classes and the bases of those: ``metric = Accuracy()``, ``metric: Accuracy``;
    each class under its own name as well."""
    found: dict[str, set[str]] = {}
    bases: dict[str, set[str]] = {}
    for node in (n for f in files for statement in f.tree.body for n in walk(statement)):
        if isinstance(node, ir.ClassDef):
            bases.setdefault(node.name, set()).update(last_name(base.value) for base in node.bases)
            found.setdefault(node.name, set()).add(node.name)
        for name, kind in _named_objects(node):
            if name and kind[:1].isupper():
                found.setdefault(name, set()).add(kind)
    for kinds in found.values():
        todo = list(kinds)
        while todo:
            new = bases.get(todo.pop(), set()) - kinds
            kinds |= new
            todo += new
    return found


def _named_objects(node: object) -> Iterator[tuple[str, str]]:
    """Names that a node gives to objects, and what their classes are called."""
    if isinstance(node, ir.Assign) and isinstance(node.value, ir.Call):
        yield from ((last_name(target), last_name(node.value.func)) for target in node.targets)
    elif isinstance(node, ir.AnnAssign):
        yield last_name(node.target), last_name(node.annotation)
    elif isinstance(node, ir.Function):
        yield from ((p.name, last_name(p.annotation)) for p in node.params if p.annotation is not None)


def _objects_in(units: list[Unit]) -> set[str]:
    """The variables of functions that may hold objects with a ``__call__``: parameters, and what a class or nnx makes."""
    names = {name for unit in units for name in unit.parameters}
    for statement in (s for unit in units for s in unit.statements):
        if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Call):
            made = last_name(statement.value.func)
            if made[:1].isupper() or made in ("merge", "clone"):
                names |= {last_name(target) for target in statement.targets}
    return names


def _called_in(unit: Unit, objects: set[str], classes: dict[str, set[str]]) -> Iterator[tuple[set[str], str]]:
    """What a function calls, or passes on: the classes that may have the method, none for a function, and the name;
    ``__call__`` for a variable that is called itself."""
    any_class = {""}
    for call in (c for statement in unit.statements for c in calls_in(statement)):
        for part in (call.func, *(a.value for a in call.args)):
            if isinstance(part, ir.Attribute):
                receiver = last_name(part.value)
                known = unit.owner.name if receiver == "self" and unit.owner is not None else receiver
                yield classes.get(known, any_class), part.attr
            elif isinstance(part, ir.Name):
                yield set(), part.id
        if isinstance(call.func, ir.Name) and (call.func.id in objects or _is_object(unit.scope, call.func.id)):
            yield classes.get(call.func.id, any_class), "__call__"


def _is_object(scope: ModuleScope, name: str) -> bool:
    return isinstance(scope.slots.get(name), Instance)


def _is_jit(decorator: ir.Expr, scope: ModuleScope) -> bool:
    parts = [decorator]
    if isinstance(decorator, ir.Call):
        parts = [decorator.func, *(a.value for a in decorator.args)]
    return any(library_name(part, scope) == "flax.nnx.jit" for part in parts)


def _number_report(update: ir.Assign | ir.AugAssign, path: str, scope: ModuleScope) -> Report:
    array = any(isinstance(n, ir.Call) and library_name(n.func, scope).startswith("jax.") for n in walk(update.value))
    problem = "nnx.jit compiles again whenever it changes"
    if array:
        problem = "Flax 0.12 refuses an array in it"
    return Report(
        update,
        f"`{path}` starts as a plain number, which is static, so {problem}; start with nnx.Variable(jnp.array(0)) and write "
        f"{path}[...]",
        "warning",
        preview=True,
    )
