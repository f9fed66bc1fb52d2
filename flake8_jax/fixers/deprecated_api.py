"""JAX802: a deprecated name becomes the one that replaces it. Limitations: see ``_versions``."""

from __future__ import annotations

from flake8_jax.core.findings import Fix
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.fixers._versions import replaced
from flake8_jax.semantics.events.events import ApiUse, Setting


@fixer("deprecated-api")
def fix(event: ApiUse | Setting, source: FixSource) -> Fix | None:
    return replaced(event, source) if isinstance(event, ApiUse) else None
