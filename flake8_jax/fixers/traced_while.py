"""JAX102: ``while`` on a traced condition becomes ``jax.lax.while_loop``. Limitations: see ``_loops``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Fix
from flake8_jax.fixers._expressions import test_root
from flake8_jax.fixers._loops import convert_while
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.semantics.events.events import TruthTest


@fixer("traced-while")
def fix(event: TruthTest, source: FixSource) -> Fix | None:
    root = event.at if isinstance(event.at, ir.While) else test_root(source, event.at)
    loop = root if isinstance(root, ir.While) else source.parent(root)
    return convert_while(source, loop) if isinstance(loop, ir.While) else None
