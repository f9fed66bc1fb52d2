"""JAX409: see the page of ``captured_constant``."""

from __future__ import annotations

from flake8_jax.core.registry import Candidate, Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._merging import first_of_each
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.events.events import CapturedConstant
from flake8_jax.semantics.events.facts import EXPORTED

MIB = 1 << 20


def _first_of_each_data_set(candidates: list[Candidate]) -> list[Candidate]:
    """A variable that holds a data set is one mistake, however many functions of a file capture it."""
    loaded = [c for c in candidates if isinstance(c.event, CapturedConstant) and c.event.loaded]
    others = [c for c in candidates if c not in loaded]
    return [*others, *first_of_each(loaded, lambda c: (c.path, last_name(c.event.at)))]


@rule("JAX409", "warning", settle=_first_of_each_data_set)
def captured_constant(event: CapturedConstant) -> Report | None:
    """A jitted function reads a captured array of at least one MiB, which becomes a constant of the program.

    With `--preview`, the rule also reports the parameters of a network that a jitted function passes to `model.apply`
    or to `state.apply_fn` but does not get as an argument. It also reports a captured data set, that is, a variable that
    gets the result of a function such as `np.load`, `np.memmap`, `np.frombuffer` or `load_data`, or a part of it (one
    finding for each variable of a file). jaxlint does not know how large parameters and data sets are.

    ## Why is this bad?

    JAX writes a captured array into the compiled program. An array is captured if the function reads it from a
    variable of the module, of an enclosing function or of an object, instead of an argument. The compiler tries to
    compute with this array in advance, so compilation takes long. JAX also keeps a copy of the array for each function
    and each shape that it compiles. Pass the array as an argument.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np

    EMBEDDINGS = np.random.default_rng(0).normal(size=(4096, 128)).astype(np.float32)


    @jax.jit
    def embed(tokens):
        return jnp.asarray(EMBEDDINGS)[tokens]  # expect: captured-constant


    def demonstrate():
        assert len(embed.lower(jnp.arange(3)).as_text()) > 2**20
    ```

    With `--preview`, jaxlint also reports parameters that a model of the program reads from a global variable:

    ```python
    import jax
    import jax.numpy as jnp


    class Dense:
        def apply(self, params, x):
            return x @ params["kernel"] + params["bias"]


    model = Dense()
    params = {"kernel": jax.random.normal(jax.random.key(0), (256, 256)), "bias": jnp.zeros(256)}


    @jax.jit
    def predict(x):
        return model.apply(params, x)  # expect: captured-constant


    def demonstrate():
        assert len(predict.lower(jnp.ones(256)).as_text()) > 2**18
    ```

    With `--preview`, jaxlint also reports a data set from a file:

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    def counts(path):
        text = np.memmap(path, dtype=np.uint8, mode="r")

        @jax.jit
        def count(letter):
            return jnp.sum(jnp.asarray(text) == letter)  # expect: captured-constant

        return count


    def demonstrate():
        import tempfile

        with tempfile.NamedTemporaryFile() as file:
            file.write(bytes(range(256)) * 1024)
            file.flush()
            assert len(counts(file.name).lower(7).as_text()) > 2**18
    ```

    ## Use instead

    ```python
    import jax
    import numpy as np

    EMBEDDINGS = np.random.default_rng(0).normal(size=(4096, 128)).astype(np.float32)


    @jax.jit
    def embed(table, tokens):
        return table[tokens]


    def lookup(tokens):
        return embed(EMBEDDINGS, tokens)
    ```

    ```python
    import jax


    class Dense:
        def apply(self, params, x):
            return x @ params["kernel"] + params["bias"]


    model = Dense()


    @jax.jit
    def predict(params, x):
        return model.apply(params, x)
    ```

    ## Not reported

    jaxlint does not report an array of which the function reads only the shape, or an array that the traced code makes
    itself, because JAX does not write these arrays into the program. It does not report an array whose elements are
    all equal, such as `jnp.zeros(n)`, or an array of less than one MiB, because these cost little.

    If the body of `scan` or `fori_loop` captures an array, jaxlint reports it only if a jitted function contains the
    loop. Outside `jit`, JAX passes the captured array to the compiled loop as an argument.

    ```python
    import jax
    import jax.numpy as jnp

    DATA = jax.random.normal(jax.random.key(0), (4096, 128))
    BLANK = jnp.zeros((1024, 1024))
    STENCIL = jnp.array([1.0, -2.0, 1.0])


    @jax.jit
    def start(key):
        noise = jax.random.normal(key, DATA.shape) + jnp.arange(DATA.shape[0] * 128.0).reshape(DATA.shape)
        return noise, BLANK + noise[0, 0]


    @jax.jit
    def smooth(x):
        return jnp.convolve(x, STENCIL, mode="same")


    def descend(w):
        def body_fun(_, w):
            return w - 0.1 * DATA.T @ (DATA @ w) / DATA.shape[0]

        return jax.lax.fori_loop(0, 10, body_fun, w)
    ```

    With `--preview`, jaxlint does not report parameters of a function that the program exports, because the exported
    program has to contain them, or a dict of numbers, which holds no parameters of a network:

    ```python
    import jax
    import jax.numpy as jnp


    class Scale:
        def apply(self, options, x):
            return x * options["factor"]


    class Dense:
        def apply(self, params, x):
            return x @ params["kernel"]


    scale, dense = Scale(), Dense()
    options = {"factor": 0.1}
    params = {"kernel": jax.random.normal(jax.random.key(0), (2, 2))}


    @jax.jit
    def scaled(x):
        return scale.apply(options, x)


    @jax.jit
    def predict(x):
        return dense.apply(params, x)


    def main():
        return jax.export.export(predict)(jnp.ones(2))
    ```

    ## Limitations

    The rule misses a large array that is the default value of a parameter (`def f(x, table=TABLE)`), or that the
    compiled function returns unchanged. It misses a data set that a function of the project loads and returns, or that
    an attribute holds.

    ## Fix safety

    No fix. The array has to become an argument of the jitted function, and every caller has to pass it.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the captured name refers to an array,
    not to a tracer, while JAX traces the function.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX507 (`stale-global`), JAX511 (`stale-static-self`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/internals/constants.html>
    """
    subject = quote(event.context, event.at)
    if event.loaded:
        if is_test(event.context):
            return None
        problem = f"jit compiles the captured data set {subject} into a constant"
        return Report(event.at, f"{problem}; pass it as an argument", "info", preview=True)
    if not event.bytes:
        if is_test(event.context):
            return None
        problem = f"jit compiles the captured {subject}, which holds parameters of a network, into constants"
        message = f"{problem}; pass it as an argument"
        return Report(event.at, message, "info", preview=True, unless=EXPORTED)
    return Report(
        event.at,
        f"jit compiles the captured {subject} (at least {event.bytes // MIB} MiB) into a constant; pass it as an argument",
    )
