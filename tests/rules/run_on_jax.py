"""What JAX makes of the examples of rule pages, of claims in programs and of labelled cases; see ``support/jax_child.py``."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import ModuleType

from jax_child import load

CHECKING_KEYS = "checking keys: "


def run(folder: Path, file: str, expression: str, raises: str) -> str:
    """The trouble with a file and, unless it is empty, an expression in it; or nothing.

    ``raises`` names the exception that must come out of a line with an ``# expect:`` label; nothing may be raised where
    it is empty.
    """
    import jax

    jax.config.update("jax_traceback_filtering", "off")
    try:
        module = load(folder / file)
        if expression:
            evaluate(expression, module)
    except Exception as error:  # whatever a program raises is compared with what it promises
        return judge(error, folder, raises)
    return f"{raises} was not raised" if raises else ""


def evaluate(expression: str, module: ModuleType) -> None:
    """Evaluate an expression in a module; after ``checking keys:``, while JAX looks for reused keys."""
    import jax

    plain = expression.removeprefix(CHECKING_KEYS)
    if plain == expression:
        eval(expression, vars(module))
        return
    with jax.debug_key_reuse(True):
        eval(plain, vars(module))


def judge(error: BaseException, folder: Path, raises: str) -> str:
    """Is it the promised exception, from a line that carries a label? (Reused keys show only in the finished jaxpr.)"""
    trace = "".join(traceback.format_exception(error))
    if raises not in {kind.__name__ for kind in type(error).__mro__}:
        return trace
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(str(folder))]
    if raises != "KeyReuseError" and not any("# expect:" in (frame.line or "") for frame in own):
        return "raised at a line without label\n" + trace
    return ""
