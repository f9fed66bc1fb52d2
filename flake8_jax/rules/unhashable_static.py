"""JAX403: see the page of ``unhashable_static``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import TRACED_BY, Candidate, Report, rule
from flake8_jax.rules._static_arrays import static_array
from flake8_jax.rules._tracers import contains_tracer, quote
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.domain.hashing import Lack, lack_of_hash
from flake8_jax.semantics.domain.signatures import parameter_names, underlying
from flake8_jax.semantics.domain.values import FunctionValue, Instance, TupleValue, Value
from flake8_jax.semantics.events.events import RootMet, TransformCall
from flake8_jax.semantics.events.facts import hashed_fact


def report_calls(candidates: list[Candidate]) -> list[Candidate]:
    """A call that passes an array tells more than the annotation of its parameter."""
    called = {_function(c.event.operand) for c in candidates if isinstance(c.event, TransformCall)}
    return [c for c in candidates if not isinstance(c.event, RootMet) or _function(c.event.operand) not in called]


@rule("JAX403", "error", fixable="sometimes", raises="another error", settle=report_calls)
def unhashable_static(event: TransformCall | RootMet) -> Report | None:
    """A static argument of a jitted function gets a list, a dict, an array or another value without a hash.

    The finding is a warning if jaxlint knows only from an annotation that the argument has no hash.

    Python computes the hash of some objects from their fields, for example of a frozen dataclass. By default, the rule
    reports such an object only if jaxlint knows that a field holds an array or another value without a hash. With
    `--preview`, it also warns in two cases:

    - With `--preview`, the rule warns if a field is only annotated as an array (`scale: jax.Array`).
    - With `--preview`, the rule warns if the argument is annotated with a base class, and most subclasses of this base
      class have such fields.

    With `--preview`, the rule also warns where `jit` is applied, if a static parameter without a default is annotated as
    an array, or as a `NamedTuple` or frozen dataclass with a field that is annotated as an array.

    ## Why is this bad?

    `jit` uses the values of the static arguments to find the compiled program in its cache, so these values need a
    hash. A list, a dict or an array has no hash, so the call raises `ValueError: Non-hashable static arguments`. Pass
    a tuple or a frozen dataclass.

    An object has no hash if its class defines `__eq__` but not `__hash__`, as a dataclass that is not frozen does. A
    frozen dataclass has a hash only if all its fields have one.

    ## Example

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, static_argnames="axes")
    def standardise(x, axes):
        return x - x.mean(tuple(axes), keepdims=True)


    def prepare(x):
        return standardise(x, axes=[0, 1])  # expect: unhashable-static


    def demonstrate():
        prepare(jnp.ones((2, 2)))  # raises: ValueError
    ```

    ```python
    from dataclasses import dataclass
    from functools import partial

    import jax
    import jax.numpy as jnp


    @dataclass
    class Config:
        power: int


    @partial(jax.jit, static_argnums=0)
    def apply(config, x):
        return x**config.power


    def squares(x):
        return apply(Config(2), x)  # expect: unhashable-static


    def demonstrate():
        squares(jnp.ones(2))  # raises: ValueError
    ```

    ```python
    from dataclasses import dataclass
    from functools import partial

    import jax
    import jax.numpy as jnp


    @dataclass(frozen=True)
    class Kernel:
        scale: jax.Array


    @partial(jax.jit, static_argnames="kernel")
    def evaluate(x, kernel):
        return jnp.exp(-x / kernel.scale)


    def decay(x):
        return evaluate(x, kernel=Kernel(x.max()))  # expect: unhashable-static


    def demonstrate():
        decay(jnp.ones(2))  # raises: ValueError
    ```

    With `--preview`, jaxlint reports a static parameter that its annotation calls an array:

    ```python
    from functools import partial
    from typing import NamedTuple

    import jax
    import jax.numpy as jnp


    class Output(NamedTuple):
        mean: jax.Array
        scale: jax.Array


    @partial(jax.jit, static_argnames=["output", "kind"])  # expect: unhashable-static
    def loss(x, output: Output, kind: str):
        error = (x - output.mean) / output.scale
        return jnp.abs(error).sum() if kind == "l1" else jnp.square(error).sum()


    def evaluate(model, x):
        return loss(x, model(x), "l1")


    def demonstrate():
        try:
            hash(Output(mean=jnp.zeros(2), scale=jnp.ones(2)))
        except TypeError:
            return
        raise AssertionError("It has a hash")
    ```

    ## Use instead

    ```python
    from functools import partial

    import jax


    @partial(jax.jit, static_argnames="axes")
    def standardise(x, axes):
        return x - x.mean(axes, keepdims=True)


    def prepare(x):
        return standardise(x, axes=(0, 1))
    ```

    ## Not reported

    jaxlint does not report a list that is a traced argument, because JAX traces its elements. It does not report these
    static objects, because they have a hash:

    - an object whose class does not define `__eq__`
    - an object whose class defines its own `__hash__`
    - a frozen dataclass whose fields all have a hash. A field with `compare=False` may be a list, because a dataclass
      does not hash this field.

    ```python
    import jax


    @jax.jit
    def total(arrays):
        return sum(a.sum() for a in arrays)


    def both(a, b):
        return total([a, b])
    ```

    ```python
    from dataclasses import dataclass, field
    from functools import partial

    import jax


    @dataclass(frozen=True)
    class Config:
        power: int
        notes: list = field(default_factory=list, compare=False)


    @dataclass(eq=False)
    class Table:
        rows: list


    class Named:
        def __init__(self, name):
            self.name = name

        def __eq__(self, other):
            return self.name == other.name

        def __hash__(self):
            return hash(self.name)


    @partial(jax.jit, static_argnums=0)
    def apply(config, x):
        return x


    def both(x):
        return apply(Config(2, [1]), x) + apply(Table([1]), x) + apply(Named("a"), x)
    ```

    jaxlint does not report these parameters either, because a call passes a value that has a hash, or may do so:

    ```python
    from functools import partial
    from typing import NamedTuple

    import jax
    import jax.numpy as jnp


    class Shape(NamedTuple):
        rows: int
        columns: int
        scale: jax.Array | None = None


    @partial(jax.jit, static_argnames=("shape", "mask"))
    def filled(x, shape: Shape, mask: jax.Array = None):
        return jnp.full((shape.rows, shape.columns), x)


    @partial(jax.jit, static_argnames="shape")
    def spread(x, shape: jnp.ndarray):
        return jnp.broadcast_to(x, shape)


    def main():
        return spread(1.0, (3, 3))
    ```

    ## Limitations

    The rule does not check whether a `__hash__` method of the project works. It also does not check classes whose
    bases or decorators come from libraries that jaxlint does not know.

    ## Fix safety

    A list such as `[1, 2]` becomes a tuple. The fix is safe if the function only iterates over the list, takes its
    length, reads one element, or passes the list on as a shape or an axis. Otherwise it is unsafe, because the
    function may treat a list and a tuple differently.

    jaxlint offers no fix if an element of the list has no hash. It also offers no fix if the function compares the
    list with another list, adds a list to it or calls a list method, because a tuple does not work there.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the call of the jitted function raises
    `ValueError` or `TypeError`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX404 (`static-arg-mismatch`), JAX405 (`jit-on-method`), JAX406 (`static-arg-in-loop`), JAX413 (`non-array-argument`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.jit.html>
    """
    context = event.context
    if context.presumed or context.caught:
        return None
    if isinstance(event, RootMet):
        return _report_annotated(event)
    if event.statics is None or not event.name.endswith(".jit"):
        return None
    positions, names = event.statics
    for i, value in enumerate(event.args):
        lack = lack_of_hash(value) if i in positions else None
        if lack is not None:
            node = event.nodes[i] if i < len(event.nodes) else None
            return _report(event, node, _parameter(event.operand, i), value, lack)
    for name, value in event.kwargs.items():
        lack = lack_of_hash(value) if name in names else None
        if lack is not None:
            return _report(event, event.keyword_nodes.get(name), f"`{name}`", value, lack)
    return None


def _function(operand: Value) -> int:
    function = underlying(operand)
    return id(function.fn if isinstance(function, FunctionValue) else function)


def _report_annotated(event: RootMet) -> Report | None:
    """``static_argnames="x"`` for ``def f(x: jax.Array)``."""
    found = static_array(event)
    if found is None:
        return None
    parameter, field = found
    name = parameter.name
    holds = f"the field `{field}` of its annotation is an array" if field else "its annotation is an array"
    said = f"Static argument `{name}` must be hashable, but {holds}; do not make `{name}` static"
    return Report(event.at, said, "warning", preview=True, unless=hashed_fact(name))


def _parameter(operand: Value, position: int) -> str:
    """The parameter that gets the positional argument, in words."""
    names = parameter_names(operand) or []
    return f"`{names[position]}`" if position < len(names) else f"argument {position}"


def _of(event: TransformCall) -> str:
    """`` of `step```: the jitted function, where the call does not name it."""
    function = underlying(event.operand)
    name = function.fn.name if isinstance(function, FunctionValue) else ""
    return f" of `{name}`" if name.isidentifier() and name not in callee(event.context, event.at, "") else ""


def _report(event: TransformCall, node: ir.Expr | None, parameter: str, value: Value, lack: Lack) -> Report:
    subject = quote(event.context, node, "")
    if not subject:
        subject = f"the value that {callee(event.context, event.at)} passes for it"
    at = node if node is not None else event.at
    static = f"Static argument {parameter.removeprefix('argument ')} must be hashable, but {subject}"
    if lack.cls is None and contains_tracer(value):
        return Report(
            at,
            f"Static argument {parameter.removeprefix('argument ')}{_of(event)} must be hashable, but {subject} is passed "
            f"for it and is traced here{TRACED_BY}; check the order of the arguments, or do not make {parameter} static",
        )
    if lack.cls is None and not isinstance(value, TupleValue):
        remedy = "make that argument a traced one" if lack.what == "an array" else "pass a tuple"
        return Report(at, f"{static} is {lack.what}; {remedy}")
    if lack.field or lack.cls is None:
        where = f"has no hash, because `{lack.cls.node.name}.{lack.field}` holds" if lack.cls is not None else "holds"
        separately = (
            f"pass `{lack.field}` separately, as a traced argument" if lack.field else "pass it as a traced argument"
        )
        remedy = separately if lack.what == "an array" else "use a tuple there"
        said = f"{static} {where} {lack.what}; {remedy}"
        return Report(at, said, preview=not lack.certain, level=None if lack.certain else "warning")
    name = lack.cls.node.name
    why = (
        "is a dataclass that is not frozen; freeze it"
        if lack.cls.hashed == "none"
        else "defines `__eq__` but not `__hash__`; define both"
    )
    said = f"{static} has no hash, because `{name}` {why}"
    sure = isinstance(value, Instance) and value.exact
    return Report(at, said, level=None if sure else "warning")
