"""The table of what JAX removed, deprecated and introduced, and what specifiers ask for."""

from __future__ import annotations

import importlib
import inspect
import sys
import warnings
from importlib import metadata, resources
from typing import Any

import pytest

from flake8_jax.knowledge.history import History, Support, load_histories, version_of
from flake8_jax.knowledge.requirement import LIBRARIES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = resources.files("flake8_jax.knowledge").joinpath("versions")
TEXTS = {library: FOLDER.joinpath(f"{library}.toml").read_text(encoding="utf-8") for library in LIBRARIES}
HISTORY = History(TEXTS["jax"])
NEWEST = HISTORY.newest


@pytest.mark.parametrize(
    ("asked", "highest", "below"),
    [
        ({"python": ">=3.9"}, (0, 12, 0), False),
        ({"python": "~=3.9"}, (0, 12, 0), False),
        ({"python": ">=3.9,<3.12"}, (0, 11, 0), True),
        ({"python": ">=3.9,<3.11"}, (0, 7, 0), True),
        ({"python": "==3.9.12"}, (0, 4, 31), True),
        ({"python": "==3.10.*"}, (0, 7, 0), True),
        ({"python": "<3.11", "jax": "==0.4.30"}, (0, 4, 30), False),
        ({"python": "<3.10", "jax": ">=0.5"}, (0, 5, 0), False),
        ({"numpy": "<2", "python": ">=3.10"}, (0, 7, 2), True),
        ({"numpy": "==1.22.4"}, (0, 4, 31), True),
        ({"numpy": ">=1.22,<3", "scipy": "<1.12"}, (0, 6, 2), True),
        ({"numpy": "<2", "jax": ">=0.8"}, (0, 8, 0), False),
    ],
)
def test_jax_ends_before_the_release_that_needs_a_newer_companion(
    asked: dict[str, str], highest: tuple[int, ...], below: bool
) -> None:
    support = load_histories().supports(asked)["jax"]
    assert (support.highest, support.below) == (highest, below)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_file_is_toml_that_reads_as_it_is_read(library: str) -> None:
    table = tomllib.loads(TEXTS[library])
    assert set(table) <= {
        "releases", "requires-jax", "requires-python", "requires-numpy", "requires-scipy", "changes", "arguments",
        "introduced", "older", "modules", "methods", "attributes", "members",
    }  # fmt: skip
    read = History(TEXTS[library])
    assert read.title == table["releases"]["title"]
    for name in (*table["changes"], *table.get("arguments", {})):
        assert name.startswith(f"{library}.")
        change = read.change(name)
        assert change is not None
        assert change.deprecated is not None or change.removed is not None
        assert not change.rename or change.replacement
    for name, replacement in table.get("members", {}).items():
        assert read.change(name.rpartition(".")[0]) is not None
        assert read.replacement_of_member(name) == replacement
    for name in table.get("introduced", {}):
        lacking, first = read.lacking(name), read.first(name)
        assert lacking is not None
        assert first is None or first > lacking


def test_names_that_are_gone_are_read_as_the_file_has_them() -> None:
    text = FOLDER.joinpath("gone.toml").read_text(encoding="utf-8")
    table, histories = tomllib.loads(text), load_histories()
    for library, modules in table.items():
        if library == "instead":
            continue
        history = histories.of(library)
        assert history is not None
        for module, line in modules.items():
            for part in line.split(" | "):
                release, *names = part.split(" ")
                assert names == sorted(set(names)), module
                for name in names:
                    change = history.change(f"{module}.{name}")
                    assert change is not None, f"{module}.{name}"
                    assert change.removed == (() if release == "0" else version_of(release)), f"{module}.{name}"
                    assert change.removed <= history.newest
    for name, new in table["instead"].items():
        history = histories.of(name)
        assert history is not None
        change = history.change(name)
        assert change is not None
        assert change.replacement == new


@pytest.mark.jax
@pytest.mark.xdist_group("JAX in the process of the tests")
def test_the_installed_jax_lacks_what_is_gone() -> None:
    installed, history = version_of(metadata.version("jax")), load_histories().of("jax")
    modules = tomllib.loads(FOLDER.joinpath("gone.toml").read_text(encoding="utf-8"))["jax"]
    assert history is not None
    for module, line in modules.items():
        for name in line.replace(" | ", " ").split(" "):
            change = history.change(f"{module}.{name}")
            if change is not None and change.removed is not None and change.removed <= installed:
                assert not exists(f"{module}.{name}"), f"{module}.{name}"


def test_of_releases_older_than_the_table_only_dated_changes_are_known() -> None:
    multimap, partial = HISTORY.change("jax.tree_multimap"), HISTORY.change("jax.partial")
    assert multimap is not None and partial is not None
    for asked, removed in (("==0.3.15", False), ("==0.3.25", True), (">=0.3.10,<0.4", True), ("<0.4.20", True)):
        support = load_histories().supports({"jax": asked})["jax"]
        assert support.early
        assert support.reaches(multimap.removed) == removed
        assert not support.reaches(partial.removed)
    for asked in (">=0.3,<=0.4.20", ">=0.3"):
        support = load_histories().supports({"jax": asked})["jax"]
        assert not support.early and support.reaches(partial.removed)


