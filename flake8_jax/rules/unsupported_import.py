"""JAX809: see the page of ``unsupported_import``."""

from __future__ import annotations

from collections.abc import Hashable

from flake8_jax.core import ir
from flake8_jax.core.registry import Candidate, Report, rule
from flake8_jax.knowledge.history import load_histories
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._merging import earliest
from flake8_jax.semantics.domain.code import nodes_around
from flake8_jax.semantics.events.events import NameUse

_PRIVATE = "jax._src"
_UNMAINTAINED = {"jaxopt": "optax (optax.lbfgs, optax.losses, optax.projections) or Optimistix"}


def earliest_of_each_library(candidates: list[Candidate]) -> list[Candidate]:
    """Return the first report of each library, and in each file that of each private module of JAX."""
    return earliest(candidates, _library_of)


def _library_of(candidate: Candidate) -> Hashable:
    spelled: str = candidate.event.spelled
    if _is_private(spelled):
        return candidate.path, ".".join(spelled.split(".")[:3])
    return spelled.partition(".")[0]


@rule("JAX809", "info", settle=earliest_of_each_library)
def unsupported_import(event: NameUse) -> Report | None:
    """The code uses a name of `jax._src`, the private package of JAX, or of JAXopt, which is no longer maintained.

    The rule is on only with `--preview`, because the code works as long as the release of JAX stays the same. It
    reports only the first use of JAXopt, and in each file only the first use of each private module.

    ## Why is this bad?

    JAX may move, change or remove a name in `jax._src` in any release, without a warning. Most of these names are also
    in a public module: `jax._src.typing.Array` is `jax.Array`, for example.

    JAXopt is no longer maintained nor developed. It may fail with a new release of JAX. Parts of it continue in
    optax: the solver L-BFGS, losses and projections. Optimistix has further solvers.

    ## Example

    ```python
    import jax
    from jax._src.typing import Array  # expect: unsupported-import


    def double(x: Array) -> Array:
        return 2 * x


    def demonstrate():
        assert Array is jax.Array
    ```

    ## Use instead

    ```python
    import jax


    def double(x: jax.Array) -> jax.Array:
        return 2 * x
    ```

    ## Not reported

    jaxlint does not report tests, which may need to look into JAX. It does not report an import in a `try` with an
    `except ImportError`, because the code then has a way to go on without the name.

    ```python
    try:
        from jax._src.lib import xla_client
    except ImportError:
        xla_client = None
    ```

    ## Limitations

    The rule does not know whether a public name does the same as a private one of the same name.

    ## Fix safety

    No fix. Only the author knows whether the public function of the same name does the same.

    ## How it is verified

    jaxlint cannot confirm the finding, because the code works with the installed release of JAX.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX801 (`removed-api`), JAX802 (`deprecated-api`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/api_compatibility.html>
    """
    library, remedy = event.spelled.partition(".")[0], ""
    if not _is_private(event.spelled) and library not in _UNMAINTAINED:
        return None
    if event.context.presumed or is_test(event.context) or _is_tried(event):
        return None
    if _is_private(event.spelled):
        home = _public_home(event.spelled)
        remedy = f"; use {home}" if home else "; write it without this name, or require the release of JAX that has it"
        message = f"`{event.spelled}` is private, so any release of JAX may move or remove it"
    else:
        message, remedy = f"`{library}` is no longer maintained", f"; use {_UNMAINTAINED[library]}"
    return Report(event.at, f"{message}{remedy}", preview=True)


def _is_private(spelled: str) -> bool:
    return spelled.startswith(f"{_PRIVATE}.")


def _public_home(spelled: str) -> str:
    """The public name of the same function, of the module that is called alike if there is one."""
    histories = load_histories()
    *modules, name = spelled.split(".")
    history = histories.of("jax")
    homes = [home for home in histories.homes_of(name) if history is None or history.change(home) is None]
    alike = [home for home in homes if home.split(".")[1:-1] and home.split(".")[1] in modules]
    return next(iter([*alike, *homes]), "")


def _is_tried(event: NameUse) -> bool:
    """The use stands in a ``try`` with handlers."""
    at = event.at
    around = nodes_around(event.context.scope.tree.body, at.start, at.end)
    return any(isinstance(node, ir.Try) and node.handlers for node in around)
