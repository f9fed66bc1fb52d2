"""JAX808: see the page of ``pickled_array``."""

from __future__ import annotations

from flake8_jax.core.registry import Candidate, Report, Subscription, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import contains_tracer, quote
from flake8_jax.semantics.domain.values import Array, Value
from flake8_jax.semantics.events.events import LibraryCall

_DUMPING = frozenset({"cloudpickle.dump", "dill.dump", "joblib.dump", "pickle.dump"})
_NOT_TRACED = 0


def first_of_each_file(candidates: list[Candidate]) -> list[Candidate]:
    """Return the first report of each file: a file that pickles its arrays does so wherever it saves them."""
    first: dict[str, Candidate] = {}
    for candidate in sorted(candidates, key=lambda c: (c.path, c.start)):
        first.setdefault(candidate.path, candidate)
    return list(first.values())


@rule(
    "JAX808", "info", only=Subscription(where=frozenset({"eager", "loop"}), names=_DUMPING), settle=first_of_each_file
)
def pickled_array(event: LibraryCall) -> Report | None:
    """JAX arrays are pickled into a file.

    The rule is on only with `--preview`, because the file can be read as long as the release of JAX stays the same.

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

    jaxlint reports a pickle only if it certainly contains a JAX array. It reports the first one of each source file,
    and none in tests.

    ```python
    import pickle

    import jax
    import numpy as np


    def save(file, params):
        pickle.dump(params, file)


    def save_loss(file, loss):
        pickle.dump(np.asarray(loss), file)
    ```

    ## Limitations

    The rule knows `dump` of `pickle`, `cloudpickle`, `dill` and `joblib`. It misses `dumps`, arrays in objects of
    other classes, and parameters that a function gets from unknown callers.

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
    if event.name not in _DUMPING or event.context.presumed or is_test(event.context):
        return None
    value = event.args[0] if event.args else event.kwargs.get("obj", event.kwargs.get("value"))
    if value is None or not event.nodes or event.nodes[0] is None or not _holds_arrays(value):
        return None
    shown = quote(event.context, event.nodes[0], "this value")
    what = f"{shown} contains JAX arrays, whose pickle another release of JAX may not be able to read"
    return Report(event.at, f"{what}; pickle jax.device_get of it", preview=True)


def _holds_arrays(value: Value) -> bool:
    return contains_tracer(value, _NOT_TRACED) and not (isinstance(value, Array) and value.declared)
