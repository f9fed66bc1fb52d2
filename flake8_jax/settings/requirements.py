"""Which versions of JAX and of the libraries around it a project asks for, in whatever file it says so.

The nearest directory with packaging files counts; in it, the first of these that speaks of a library: pyproject.toml
(``project.dependencies``, Poetry's, then the optional ones), setup.cfg, setup.py (string literals), requirements.txt.
A bound on ``jax`` goes before one on ``jaxlib``.

Limitations: requirements that are computed or included (``-r``), environment markers, dependency groups; files of more
than 10 MB.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from flake8_jax.core.reading import read_regular
from flake8_jax.knowledge.requirement import library_of, required, required_in_literals

LoadToml = Callable[[str], tuple[dict[str, Any], str]]

_TEXTS = ("setup.cfg", "setup.py", "requirements.txt", "requirements/requirements.txt")
_FILES = ("pyproject.toml", *_TEXTS)
_LARGEST = 10_000_000


def supported_versions(directory: str, load_toml: LoadToml) -> dict[str, str]:
    """What the project around ``directory`` asks for: specifiers by the import name of the library."""
    folder = directory
    while True:
        present = [name for name in _FILES if os.path.isfile(os.path.join(folder, name))]
        found: dict[str, str] = {}
        for name in present:
            asked = dict(reversed(list(_asked_in(os.path.join(folder, name), load_toml))))
            if "jaxlib" in asked:
                asked.setdefault("jax", asked.pop("jaxlib"))
            found = {**asked, **found}
        above = os.path.dirname(folder)
        if present or above == folder or os.path.lexists(os.path.join(folder, ".git")):
            return found
        folder = above


def _asked_in(path: str, load_toml: LoadToml) -> Iterator[tuple[str, str]]:
    """(library, specifier) of every requirement in a file, most telling first."""
    name = os.path.basename(path)
    if name == "pyproject.toml":
        for text in _dependencies(load_toml(path)[0]):
            yield from required(text)
        return
    try:
        text = read_regular(path, _LARGEST).decode("utf-8", "replace")
    except OSError:
        return
    yield from required_in_literals(text) if name == "setup.py" else required(text)


def _dependencies(table: dict[str, Any]) -> Iterator[str]:
    project = table.get("project")
    if isinstance(project, dict):
        yield from _strings(project.get("dependencies"))
    tool = table.get("tool")
    poetry = tool.get("poetry") if isinstance(tool, dict) else None
    asked = poetry.get("dependencies") if isinstance(poetry, dict) else None
    for name, bound in asked.items() if isinstance(asked, dict) else ():
        if library_of(name) is not None:
            bound = bound.get("version") if isinstance(bound, dict) else bound
            if isinstance(bound, str):
                yield name + _plain(bound)
    optional = project.get("optional-dependencies") if isinstance(project, dict) else None
    for extra in optional.values() if isinstance(optional, dict) else ():
        yield from _strings(extra)


def _strings(value: object) -> Iterator[str]:
    yield from [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _plain(bound: str) -> str:
    """Poetry's ``^0.4.30`` and ``0.4.30`` as a specifier."""
    caret = re.fullmatch(r"\^\s*(\d{1,18})((?:\.\d{1,18})*)", bound.strip())
    if caret is not None:
        numbers = [int(caret[1]), *[int(part) for part in caret[2].split(".")[1:]]]
        kept = next((i for i, number in enumerate(numbers) if number), len(numbers) - 1)
        upper = [*numbers[:kept], numbers[kept] + 1]
        return f">={'.'.join(map(str, numbers))},<{'.'.join(map(str, upper))}"
    return bound if re.match(r"\s*[<>=~!]", bound) else f"=={bound}" if bound[:1].isdigit() else ""
