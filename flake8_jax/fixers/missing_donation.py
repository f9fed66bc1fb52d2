"""JAX412: name the replaced parameters in ``donate_argnames``. Not modelled: functions compiled in another file."""

from __future__ import annotations

from flake8_jax.core.findings import Fix
from flake8_jax.fixers._jit_site import donate
from flake8_jax.fixers._source import FixSource, repair
from flake8_jax.semantics.events.events import UndonatedStep


@repair("missing-donation")
def fix(event: UndonatedStep, source: FixSource) -> Fix | None:
    if event.function is None or event.site.scope.path != source.path:
        return None
    return donate(source, event.function, (event.site.start, event.site.end), list(event.names))
