"""The table of what JAX removed, deprecated and introduced, and what specifiers ask for."""

from __future__ import annotations

import importlib
import sys
import warnings
from importlib import resources

import pytest

from flake8_jax.knowledge.history import History, Support, load_history, version_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEXT = resources.files("flake8_jax.knowledge").joinpath("versions").joinpath("jax.toml").read_text(encoding="utf-8")
HISTORY = load_history()
NEWEST = HISTORY.newest


def test_the_file_is_toml_that_reads_as_it_is_read() -> None:
    table = tomllib.loads(TEXT)
    assert set(table) == {"releases", "changes", "arguments", "introduced", "older", "modules"}
    read = History(TEXT)
    for name in (*table["changes"], *table["arguments"]):
        change = read.change(name)
        assert change is not None
        assert change.deprecated is not None or change.removed is not None
        assert not change.rename or change.replacement
    for name in table["introduced"]:
        assert read.lacking(name) is not None


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (None, Support(None, NEWEST)),
        ("0.6.2", Support((0, 6, 2), (0, 6, 2), text="0.6.2")),
        (">=0.4.30,<0.8", Support((0, 4, 30), (0, 8, 0), below=True, text=">=0.4.30,<0.8")),
        ("<=0.6", Support(None, (0, 6, 0), text="<=0.6")),
        ("==0.4.*", Support((0, 4, 0), (0, 5, 0), below=True, text="==0.4.*")),
        ("~=0.4.30", Support((0, 4, 30), (0, 5, 0), below=True, text="~=0.4.30")),
        (">0.4.30,!=0.4.32", Support((0, 4, 30, 1), NEWEST, text=">0.4.30,!=0.4.32")),
        (">=99", Support((99, 0, 0), (99, 0, 0), text=">=99")),
    ],
)
def test_support(asked: str | None, wanted: Support) -> None:
    assert HISTORY.support(asked) == wanted


def test_bounds() -> None:
    below = HISTORY.support(">=0.4.30,<0.8")
    assert not below.reaches((0, 8, 0))
    assert below.reaches((0, 7, 2))
    assert below.all_have((0, 4, 25))
    assert not below.all_have((0, 4, 31))
    assert not below.reaches(None)


def exists(name: str) -> bool:
    parts = name.split(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cut in range(len(parts), 0, -1):
            try:
                value = importlib.import_module(".".join(parts[:cut]))
            except ImportError:
                continue
            try:
                for part in parts[cut:]:
                    value = getattr(value, part)
            except AttributeError:
                return False
            return True
    return False


def test_against_the_installed_jax() -> None:
    jax = pytest.importorskip("jax")
    installed = version_of(jax.__version__)
    table = tomllib.loads(TEXT)
    for name in table["changes"]:
        change = HISTORY.change(name)
        assert change is not None
        if change.removed is not None and change.removed <= installed <= NEWEST:
            assert not exists(name), name
        if change.rename and change.since is not None and change.since <= installed:
            assert exists(change.replacement), name
    for name, lacking in table["introduced"].items():
        if not name.endswith(")") and installed == NEWEST:
            assert exists(name), name
        if not name.endswith(")") and installed == version_of(lacking):
            assert not exists(name), name
    for name, older in table["older"].items():
        assert exists(older), name
