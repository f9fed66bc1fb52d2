"""JAX513: worker processes are forked after JAX has started.

Limitations: classes that the project derives from ``Process`` or ``DataLoader``, numbers of workers that are not known, the
versions of Python that a project supports.
"""

from __future__ import annotations

from flake8_jax.core.findings import Positions
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.events.events import Fork
from flake8_jax.semantics.events.facts import OTHER_START_METHOD


@rule("JAX513", "warning")
def fork_after_jax(event: Fork) -> Report | None:
    """Worker processes are forked after JAX has computed something.

    Why it bites: the first computation of JAX starts threads. A forked process is a copy without these threads, but with the
    locks that they held at that moment, so it can wait forever. JAX warns of it: `os.fork() was called`
    (<https://github.com/jax-ml/jax/issues/9190>). `multiprocessing.Pool`, `ProcessPoolExecutor` and `DataLoader` fork by
    default on Linux up to Python 3.13. Start the workers before the first computation, or use the start method `"spawn"` or
    `"forkserver"`. Python 3.14 does not fork by default.

    Bad:

    ```python
    import math
    import multiprocessing

    import jax.numpy as jnp


    def roots():
        total = float(jnp.arange(4.0).sum())
        with multiprocessing.get_context("fork").Pool(2) as pool:  # expect: fork-after-jax
            return pool.map(math.sqrt, [total, 4.0])


    def demonstrate():
        import warnings

        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            roots()
        assert any("os.fork() was called" in str(warning.message) for warning in seen)
    ```

    Good:

    ```python
    import math
    import multiprocessing

    import jax.numpy as jnp


    def roots():
        total = float(jnp.arange(4.0).sum())
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            return pool.map(math.sqrt, [total, 4.0])
    ```

    Also good: workers that are there before the first computation, and threads.

    ```python
    import math
    import multiprocessing
    from concurrent.futures import ThreadPoolExecutor

    import jax
    import jax.numpy as jnp


    @jax.jit
    def double(x):
        return 2 * x


    def main():
        with multiprocessing.Pool(2) as pool:
            early = pool.map(math.sqrt, [1.0, 4.0])
        with ThreadPoolExecutor(2) as executor:
            return list(executor.map(double, jnp.asarray(early)))
    ```

    Fix: none. Where the workers can start earlier, and whether they can be spawned, depends on the program.

    Proof: JAX warns of the fork.
    """
    row = ""
    if event.since is not None and event.since.scope is event.context.scope:
        row = f" (line {Positions(event.since.scope.tree.line_starts).row(event.since.start)})"
    what = callee(event.context, event.at, f"`{event.name.rpartition('.')[2]}`")
    return Report(
        event.at,
        f"{what} forks this process, but JAX already runs threads{row}, so a worker can hang; "
        'use the start method "spawn" or start the workers first',
        preview=True,
        unless=OTHER_START_METHOD,
    )
