"""Which versions of JAX and of the libraries around it a project asks for, in whatever file it says so.

For each file the nearest directory with packaging files counts; in it, the first of these that mentions a library:
pyproject.toml (``project.dependencies``, those of Poetry and pixi, then the optional ones and groups), setup.cfg, setup.py
(string literals), pipenv's Pipfile, pixi's pixi.toml, files of requirements and constraints, environments of conda, lock
files. Where that one sets no upper bound, the first of the others that does adds its own: a project that asks for ``jax`` and
locks 0.4.30 does not run on newer releases.
A bound on ``jax`` goes before one on ``jaxlib``. The first file that mentions Python says which Pythons there are, and the
first that mentions NumPy or SciPy beside a library of JAX which of these: a release of JAX that needs a newer one is not for
this project. In folders that are no packages the commands of a README add what the lists leave open; where no such file speaks
of JAX, all that people are told to install counts (``instructions_below``). A release that setup.py computes, or that an image
brings along, is unknown.

Limitations: other requirements that are computed or included (``-r``), environment markers, other hosts' requirements in one
folder; files of more than 10 MB.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from flake8_jax.core.reading import read_regular
from flake8_jax.knowledge.requirement import (
    COMPANIONS,
    COMPUTED,
    NEEDED_BY_JAX,
    NEEDING_JAX,
    PYTHON,
    has_upper_bound,
    library_of,
    locked,
    mentioned,
    python_in_conda,
    python_required,
    required,
    required_by_conda,
    required_by_instructions,
    required_in_literals,
)
from flake8_jax.settings.tables import TomlError, decoded_toml

LoadToml = Callable[[str], tuple[dict[str, Any], str]]

_MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py", "Pipfile", "pixi.toml")
_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock")
_LISTS = re.compile(r"[\w.-]*(?:requirements|constraints)[\w.-]*\.(?:txt|in)", re.IGNORECASE)
_YAML = (".yml", ".yaml")
_ENVIRONMENTS = re.compile(r"[\w.-]*environment[\w.-]*\.ya?ml|conda[\w.-]*\.ya?ml", re.IGNORECASE)
_DEPENDENCIES = re.compile(r"^dependencies:[ \t]*$", re.MULTILINE)
"""The key of a conda environment, whose file may have any name (conda's docs, "Managing environments")."""
_INSTRUCTIONS = re.compile(
    r"(?:README|INSTALL)[\w.-]*|[\w.-]+\.sh|Dockerfile[\w.-]*|[\w.-]+\.dockerfile", re.IGNORECASE
)
_README = re.compile(r"(?:README|INSTALL)[\w.-]*", re.IGNORECASE)
_INSTRUCTED = (".devcontainer", ".github/workflows")
"""Hidden folders whose files say what to install."""
_FOLDER = "requirements"
_LARGEST = 10_000_000
_LARGEST_ENVIRONMENT = 100_000
"""In bytes, for files whose name says nothing: they are read at every start."""
_MOST_FOLDERS = 500
_DEPTH = 2


def says_versions(name: str) -> bool:
    """A file of this name may say which versions a project asks for."""
    return name in (*_MANIFESTS, *_LOCKS) or name.endswith(_YAML) or bool(_LISTS.fullmatch(name))


def supported_versions(directory: str, top: str | None, load_toml: LoadToml) -> dict[str, str]:
    """What the project around ``directory`` asks for: specifiers by the import name of the library.

    top: the directory of the whole project, where the search ends; None ends it at the first directory that mentions a
    library. A directory with lists alone is installed into the environment of the project around it, so bounds above that
    one adds hold for it too; one with a packaging file stands alone. A library that is asked for in any version has an
    empty specifier.
    """
    folder = directory
    found: dict[str, str] = {}
    while True:
        present = _packaging_files(folder)
        for library, bound in _asked_in_folder(folder, present, load_toml).items():
            found[library] = _joined(found.get(library), bound, library)
        is_package = any(name in _MANIFESTS for name in present)
        for library, bound in ({} if is_package else _required_in_readme(folder)).items():
            found[library] = _joined(found.get(library), bound, library)
        above = os.path.dirname(folder)
        stands_alone = is_package or (top is None and bool(found))
        if stands_alone or above == folder or folder == top or os.path.lexists(os.path.join(folder, ".git")):
            return found
        folder = above


def environments_below(top: str) -> dict[str, str]:
    """What environments and lists in the folders of a project say that says nothing itself: specifiers by import name.

    Code that runs only in the environment of ``docker/environment.yml`` need not run in another one. Of several the latest
    counts; one that is open upwards leaves all open.
    """
    asked: dict[str, list[str]] = {}
    for folder in _folders_below(top):
        for name in _packaging_files(folder):
            if name not in _MANIFESTS and name not in _LOCKS:
                _add_requirements(asked, _asked_in_text(os.path.join(folder, name)))
    return _latest(asked)


def instructions_below(top: str) -> dict[str, str]:
    """What people are told to install where no packaging file mentions JAX: READMEs, shell scripts, Dockerfiles and
    workflows. As with environments, the latest counts, and one that is open upwards leaves all open."""
    asked: dict[str, list[str]] = {}
    hidden = [path for path in (os.path.join(top, name) for name in _INSTRUCTED) if os.path.isdir(path)]
    for folder in (*_folders_below(top), *hidden):
        for name in sorted(_names_in(folder)):
            if _INSTRUCTIONS.fullmatch(name) or (folder in hidden and name.endswith((".yml", ".yaml"))):
                _add_requirements(asked, required_by_instructions(_text_of(os.path.join(folder, name))))
    return _latest(asked)


_ENVIRONMENT_FILES = re.compile(
    r"Makefile|Dockerfile[\w.-]*|\.env[\w.-]*|[\w.-]+\.(?:sh|nix|mk|ya?ml|ini|cfg|toml|dockerfile)", re.IGNORECASE
)


def may_enable_x64(top: str) -> bool:
    """Some file that sets up the environment of a project, in its top folder or for its CI, names ``JAX_ENABLE_X64``."""
    folders = [top, *(os.path.join(top, *name.split("/")) for name in _INSTRUCTED)]
    return any(
        "JAX_ENABLE_X64" in _text_of(os.path.join(folder, name))
        for folder in folders
        for name in _names_in(folder)
        if _ENVIRONMENT_FILES.fullmatch(name)
    )


def _required_in_readme(folder: str) -> dict[str, str]:
    """What the README of a folder without a package of its own tells people to install: its commands make the environment
    that the code beside it runs in."""
    asked: dict[str, list[str]] = {}
    for name in sorted(_names_in(folder)):
        if _README.fullmatch(name):
            _add_requirements(asked, required_by_instructions(_text_of(os.path.join(folder, name))))
    return _latest(asked)


def _add_requirements(asked: dict[str, list[str]], requirements: Iterable[tuple[str, str]]) -> None:
    for library, bound in _bounds(requirements).items():
        asked.setdefault(library, []).append(bound)


def _latest(asked: dict[str, list[str]]) -> dict[str, str]:
    """Of several bounds on a library the latest; none where one is open upwards."""
    return {library: max(bounds, key=_newest) for library, bounds in asked.items() if all(map(has_upper_bound, bounds))}


def _folders_below(top: str) -> Iterator[str]:
    """The folders of a project, not far below its top, none of them hidden."""
    for folder, below, _names in islice(os.walk(top), _MOST_FOLDERS):
        deep = folder.removeprefix(top).count(os.sep) >= _DEPTH
        below[:] = [] if deep else sorted(name for name in below if not name.startswith("."))
        yield folder


def _newest(specifier: str) -> tuple[int, ...]:
    """The release that an upper bound names."""
    numbers = re.findall(r"(?:==|<|~=)=?\s*(\d{1,9}(?:\.\d{1,9}){0,3})", specifier)
    return max((tuple(map(int, number.split("."))) for number in numbers), default=())


def _asked_in_folder(folder: str, present: list[str], load_toml: LoadToml) -> dict[str, str]:
    """What the packaging files of one folder ask for, the first of them that mentions a library before the others."""
    found: dict[str, str] = {}
    for name in present:
        for library, bound in _bounds(_asked_in(os.path.join(folder, name), load_toml)).items():
            found[library] = _joined(found.get(library), bound, library)
    return found


def _bounds(requirements: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What one file asks for, the first requirement of each library; jaxlib's bound is one on JAX."""
    asked = dict(reversed(list(requirements)))
    if "jaxlib" in asked:
        _bound_by_jaxlib(asked, asked.pop("jaxlib"))
    if asked.keys() <= set(COMPANIONS):  # the requirements of the documentation, of a benchmark of NumPy
        return {name: bound for name, bound in asked.items() if name not in NEEDED_BY_JAX}
    return {name: bound for name, bound in asked.items() if name not in NEEDING_JAX}


_JAXLIB_NO_NEWER = (0, 4, 30)
"""The first release of JAX whose requirements exclude a jaxlib that is newer than it is."""


def _bound_by_jaxlib(asked: dict[str, str], jaxlib: str) -> None:
    """JAX needs a jaxlib that is not much older: without an upper bound of its own it has that of jaxlib, one minor later.

    It needs one that is not newer than itself either: since 0.4.30 the metadata of each release says ``jaxlib<=`` that release.
    """
    if not asked.get("jax"):
        asked["jax"] = jaxlib
        return
    if jaxlib == COMPUTED:
        asked["jax"] += f",{COMPUTED}"
        return
    if has_upper_bound(asked["jax"]):
        return
    pinned = re.search(r"(?:==|<=)\s*(\d+)\.(\d+)", jaxlib)
    lowest = re.search(r"(?:==|>=|~=)\s*(\d+(?:\.\d+){1,2})", jaxlib)
    if pinned is not None:
        asked["jax"] = _both(asked["jax"], f"<{pinned[1]}.{int(pinned[2]) + 1}")
    if lowest is not None and tuple(map(int, lowest[1].split("."))) >= _JAXLIB_NO_NEWER:
        asked["jax"] = _both(asked["jax"], f">={lowest[1]}")


def _both(bound: str, other: str) -> str:
    return ",".join(filter(None, [bound, other]))


def _packaging_files(folder: str) -> list[str]:
    """Those files of a folder that may mention versions, the most telling first."""
    names = sorted(_names_in(folder))
    lists = [name for name in names if _LISTS.fullmatch(name)]
    if _FOLDER in names and os.path.isdir(os.path.join(folder, _FOLDER)):
        lists += [
            f"{_FOLDER}/{name}" for name in sorted(os.listdir(os.path.join(folder, _FOLDER))) if name.endswith(".txt")
        ]
    lists.sort(key=lambda name: os.path.basename(name) != "requirements.txt")
    environments = [name for name in names if name.endswith(_YAML) and _is_environment(os.path.join(folder, name))]
    candidates = (*_MANIFESTS, *lists, *environments, *_LOCKS)
    return [name for name in candidates if os.path.isfile(os.path.join(folder, name))]


def _is_environment(path: str) -> bool:
    """The file describes an environment of conda, as its name or its text says. Larger files are data."""
    if _ENVIRONMENTS.fullmatch(os.path.basename(path)):
        return True
    return bool(_DEPENDENCIES.search(_text_of(path, _LARGEST_ENVIRONMENT)))


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _text_of(path: str, limit: int = _LARGEST) -> str:
    """The text of a file; nothing for one that cannot be read, or is larger than ``limit`` bytes."""
    try:
        return read_regular(path, limit).decode("utf-8", "replace")
    except OSError:
        return ""


def _joined(first: str | None, other: str, library: str) -> str:
    """What a file asks for, and of another one the upper bound that it does not have. A package that is open to new Pythons
    stays so where an environment for its developers has one of them."""
    if not first:
        return other
    if has_upper_bound(first) or library in COMPANIONS:
        return first
    uppers = [clause for clause in other.split(",") if has_upper_bound(clause)]
    return ",".join([first, *[re.sub(r"^(?:===|==)", "<=", clause) for clause in uppers]])


def _asked_in(path: str, load_toml: LoadToml) -> Iterator[tuple[str, str]]:
    """(library, specifier) of every requirement in a file, most telling first."""
    if os.path.basename(path) != "pyproject.toml":
        yield from _asked_in_text(path)
        return
    table = load_toml(path)[0]
    yield from _asked_of_python(table)
    texts = list(_dependencies(table))
    for text in texts:
        yield from required(text)
    yield from ((library, "") for text in texts for library in mentioned(text))


def _asked_in_text(path: str) -> Iterator[tuple[str, str]]:
    """The same of a file that is no TOML."""
    name = os.path.basename(path)
    text = _text_of(path)
    if name in ("setup.py", "setup.cfg"):
        yield from python_required(text)
    if name == "setup.py":
        yield from required_in_literals(text)
    elif name == "Pipfile":
        yield from _asked_in_pipfile(text)
    elif name == "pixi.toml":
        yield from _asked_in_pixi(text)
    elif name in _LOCKS:
        yield from locked(text)
    elif name.endswith(_YAML):
        yield from python_in_conda(text)
        yield from required_by_conda(text)
    else:
        yield from required(text)
    if name not in _LOCKS and name not in ("Pipfile", "pixi.toml"):
        yield from ((library, "") for library in mentioned(text))


def _asked_in_pipfile(text: str) -> Iterator[tuple[str, str]]:
    """The packages of pipenv's Pipfile; none of a file of that name that is no TOML, which pipenv itself refuses."""
    try:
        table = decoded_toml(text)
    except TomlError:
        return
    for packages in (table.get("packages"), table.get("dev-packages")):
        for requirement in _of_poetry(packages):
            yield from required(requirement)


def _asked_in_pixi(text: str) -> Iterator[tuple[str, str]]:
    """The dependencies of pixi's own file; none where it is no TOML."""
    try:
        table = decoded_toml(text)
    except TomlError:
        return
    for requirement in _of_pixi(table):
        yield from required(requirement)


def _of_pixi(table: object) -> Iterator[str]:
    """What a workspace of pixi and its features take from conda and PyPI (pixi's docs, "Pixi Manifest")."""
    if not isinstance(table, dict):
        return
    for one in (table, *_values(table.get("feature"))):
        if isinstance(one, dict):
            yield from _of_poetry(one.get("dependencies"))
            yield from _of_poetry(one.get("pypi-dependencies"))


def _asked_of_python(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """``requires-python``, or Poetry's dependency on Python."""
    project, tool = table.get("project"), table.get("tool")
    asked = project.get("requires-python") if isinstance(project, dict) else None
    poetry = tool.get("poetry") if isinstance(tool, dict) else None
    if asked is None and isinstance(poetry, dict) and isinstance(poetry.get("dependencies"), dict):
        asked = poetry["dependencies"].get(PYTHON)
    if isinstance(asked, str):
        yield PYTHON, _plain(asked).replace(" ", "")


def _dependencies(table: dict[str, Any]) -> Iterator[str]:
    project = table.get("project")
    if isinstance(project, dict):
        yield from _strings(project.get("dependencies"))
    tool = table.get("tool")
    poetry = tool.get("poetry") if isinstance(tool, dict) else None
    if isinstance(poetry, dict):
        yield from _of_poetry(poetry.get("dependencies"))
    yield from _of_pixi(tool.get("pixi") if isinstance(tool, dict) else None)
    optional = project.get("optional-dependencies") if isinstance(project, dict) else None
    for extra in (*_values(optional), *_values(table.get("dependency-groups"))):
        yield from _strings(extra)
    for group in _values(poetry.get("group") if isinstance(poetry, dict) else None):
        yield from _of_poetry(group.get("dependencies") if isinstance(group, dict) else None)


def _of_poetry(asked: object) -> Iterator[str]:
    """A table of dependencies by name."""
    for name, bound in asked.items() if isinstance(asked, dict) else ():
        if library_of(name) is None:
            continue
        if isinstance(bound, dict) and isinstance(bound.get("url"), str):
            yield f"{name} @ {bound['url']}"
        bound = bound.get("version") if isinstance(bound, dict) else bound
        if isinstance(bound, str):
            yield name + _plain(bound)


def _values(table: object) -> list[object]:
    return list(table.values()) if isinstance(table, dict) else []


def _strings(value: object) -> Iterator[str]:
    yield from [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _plain(bound: str) -> str:
    """Poetry's ``^0.4.30``, ``~0.4.30`` and ``0.4.30`` as a specifier."""
    tilde = re.fullmatch(r"~\s*(\d{1,18}(?:\.\d{1,18})*)", bound.strip())
    if tilde is not None:
        kept = tilde[1].split(".")[:2]
        return f">={tilde[1]},<{'.'.join([*kept[:-1], str(int(kept[-1]) + 1)])}"
    caret = re.fullmatch(r"\^\s*(\d{1,18})((?:\.\d{1,18})*)", bound.strip())
    if caret is not None:
        numbers = [int(caret[1]), *[int(part) for part in caret[2].split(".")[1:]]]
        kept = next((i for i, number in enumerate(numbers) if number), len(numbers) - 1)
        upper = [*numbers[:kept], numbers[kept] + 1]
        return f">={'.'.join(map(str, numbers))},<{'.'.join(map(str, upper))}"
    return bound if re.match(r"\s*[<>=~!]", bound) else f"=={bound}" if bound[:1].isdigit() else ""