def test_a_project_that_holds_jax_back_is_not_judged_by_the_newest_of_the_others() -> None:
    histories = load_histories()
    newest = histories.supports({})["flax"].highest
    assert histories.supports({"jax": ">=0.4.30"})["flax"].highest == newest > (0, 12)
    assert not histories.supports({"jax": "<0.4.31"})["flax"].reaches((0, 6, 0))
    assert histories.supports({"jax": "<0.4.31", "flax": ">=0.8"})["flax"].reaches((0, 6, 0))


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_jax_that_the_releases_require(library: str) -> None:
    table, history = tomllib.loads(TEXTS[library]), History(TEXTS[library])
    required = history.requires_jax()
    changes = [history.change(name) for name in (*table["changes"], *table.get("arguments", {}))]
    named = {version for change in changes if change is not None for version in (change.deprecated, change.removed)}
    # JAX does not require itself, and Haiku requires it only in an extra.
    assert set(required) == (named - {None, ()} if library not in ("jax", "haiku") else set())
    # A later release does not allow an older JAX, and the newest JAX allows every release.
    bounds = [required[release] for release in sorted(required)]
    assert bounds == sorted(bounds)
    assert history.beside(history.support(None), HISTORY.support(None)) == history.support(None)


@pytest.mark.parametrize(
    ("asked", "reached", "not_reached"),
    [
        ({"jax": "<=0.2.11", "chex": ">=0.0.7"}, (0, 1, 3), (0, 1, 83)),
        ({"jax": "<0.4.16", "chex": ">=0.0.7"}, (0, 1, 3), (0, 1, 83)),
        ({"jax": "<=0.4.16", "chex": ">=0.0.7"}, (0, 1, 83), (0, 1, 93)),
        ({"jax": "<0.4", "chex": "<0.1.80"}, (0, 1, 79), (0, 1, 80)),
        ({"jax": "<=0.2.11", "chex": ">=0.1.84"}, (0, 1, 84), (0, 1, 85)),
    ],
)
def test_a_library_ends_before_the_release_that_requires_a_newer_jax(
    asked: dict[str, str], reached: tuple[int, ...], not_reached: tuple[int, ...]
) -> None:
    support = load_histories().supports(asked)["chex"]
    assert support.reaches(reached)
    assert not support.reaches(not_reached)


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
        (">=0.4.30,===?", Support(None, (), text=">=0.4.30,===?")),
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
    try:
        resolved(name)
    except AttributeError:
        return False
    return True


def resolved(name: str) -> Any:
    """What a qualified name stands for; AttributeError for nothing."""
    parts = name.split(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cut in range(len(parts), 0, -1):
            try:
                value = importlib.import_module(".".join(parts[:cut]))
            except ImportError:
                continue
            for part in parts[cut:]:
                value = getattr(value, part)
            return value
    raise AttributeError(name)


@pytest.mark.jax
@pytest.mark.xdist_group("JAX in the process of the tests")
def test_against_the_installed_jax() -> None:
    installed = version_of(metadata.version("jax"))
    table = tomllib.loads(TEXTS["jax"])
    for name in table["changes"]:
        change = HISTORY.change(name)
        assert change is not None
        if change.removed is not None and change.removed <= installed <= NEWEST:
            assert not exists(name), name
        if change.rename and change.since is not None and change.since <= installed <= NEWEST:
            assert exists(change.replacement), name
    for name in table["introduced"]:
        if not name.endswith(")") and installed == NEWEST:
            assert exists(name), name
        if not name.endswith(")") and installed == HISTORY.lacking(name):
            assert not exists(name), name
    for name, older in table["older"].items():
        assert exists(older), name


@pytest.mark.jax
@pytest.mark.xdist_group("JAX in the process of the tests")
@pytest.mark.parametrize("library", [library for library in LIBRARIES if library != "jax"])
def test_against_the_installed_library(library: str) -> None:
    pytest.importorskip(library)
    installed = version_of(metadata.version(LIBRARIES[library]))
    table, history = tomllib.loads(TEXTS[library]), History(TEXTS[library])
    if installed > history.newest:
        pytest.skip("newer than the table")
    for name in table["changes"]:
        change = history.change(name)
        assert change is not None
        if change.removed is not None:
            assert exists(name) == (installed < change.removed), name
        elif change.deprecated is not None and change.deprecated <= installed:
            assert exists(name), name
        if change.rename and change.since is not None and change.since <= installed:
            assert exists(change.replacement), name
    for name, (callee, _, keyword) in {name: name.partition("(") for name in table.get("arguments", {})}.items():
        change = history.change(name)
        assert change is not None
        assert change.deprecated is not None
        if change.deprecated <= installed:
            found = resolved(callee)
            called = found.__init__ if inspect.isclass(found) else found
            assert keyword.removesuffix("=)") in inspect.signature(called).parameters, name
