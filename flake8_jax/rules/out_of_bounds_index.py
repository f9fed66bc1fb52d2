"""JAX714: see the page of ``out_of_bounds_index``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._file_shapes import FileShapes
from flake8_jax.rules._units import Unit, imports_jax, own_expressions, text_of
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.events.files import FileRead


@rule("JAX714", "warning")
def out_of_bounds_index(event: FileRead) -> list[Report] | None:
    """A constant index is out of bounds: JAX reads the last element instead, or drops the update.

    The rule is on only with `--preview`, because jaxlint reads the shapes from the code of one file.

    ## Why is this bad?

    NumPy raises `IndexError` for an index that is out of bounds. JAX cannot raise an error on the device, so it moves
    the index to the nearest valid one: `x[3]` of an array with three elements is `x[2]`. `x.at[3].set(v)` does nothing.
    The code runs on with a wrong value.

    ## Example

    ```python
    import jax.numpy as jnp


    def last():
        x = jnp.array([1.0, 2.0, 4.0])
        return x[3]  # expect: out-of-bounds-index


    def demonstrate():
        assert last() == 4.0
    ```

    ```python
    import jax.numpy as jnp


    def total(x, n):
        y = 0.0
        for i in range(n):
            y = y + x[i]  # expect: out-of-bounds-index
        return y


    def demonstrate():
        assert total(jnp.array([1.0, 2.0, 4.0]), 5) == 15.0
    ```

    ## Use instead

    ```python
    def total(x):
        y = 0.0
        for i in range(len(x)):
            y = y + x[i]
        return y
    ```

    ## Not reported

    jaxlint does not report code that shows what JAX does, if a comment or a text nearby says so. It does not report an
    index of NumPy arrays and lists, because Python raises `IndexError` there, and slices, which JAX
    cuts at the end of the array.

    ```python
    import jax.numpy as jnp
    import numpy as np

    x = jnp.arange(3)
    print(x[2], x[-3], x[1:7], x.at[5].get(mode="fill", fill_value=0), np.arange(4)[3])
    ```

    ## Limitations

    The rule needs the shape of the array and the index from literals of the same file. A parameter has the shape of its
    argument if the file calls the function once.

    ## Fix safety

    No fix. Only the author knows which element is meant.

    ## How it is verified

    jaxlint cannot confirm the finding, because JAX raises no error at the index.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX505 (`array-item-assignment`), JAX407 (`varying-shape-in-loop`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#out-of-bounds-indexing>
    """
    scope = event.context.scope
    if is_test(event.context) or not imports_jax(scope):
        return None
    shapes = FileShapes(scope)
    return [
        report
        for unit in shapes.units
        for statement in unit.statements
        for node in own_expressions(statement)
        if isinstance(node, ir.Subscript)
        for report in _of_index(shapes, unit, node)
    ]


def _of_index(shapes: FileShapes, unit: Unit, node: ir.Subscript) -> Iterator[Report]:
    updated = isinstance(node.value, ir.Attribute) and node.value.attr == "at"
    base_node = node.value.value if isinstance(node.value, ir.Attribute) and updated else node.value
    base = shapes.shape(unit, base_node)
    if base is None or not base.on_device or 0 in base.dims or _is_shown(unit, node, base_node):
        return
    parts = node.index.elts if isinstance(node.index, ir.Tuple) else [node.index]
    for place, part in enumerate(parts[: len(base.dims)]):
        if isinstance(part, ir.Slice):
            continue
        size, index = base.dims[place], _largest(shapes, unit, part)
        if index is None and not isinstance(part, (ir.Constant, ir.Name, ir.UnaryOp)):
            return
        if size is None or index is None or -size <= index < size or index > _FAR * size:
            continue
        if updated and _says_mode(unit, node):
            return
        outcome = "drops this update" if updated else f"reads element {size - 1 if index > 0 else 0} instead"
        yield Report(
            node,
            f"`{text_of(node, unit.scope)}` reads index {index}, but axis {place} of `{text_of(base_node, unit.scope)}` has "
            f"{size} element{'s' if size != 1 else ''}, so JAX raises no error and {outcome}; use an index below {size}",
            preview=True,
        )
        return


_FAR = 50
"""An index that is so many times larger shows what JAX does."""
_SHOWS = re.compile(r"(?i)out[ _-]*of[ _-]*(?:bounds?\b(?!-index)|range)|clamp|\boob\b|sharp bit|IndexError|example of")


def _is_shown(unit: Unit, node: ir.Subscript, base: ir.Expr) -> bool:
    """The code shows what JAX does with such an index: a comment or a text says so, or the array is made on the spot."""
    text = unit.scope.text
    start = text.rfind("\n", 0, max(text.rfind("\n", 0, node.start), 0)) + 1
    end = text.find("\n", node.end)
    return (
        isinstance(base, ir.Call)
        or _SHOWS.search(text[max(start - 200, 0) : end if end >= 0 else len(text)]) is not None
    )


def _largest(shapes: FileShapes, unit: Unit, part: ir.Expr) -> int | None:
    """The number that the index is, or the largest that a loop over ``range`` gives it."""
    number = shapes.number(unit, part)
    if number is not None or not isinstance(part, ir.Name):
        return number
    loops = [s for s in unit.statements if isinstance(s, ir.For) and s.start < part.start and part.end <= s.end]
    loop = next((s for s in reversed(loops) if isinstance(s.target, ir.Name) and s.target.id == part.id), None)
    call = loop.iter if loop is not None else None
    if not isinstance(call, ir.Call) or last_name(call.func) != "range" or not 1 <= len(call.args) <= 2:
        return None
    end = shapes.number(unit, call.args[-1].value)
    return end - 1 if end is not None and end > 0 else None


def _says_mode(unit: Unit, node: ir.Subscript) -> bool:
    """``x.at[i].get(mode="fill")``."""
    return "mode=" in unit.scope.text[node.end : node.end + 80].split("\n")[0]
