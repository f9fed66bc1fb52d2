"""JAX803: see the page of ``too_new_api``."""

from __future__ import annotations

import posixpath

from flake8_jax.core.registry import Candidate, Report, rule
from flake8_jax.knowledge.history import show
from flake8_jax.rules._merging import reported_row
from flake8_jax.rules._versions import history_of
from flake8_jax.semantics.events.events import ApiUse, Span


def report_once(candidates: list[Candidate]) -> list[Candidate]:
    """A project's lower bound that is too low is one mistake, however many names show it: the first use of what needs the
    newest release counts. A script that has a bound of its own says all of it."""
    kept = [candidate for candidate in candidates if _SCRIPT in candidate.event.context.scope.text]
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in candidates:
        if candidate not in kept:
            event = candidate.event
            groups.setdefault((event.name.partition(".")[0], event.support.text), []).append(candidate)
    for group in groups.values():
        newest = max(_needed_release(candidate) for candidate in group)
        first = min((c for c in group if _needed_release(c) == newest), key=lambda c: (c.path, c.start))
        kept.append(first.with_note(_others(first, group)) if len(group) > 1 else first)
    return kept


_NAMED = 2
"""So many further uses are named."""


def _others(first: Candidate, group: list[Candidate]) -> str:
    """Where other names stand that the oldest release lacks."""
    rest = [c for c in sorted(group, key=lambda c: (c.path != first.path, c.path, c.start)) if c is not first]
    places = list(dict.fromkeys(_place(candidate, first.path) for candidate in rest))
    named = " and ".join(places[:_NAMED])
    if len(places) > _NAMED:
        return f"{len(rest)} more uses need a newer JAX too, such as those {named}"
    return f"the {'use' if len(rest) == 1 else 'uses'} {named} {'needs' if len(rest) == 1 else 'need'} a newer JAX too"


def _place(candidate: Candidate, path: str) -> str:
    """``on line 12``, or ``at train.py:12`` in another file."""
    row = reported_row(candidate)
    return f"on line {row}" if candidate.path == path else f"at {posixpath.basename(candidate.path)}:{row}"


_SCRIPT = "# /// script"


@rule("JAX803", "warning", fixable="sometimes", settle=report_once)
def too_new_api(event: ApiUse) -> Report | None:
    """The code uses a name, an argument or a form of call that the oldest JAX of the project does not have.

    If the oldest release of JAX that the project supports lacks several names that the project uses, jaxlint makes
    only one finding for the project. The finding is at the first use of the name that needs the newest release, and
    says how many other uses there are. In a script that contains its own requirements (a `# /// script` comment at the
    top), jaxlint reports each use.

    ## Why is this bad?

    If the project allows a release of JAX that lacks the name, users with this release get `ImportError`,
    `AttributeError` or `TypeError`.

    jaxlint reports names that are newer than the oldest release of JAX that the project supports. It takes this release
    from the first of these sources that exists:

    - the requirement for JAX in the `# /// script` comment at the top of the file
    - jaxlint's setting `target-jax` (the releases of JAX that the code supports)
    - the requirements of the project, such as `jax>=0.4.30` in `pyproject.toml`

    If this source sets no lower bound, jaxlint reports nothing.

    ## Example

    ```python
    # /// script
    # dependencies = ["jax>=0.4.30"]
    # ///
    import jax
    import jax.numpy as jnp


    @jax.jit(static_argnames="n")  # expect: too-new-api
    def tiled(x, n):
        return jnp.tile(x, n)


    def demonstrate():
        if tuple(map(int, jax.__version__.split(".")[:2])) >= (0, 8):
            assert tiled(jnp.ones(2), n=3).shape == (6,)
    ```

    ## Use instead

    ```python
    # /// script
    # dependencies = ["jax>=0.4.30"]
    # ///
    import functools

    import jax
    import jax.numpy as jnp


    @functools.partial(jax.jit, static_argnames="n")
    def tiled(x, n):
        return jnp.tile(x, n)
    ```

    ## Not reported

    jaxlint does not report a new name if the code first tests that the name exists (`if hasattr(jax, "shard_map")`),
    or tests the version of JAX, because the code then does not use the name with older releases.

    ```python
    # /// script
    # dependencies = ["jax>=0.4.30"]
    # ///
    import jax

    if jax.__version_info__ >= (0, 6, 1):
        shard_map = jax.shard_map
    else:
        from jax.experimental.shard_map import shard_map
    ```

    ## Limitations

    The rule misses new attributes of arrays (`x.name`), and names that the program builds at run time
    (`getattr(jax, name)`).

    ## Fix safety

    `@jax.jit(…)` becomes `@functools.partial(jax.jit, …)`. This fix is safe, because both do the same.

    If an older function does almost the same as the new one, and every supported release of JAX has the older
    function, jaxlint writes its name. This fix is unsafe, because the older function may behave differently. For other
    names and arguments there is no fix: the project has to require a newer JAX.

    ## How it is verified

    jaxlint cannot confirm the finding, because it would have to run the program on the older release of JAX.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX801 (`removed-api`), JAX802 (`deprecated-api`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/changelog.html>
    """
    if event.verdict != "too-new" or event.lacking is None or event.postponed:
        return None
    first = history_of(event).first(event.name)
    if first is None:
        message = f"{_lack(event.name, show(event.lacking))}, but {_asked(event)}; require a newer JAX"
    else:
        message = f"{_new(event.name)} needs JAX {show(first)}, but {_asked(event)}; require jax>={show(first)}"
    return Report(Span(event.start, event.end), message)


def _needed_release(candidate: Candidate) -> tuple[int, ...]:
    """The first release that has the name, or else the newest that is known to lack it."""
    event: ApiUse = candidate.event
    return history_of(event).first(event.name) or event.lacking or ()


def _lack(name: str, release: str) -> str:
    callee, paren, rest = name.partition("(")
    if not paren:
        return f"JAX {release} has no `{name}`"
    if rest == ")":
        return f"`{callee}` of JAX {release} needs a function argument"
    return f"`{callee}` of JAX {release} has no argument `{rest[:-2]}`"


def _new(name: str) -> str:
    callee, paren, rest = name.partition("(")
    if not paren:
        return f"`{name}`"
    return f"Calling `{callee}` without a function" if rest == ")" else f"The argument `{rest[:-2]}` of `{callee}`"


def _asked(event: ApiUse) -> str:
    """What the project says of the oldest release: the release, unless that one itself is excluded."""
    support = event.support
    lowest = support.lowest
    if lowest is None or ">" in support.text.replace(">=", ""):
        return f"the project allows JAX {support.text}"
    verb = "requires" if support.highest == lowest else "allows"
    return f"the project {verb} JAX {show(lowest[:3])}"
