"""Run expressions of small programs on JAX, all in one process: ``run_on_jax.py INDEX``.

INDEX is a JSON list of ``[name, file, expression, raises]``: import the file (its folder is importable), evaluate the
expression in it unless that is empty, and expect an exception of that name, or none if it is empty. The exception must
come out of a line that carries an ``# expect:`` label. Prints a JSON object from name to an empty text, or to what went
wrong.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import traceback
from pathlib import Path
from types import ModuleType

CHECKING_KEYS = "checking keys: "


def load(file: Path) -> ModuleType:
    """The file as a module of its own; modules beside it are imported afresh."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def run(file: Path, expression: str, raises: str) -> str:
    """The trouble, or nothing."""
    before = set(sys.modules)
    sys.path.insert(0, str(file.parent))
    try:
        module = load(file)
        if expression:
            evaluate(expression, module)
    except Exception as error:  # whatever a program raises is compared with what it promises
        return judge(error, file.parent, raises)
    finally:
        sys.path.remove(str(file.parent))
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(file.parent)):
                del sys.modules[name]
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


def main(index: Path) -> None:
    import jax

    jax.config.update("jax_traceback_filtering", "off")
    entries = json.loads(index.read_text(encoding="utf-8"))
    print(json.dumps({name: run(Path(file), expression, raises) for name, file, expression, raises in entries}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
