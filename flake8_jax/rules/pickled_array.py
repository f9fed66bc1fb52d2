"""JAX808: see the page of ``pickled_array``."""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._merging import earliest_of_each_file
from flake8_jax.rules._tracers import contains_tracer, quote
from flake8_jax.semantics.domain.code import last_name, nodes_around
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import Array, DictValue, Unknown, Value
from flake8_jax.semantics.events.events import LibraryCall

_DUMPING = frozenset({"cloudpickle.dump", "dill.dump", "joblib.dump", "pickle.dump"})
_WRITING = frozenset({"cloudpickle.dumps", "dill.dumps", "pickle.dumps"})
_NOT_TRACED = 0
_PARAMETERS = re.compile(
    r"(?:^|_)(?:params|parameters|weights|opt_state|optimizer_state|train_state|variables|batch_stats)$"
)
_CONVERTING = ("device_get", "to_bytes", "to_state_dict", "tree_map(np.", "tree.map(np.", "import torch")
"""In a file that turns its arrays into something else first, or trains with another library."""


# A file that pickles its arrays does so wherever it saves them.
@rule(
    "JAX808",
    "info",
    only=Subscription(where=frozenset({"eager", "loop"}), names=_DUMPING | _WRITING),
    settle=earliest_of_each_file,
)
def pickled_array(event: LibraryCall) -> Report | None:
    """JAX arrays are pickled into a file.

    The rule also reports `params`, `opt_state` and similar names of values that jaxlint does not know, and
    `file.write(pickle.dumps(params))`. The rule is on only with `--preview`, because the file can be read as long as the
    release of JAX stays the same.

    ## Why is this bad?

    The pickle of a JAX array contains internals of the release of JAX that wrote it. Other releases may not be able to
    read it: JAX 0.10 raises `TypeError` for a file that JAX 0.4.30 wrote. Reading the file also needs JAX, and puts all
    arrays on the default device. The pickle of a NumPy array has none of these problems. For checkpoints, you can also
    use Orbax.

    ## Example

    ```python
    import pickle

    import jax
    import jax.numpy as jnp


    def save(path):
        params = {"w": jnp.ones(3)}
        with open(path, "wb") as file:
            pickle.dump(params, file)  # expect: pickled-array


    def demonstrate():
        import tempfile

        with tempfile.NamedTemporaryFile() as file:
            save(file.name)
            assert b"jax._src" in file.read()
    ```

    ```python
    import pickle

    import jax.numpy as jnp


    def save(path, params):
        with open(path, "wb") as file:
            file.write(pickle.dumps({"params": params, "epoch": 3}))  # expect: pickled-array


    def demonstrate():
        import tempfile

        with tempfile.NamedTemporaryFile() as file:
            save(file.name, {"w": jnp.ones(3)})
            assert b"jax._src" in file.read()
    ```

    ## Use instead

    ```python
    import pickle

    import jax
    import jax.numpy as jnp


    def save(path):
        params = {"w": jnp.ones(3)}
        with open(path, "wb") as file:
            pickle.dump(jax.device_get(params), file)
    ```

    ## Not reported

    jaxlint reports the first pickle of each source file, and none in tests. If it does not know the value, it reports
    nothing in a file that names `jax.device_get` or `flax.serialization.to_bytes`, which convert the arrays first.

    ```python
    import pickle

    import jax
    import numpy as np


    def save(file, history):
        pickle.dump(history, file)


    def save_loss(file, loss):
        pickle.dump(np.asarray(loss), file)
    ```

    ## Limitations

    The rule knows `dump` of `pickle`, `cloudpickle`, `dill` and `joblib`. It misses arrays in objects of
    other classes. A dict of settings with the name `params` is reported by mistake if jaxlint does not know what it holds.

    ## Fix safety

    No fix. The code that reads the file may need JAX arrays.

    ## How it is verified

    jaxlint cannot confirm the finding, because only another release of JAX shows the mistake.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX805 (`relative-checkpoint-path`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.device_get.html>
    """
    if event.name not in _DUMPING | _WRITING or event.context.presumed or is_test(event.context):
        return None
    value = event.args[0] if event.args else event.kwargs.get("obj", event.kwargs.get("value"))
    node = event.nodes[0] if event.nodes else None
    if value is None or node is None or (event.name in _WRITING and not _is_written(event)):
        return None
    shown = quote(event.context, node, "this value")
    if _holds_arrays(value):
        what = f"{shown} contains JAX arrays, whose pickle another release of JAX may not be able to read"
    elif _names_parameters(event.context.scope, node, value):
        what = f"If {shown} contains JAX arrays, another release of JAX may not be able to read its pickle"
    else:
        return None
    return Report(event.at, f"{what}; pickle jax.device_get of it", preview=True)


def _holds_arrays(value: Value) -> bool:
    return contains_tracer(value, _NOT_TRACED) and not (isinstance(value, Array) and value.declared)


def _is_written(event: LibraryCall) -> bool:
    """``file.write(pickle.dumps(params))``."""
    around = list(nodes_around(event.context.scope.tree.body, event.at.start, event.at.end))
    calls = [node.func for node in around if isinstance(node, ir.Call) and node is not event.at]
    return any(last_name(func).startswith("write") for func in calls)


def _names_parameters(scope: ModuleScope, node: ir.Expr, value: Value) -> bool:
    """``params`` of a network, which a function got from an unknown caller, alone or in a dict or a tuple."""
    if "jax" not in scope.text or any(word in scope.text for word in _CONVERTING):
        return False
    if isinstance(node, (ir.Name, ir.Attribute)):
        return isinstance(value, Unknown) and _PARAMETERS.search(last_name(node)) is not None
    if isinstance(node, ir.Dict) and isinstance(value, DictValue):
        held = [item for _, item in value.items()]
        named = [part for part in node.values if isinstance(part, (ir.Name, ir.Attribute))]
        return any(isinstance(item, Unknown) for item in held) and any(
            _PARAMETERS.search(last_name(part)) for part in named
        )
    return False
