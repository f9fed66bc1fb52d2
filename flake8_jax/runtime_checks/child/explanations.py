"""JAX's explanations of cache misses: turned on so that the program does not notice, and assigned to compilations.

An explanation says at which line of the program a call missed the cache of traces, and which function it is about.
"""

from __future__ import annotations

import os
import re
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

_EXPLAINERS = (("jax._src.interpreters.partial_eval", "explain"), ("jax._src.pjit", "explain_tracing_cache_miss"))
"""JAX 0.8 on, and before."""


def explain_misses() -> bool:
    """Have JAX explain cache misses, and return whether the user wanted that.

    Where only jaxlint wants it, an error in JAX's explanation does not reach the program: JAX 0.4.30 raises one for each
    function without debugging information, such as the ``unravel`` of ``ravel_pytree``.
    """
    import jax

    if not hasattr(jax.config, "jax_explain_cache_misses"):
        return False
    if jax.config.jax_explain_cache_misses:
        return True
    for module, name in _EXPLAINERS:
        function = getattr(sys.modules.get(module), name, None)
        if isinstance(function, types.FunctionType) and not function.__closure__:
            silence(function)
    jax.config.update("jax_explain_cache_misses", True)
    return False


def silence(function: types.FunctionType) -> None:
    """Make a function return None where it would raise an error.

    JAX's caches hold the function itself, so its code is exchanged. The new code has the old file name: JAX names the innermost
    frame that is not its own as the place of the call.
    """
    original = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    original.__kwdefaults__ = function.__kwdefaults__
    function.__defaults__ = None
    function.__kwdefaults__ = {"_original": original}
    function.__code__ = _quiet.__code__.replace(co_filename=function.__code__.co_filename)


def _quiet(*arguments: Any, _original: Callable[..., Any], **keywords: Any) -> Any:
    try:
        return _original(*arguments, **keywords)
    except Exception:  # whatever JAX's own code raises: the program goes on without the explanation
        return None


_CALL = re.compile(r"TRACING CACHE MISS at (.+?):(\d+)\b")
_FUNCTION = re.compile(r"^\s*(?:never seen function:\s+|for )(\S+)", re.MULTILINE)


def explanation_of(name: str, path: str, row: int, said: Sequence[str]) -> str:
    """Return the last explanation of a compilation; empty if those that JAX gave are about other calls.

    It is about the compiled function, or about a call on the line that compiled, such as that of the body of a scan.
    """
    compiled = re.sub(r"^\w+\((.*)\)$", r"\1", name)
    by_name = (text for text in reversed(said) if compiled and _function(text) == compiled)
    by_line = (text for text in reversed(said) if _line(text) == (os.path.basename(path), row))
    return next(by_name, "") or next(by_line, "")


def _function(text: str) -> str:
    found = _FUNCTION.search(text)
    return found[1].rpartition(".")[2] if found else ""


def _line(text: str) -> tuple[str, int]:
    found = _CALL.match(text)
    return (os.path.basename(found[1]), int(found[2])) if found else ("", 0)
