"""JAX701: see the page of ``x64_disabled``."""

from __future__ import annotations

from struct import pack, unpack

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Candidate, Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._merging import first_of_each, place_of
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.domain.code import nodes_around
from flake8_jax.semantics.domain.values import External
from flake8_jax.semantics.events.events import Context, WideDtype

_LARGE = 3e38

_NARROW = {
    "float64": "float32", "double": "float32", "int64": "int32", "longlong": "int32", "uint64": "uint32",
    "ulonglong": "uint32", "complex128": "complex64", "cdouble": "complex64",
}  # fmt: skip

_OTHER_NAMES = frozenset({'"float"', '"complex"', "complex_"})

_COUNTING = frozenset(
    {
        "arange",
        "iota",
        "broadcasted_iota",
        "zeros",
        "ones",
        "full",
        "empty",
        "zeros_like",
        "ones_like",
        "full_like",
        "eye",
    }
)
"""Functions whose integers are small: numbers of elements, or what code puts there later, which has a dtype of its own."""
_AVERAGING = frozenset({"mean", "average", "std", "var", "median"})
_DRAWING = ("matplotlib", "seaborn", "plotly", "pylab")


def report_first(candidates: list[Candidate]) -> list[Candidate]:
    """One report of each function."""
    return first_of_each(candidates, lambda candidate: place_of(candidate.event.context, candidate.start))


@rule("JAX701", "warning", settle=report_first)
def x64_disabled(event: WideDtype) -> Report | None:
    """The code asks for a 64-bit dtype, but the project does not enable 64-bit dtypes.

    If one function asks for 64-bit dtypes several times, jaxlint reports only the first place. The finding is a note
    for the string `"float"`, and for integer dtypes, because 32 bits were enough for these in public
    repositories. It is a warning for an integer that the code shifts by 32 bits or more (`x << 42`), because 32 bits
    are then too few.

    ## Why is this bad?

    By default, JAX computes in 32 bits: it makes a 32-bit array if the code asks for `float64` or `int64`, and warns
    at most once. Ask for a 32-bit dtype, or enable 64-bit dtypes before the program makes the first array: call
    `jax.config.update("jax_enable_x64", True)` or set the environment variable `JAX_ENABLE_X64=1`.

    ## Example

    ```python
    import jax.numpy as jnp


    def orbit(n):
        return jnp.zeros((n, 2), dtype=jnp.float64)  # expect: x64-disabled


    def demonstrate():
        assert orbit(3).dtype == jnp.float32
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def orbit(n):
        return jnp.zeros((n, 2), dtype=jnp.float64)


    def main():
        jax.config.update("jax_enable_x64", True)
        return orbit(3)
    ```

    ## Not reported

    jaxlint does not report the dtype of a NumPy array, which keeps its 64 bits on the host, or a dtype that the code
    takes from an argument (`jnp.zeros(3, dtype=x.dtype)`). It does not report the type `float` (`dtype=float`), which
    means JAX's default dtype, but it reports the string `"float"`, which means `float64`.

    Without `--preview`, jaxlint does not report a number that 32 bits hold exactly (`jnp.float64(0.5)`). With `--preview`,
    it shows a note, because the code then computes in 32 bits with this number.

    jaxlint does not report a 64-bit dtype if 32 bits are enough: for integers that only index other arrays, for the
    dtype of a mean or a variance (`jnp.mean(x, dtype=jnp.float64)`), and in a function that only plots.

    jaxlint reports nothing in a project that imports the libraries NetKet or `qutip_jax`, because these imports
    enable 64 bits. It also reports nothing if a shell script, a Dockerfile or a CI workflow of the project contains
    `JAX_ENABLE_X64`.

    ```python
    import jax.numpy as jnp
    import numpy as np

    TABLE = np.linspace(0.0, 1.0, 5, dtype=np.float64)


    def like(x):
        return jnp.zeros(x.shape, dtype=x.dtype) + jnp.asarray(TABLE)


    def plain(n):
        return jnp.zeros(n, dtype=float)
    ```

    ## Limitations

    The rule does not see an environment variable `JAX_ENABLE_X64` that the user sets in the shell before the program
    starts. It then reports 64-bit dtypes although they work.

    ## Fix safety

    No fix. Only the author knows whether the program needs 64 bits.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if 64-bit dtypes are disabled when the
    line of the finding runs.

    ## Since

    0.3.0, not released yet.

    ## JAX documentation

    <https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#double-64bit-precision>
    """
    if event.context.presumed:
        return None
    narrow = _NARROW[event.dtype]
    if ("int" in narrow and event.function in _COUNTING) or event.function in _AVERAGING:
        return None
    number = event.number
    exact = number is not None and unpack("f", pack("f", max(-_LARGE, min(number, _LARGE))))[0] == number
    if exact and "int" in narrow:
        return None
    if _is_drawing(event.context) or _is_shown(event):
        return None
    asked = f"{event.written} ({event.dtype})" if event.written in _OTHER_NAMES else event.dtype
    function = f"{callee(event.context, event.at)}{_of_jax(event)}"
    wrong = f"{function} gives {narrow}, not {asked}, because this project does not enable jax_enable_x64"
    shift = _wide_shift(event) if "int" in narrow else None
    if shift is None:
        message = f"{wrong}; enable it or use {narrow}"
    else:
        message = f"{wrong}; enable it, as `<< {shift}` does not fit in {narrow}"
    # Readers of unseen repositories found none of seven class labels, tokens and casts to "float" worth a minute.
    fits = ("int" in narrow and shift is None) or event.written == '"float"'
    return Report(event.at, message, "info" if fits or exact or is_test(event.context) else None, preview=exact)


