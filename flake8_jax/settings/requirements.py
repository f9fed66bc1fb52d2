"""Find the versions of JAX and of related libraries that a project requires.

For each source file, the nearest directory with packaging files counts. In this directory, the first of these files that
mentions a library counts: pyproject.toml (``project.dependencies``, then Poetry and pixi, then optional dependencies and
groups), setup.cfg, setup.py (string literals), Pipfile, pixi.toml, requirements and constraints, conda environments and
locks. If several lists pin different releases, the project requires the range of these releases. If the first file sets no
upper bound, the first other file with an upper bound adds it. For example, a project that requires ``jax`` and locks 0.4.30
does not run on newer releases.

A bound on ``jax`` comes before a bound on ``jaxlib``. The first file that mentions Python gives the versions of Python. The
first file that mentions NumPy or SciPy beside a library of JAX gives their versions. A release of JAX that needs newer versions
does not fit the project. In a folder that is not a package, the commands of a README add the bounds that the lists lack. If no
such file mentions JAX, all instructions to install it count (``instructions_below``). A release that setup.py computes, or that
a container image contains, is unknown.

Limitations: other computed or included requirements (``-r``), environment markers, and files of more than 10 MB.
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
"""The key that identifies a conda environment. Its file may have any name (conda's docs, "Managing environments")."""
_INSTRUCTIONS = re.compile(
    r"(?:README|INSTALL)[\w.-]*|[\w.-]+\.sh|Dockerfile[\w.-]*|[\w.-]+\.dockerfile", re.IGNORECASE
)
_README = re.compile(r"(?:README|INSTALL)[\w.-]*", re.IGNORECASE)
_INSTRUCTED = (".devcontainer", ".github/workflows")
"""Hidden folders with files that contain instructions to install packages."""
_FOLDER = "requirements"
_LARGEST = 10_000_000
_LARGEST_ENVIRONMENT = 100_000
"""The largest size, in bytes, of a YAML file with any other name, because jaxlint reads these files at every start."""
_MOST_FOLDERS = 500
_DEPTH = 2


def says_versions(name: str) -> bool:
    """Return whether a file of this name may require versions of libraries."""
    return name in (*_MANIFESTS, *_LOCKS) or name.endswith(_YAML) or bool(_LISTS.fullmatch(name))


def supported_versions(directory: str, top: str | None, load_toml: LoadToml) -> dict[str, str]:
    """Return the requirements of the project around ``directory``: specifiers by the import name of the library.

    top: the top directory of the project, where the search ends. If it is None, the search ends at the first directory that
    mentions a library. A directory with a packaging file has only its own requirements. A directory with only lists also has
    the bounds of the directories above it, because it is installed into their environment. The specifier of a library that
    may have any version is empty.
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
    """Return the requirements in environments and lists in the subfolders of a project: specifiers by import name.

    They count only if the project itself requires no version. Code that runs only in the environment of
    ``docker/environment.yml`` does not have to run in another environment. The latest of several versions counts. If one of
    them has no upper bound, the result has no bound.
    """
    asked: dict[str, list[str]] = {}
    for folder in _folders_below(top):
        for name in _packaging_files(folder):
            if name not in _MANIFESTS and name not in _LOCKS:
                _add_requirements(asked, _asked_in_text(os.path.join(folder, name)))
    return _latest(asked)


def instructions_below(top: str) -> dict[str, str]:
    """Return the requirements in READMEs, shell scripts, Dockerfiles and workflows, if no packaging file mentions JAX.

    As with environments, the latest version counts. If one of them has no upper bound, the result has no bound."""
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
    """Return whether a file that sets up the environment, in the top folder or for the CI, contains ``JAX_ENABLE_X64``."""
    folders = [top, *(os.path.join(top, *name.split("/")) for name in _INSTRUCTED)]
    return any(
        "JAX_ENABLE_X64" in _text_of(os.path.join(folder, name))
        for folder in folders
        for name in _names_in(folder)
        if _ENVIRONMENT_FILES.fullmatch(name)
    )


def _required_in_readme(folder: str) -> dict[str, str]:
    """Return the requirements in the README of a folder that is not a package. Its commands make the environment in which
    the code of the folder runs."""
    asked: dict[str, list[str]] = {}
    for name in sorted(_names_in(folder)):
        if _README.fullmatch(name):
            _add_requirements(asked, required_by_instructions(_text_of(os.path.join(folder, name))))
    return _latest(asked)


def _add_requirements(asked: dict[str, list[str]], requirements: Iterable[tuple[str, str]]) -> None:
    for library, bound in _bounds(requirements).items():
        asked.setdefault(library, []).append(bound)


def _latest(asked: dict[str, list[str]]) -> dict[str, str]:
    """Return the latest bound on each library. Leave out a library if one of its bounds has no upper limit."""
    return {library: max(bounds, key=_newest) for library, bounds in asked.items() if all(map(has_upper_bound, bounds))}


def _folders_below(top: str) -> Iterator[str]:
    """Yield the folders of a project that are not hidden, down to a small depth."""
    for folder, below, _names in islice(os.walk(top), _MOST_FOLDERS):
        deep = folder.removeprefix(top).count(os.sep) >= _DEPTH
        below[:] = [] if deep else sorted(name for name in below if not name.startswith("."))
        yield folder


def _newest(specifier: str) -> tuple[int, ...]:
    """Return the release in an upper bound."""
    numbers = re.findall(r"(?:==|<|~=)=?\s*(\d{1,9}(?:\.\d{1,9}){0,3})", specifier)
    return max((tuple(map(int, number.split("."))) for number in numbers), default=())


def _asked_in_folder(folder: str, present: list[str], load_toml: LoadToml) -> dict[str, str]:
    """Return the requirements of one folder. The first packaging file that mentions a library counts.

    Lists that pin different releases, such as one list for each machine, together require the range of these releases.
    """
    found: dict[str, str] = {}
    pins: dict[str, list[str]] = {}
    for name in present:
        for library, bound in _bounds(_asked_in(os.path.join(folder, name), load_toml)).items():
            if _LISTS.fullmatch(os.path.basename(name)) and (pin := _PIN.fullmatch(bound)) is not None:
                pins.setdefault(library, []).append(pin[1])
            found[library] = _joined(found.get(library), bound, library)
    for library, releases in pins.items():
        if _PIN.fullmatch(found[library]) and len({*releases}) > 1:
            first, *_, last = sorted(releases, key=_parts)
            found[library] = f">={first},<={last}"
    return found


_PIN = re.compile(r"==\s*(\d{1,9}(?:\.\d{1,9}){1,3})")
"""The specifier of exactly one release."""


def _parts(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def _bounds(requirements: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the first requirement of each library in one file. A bound on jaxlib becomes a bound on JAX."""
    asked = dict(reversed(list(requirements)))
    if "jaxlib" in asked:
        _bound_by_jaxlib(asked, asked.pop("jaxlib"))
    if asked.keys() <= set(COMPANIONS):  # the requirements of the documentation, of a benchmark of NumPy
        return {name: bound for name, bound in asked.items() if name not in NEEDED_BY_JAX}
    return {name: bound for name, bound in asked.items() if name not in NEEDING_JAX}


_JAXLIB_NO_NEWER = (0, 4, 30)
"""The first release of JAX whose requirements exclude newer releases of jaxlib."""


def _bound_by_jaxlib(asked: dict[str, str], jaxlib: str) -> None:
    """Add the bounds on JAX that follow from a bound on jaxlib.

    JAX needs a jaxlib that is not much older. So if JAX has no upper bound, it gets that of jaxlib, one minor release later.
    JAX also needs a jaxlib that is not newer: since 0.4.30, the metadata of each release requires ``jaxlib<=`` that release.
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
    """Return the files of a folder that may mention versions. Earlier files win."""
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
    """Return whether the name or the text of a file shows that it is a conda environment. Skip large files, which are data."""
    if _ENVIRONMENTS.fullmatch(os.path.basename(path)):
        return True
    return bool(_DEPENDENCIES.search(_text_of(path, _LARGEST_ENVIRONMENT)))


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _text_of(path: str, limit: int = _LARGEST) -> str:
    """Return the text of a file. It is empty if the file cannot be read or is larger than ``limit`` bytes."""
    try:
        return read_regular(path, limit).decode("utf-8", "replace")
    except OSError:
        return ""


def _joined(first: str | None, other: str, library: str) -> str:
    """Return the requirement of a file, with the upper bound of another file if it has none. For Python, NumPy and SciPy, keep
    the requirement as it is, because an environment for developers pins only one of the versions that a package allows."""
    if not first:
        return other
    if has_upper_bound(first) or library in COMPANIONS:
        return first
    uppers = [clause for clause in other.split(",") if has_upper_bound(clause)]
    return ",".join([first, *[re.sub(r"^(?:===|==)", "<=", clause) for clause in uppers]])


def _asked_in(path: str, load_toml: LoadToml) -> Iterator[tuple[str, str]]:
    """Yield (library, specifier) for each requirement in a file. Earlier pairs win."""
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
    """Yield (library, specifier) for each requirement in a file that is not a pyproject.toml."""
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
    """Yield the packages in pipenv's Pipfile. Yield nothing if the file is not TOML, because pipenv also rejects it."""
    try:
        table = decoded_toml(text)
    except TomlError:
        return
    for packages in (table.get("packages"), table.get("dev-packages")):
        for requirement in _of_poetry(packages):
            yield from required(requirement)


def _asked_in_pixi(text: str) -> Iterator[tuple[str, str]]:
    """Yield the dependencies in pixi.toml. Yield nothing if the file is not TOML."""
    try:
        table = decoded_toml(text)
    except TomlError:
        return
    for requirement in _of_pixi(table):
        yield from required(requirement)


def _of_pixi(table: object) -> Iterator[str]:
    """Yield the conda and PyPI packages of a pixi workspace and of its features (pixi's docs, "Pixi Manifest")."""
    if not isinstance(table, dict):
        return
    for one in (table, *_values(table.get("feature"))):
        if isinstance(one, dict):
            yield from _of_poetry(one.get("dependencies"))
            yield from _of_poetry(one.get("pypi-dependencies"))


def _asked_of_python(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield ``requires-python``, or the dependency on Python in the table of Poetry."""
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
    """Yield the requirements in a table of dependencies by name."""
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
    """Convert ``^0.4.30``, ``~0.4.30`` and ``0.4.30`` of Poetry to a specifier."""
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
