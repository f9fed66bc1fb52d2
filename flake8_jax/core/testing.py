"""Which files are tests: by their names, as test runners have it, and by what is in them.

A test draws twice from one key to compare two results, or waits for the device on purpose. A script with the name of a
test that holds no test and no assertion does not: ``test.py`` that evaluates a model, ``model_test.py`` that trains one.

Limitations: a script that compares results by eye is a program; so is a test whose assertions stand in another file.
"""

from __future__ import annotations

import re

from flake8_jax.core import ir

TEST = "test_"
"""How the name of a test begins."""
_RECEIVERS = frozenset({"self", "cls"})
_FOLDER = "tests"
_SETUP = "conftest.py"
_TESTS = re.compile(
    r"^[ \t]*(?:async[ \t]+)?def[ \t]+test(?:_\w*\(|\w*\(\s*(?:self\s*)?\))"
    r"|^[ \t]*class[ \t]+\w*Test"
    r"|^[ \t]*(?:from|import)[ \t]+(?:pytest|unittest|hypothesis|absl\.testing)\b"
    r"|^[ \t]*from[ \t]+absl[ \t]+import[ \t]+.*\babsltest\b"
    r"|^[ \t]*assert\b"
    r"|\bassert\w+\(",
    re.MULTILINE,
)


def is_test_file(path: str, text: str) -> bool:
    """A file with the name of a test, or in the folder of the tests, that holds tests."""
    name = _parts(path)[-1]
    by_name = name.startswith(TEST) and not name.endswith(".ipynb")
    named = by_name or name.endswith("_test.py") or _FOLDER in _parts(path) or name == _SETUP
    return named and holds_tests(path, text)


def holds_tests(path: str, text: str) -> bool:
    """Whether a file with the name of a test is one: it is used by tests, or there is a test or an assertion in it."""
    *folders, name = _parts(path)
    return _FOLDER in folders or name == _SETUP or _TESTS.search(text) is not None


def is_test_function(function: ir.Function) -> bool:
    """A function of any file that is called like a test and, as a test, gets no arguments: ``test_epoch(params)`` evaluates
    a model."""
    return function.name.startswith(TEST) and all(p.name in _RECEIVERS for p in function.params)


def _parts(path: str) -> list[str]:
    return path.replace("\\", "/").split("/")
