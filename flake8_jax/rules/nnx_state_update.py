"""JAX522: see the page of ``nnx_state_update``."""

from __future__ import annotations

from collections.abc import Iterator

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._modes import methods_of
from flake8_jax.rules._units import Unit, calls_in, library_name, text_of, units_of
from flake8_jax.semantics.domain.code import all_statements, last_name, path_of
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import ClassValue
from flake8_jax.semantics.events.files import FileRead
from flake8_jax.semantics.events.refused import AugmentedVariable


@rule("JAX522", "error", raises="another error")
def nnx_state_update(event: AugmentedVariable | FileRead) -> Report | list[Report] | None:
    """A method changes state of `flax.nnx` in a way that Flax refuses, or that compiles again at each call.

    The rule is on only with `--preview`, because few public repositories with such code have been read so far. It
    reports an operator on a variable as an error, and a plain number as a warning.

    ## Why is this bad?

    Since Flax 0.12, an operator such as `self.count += 1` raises `NotImplementedError` if `self.count` is an
    `nnx.Variable` or an `nnx.Param`. Write `self.count[...] += 1`. In releases before Flax 0.12.1,
    write `self.count.value += 1`.

    An attribute that is a plain number belongs to the static structure of an `nnx` object. If a method changes it under
    `nnx.jit`, the next call finds another structure and compiles again. If the new value is an array, Flax 0.12 raises
    `ValueError`, at once or in the next call of the jitted function. Keep the number in an `nnx.Variable`.

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

    ## Use instead

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

    jaxlint does not report a number that only code outside of `nnx.jit` changes.

    ```python
    from flax import nnx


    class Trainer(nnx.Module):
        def __init__(self):
            self.epoch = 0

        def next_epoch(self):
            self.epoch += 1
    ```

    ## Limitations

    The rule misses an operator on a variable that a layer of Flax makes, such as `linear.kernel`. It finds a plain number
    only if the constructor assigns a literal, and it takes a method for traced if a function under `nnx.jit` calls a
    method of this name.

    ## Fix safety

    No fix. The right form depends on the releases of Flax that the project supports.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if Flax raises `NotImplementedError` at the
    line of the finding.

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
    target = " ".join(text_of(event.at.target, event.context.scope).split())
    return Report(
        event.at,
        f"`{target} {event.at.op}=` raises NotImplementedError since Flax 0.12, because `{target}` is a variable of nnx; "
        f"write {target}[...] {event.at.op}=",
        None if event.exact and not event.context.presumed else "warning",
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
    traced: set[str] | None = None
    for statement in scope.tree.body:
        value = scope.slots.get(statement.name) if isinstance(statement, ir.ClassDef) else None
        if not isinstance(statement, ir.ClassDef) or not isinstance(value, ClassValue):
            continue
        if value.has_unknown_base or not _BASES & set(value.external_bases):
            continue
        updates = list(_updates_of(statement))
        if updates and traced is None:
            files = [scope, *(f for f in event.files if f is not scope and not f.cells and "nnx" in f.text)]
            traced = {name for f in files for name in _traced_methods(f)}
        seen: set[str] = set()
        for method, update, name in updates:
            if traced and method.name in traced and name not in seen:
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


def _traced_methods(scope: ModuleScope) -> Iterator[str]:
    """The names of what functions under ``nnx.jit`` call, and of methods that it decorates."""
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
            yield unit.function.name
        for name in _called_in(unit):
            yield name
            todo += [(u, depth - 1) for u in units if u.function is not None and u.function.name == name]


def _called_in(unit: Unit) -> Iterator[str]:
    """The names of functions and methods that a function calls, or passes on; ``__call__`` for a variable."""
    for statement in unit.statements:
        for call in calls_in(statement):
            yield from (last_name(part) for part in [call.func, *(a.value for a in call.args)])
            if isinstance(call.func, ir.Name) and call.func.id in unit.parameters | {"model"}:
                yield "__call__"


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
