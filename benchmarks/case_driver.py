"""Runs one labelled case the way its own oracle does: ``case_driver.py FOLDER``.

A case is a folder with a program (``code.py``, or the module that the oracle names as ``ENTRY``) and an ``oracle.py``
whose ``bad(module)`` or ``good(module)`` calls it. Whether the oracle is content makes no difference here: what happened
at the lines of the program is looked at from outside.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType


def load(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def main(folder: str) -> None:
    sys.path.insert(0, folder)
    oracle = load("oracle", os.path.join(folder, "oracle.py"))
    oracle.HERE = folder  # type: ignore[attr-defined]
    entry = getattr(oracle, "ENTRY", "code")
    module = load(entry, os.path.join(folder, f"{entry}.py"))
    for name in ("bad", "good"):
        check = getattr(oracle, name, None)
        if check is None:
            continue
        try:
            check(module)
        except Exception as error:  # an oracle may say anything
            print(f"{name}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