def _of_jax(event: WideDtype) -> str:
    """``np.array``, where ``np`` is ``jax.numpy``: the name alone says NumPy."""
    at, context = event.at, event.context
    root = at.func if isinstance(at, ir.Call) else None
    while isinstance(root, ir.Attribute):
        root = root.value
    if not isinstance(root, ir.Name) or root.id in ("jax", "jnp"):
        return ""
    value = context.scope.slots.get(root.id)
    return " (here jax.numpy)" if isinstance(value, External) and value.name.startswith("jax.numpy") else ""


def _wide_shift(event: WideDtype) -> int | None:
    """The 42 of ``x.astype(jnp.int64) << 42``, which leaves none of 32 bits; None for a shorter shift."""
    for node in nodes_around(event.context.scope.tree.body, event.at.start, event.at.end):
        if isinstance(node, ir.BinOp) and node.op == "<<" and node.left is event.at:
            bits = node.right.value if isinstance(node.right, ir.Constant) else None
            return bits if isinstance(bits, int) and bits >= _NARROW_BITS else None
    return None


_NARROW_BITS = 32


def _is_drawing(context: Context) -> bool:
    """The function gives nothing back: what it computes, it draws."""
    fn = context.inner
    if fn is None or fn.is_lambda or fn.is_generator:
        return False
    nodes = [node for statement in fn.body for node in walk(statement)]
    if any(isinstance(node, ir.Return) and node.value is not None for node in nodes):
        return False
    names = {node.id for node in nodes if isinstance(node, ir.Name)}
    values = [context.scope.slots.get(name) for name in names]
    return any(isinstance(value, External) and value.name.startswith(_DRAWING) for value in values)


def _is_shown(event: WideDtype) -> bool:
    """``x = …; print(x.dtype)``: the author looks at the dtype."""
    context = event.context
    block = context.inner.body if context.inner is not None else context.scope.tree.body
    place = context.scope.cell_of(event.at.start)
    near = [s for s in block if context.inner is not None or context.scope.cell_of(s.start) == place]
    made = next((s for s in near if s.start <= event.at.start < s.end), None)
    if not isinstance(made, ir.Assign) or not isinstance(made.targets[0], ir.Name):
        return False
    name = made.targets[0].id
    return any(
        isinstance(node, ir.Attribute)
        and node.attr == "dtype"
        and isinstance(node.value, ir.Name)
        and node.value.id == name
        for statement in near
        if isinstance(statement, ir.ExprStmt) and statement.start > made.start
        for node in walk(statement)
    )
