"""JAX802: see the page of ``deprecated_api``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.knowledge.history import show
from flake8_jax.rules._versions import history_of, instead, subject, unreplaced
from flake8_jax.semantics.events.events import ApiUse, Setting, Span


@rule("JAX802", "info", fixable="sometimes")
def deprecated_api(event: ApiUse | Setting) -> Report | None:
    """The code uses a name or an argument that is deprecated in JAX or in a library for JAX, such as Flax.

    For Flax, optax, Orbax, Haiku and NumPyro, jaxlint reports only names that the code or the documentation of the
    library calls deprecated. If an attribute of an object is deprecated, such as `value` of an `nnx.Param`, jaxlint
    reports only the first use of this attribute in each file.

    With `--preview`, the rule reports code that sets the environment variable `JAX_PLATFORM_NAME`. It chooses only the
    default platform: JAX still starts the other platforms. `JAX_PLATFORMS` chooses which platforms JAX starts.

    ## Why is this bad?

    A deprecated name works, with or without a `DeprecationWarning`, until a release removes it. JAX promises to keep a
    deprecated name for three months.

    ## Example

    ```python
    import warnings

    import jax.numpy as jnp
    from jax.experimental import pjit


    def affine(x, w, b):
        return x @ w + b


    def demonstrate():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compiled = compile_affine()
        assert compiled(jnp.ones((2, 2)), jnp.ones((2, 3)), jnp.zeros(3)).shape == (2, 3)
        assert any("pjit has been deprecated" in str(w.message) for w in caught)


    def compile_affine():
        return pjit.pjit(affine)  # expect: deprecated-api
    ```

    ## Use instead

    ```python
    import jax


    @jax.jit
    def affine(x, w, b):
        return x @ w + b
    ```

    ## Not reported

    jaxlint does not report a deprecated name if the project supports a release of JAX that lacks the new name,
    because the code needs the old name there.

    ```python
    # /// script
    # dependencies = ["jax>=0.4.30"]
    # ///
    from jax.experimental.shard_map import shard_map
    from jax.sharding import PartitionSpec


    def spread(f, mesh):
        return shard_map(f, mesh=mesh, in_specs=PartitionSpec("i"), out_specs=PartitionSpec("i"))
    ```

    ## Limitations

    The rule misses deprecated attributes and methods of arrays. It also misses names that the program builds at run
    time (`getattr(jax, name)`).

    ## Fix safety

    jaxlint replaces the deprecated name if the new name does the same and if every supported release of the library
    has the new name. The fix is safe except in the cases below, in which the program may behave differently:

    - The fix of `pjit` is unsafe: it writes `jax.jit`, which ignores a surrounding `with mesh:`. The arrays may then
      get other shardings, and jaxlint cannot check whether they do.
    - The fix of `use_mesh` outside a `with` statement is unsafe: it writes `jax.set_mesh`, which sets the mesh when
      it is called. `use_mesh` sets the mesh only when a `with` block is entered.
    - A fix is unsafe if the project does not say which releases of the library it supports: an older release may lack
      the new name.
    - A fix that replaces the import of a module is unsafe: the new module may lack a name that the code uses.
    - A fix is unsafe if a test replaces the function under its old name (`monkeypatch.setattr`): the replacement
      would have no effect on the new name.

    jaxlint offers no fix for `pjit` if the call contains a `PartitionSpec`, because `jax.jit` ignores the mesh of a
    `with mesh:` block and so does not know the axes of the `PartitionSpec`. It also offers no fix if the call of
    `pjit` passes its options by position, because `jax.jit` takes them only by name.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if JAX or the library emits a
    `DeprecationWarning` at the line of the finding.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX801 (`removed-api`), JAX803 (`too-new-api`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/api_compatibility.html>
    """
    if isinstance(event, Setting):
        return _of_variable(event)
    change = event.change
    if event.verdict != "deprecated" or change is None:
        return None
    since = f" since {history_of(event).title} {show(change.deprecated)}" if change.deprecated else ""
    said = subject(event)
    message = f"{said[0].upper()}{said[1:]} is deprecated{since}{instead(event, change) or unreplaced(event)}"
    return Report(Span(event.start, event.end), message)


_VARIABLES = {"JAX_PLATFORM_NAME": "JAX_PLATFORMS, which also keeps JAX from starting the other platforms"}
"""What the help texts of JAX's options call deprecated, and what to set instead."""


def _of_variable(event: Setting) -> Report | None:
    """``os.environ["JAX_PLATFORM_NAME"] = "cpu"``."""
    if event.kind != "variable" or event.name not in _VARIABLES or not event.direct or event.late:
        return None
    return Report(event.at, f"`{event.name}` is deprecated; use {_VARIABLES[event.name]}", preview=True)
