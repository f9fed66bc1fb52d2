"""JAX513: see the page of ``fork_after_jax``."""

from __future__ import annotations

from flake8_jax.core.findings import Positions
from flake8_jax.core.registry import Candidate, Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._units import imports_jax
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.events.events import Fork
from flake8_jax.semantics.events.facts import OTHER_START_METHOD


def report_what_is_known(candidates: list[Candidate]) -> list[Candidate]:
    """A loader is read in several loops, of which one surely comes after the start of JAX."""
    known = {(c.path, c.start) for c in candidates if not c.event.presumed}
    return [c for c in candidates if not c.event.presumed or (c.path, c.start) not in known]


@rule("JAX513", "warning", settle=report_what_is_known)
def fork_after_jax(event: Fork) -> Report | None:
    """The program forks worker processes after JAX has computed something.

    The rule is on only with `--preview`. The finding is a note for a PyTorch `DataLoader` with workers in a file that imports
    JAX, if jaxlint does not see whether JAX computes something before a loop reads the loader: in a training program it
    does, because the parameters exist by then.

    ## Why is this bad?

    The first JAX computation starts threads. A forked process has no copy of these threads, but it has copies of
    their locks, so it can wait forever. JAX warns at such a fork that `os.fork()` was called.

    On Linux, `multiprocessing.Pool`, `ProcessPoolExecutor` and PyTorch's `DataLoader` fork by default up to Python
    3.13, but not from Python 3.14 on. Start the worker processes before the first JAX computation, or use the start
    method `"spawn"` or `"forkserver"`.

    ## Example

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

    ## Use instead

    ```python
    import math
    import multiprocessing

    import jax.numpy as jnp


    def roots():
        total = float(jnp.arange(4.0).sum())
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            return pool.map(math.sqrt, [total, 4.0])
    ```

    ## Not reported

    jaxlint does not report worker processes that start before the first JAX computation, because no threads exist
    then. It does not report a pool of threads (`ThreadPoolExecutor`), because starting a thread does not copy the
    process.

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

    ## Limitations

    The rule misses classes of the project that are derived from `Process` or `DataLoader`. If jaxlint cannot infer the
    number of worker processes, the rule reports nothing, because zero worker processes mean no fork. There are two
    exceptions: the number is `os.cpu_count()`, or it is an option such as `args.workers`, and a file of the project
    declares this option with a default above zero. The rule does not check which Python versions the project supports,
    so it also reports a project that needs Python 3.14. The exception about loaders in a training program is a presumption:
    a program that reads the loader before its first JAX computation, and never again, is safe.

    ## Fix safety

    No fix. Whether the worker processes can start earlier or with `"spawn"` depends on the program.

    ## How it is verified

    jaxlint cannot confirm the finding by a run, because a forked process hangs only sometimes. JAX itself prints a
    warning about `os.fork()`.

    ## Since

    0.3.0, not released yet.

    ## Further reading

    <https://github.com/jax-ml/jax/issues/9190>
    """
    what = callee(event.context, event.at, f"`{event.name.rpartition('.')[2]}`")
    if event.presumed:
        if is_test(event.context) or not imports_jax(event.context.scope):
            return None
        problem = f"{what} forks this process whenever a loop reads it, so a worker can hang if JAX has started before"
        return Report(
            event.at,
            f'{problem}; pass multiprocessing_context="forkserver"',
            "info",
            preview=True,
            unless=OTHER_START_METHOD,
        )
    row = ""
    if event.since is not None and event.since.scope is event.context.scope:
        row = f" on line {Positions(event.since.scope.tree.line_starts).row(event.since.start)}"
    return Report(
        event.at,
        f"{what} forks this process after JAX has computed{row} and started threads, so a worker can hang; "
        'use the start method "spawn" or start the workers first',
        preview=True,
        unless=OTHER_START_METHOD,
    )
