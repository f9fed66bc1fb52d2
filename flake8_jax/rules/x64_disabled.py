"""JAX701: a 64-bit dtype that JAX will not give. Not modelled: flags set by the shell that starts the program."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.semantics.events.events import WideDtype

_NARROW = {
    "float64": "float32", "double": "float32", "int64": "int32", "longlong": "int32", "uint64": "uint32",
    "ulonglong": "uint32", "complex128": "complex64", "cdouble": "complex64",
}  # fmt: skip


@rule("JAX701", "warning")
def x64_disabled(event: WideDtype) -> Report | None:
    """A 64-bit dtype is asked for, but nothing in the project enables 64-bit dtypes.

    Why it bites: by default JAX computes in 32 bits, and a request for `float64` or `int64` gives an array of half the
    width with no more than a warning, once
    (<https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#double-64bit-precision>). Enable them before
    the first array is made, `jax.config.update("jax_enable_x64", True)` or `JAX_ENABLE_X64=1`, or ask for 32 bits.

    Bad:

    ```python
    import jax.numpy as jnp


    def orbit(n):
        return jnp.zeros((n, 2), dtype=jnp.float64)  # expect: x64-disabled


    def demonstrate():
        assert orbit(3).dtype == jnp.float32
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    def orbit(n):
        return jnp.zeros((n, 2), dtype=jnp.float64)


    def main():
        jax.config.update("jax_enable_x64", True)
        return orbit(3)
    ```

    Also good: 64 bits on the host, and dtypes that follow an argument.

    ```python
    import jax.numpy as jnp
    import numpy as np

    TABLE = np.linspace(0.0, 1.0, 5, dtype=np.float64)


    def like(x):
        return jnp.zeros(x.shape, dtype=x.dtype) + jnp.asarray(TABLE)
    ```

    Fix: none. Whether the precision is needed is the author's choice.

    Proof: the dtype of the result has 32 bits.
    """
    if event.context.presumed:
        return None
    narrow = _NARROW[event.dtype]
    return Report(event.at, f"`{event.dtype}` gives `{narrow}`: nothing in this project enables `jax_enable_x64`")
