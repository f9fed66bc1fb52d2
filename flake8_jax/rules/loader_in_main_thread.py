"""JAX207: see the page of ``loader_in_main_thread``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._merging import earliest_of_each_file
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.values import Const, Value
from flake8_jax.semantics.events.events import LibraryCall

_LOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})
_BATCH_AT, _WORKERS_AT = 1, 5
"""Positions of ``batch_size`` and ``num_workers``."""
_TRAINING = (".backward(", "torch.optim", "optim.zero_grad")
"""In a file that trains with PyTorch."""


# The loaders of a training and of its tests are made alike.
@rule("JAX207", "info", only=Subscription(where=frozenset({"eager", "loop"})), settle=earliest_of_each_file)
def loader_in_main_thread(event: LibraryCall) -> Report | None:
    """A `DataLoader` of PyTorch without worker processes feeds a program that uses JAX.

    The rule is on only with `--preview`, because the code gives the right result, and a small data set loads fast. It
    reports the first such loader of a file. It also reports objects of a class that is derived from `DataLoader`.

    ## Why is this bad?

    A compiled step returns at once, and the device works while Python prepares the next batch. Without worker processes,
    the `DataLoader` does this work in the main thread: it reads, transforms and collates the elements one by one. For
    most small models, this takes longer than the step, so the device waits for the data.

    If the data fits into memory, such as MNIST or CIFAR-10, hold it in one array and index whole batches
    (`images[order[i : i + size]]`), which costs no work per element. Else set `num_workers`, with
    `multiprocessing_context="forkserver"` or `"spawn"`, because processes that are forked after the start of JAX can hang
    (see JAX513).

    ## Example

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def train_step(w, x):
        return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)


    def fit(w, rows):
        from torch.utils.data import DataLoader

        for x in DataLoader(rows, batch_size=2, collate_fn=np.stack):  # expect: loader-in-main-thread
            w = train_step(w, x)
        return w


    def demonstrate():
        import sys
        import threading
        import types

        threads = set()

        class Rows:
            def __len__(self):
                return 4

            def __getitem__(self, index):
                threads.add(threading.current_thread())
                return np.ones(3)

        class DataLoader:  # as that of PyTorch does it
            def __init__(self, rows, batch_size, collate_fn):
                self.rows, self.size, self.collate = rows, batch_size, collate_fn

            def __iter__(self):
                for start in range(0, len(self.rows), self.size):
                    yield self.collate([self.rows[start + i] for i in range(self.size)])

        sys.modules["torch"] = sys.modules["torch.utils"] = types.ModuleType("torch")
        sys.modules["torch.utils.data"] = types.SimpleNamespace(DataLoader=DataLoader)
        fit(jnp.ones(3), Rows())
        assert threads == {threading.main_thread()}
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def train_step(w, x):
        return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)


    def fit(w, rows, size=2):
        order = np.random.default_rng(0).permutation(len(rows))
        for start in range(0, len(rows) - size + 1, size):
            w = train_step(w, rows[order[start : start + size]])
        return w
    ```

    ## Not reported

    jaxlint does not report a loader whose number of workers it does not know, a loader that yields the whole data set as
    one batch (`batch_size=len(dataset)`), and loaders in tests and in files that train with PyTorch.

    ```python
    import jax.numpy as jnp


    def everything(dataset):
        from torch.utils.data import DataLoader

        return jnp.asarray(next(iter(DataLoader(dataset, batch_size=len(dataset)))))


    def batches(dataset, workers):
        from torch.utils.data import DataLoader

        return DataLoader(dataset, num_workers=workers, multiprocessing_context="forkserver")
    ```

    ## Limitations

    The rule does not know how long the data set needs for one element, or how long a step takes. If the steps take far
    longer, the worker processes gain little.

    ## Fix safety

    No fix. The data set may be one that worker processes cannot pickle, or the data fits into memory.

    ## How it is verified

    jaxlint cannot confirm the finding, because the time that the loader takes depends on the data set and on the machine.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX206 (`sync-in-loop`), JAX407 (`varying-shape-in-loop`), JAX513 (`fork-after-jax`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/async_dispatch.html>
    """
    context = event.context
    if event.name not in _LOADERS or context.presumed or is_test(context):
        return None
    if None in event.nodes or any(argument.star for argument in event.at.args):
        return None
    if not _is_zero(_given(event, "num_workers", _WORKERS_AT)) or _yields_everything(event):
        return None
    if any(word in context.scope.text for word in _TRAINING):
        return None
    problem = f"{callee(context, event.at)} loads and collates each batch in the main thread, because num_workers is 0"
    advice = 'index arrays if the data fits into memory, or use workers that "spawn" or "forkserver" starts'
    return Report(event.at, f"{problem}; {advice}", preview=True)


def _given(event: LibraryCall, name: str, position: int) -> Value | None:
    """The argument of that name; None if it has its default."""
    return event.kwargs.get(name, event.args[position] if len(event.args) > position else None)


def _is_zero(workers: Value | None) -> bool:
    return workers is None or (isinstance(workers, Const) and workers.value == 0)


def _yields_everything(event: LibraryCall) -> bool:
    """``batch_size=len(dataset)``: the loader serves to load the data once."""
    node = event.keyword_nodes.get("batch_size", event.nodes[_BATCH_AT] if len(event.nodes) > _BATCH_AT else None)
    return isinstance(node, ir.Call) and last_name(node.func) == "len"
