"""JAX806: see the page of ``devices_as_condition``."""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.code import last_name, names_tested_around, nodes_around
from flake8_jax.semantics.domain.values import Const
from flake8_jax.semantics.events.events import LibraryCall

_NAMES = frozenset({"jax.devices", "jax.local_devices"})


@rule("JAX806", "warning", only=Subscription(names=_NAMES))
def devices_as_condition(event: LibraryCall) -> Report | None:
    """A condition asks `jax.devices("gpu")` whether there is a GPU.

    The rule reports every platform except `"cpu"`. It also reports `jax.local_devices(backend="gpu")`.

    ## Why is this bad?

    `jax.devices("gpu")` does not return an empty list on a machine without a GPU. It raises `RuntimeError: Unknown
    backend`. So the condition is never false, and the program stops where it should use the CPU. To ask which platform
    JAX uses, compare `jax.default_backend()`, or look at the devices that there are: `jax.devices()`.

    ## Example

    ```python
    import jax


    def choose():
        if len(jax.devices("gpu")) > 0:  # expect: devices-as-condition
            return "float16"
        return "float32"


    def demonstrate():
        if jax.default_backend() == "gpu":
            return
        try:
            choose()
        except RuntimeError as error:
            assert "gpu" in str(error)
        else:
            raise AssertionError("no error")
    ```

    ## Use instead

    ```python
    import jax


    def choose():
        if jax.default_backend() == "gpu":
            return "float16"
        return "float32"
    ```

    ## Not reported

    jaxlint does not report a call in a `try` with an `except`, because the code expects the error. It does not report
    a call whose result is not a condition, because such code needs the GPU. It does not report a condition after which
    the program itself stops with an error, because JAX only raises another error.

    jaxlint does not report a call below `if jax.default_backend() == "gpu":` or a test of a `platform`, because this
    test has already asked. It does not report a call in a `with` block, which may catch the error.

    ```python
    import jax


    def has_gpu():
        try:
            return len(jax.devices("gpu")) > 0
        except RuntimeError:
            return False


    def first():
        return jax.devices("gpu")[0]


    def require():
        if not jax.devices("gpu"):
            raise SystemExit("this program needs a GPU")
    ```

    ## Limitations

    jaxlint looks for the condition in the same function. It misses a condition on what another function returns.

    ## Fix safety

    No fix. `jax.default_backend()` gives only the first platform that JAX uses. If a program uses the GPU as a second
    platform, only its author knows what to ask instead.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the call raises `RuntimeError`. It can
    do so only on a machine without this platform.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX903 (`late-configuration`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.devices.html>
    """
    platform = event.bound.get("backend")
    if not isinstance(platform, Const) or not isinstance(platform.value, str) or platform.value == "cpu":
        return None
    body = event.context.scope.tree.body
    reads: list[ir.Expr] = [event.at, *_reads(event.at, body)]
    if _is_guarded(event.at, body) or not any(_is_condition(read, body) for read in reads):
        return None
    name = platform.value
    return Report(
        event.at,
        f"{quote(event.context, event.at)} raises RuntimeError without a {name.upper()}, so the condition is never false; "
        f'use jax.default_backend() == "{_BACKENDS.get(name, name)}"',
    )


_BACKENDS = {"cuda": "gpu", "rocm": "gpu"}
"""What ``jax.default_backend()`` calls these platforms."""


_ASKING = frozenset({"default_backend", "platform"})
"""What says which platform JAX uses."""


def _is_guarded(call: ir.Call, body: list[ir.Stmt]) -> bool:
    """The function may expect the error: it is caught, a context manager may take it, or a test has asked for the platform."""
    if not _ASKING.isdisjoint(names_tested_around(body, call)):
        return True
    around = list(nodes_around(body, call.start, call.end))
    first = max((i for i, n in enumerate(around) if isinstance(n, (ir.Function, ir.FunctionDef))), default=0)
    return any(
        isinstance(n, ir.With) or (isinstance(n, ir.Try) and n.handlers and _is_in(call, n.body))
        for n in around[first:]
    )


def _is_condition(node: ir.Expr, body: list[ir.Stmt]) -> bool:
    """Code decides by whether there is something in the value, other than to raise an error of its own."""
    decides, part = False, node
    for around in reversed([n for n in nodes_around(body, node.start, node.end) if n is not node]):
        if isinstance(around, (ir.Function, ir.FunctionDef, ir.Lambda)):
            break
        if isinstance(around, ir.If) and any(isinstance(s, ir.Raise) for s in [*around.body, *around.orelse]):
            return False
        decides = decides or _asks(around, part, is_list=part is node)
        if _counts(around, part):
            part = around
    return decides


def _asks(around: Any, part: ir.Expr, *, is_list: bool) -> bool:
    """Whether the node makes a decision of its part: the list of the devices, or how many there are."""
    if isinstance(around, (ir.If, ir.While, ir.IfExp)):
        return part is around.test
    if isinstance(around, ir.UnaryOp):
        return around.op == "not" and part is around.operand
    if isinstance(around, ir.BoolOp):
        return any(part is value for value in around.values)
    if isinstance(around, ir.Compare):
        bounds = [isinstance(c, ir.Constant) and c.value in (0, 1) for c in around.comparators]
        return not is_list and part is around.left and all(bounds)
    return _counts(around, part) and last_name(around.func) == "bool"


def _counts(around: Any, part: ir.Expr) -> bool:
    """``len(part)`` and the like."""
    if not isinstance(around, ir.Call) or last_name(around.func) not in ("len", "bool", "any"):
        return False
    return len(around.args) == 1 and part is around.args[0].value


def _is_in(node: ir.Expr, parts: list[Any]) -> bool:
    return any(part.start <= node.start and node.end <= part.end for part in parts)


def _reads(call: ir.Call, body: list[ir.Stmt]) -> list[ir.Name]:
    """Where the function reads the variable that the result of the call is assigned to."""
    around = list(nodes_around(body, call.start, call.end))
    owner = next((n for n in reversed(around) if isinstance(n, ir.FunctionDef)), None)
    bound = next((n for n in reversed(around) if isinstance(n, ir.Assign) and n.value is call), None)
    if bound is None or len(bound.targets) != 1 or not isinstance(bound.targets[0], ir.Name):
        return []
    name = bound.targets[0].id
    statements: list[Any] = owner.function.body if owner is not None else list(body)
    return [
        part
        for statement in statements
        for part in walk(statement)
        if isinstance(part, ir.Name) and part.id == name and part.start > bound.end
    ]
