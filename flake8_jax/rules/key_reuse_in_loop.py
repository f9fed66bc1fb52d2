"""JAX302: see the page of ``key_reuse_in_loop``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._key_walk import keys_of_loops
from flake8_jax.rules._keys import (
    at_place,
    by_convention,
    hidden_key,
    inner_spelling,
    is_common_pick,
    is_loop_reuse,
    key_on_line,
    level_of_use,
    new_name,
    passed_keys,
    report_where_given,
    row_of,
    takes_key,
    user_of,
    uses_of,
)
from flake8_jax.rules._restarts import outer_loop
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.domain.boundary import ELEMENT
from flake8_jax.semantics.domain.code import last_name, names_read, nodes_around
from flake8_jax.semantics.domain.values import Array, Opaque, Site, Value, canonical_key
from flake8_jax.semantics.events.events import FileRead, KeyUse, LibraryCall

_ADVICE = {
    "comprehension": "iterate over keys from jax.random.split",
    "fori_loop": "fold the loop index into it or carry it in the loop state",
    "scan": "scan over keys from jax.random.split or carry the key",
    "while_loop": "carry the key and split it in the body",
    "map": "map over keys from jax.random.split",
    "tree_map": "split it into a tree of keys and map over both trees",
}
TREE_MAP = "tree_map"
"""Shuffling every leaf of a tree with one key keeps the leaves in step: that is meant."""


@rule(
    "JAX302",
    "error",
    fixable="sometimes",
    settle=report_where_given,
    only=Subscription(where=frozenset({"loop"}), effects=frozenset({"make", "derive", "consume", "split"})),
)
def key_reuse_in_loop(event: KeyUse | LibraryCall | FileRead) -> Report | list[Report] | None:
    """A loop draws from a PRNG key that does not change in the loop.

    With `--preview`, the rule also reports a loop that passes the same key to a function which jaxlint does not know
    (`env.step(key, state, action)`), unless the loop is at the top level of the file.

    The finding is a note if equal draws may be intended, for example in these cases:

    - The code compares the results of the iterations.
    - The loop changes a state, such as the parameters, and uses the key only to evaluate this state
      (`scores.append(score(params, key))`): no iteration needs the scores of earlier ones.
    - The name of the key (`eval_key`, `fixed_rng`) or a comment (`# the same key`) says that the key is fixed.

    With `--preview`, the rule also reports a key that each iteration passes to a function whose code jaxlint does not
    see (`state = env.reset(key)`). It does not report this key if the loop makes other keys with `split` or `fold_in`,
    because the code then probably keeps the old key on purpose.

    With `--preview`, the rule also reports a key that depends only on the counter of an inner loop, such as
    `jax.random.fold_in(key, i)` or `keys[i]`: each iteration of the outer loop makes or picks the same keys again.

    ## Why is this bad?

    The same key gives the same numbers, so every iteration draws the same numbers: a random walk repeats one step, and
    dropout removes the same units. JAX raises no error. The same happens if the body of `jax.lax.scan`,
    `jax.lax.fori_loop` or `jax.lax.while_loop` captures a key.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def walk(seed, steps):
        key = jax.random.key(seed)
        path = [jnp.zeros(2)]
        for _ in range(steps):
            path.append(path[-1] + jax.random.normal(key, (2,)))  # expect: key-reuse-in-loop
        return jnp.stack(path)


    def demonstrate():
        steps = jnp.diff(walk(0, 4), axis=0)
        assert jnp.allclose(steps, steps[0], atol=1e-5)
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def drift(key, x, steps):
        def body(i, x):
            return x + jax.random.normal(key)  # expect: key-reuse-in-loop

        return jax.lax.fori_loop(0, steps, body, x)


    def demonstrate():
        one = drift(jax.random.key(0), jnp.float32(0.0), 1)
        assert jnp.allclose(drift(jax.random.key(0), jnp.float32(0.0), 8), 8 * one, rtol=1e-3)
    ```

    With `--preview`, jaxlint reports a key that each epoch makes again:

    ```python
    import jax


    def draws(key, epochs, batches):
        found = []
        for epoch in range(epochs):
            for i in range(batches):
                subkey = jax.random.fold_in(key, i)  # expect: key-reuse-in-loop
                found.append(float(jax.random.normal(subkey)))
        return found


    def demonstrate():
        found = draws(jax.random.key(0), 2, 3)
        assert found[:3] == found[3:]
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def walk(seed, steps):
        key = jax.random.key(seed)
        path = [jnp.zeros(2)]
        for _ in range(steps):
            key, subkey = jax.random.split(key)
            path.append(path[-1] + jax.random.normal(subkey, (2,)))
        return jnp.stack(path)


    def drift(key, x, steps):
        def body(i, x):
            return x + jax.random.normal(jax.random.fold_in(key, i))

        return jax.lax.fori_loop(0, steps, body, x)
    ```

    ## Not reported

    jaxlint does not report a loop that makes a new key in every iteration, or a key that the loop carries from one
    iteration to the next (`key, subkey = split(key)`), because the draws differ. It does not report a draw that is
    followed by `break` or `return`, because only one iteration makes it.

    ```python
    import jax
    import jax.numpy as jnp


    def rows(key, n):
        return jnp.stack([jax.random.normal(k, (3,)) for k in jax.random.split(key, n)])


    def scanned(key, n):
        def body(key, _):
            key, subkey = jax.random.split(key)
            return key, jax.random.normal(subkey)

        return jax.lax.scan(body, key, None, length=n)


    def first_match(key, candidates, wanted):
        for name in candidates:
            if name == wanted:
                return jax.random.normal(key)
        raise LookupError(wanted)
    ```

    ## Limitations

    The rule does not know how many iterations a loop has, so it may report a loop that runs only once. It reports a key
    that depends only on the counter of an inner loop if both loops are in one function and count with `range`,
    `enumerate` or `while`. It does not report such a key if the name of the function says that it evaluates, or if the
    name of a counter says that it numbers seeds or experiments.

    ## Fix safety

    Unsafe, because the draws change. In a Python loop, jaxlint adds `key, subkey = jax.random.split(key)` to the body.
    In the body of `fori_loop`, it passes `jax.random.fold_in(key, i)` with the loop index `i`. If the loop reads
    `keys[0]` in each of `n` iterations, and `keys = jax.random.split(key, n)`, it reads `keys[i]` instead.

    jaxlint offers no fix in the three cases at the top of this page, in which equal draws may be intended. It also
    offers no fix if the code looks for the best result of the iterations (`max(scores)`), if the loop tries again
    (`for attempt in range(3)`), or if it runs one experiment with several values of a setting
    (`for scale in [0.1, 0.5]`). There is no fix either if other calls get the same key, or if the function that gets
    the key draws nothing with it.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the line of the finding uses the same
    key in at least two iterations.

    ## Since

    0.2.0.

    ## Related rules

    JAX301 (`key-reuse`), JAX303 (`key-used-after-split`), JAX307 (`discarded-split`), JAX309 (`same-constant-key`), JAX304
    (`constant-key`), JAX308 (`shared-key-in-vmap`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/random-numbers.html>
    """
    if isinstance(event, LibraryCall):
        return _restarted(event)
    if isinstance(event, FileRead):
        return keys_of_loops(event)
    context = event.context
    if not is_loop_reuse(event) or event.earlier is None or context.presumed or context.caught:
        return None
    if (event.loop_kind == TREE_MAP and is_common_pick(event)) or _picks_own_row(event):
        return None
    if any(event.callees):
        by = f"`{event.callees[1]}`" if event.callees[1] and not event.through else user_of(event)
        return None if _is_left_alone(event) else by_convention(event, _message(event, by, "may draw the same numbers"))
    by = user_of(event) if event.through else ""
    message = _message(event, by, _repeats(event))
    return Report(event.at, message, level=level_of_use(event), given=event.given, uses=uses_of(event))


def _repeats(event: KeyUse) -> str:
    """What every iteration does with the same key."""
    if event.draws:
        return "draws the same numbers"
    return "splits it into the same keys" if event.was_split else "gets the same random results"


def _restarted(event: LibraryCall) -> Report | None:
    """A key that only the counter of an inner loop changes."""
    context = event.context
    outer = outer_loop(event) if not (context.presumed or is_test(context)) else None
    if outer is None:
        return None
    row = row_of(Site(context.scope, outer.start, outer.end))
    return Report(
        event.at,
        f"The key in {quote(context, event.at)} is the same in every iteration of the loop on line {row}, because it depends "
        "only on the inner loop; make it from a counter of all iterations",
        "warning",
        preview=True,
    )


def _message(event: KeyUse, by: str, does: str) -> str:
    """by: the function that uses the key, empty for one of a library. does: what it does in every iteration."""
    advice = _ADVICE.get(event.loop_kind) or _in_python(event)
    key, loop = key_on_line(event), _loop(event)
    if key is not None:
        then = f"{by} {does} each time" if by and "(" not in by else f"each iteration {does}"
        return f"{key} does not change in {loop}, so {then}; {advice}"
    function, inner = callee(event.context, event.at), inner_spelling(event)
    if _is_batch(event.key, ""):
        passed = passed_keys(event)
        again = f"{function} gets the same keys{f' from `{passed}`' if passed else ''} in every iteration of {loop}"
        return f"{again}, so its random numbers repeat; {advice}"
    if inner and event.captured:
        advice = "make it a parameter and pass a new key in each iteration"
        captures = f"{function} captures the key `{inner}` and uses it unchanged{_where_used(event)}"
        return f"{captures}, so its random numbers repeat in every iteration of {loop}; {advice}"
    uses = f"{function} uses {hidden_key(event, 'the same key')}"
    if event.loop_kind in ("for", "while") and (inner.isidentifier() or takes_key(event)):
        advice = f"pass {function} a new key in each iteration"
    return f"{uses} in every iteration of {loop}, so its random numbers repeat; {advice}"


def _where_used(event: KeyUse) -> str:
    """`` on line 12``: where the function uses the key that it captures."""
    return f" {at_place(event.last, event.context)}" if event.last is not None else ""


def _loop(event: KeyUse) -> str:
    """``the loop on line 12``, ``the `scan` on line 8``; ``this loop`` where it begins on the line of the finding."""
    name = _NAMES.get(event.loop_kind, f"`{event.loop_kind}`")
    site = event.loop
    if site is None or (
        site.scope is event.context.scope and row_of(site) == row_of(Site(site.scope, event.at.start, event.at.end))
    ):
        return f"this {name}"
    return f"the {name} {at_place(site, event.context)}"


_NAMES = {"for": "loop", "while": "loop", "comprehension": "comprehension", "tree_map": "`tree.map`"}
"""The kinds of loops in words; the others are functions."""


def _in_python(event: KeyUse) -> str:
    """The statement that renews the key in the body of a Python loop."""
    key = (key_on_line(event) or "").strip("`")
    if _is_batch(event.key, key):
        return "split a new key in each iteration"
    if key.isidentifier() and event.effect == "split" and not event.through:
        return f"first split off a key for the next iteration: {key}, {new_name(key)} = jax.random.split({key})"
    if not key.isidentifier():
        return "make a new key for each iteration with jax.random.split"
    return f"split it in the body: {key}, {new_name(key)} = jax.random.split({key})"


