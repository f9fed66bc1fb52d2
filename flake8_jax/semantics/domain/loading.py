"""Which variables hold a data set, by the syntax of the code that assigns them.

    raw = np.memmap("train.bin", dtype=np.uint16)
    tokens = jnp.asarray(raw[:n]).astype(jnp.int32)        both are loaded

Vocabulary
----------
loader      a function whose name says that it returns a data set or the contents of a binary file.
loaded      a variable that code assigns the result of a loader, or elements or a copy of a loaded variable.

Limitations: data that a function of the project loads, attributes, variables that a loop binds.
"""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.core.nodes import children, walk
from flake8_jax.semantics.domain.code import last_name

_LOADER = re.compile(
    r"memmap|frombuffer|fromfile|fetch_openml|as_numpy|load_data|load_dataset|(load_|fashion_|get_)?(mnist|cifar_?\d+)"
    r"|read_parquet|imread"
)
_NUMPY = frozenset({"np", "jnp", "numpy", "onp"})
_SMALL = frozenset({"sns", "seaborn"})
"""Libraries whose data sets are small."""
_KEEPING = frozenset({
    "array", "asarray", "ascontiguousarray", "astype", "concatenate", "copy", "device_put", "expand_dims", "flatten",
    "float32", "from_numpy", "int32", "moveaxis", "numpy", "pad", "permutation", "reshape", "squeeze", "stack", "to_numpy",
    "transpose", "vstack", "hstack", "train_test_split",
})  # fmt: skip
"""Functions and methods that give about as many numbers as they get."""
_PARTS = frozenset({"T", "data", "values"})
_DEPTH = 5


def is_loaded(body: list[ir.Stmt], name: str, depth: int = _DEPTH) -> bool:
    """The block, of a function or of a module, gives the variable a data set."""
    return depth > 0 and any(_is_data(body, value, depth - 1) for value in _assigned(body, name))


def _assigned(body: list[ir.Stmt], name: str) -> list[ir.Expr]:
    """What the statements of a block assign to a variable, alone or with others; its own functions have their own variables."""
    found = []
    todo: list[object] = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, ir.Assign) and any(
            isinstance(part, ir.Name) and part.id == name for target in node.targets for part in walk(target)
        ):
            found.append(node.value)
        elif isinstance(node, (ir.If, ir.With, ir.Try, ir.For, ir.While)):
            todo += children(node)
    return found


def _is_data(body: list[ir.Stmt], value: ir.Expr, depth: int) -> bool:
    """The expression gives a data set, or much of one."""
    if isinstance(value, ir.Name):
        return is_loaded(body, value.id, depth)
    if isinstance(value, ir.Subscript):
        return not _is_one(value.index) and _is_data(body, value.value, depth)
    if isinstance(value, ir.Attribute):
        return value.attr in _PARTS and _is_data(body, value.value, depth)
    if isinstance(value, ir.BinOp):
        return _is_data(body, value.left, depth) or _is_data(body, value.right, depth)
    if isinstance(value, (ir.Tuple, ir.List)):
        return any(_is_data(body, element, depth) for element in value.elts)
    return isinstance(value, ir.Call) and _is_data_of_call(body, value, depth)


def _is_data_of_call(body: list[ir.Stmt], call: ir.Call, depth: int) -> bool:
    name, base = last_name(call.func), call.func.value if isinstance(call.func, ir.Attribute) else None
    if isinstance(base, ir.Name) and base.id in _SMALL:
        return False
    if _LOADER.fullmatch(name) or (name == "load" and isinstance(base, ir.Name) and base.id in _NUMPY):
        return True
    if name not in _KEEPING:
        return False
    given = [argument.value for argument in call.args]
    return any(_is_data(body, part, depth) for part in (*given, *([base] if base is not None else [])))


def _is_one(index: ir.Expr) -> bool:
    """One element, or what a string names: that of an archive may be small."""
    return isinstance(index, ir.Constant)
