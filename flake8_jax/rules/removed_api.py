"""JAX801: see the page of ``removed_api``."""

from __future__ import annotations

from flake8_jax.core.findings import Level
from flake8_jax.core.registry import Candidate, Report, rule
from flake8_jax.knowledge.history import Version, show
from flake8_jax.rules._versions import elsewhere, history_of, instead, needed, subject, unreplaced
from flake8_jax.semantics.events.events import ApiUse, Span


def _known_first(candidates: list[Candidate]) -> list[Candidate]:
    """Of what names say, only what no value says."""
    known = {(c.path, c.start) for c in candidates if not c.event.guess}
    return [c for c in candidates if not c.event.guess or (c.path, c.start) not in known]


@rule("JAX801", "error", fixable="sometimes", settle=_known_first)
def removed_api(event: ApiUse) -> Report | None:
    """The code uses a name or an argument that JAX or a library has removed, or omits an argument that is now required.

    jaxlint also reports a name that never existed in the module from which the code takes it, if another module of JAX
    has this name. For example, it reports `jax.lax.einsum`, because `jax.numpy` has `einsum`. If no module of JAX has
    the name, jaxlint reports it only with `--preview`, because a release of JAX that is newer than jaxlint may have
    it.

    The finding is a note if the name is in an annotation that Python does not evaluate (with
    `from __future__ import annotations`), because no error follows.

    With `--preview`, the rule also reports a name that all releases which the project allows still have, but newer
    releases lack. This finding is a note. For a project that requires `jax==0.4.25`, the rule reports `jax.tree_map`,
    which JAX 0.6.0 removed, and advises a name that old and new releases have. If no such name exists, the rule reports
    only names that releases of the past year lack in a project that keeps to older releases.

    With `--preview`, the rule also reports methods of `FrozenDict` that Flax parameters no longer have, if only the name
    says that they are parameters: `state.params.copy(new)`, `variables.unfreeze()` and `rest, params =
    variables.pop("params")`. This finding is a warning. It reports none if the project makes a `FrozenDict` itself.

    ## Why is this bad?

    If the code imports or calls a removed name, Python raises an error when it reaches this line, perhaps long after
    an upgrade and deep in a run.

    jaxlint checks names against one release of JAX: the newest release that your project allows. The upper bound comes
    from the first of these sources that exists:

    - the requirement for JAX in the `# /// script` comment at the top of the file
    - jaxlint's setting `target-jax` (the releases of JAX that the code supports)
    - the requirements of the project, such as `jax<0.6` in `pyproject.toml`

    Without an upper bound, jaxlint checks names against the newest release that it knows.

    jaxlint also checks the names of Flax, optax, Orbax, chex, Haiku, NumPyro, Equinox and Diffrax. It ignores releases of these
    libraries that require a newer JAX than the project allows. If the project has an upper bound for JAX but no
    requirement for one of these libraries, jaxlint does not know which release of this library the project uses, and
    reports nothing about it.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def norm(params):
        squares = jax.tree_map(lambda p: jnp.sum(p * p), params)  # expect: removed-api
        return jnp.sqrt(jax.tree.reduce(jnp.add, squares))


    def demonstrate():  # raises: AttributeError
        norm({"w": jnp.ones(3)})
    ```

    ```python
    import jax.numpy as jnp


    def gate(x):
        return x * jnp.sigmoid(x)  # expect: removed-api


    def demonstrate():  # raises: AttributeError
        gate(jnp.ones(3))
    ```

    ```python
    import jax


    def devices():
        from jax.tools import colab_tpu  # expect: removed-api

        colab_tpu.setup_tpu()
        return jax.devices()


    def demonstrate():  # raises: ImportError
        devices()
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def norm(params):
        squares = jax.tree.map(lambda p: jnp.sum(p * p), params)
        return jnp.sqrt(jax.tree.reduce(jnp.add, squares))
    ```

    ## Not reported

    jaxlint does not report a removed name that the code uses only in releases of JAX without the new name
    (`if hasattr(jax, "tree"): … else: jax.tree_map`).

    ```python
    import jax

    if hasattr(jax, "tree"):
        tree_map = jax.tree.map
    else:
        tree_map = jax.tree_map

    try:
        from jax import shard_map
    except ImportError:
        from jax.experimental.shard_map import shard_map
    ```

    ## Limitations

    The rule misses removed attributes of arrays (`x.device_buffer`), and names that the program builds at run time
    (`getattr(jax, name)`). For a project that supports only releases of JAX before 0.4.20, it also misses most of the
    names that these releases removed, because it does not know when JAX removed them.

    ## Fix safety

    jaxlint offers a fix if another name does the same and if every supported release of the library has this name:
    `jax.tree_map` becomes `jax.tree.map`, also in a comment directly above the line or at its end. If the old name is the
    only one that the code uses of an import (`from jax.lib import xla_bridge`), the fix rewrites all its uses and
    removes the import. The fix is safe, except in these cases:

    - A test replaces the function under its old name (`monkeypatch.setattr`). After the fix, the test would no longer
      change what the code calls.
    - The fix replaces the import of a module. The new module may lack a name that the code uses.

    If the project does not say which releases it supports, and the file or another file of its package uses a name such
    as `flax.optim`, which JAX or the library removed before the new name came, jaxlint assumes that the file runs only
    on old releases. There is then no fix, unless a third name does the same in old and new releases: `jax.tree_map`
    becomes `jax.tree_util.tree_map`. It also becomes this name in a file that uses `jax.tree_util` for other trees.

    jaxlint offers no fix either if the file imports another name that is gone and that no fix replaces, such as
    `jax.ops.index_update`: the file would still raise an error at this import. If nothing uses such an import, the fix
    removes it.

    ## How it is verified

    `jaxlint verify` runs the program that you name. It confirms the finding if the line of the finding raises
    `AttributeError` or `ImportError` for the removed name, or `TypeError` for a removed argument.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX802 (`deprecated-api`), JAX803 (`too-new-api`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/changelog.html>
    """
    change = event.change
    if event.verdict == "never-there":
        home = elsewhere(event)
        remedy = home or ", so this raises; check the name and the library"
        message = f"{history_of(event).title} has no {subject(event)}{remedy}"
        level: Level | None = "info" if event.postponed else None if home else "warning"
        return Report(Span(event.start, event.end), message, level=level, preview=not home)
    if event.verdict == "removed-later":
        return _removed_later(event)
    if event.verdict != "removed" or change is None or change.removed is None:
        return None
    title = history_of(event).title
    when = f"{title} {show(change.removed)} removed" if change.removed else f"{title} no longer has"
    said = f"Since {title} {show(change.removed)}, {needed(event)}" if needed(event) else f"{when} {subject(event)}"
    message = f"{said}{instead(event, change) or unreplaced(event)}"
    level = "info" if event.postponed else "warning" if event.guess else None
    in_preview = event.guess or event.name.startswith(_IN_PREVIEW)
    return Report(Span(event.start, event.end), message, level=level, preview=in_preview)


