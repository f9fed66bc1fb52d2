"""JAX404: see the page of ``static_arg_mismatch``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.semantics.domain.signatures import describe, signed
from flake8_jax.semantics.domain.values import BoundMethod, Const, FunctionValue, ListValue, TupleValue, Value
from flake8_jax.semantics.events.events import RootMet


@rule("JAX404", "error", fixable="sometimes", raises="another error")
def static_arg_mismatch(event: RootMet) -> Report | None:
    """`static_argnums`, `static_argnames` or `donate_*` names a parameter that the jitted function does not have.

    ## Why is this bad?

    `jax.jit` checks the positions and names in `static_argnums`, `static_argnames`, `donate_argnums` and
    `donate_argnames` against the signature of the function. It raises `ValueError` for a parameter that the function
    does not have, and for an argument that is both static and donated.

    ## Example

    ```python
    from functools import partial

    import jax


    def build():
        @partial(jax.jit, static_argnames=("keep_dims",))  # expect: static-arg-mismatch
        def norm(x, keepdims=False):
            return abs(x).max(axis=0, keepdims=keepdims)

        return norm


    def demonstrate():
        build()  # raises: ValueError
    ```

    ## Use instead

    ```python
    from functools import partial

    import jax


    @partial(jax.jit, static_argnames=("keepdims",), donate_argnums=0)
    def norm(x, keepdims=False):
        return abs(x).max(axis=0, keepdims=keepdims)


    def scaled(x, *factors, **options):
        return x * options["scale"]


    fast = jax.jit(scaled, static_argnums=(2,), static_argnames="scale")
    last = jax.jit(lambda x, n: x**n, static_argnums=-1)
    ```

    ## Limitations

    The rule does not check positions if the function has `*args`, because `*args` accepts any position. It does not
    check names if the function has `**kwargs`, because `**kwargs` accepts any name.

    ## Fix safety

    Unsafe. jaxlint replaces each wrong name by the name of the parameter that is closest in spelling. This may not be
    the intended parameter. A wrong position, and an argument that is both static and donated, have no fix.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if `jax.jit` raises an error such as
    `ValueError`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX403 (`unhashable-static`), JAX405 (`jit-on-method`), JAX406 (`static-arg-in-loop`), JAX413 (`non-array-argument`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.jit.html>
    """
    if event.name != "jax.jit" or event.context.presumed or event.context.caught:
        return None
    problem = mismatch(event)
    return Report(event.at, problem) if problem else None


def mismatch(event: RootMet) -> str:
    """What is wrong with the options, if anything is."""
    known = signature(event.operand)
    if known is None:
        return ""
    positional, names, open_positions, open_names = known
    for kind in ("static", "donate"):
        for position in _constants(event.options.get(f"{kind}_argnums")):
            if isinstance(position, int) and not open_positions and not -len(positional) <= position < len(positional):
                parameters = f"{len(positional)} positional parameter{'s' * (len(positional) != 1)}"
                has = f"{_function(event.operand)} has {parameters}"
                last = len(positional) - 1
                advice = f"use a position from 0 to {last}" if last > 0 else "use 0" if last == 0 else "remove it"
                return f"`{kind}_argnums` contains {position}, but {has}, so jit raises; {advice}"
        for name in _constants(event.options.get(f"{kind}_argnames")):
            if not open_names and name not in names:
                has = f"{_function(event.operand)} has no such parameter"
                return f"`{kind}_argnames` contains `{name}`, but {has}, so jit raises; check the name"
    both = named_parameters(event, "static", positional) & named_parameters(event, "donate", positional)
    return (
        f"`jit` makes `{min(both)}` both static and donated, but JAX donates only traced arguments, so jit raises; "
        "remove one"
        if both
        else ""
    )


def signature(operand: Value) -> tuple[list[str], list[str], bool, bool] | None:
    """Positional parameters, all parameters, and whether ``*args`` and ``**kwargs`` take others."""
    bound = isinstance(operand, BoundMethod)
    function = operand.func if isinstance(operand, BoundMethod) else operand
    if isinstance(function, FunctionValue) and function.wrapped is not None:
        return signature(signed(function))
    if not isinstance(function, FunctionValue) or function.altered:
        return None
    parameters = function.fn.params[1:] if bound else function.fn.params
    kinds = {p.kind for p in parameters}
    positional = [p.name for p in parameters if p.kind in ("positional", "posonly")]
    names = [p.name for p in parameters if p.kind in ("positional", "kwonly")]
    return positional, names, "vararg" in kinds, "kwarg" in kinds


def _function(operand: Value) -> str:
    """The jitted function, in words."""
    name = describe(operand).rpartition("<locals>.")[2]
    return name if " " in name else f"`{name}`"


def _constants(value: Value | None) -> list[int | str]:
    """The positions or names in an option that are known."""
    elements: tuple[Value, ...] = (value,) if isinstance(value, Const) else ()
    if isinstance(value, TupleValue):
        elements = value.elts
    elif isinstance(value, ListValue):
        elements = value.known() or ()
    return [e.value for e in elements if isinstance(e, Const) and type(e.value) in (int, str)]


def named_parameters(event: RootMet, kind: str, positional: list[str]) -> set[str]:
    """The parameters that the options ``static_…`` or ``donate_…`` name, as far as those are known."""
    given = [*_constants(event.options.get(f"{kind}_argnums")), *_constants(event.options.get(f"{kind}_argnames"))]
    found = {positional[n] for n in given if isinstance(n, int) and -len(positional) <= n < len(positional)}
    return found | {n for n in given if isinstance(n, str)}
