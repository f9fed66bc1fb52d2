"""Names of JAX's private package, of which the first of each module counts, and public ones."""

import jax
from jax._src import core as inner  # expect: unsupported-import
from jax._src.typing import Array, ArrayLike  # expect: unsupported-import
from jax.typing import ArrayLike as Public

try:
    from jax._src.lib import xla_client
except ImportError:
    xla_client = None


def double(x: Array | ArrayLike | Public) -> jax.Array:
    return 2 * jax.numpy.asarray(x)


# runs: double(1.0)


def trace_is_clean() -> bool:
    return inner.trace_state_clean()


# runs: trace_is_clean()
