"""JAX523: see the page of ``plain_transform_of_module``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Positions, Step
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._units import library_name
from flake8_jax.rules._wording import spelled
from flake8_jax.semantics.domain.values import TransformedValue
from flake8_jax.semantics.events.events import LibraryCall, RootMet
from flake8_jax.semantics.events.shared_draws import SharedDraw

_PURIFYING = frozenset({"haiku.transform", "haiku.transform_with_state"})
_REFUSED = frozenset({"jax.jit", "jax.pmap"})


@rule("JAX523", "error", raises="another error")
def plain_transform_of_module(event: LibraryCall | RootMet | SharedDraw) -> Report | None:
    """A transform of JAX is applied to code of Haiku or Flax linen that needs the transform of the library.

    The rule is on only with `--preview`, because too few public repositories have such code to judge the rule. It reports
    an error if `hk.transform` gets a jitted function, and a warning if a `vmap` of JAX shares a PRNG key.

    ## Why is this bad?

    Modules of Haiku and Flax linen keep their parameters and PRNG keys outside the functions that JAX transforms.

    `hk.transform(jax.jit(f))` raises `ValueError`, because `f` is not pure: it reads and makes parameters. Jit what
    `hk.transform` returns: `jax.jit(hk.transform(f).apply)`.

    Flax and Haiku count how often a module draws random numbers, and give each draw a new PRNG key. `jax.vmap` runs the
    module only once, so all batch elements draw with one key: `nn.Dropout` drops the same units of every batch element,
    and `hk.next_rng_key()` is the same key. `nn.vmap` with `split_rngs={"dropout": True}` and `hk.vmap` with
    `split_rng=True` give each batch element a key of its own. Often the module needs no `vmap`: layers such as `nn.Dense`
    take arrays with batch axes.

    ## Example

    ```python
    import haiku as hk
    import jax


    def forward(x):
        return hk.Linear(3)(x)


    def make():
        return hk.transform(jax.jit(forward))  # expect: plain-transform-of-module


    def demonstrate():
        make()  # raises: ValueError
    ```

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Block(nn.Module):
        train: bool

        @nn.compact
        def __call__(self, x):
            x = nn.Dense(64)(x)
            return nn.Dropout(0.5, deterministic=not self.train)(x)


    class Net(nn.Module):
        train: bool

        def setup(self):
            self.block = Block(self.train)
            self.rows = jax.vmap(lambda x: self.block(x))  # expect: plain-transform-of-module

        def __call__(self, xs):
            return self.rows(xs)


    def demonstrate():
        xs = jnp.ones((2, 64))
        keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
        one, other = Net(train=True).init_with_output(keys, xs)[0] != 0
        assert (one == other).all()  # both rows lose the same units
    ```

    ```python
    import haiku as hk
    import jax
    import jax.numpy as jnp


    def noisy(xs):
        def add(x):
            return x + jax.random.normal(hk.next_rng_key(), x.shape)

        return jax.vmap(add)(xs)  # expect: plain-transform-of-module


    def demonstrate():
        one, other = hk.transform(noisy).apply({}, jax.random.key(0), jnp.zeros((2, 4)))
        assert (one == other).all()
    ```

    ## Use instead

    ```python
    import flax.linen as nn
    import haiku as hk
    import jax


    def forward(x):
        return hk.Linear(3)(x)


    net = hk.transform(forward)
    apply = jax.jit(net.apply)


    class Block(nn.Module):
        train: bool

        @nn.compact
        def __call__(self, x):
            x = nn.Dense(64)(x)
            return nn.Dropout(0.5, deterministic=not self.train)(x)


    class Net(nn.Module):
        train: bool

        def setup(self):
            self.block = Block(self.train)
            self.rows = nn.vmap(
                lambda module, x: module.block(x), variable_axes={"params": None}, split_rngs={"dropout": True}
            )

        def __call__(self, xs):
            return self.rows(self, xs)


    def noisy(xs):
        def add(x):
            return x + jax.random.normal(hk.next_rng_key(), x.shape)

        return hk.vmap(add, split_rng=True)(xs)
    ```

    ## Not reported

    jaxlint reports no `vmap` around `apply`, whose keys the caller chooses, and no `vmap` of a module that draws nothing.
    It reports no `nn.Dropout` that is certainly off, or that gets a key by `rng=`.

    ```python
    import flax.linen as nn
    import jax


    class Net(nn.Module):
        @nn.compact
        def __call__(self, xs):
            xs = jax.vmap(nn.Dense(8))(xs)
            return jax.vmap(nn.Dropout(0.5, deterministic=True))(xs)


    def ensemble(params, x, keys):
        return jax.vmap(lambda key: Net().apply(params, x, rngs={"dropout": key}))(keys)
    ```

    ## Limitations

    Of the layers of Flax, the rule knows only `nn.Dropout`, beside calls of `make_rng`. It does not report other
    transforms. Most of them, such as `jax.lax.scan`, raise `UnexpectedTracerError` if a module makes its parameters
    inside. Others work, such as `jax.grad`.

    ## Fix safety

    No fix. The author has to decide which parameters and keys the batch elements share.

    ## How it is verified

    `jaxlint verify` runs the program that you name. It confirms the finding about `hk.transform` if the call raises
    `ValueError`. It confirms a finding about `vmap` if the line runs, because the code already shows the mistake.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX308 (`shared-key-in-vmap`), JAX405 (`jit-on-method`), JAX514 (`flax-collections`).

    ## JAX documentation

    <https://dm-haiku.readthedocs.io/en/latest/notebooks/transforms.html>
    """
    if isinstance(event, SharedDraw):
        return _report_draw(event)
    if isinstance(event, RootMet):
        return _report_decorators(event)
    if event.name not in _PURIFYING:
        return None
    given = event.args[0] if event.args else event.kwargs.get("f")
    if not isinstance(given, TransformedValue) or given.name not in _REFUSED or event.context.caught:
        return None
    function, jit = spelled(event.context, event.at, event.name), given.name.rpartition(".")[2]
    shown = quote(event.context, event.at.args[0].value, "the function") if event.at.args else "the function"
    problem = f"{shown} is already transformed by {jit}, so `{function}` raises ValueError"
    return Report(event.at, f"{problem}; apply {jit} to the `init` and `apply` that `{function}` returns", preview=True)


def _report_decorators(event: RootMet) -> Report | None:
    """``@hk.transform`` stands above ``@jax.jit``."""
    scope = event.context.scope
    if not event.decorator or event.name not in _REFUSED or "haiku" not in scope.text or event.context.caught:
        return None
    nodes = (node for statement in scope.tree.body for node in walk(statement) if isinstance(node, ir.FunctionDef))
    above = next(([*node.decorators] for node in nodes if any(one is event.at for one in node.decorators)), [])
    for decorator in above:
        if decorator is event.at:
            return None
        if library_name(decorator, scope) in _PURIFYING:
            jit, shown = event.name.rpartition(".")[2], quote(event.context, decorator)
            problem = f"{shown} gets a function that is already transformed by {jit}, so it raises ValueError"
            return Report(decorator, f"{problem}; apply {jit} to the `init` and `apply` that it returns", preview=True)
    return None


def _report_draw(event: SharedDraw) -> Report | None:
    """All elements of a ``vmap`` draw with one key of a module."""
    if is_test(event.context) or event.context.presumed:
        return None
    plain, draw = event.transform.rpartition(".")[2], event.draw
    if event.library == "haiku":
        problem = f"`hk.next_rng_key` gives all batch elements of this {plain} one key, so they draw the same numbers"
        remedy = "use hk.vmap with split_rng=True"
    elif "make_rng" in draw.scope.text[draw.start : draw.end]:
        problem = f"`make_rng` gives all batch elements of this {plain} one key, so they draw the same numbers"
        remedy = "use nn.vmap with split_rngs, or draw for the whole batch outside"
    else:
        problem = f"`nn.Dropout` drops the same units of all batch elements of this {plain}"
        remedy = 'use nn.vmap with split_rngs={"dropout": True}, or call the module on the whole batch'
    row = Positions(draw.scope.tree.line_starts).row(draw.start)
    step = Step(draw.scope.path, draw.start, row, "use", "", "this draws with one key for all of them")
    return Report(event.at, f"{problem}; {remedy}", "warning", preview=True, uses=(step,))
