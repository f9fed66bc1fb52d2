"""JAX411: see the page of ``donated_reuse``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Level
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._keys import at_place, name_of
from flake8_jax.rules._tracers import LONGEST_QUOTE, quote
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.domain.values import Site
from flake8_jax.semantics.events.events import DonatedUse


@rule("JAX411", "error")
def donated_reuse(event: DonatedUse) -> Report | None:
    """The code uses an array after it was donated.

    The finding is a warning if the code donates the array only on some of the paths that lead to the use.

    The finding is a note in two cases:

    - jaxlint does not know the shapes of the results: JAX deletes the array only if a result has the same shape.
    - The array is a parameter of a function whose callers jaxlint does not see. They may pass a NumPy array, which JAX
      copies before it donates.

    ## Why is this bad?

    If `donate_argnums` or `donate_argnames` names an argument, the compiled call may write its results into the memory
    of this argument. JAX deletes the array if a result fits into its memory. Code that reads the array then raises
    `RuntimeError`; code that passes it to another compiled call raises `ValueError`. Some devices do not reuse memory,
    so the same code may work on one device and raise on another. Assign the result to the name of the argument
    (`w = step(w, x)`), or donate a copy.

    ## Example

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, donate_argnames=("w",))
    def step(w, x):
        return w - 0.1 * x.T @ (x @ w)


    def progress(n):
        w = jnp.ones(n)
        new = step(w, jnp.eye(n))
        return jnp.abs(new - w).max()  # expect: donated-reuse


    def demonstrate():
        progress(3)  # raises: RuntimeError
    ```

    ```python
    import jax
    import jax.numpy as jnp

    scale = jax.jit(lambda x, by: x * by, donate_argnums=0)


    def table():
        x = jnp.arange(4.0)
        return [scale(x, by) for by in (0.5, 2.0)]  # expect: donated-reuse


    def demonstrate():
        table()  # raises: ValueError
    ```

    ## Use instead

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, donate_argnames=("w",))
    def step(w, x):
        return w - 0.1 * x.T @ (x @ w)


    def progress(n):
        w = jnp.ones(n)
        before = w.copy()
        w = step(w, jnp.eye(n))
        return jnp.abs(w - before).max()
    ```

    ## Not reported

    jaxlint does not report code that reads only the shape or dtype of a donated array, because these stay available.
    It does not report a NumPy array, which JAX copies before it donates. It does not report an array if no result of
    the call has its shape, because JAX cannot reuse its memory and keeps it. It does not report a donation by a jitted
    function that another jitted function calls, because JAX ignores this donation.

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np

    scale = jax.jit(lambda x, by: x * by, donate_argnums=0)
    norm = jax.jit(lambda x: jnp.sqrt(jnp.sum(x**2)), donate_argnums=0)


    def shapes():
        x = jnp.arange(4.0)
        y = scale(x, 2.0)
        return y, x.shape, x.dtype, len(x), jnp.zeros_like(x), x.is_deleted()


    def on_the_host():
        x = np.arange(4.0)
        return scale(x, 0.5) + scale(x, 2.0)


    def reduced():
        x = jnp.arange(4.0)
        return x / norm(x)


    def inside():
        return jax.jit(lambda x: scale(x, 2.0) + x)(jnp.ones(3))
    ```

    ## Limitations

    The rule misses an array that the code also uses under a second name. It also misses arrays that
    `equinox.filter_jit` or a compiled object (`jit(f).lower(x).compile()`) donates.

    ## Fix safety

    No fix. Only the author knows whether the code should use the result of the call, copy the array before the call,
    or not donate it.

    ## How it is verified

    `jaxlint verify` runs the program that you name. It confirms the finding if the use of the donated array raises
    `RuntimeError`, or `ValueError` in a compiled call.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX412 (`missing-donation`), JAX516 (`overwritten-host-buffer`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/buffer_donation.html>
    """
    context = event.context
    if context.caught or context.presumed or context.staged:
        return None
    # JAX keeps a buffer that no result can take. Where nothing shows that one can, readers of unseen repositories found one
    # place in seven worth a minute.
    level: Level | None = None if event.certain else "warning" if event.taken else "info"
    name, taker = _quoted(event.argument, quote(context, event.at, "an array")), _quoted(event.taker, "a jitted call")
    if event.same_call:
        advice = "do not donate it or pass it only once"
        return Report(event.at, f"{name} is donated to {taker} but passed again in the same call; {advice}", level)
    if event.argument is None and not isinstance(event.at, (ir.Name, ir.Attribute, ir.Subscript)):
        when = "in the previous iteration" if event.in_loop else at_place(event.earlier, context)
        reader = callee(context, event.at, quote(context, event.at))
        wrong = f"{reader} reads an array that was donated to {taker} {when}, so its buffer is deleted"
        return Report(event.at, f"{wrong}; use the result of that call", level)
    if event.in_loop:
        return Report(
            event.at,
            f"{name} was donated to {taker} in the previous iteration, so its buffer is deleted; "
            "rebind it to the result, or do not donate it",
            level,
        )
    read, then = quote(context, event.at), "its buffer is deleted"
    if event.through:
        then = f"{name_of(event.through)} reads a deleted buffer"
    elif read != name:
        then = f"{read} reads a deleted buffer"
    return Report(
        event.at,
        f"{name} was donated to {taker} {at_place(event.earlier, context)}, so {then}; use the result",
        level,
    )


def _quoted(site: Site | None, otherwise: str) -> str:
    """The source text there, in backquotes."""
    text = " ".join(site.scope.text[site.start : site.end].split()) if site is not None else ""
    return f"`{text}`" if 0 < len(text) <= LONGEST_QUOTE else otherwise