def _is_batch(key: Value, name: str) -> bool:
    """The code has an array of keys, of which this may be one; if nothing else is known, by its name."""
    found = canonical_key(key)
    if isinstance(found, Array):
        return found.dtype == "key" and found.ndim != 0
    while isinstance(found, Opaque) and found.step != ELEMENT and found.parent is not None:
        found = canonical_key(found.parent)
    return (isinstance(found, Opaque) and found.step == ELEMENT) or name.lower().endswith(("keys", "rngs"))


def _is_left_alone(event: KeyUse) -> bool:
    """The loop makes new keys for the rest of what it does: that this one stays as it is, as for an evaluation, is meant."""
    around = nodes_around(event.context.scope.tree.body, event.at.start, event.at.end)
    loop = next((node for node in reversed(list(around)) if isinstance(node, (ir.For, ir.While))), None)
    inside = [node for statement in loop.body for node in walk(statement)] if loop is not None else []
    return any(isinstance(node, ir.Call) and last_name(node.func) in ("split", "fold_in") for node in inside)


def _picks_own_row(event: KeyUse) -> bool:
    """``jax.random.split(key, n)[i]`` in ``for i in range(n)``, or of a name for those keys: the same keys are made again, and
    each iteration takes its own."""
    around = list(nodes_around(event.context.scope.tree.body, event.at.start, event.at.end))
    place = next((i for i, node in enumerate(around) if node is event.at), 0)
    loop = next((node for node in reversed(around) if isinstance(node, (ir.For, ir.Comprehension))), None)
    if not place or loop is None:
        return False
    targets = [loop.target] if isinstance(loop, ir.For) else [generator.target for generator in loop.generators]
    numbers = set().union(*[names_read(target) for target in targets])
    outer = around[place - 1]
    if isinstance(outer, ir.Subscript):
        return not numbers.isdisjoint(names_read(outer.index))
    named = outer.targets[0] if isinstance(outer, ir.Assign) and len(outer.targets) == 1 else None
    if not isinstance(named, ir.Name) or not isinstance(loop, ir.For):
        return False
    inside = [node for statement in loop.body for node in walk(statement)]
    rows = [node for node in inside if isinstance(node, ir.Subscript) and _is_named(node.value, named.id)]
    mentions = sum(_is_named(node, named.id) for node in inside)
    return bool(rows) and mentions == len(rows) + 1 and all(not numbers.isdisjoint(names_read(r.index)) for r in rows)


def _is_named(node: object, name: str) -> bool:
    return isinstance(node, ir.Name) and node.id == name
