"""JAX515: the variable becomes the default of a new last parameter. Limitations: parameters with annotations in a lambda's
place, ``*args`` and keyword-only parameters."""

from __future__ import annotations

from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import BOUND_EARLY, unsafe
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.semantics.events.events import LateBinding


@fixer("late-bound-closure")
def fix(event: LateBinding, source: FixSource) -> Fix | None:
    function, name = event.function, event.name
    if any(p.kind != "positional" for p in function.params):
        return None
    if function.params:
        last = function.params[-1]
        end = max(part.end for part in (last, last.annotation, last.default) if part is not None)
        while source.text[end : end + 1] == ")" and source.text[last.start : end].count("(") > source.text[
            last.start : end
        ].count(")"):
            end += 1
        edit = Edit(end, end, f", {name}={name}")
    else:
        body = function.body[0].start
        start = source.text.rfind("lambda" if function.is_lambda else "(", 0, body)
        if start < 0 or not function.is_lambda:
            opening = source.text.rfind("()", 0, body)
            if function.is_lambda or opening < 0 or source.text[opening + 2 : body].split(":")[0].strip(" ->") != "":
                return None
            edit = Edit(opening + 1, opening + 1, f"{name}={name}")
        else:
            edit = Edit(start + 6, start + 6, f" {name}={name}")
    return unsafe(f"Bind `{name}` as a default argument", BOUND_EARLY, (edit,))
