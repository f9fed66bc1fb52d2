"""Programs that grow: for each way in which a program can be long or deep, a function from a size to such a program.

Vocabulary
----------
generator  makes a valid program whose length grows in proportion to the size, in one respect alone.
size       the number of terms, elements, links or levels.

``SIZES`` holds the size that the analysis must handle within the time limit of ``benchmarks/growth.py``. Levels of
nesting stop at what CPython itself compiles: 200 brackets, 100 indentations, 20 blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

Generator = Callable[[int], str]

GENERATORS: dict[str, Generator] = {}
SIZES: dict[str, int] = {}


def grows(size: int) -> Callable[[Generator], Generator]:
    """Enter a generator under its own name, with the size that the analysis must handle."""

    def enter(generator: Generator) -> Generator:
        name = generator.__name__.replace("_", "-")
        GENERATORS[name] = generator
        SIZES[name] = size
        return generator

    return enter


def program(body: str | Iterable[str], before: str | Iterable[str] = ()) -> str:
    """Run the lines of ``body``, which make ``y`` of the array ``x``, in a jitted function and in an eager one."""
    body = [body] if isinstance(body, str) else list(body)
    before = [before] if isinstance(before, str) else list(before)
    inner = [f"    {line}" for line in body]
    return "\n".join(
        [
            "import jax",
            "import jax.numpy as jnp",
            *before,
            "@jax.jit",
            "def traced(x, a, b):",
            *inner,
            "    return y",
            "def eager(x, a, b):",
            *inner,
            "    return y",
            "traced(jnp.ones(3), 1, 2)",
            "eager(jnp.ones(3), 1, 2)",
            "",
        ]
    )


def indented(headers: Iterable[str], last: str) -> list[str]:
    """Blocks in blocks: each header is one level deeper than the one before."""
    lines = list(headers)
    return [*(f"{' ' * depth}{header}" for depth, header in enumerate(lines)), f"{' ' * len(lines)}{last}"]


def functions(n: int) -> list[str]:
    return [line for i in range(n) for line in (f"def f{i}(v):", f"    return v + {i}")]