_IN_PREVIEW = ("equinox.filter_", "equinox.nn.conv", "equinox.nn.dropout", "equinox.nn.linear", "equinox.nn.mlp")
"""Names that too few repositories use to judge them."""


def _removed_later(event: ApiUse) -> Report | None:
    """The project keeps to releases that have the name."""
    change, history = event.change, history_of(event)
    if change is None or change.removed is None:
        return None
    is_in_both = change.since is not None and history.replacement(change, event.support) is not None
    if not is_in_both and event.support.reaches(_RECENT.get(history.title, change.removed)):
        return None
    title, asked = history.title, event.support.text
    release = f"{title} {show(change.removed)} removed" if change.removed else f"{title} has removed"
    lacking = (
        f"Since {title} {show(change.removed)}, {needed(event)}" if needed(event) else f"{release} {subject(event)}"
    )
    kept = f"but the project asks for {_asked(event)}" if asked else f"so this needs an older {title}"
    message = f"{lacking}, {kept}{instead(event, change) or unreplaced(event)}"
    return Report(Span(event.start, event.end), message, level="info", preview=True)


_RECENT: dict[str, Version] = {"JAX": (0, 8, 0)}
"""A release that was about a year old when the tables were made: who asks for newer ones upgrades in steps."""


def _asked(event: ApiUse) -> str:
    """``jax==0.4.25``"""
    text = event.support.text
    return f"`{event.name.partition('.')[0]}{'==' if text[:1].isdigit() else ''}{text}`"
