"""Export: save a compiled function as bytes and call it elsewhere, without its Python code.

`jax.export` writes StableHLO with a promise of compatibility over versions of JAX. A symbolic dimension, here
`b`, keeps one exported function valid for every batch size. `platforms` says where it may run; exporting for
a GPU or TPU needs none here.

Saving needs one more package, `flatbuffers`; JAX 0.4.30 also needs `absl-py`.
"""

import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import export


@jax.jit
def predict(weights, x):
    return jax.nn.softmax(x @ weights)


def main():
    (batch,) = export.symbolic_shape("b")
    exported = export.export(predict, platforms=["cpu", "cuda", "tpu"])(
        jax.ShapeDtypeStruct((4, 3), jnp.float32),
        jax.ShapeDtypeStruct((batch, 4), jnp.float32),
    )
    path = Path(tempfile.mkdtemp(prefix="export-"), "predict.bin")
    path.write_bytes(exported.serialize())

    # In another process, this is all that is needed:
    loaded = export.deserialize(bytearray(path.read_bytes()))
    weights = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    for rows in (1, 5):
        x = np.ones((rows, 4), np.float32)
        assert np.allclose(loaded.call(weights, x), predict(weights, x), atol=1e-6)
    print(f"{path}: {path.stat().st_size} bytes, for {', '.join(loaded.platforms)}, input {loaded.in_avals[1]}")


if __name__ == "__main__":
    main()
