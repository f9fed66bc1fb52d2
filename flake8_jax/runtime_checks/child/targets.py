"""Which object of the user's code is meant: ``module:function``, ``file.py:function``, ``file.py:LINE``.

Vocabulary
----------
target      the text that names a function. dotted: a path of attributes, through classes (``Model.step``).
reachable   a function that is an attribute of its module, or of a class that is: what a target can name. A function
            defined in another function is not.

Folders of the user's code are put on ``sys.path`` behind the standard library and before the installed packages: his
``code.py`` is imported where he asks for it, and JAX still gets the ``code`` of Python that it needs.

Limitations: import hooks, and packages spread over several folders.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class TargetError(Exception):
    """A target that names nothing that can be run; the message says which and what would."""


@dataclass(frozen=True)
class Resolved:
    """A target that was found. line: of the first decorator or the ``def``, 1-based; 0 where there is no source."""

    object: Any
    module: types.ModuleType
    qualname: str
    file: str
    line: int

    @property
    def name(self) -> str:
        """The last part of the dotted name."""
        return self.qualname.rpartition(".")[2]


def resolve(target: str, roots: Sequence[str]) -> Resolved:
    """The function that ``target`` names; its module is imported.

    roots: folders of the project; they and their ``src`` become importable. Raises TargetError.
    """
    found = resolve_value(target, roots)
    if not callable(found.object):
        raise TargetError(f"{target}: {found.qualname} is {_a(type(found.object).__name__)}, and cannot be called")
    return found


def resolve_value(target: str, roots: Sequence[str]) -> Resolved:
    """The function, class or variable that ``target`` names. Raises TargetError."""
    extend_path([folder for root in roots for folder in (root, os.path.join(root, "src"))])
    where, colon, what = target.rpartition(":")
    if not colon or not where or not what:
        raise TargetError(_incomplete(target))
    if _is_file(where):
        if not os.path.isfile(where):
            raise TargetError(f"{target}: there is no file {where}")
        module = load(where)
        if what.isdigit():
            return _at_line(module, os.path.abspath(where), int(what), target)
    else:
        module = _import(where, target)
    return _attribute(module, what, target)


def load(path: str) -> types.ModuleType:
    """The module of a file, imported under the name that Python would give it. Raises TargetError."""
    path = os.path.abspath(path)
    name, base = module_name(path)
    top = name.partition(".")[0]
    extend_path([base])
    # ``python FILE`` finds what stands beside the file; for a module of a package this is the last place to look.
    beside = os.path.dirname(path)
    if beside not in sys.path:
        sys.path.append(beside)
    package = os.path.join(base, top, "__init__.py") if "." in name or path.endswith("__init__.py") else path
    loaded = sys.modules.get(name)
    if loaded is not None and _same(getattr(loaded, "__file__", None), path):
        return loaded
    if _leads_to(top, package):
        module = _guarded(lambda: importlib.import_module(name), path)
        if _same(module.__file__, path):
            return module
        raise TargetError(f"{path}: Python finds {name} in {module.__file__} instead; rename one of the two")
    # Something else has the name: a module of the standard library, or one that was installed.
    if package == path and not path.endswith("__init__.py"):
        return _guarded(lambda: _by_path(f"_{name}_by_path", path), path)
    if top in sys.modules:
        taken = getattr(sys.modules[top], "__file__", None) or "Python itself"
        raise TargetError(f"{path}: the package {top} cannot be imported, {taken} has that name; rename it")
    _guarded(lambda: _by_path(top, package, [os.path.dirname(package)]), package)
    return _guarded(lambda: importlib.import_module(name), path)


def module_name(path: str) -> tuple[str, str]:
    """The dotted name of the module in a file, and the folder that has to be on ``sys.path`` for it.

    A folder whose name is no identifier is no package, whatever is in it.
    """
    folder, file = os.path.split(os.path.abspath(path))
    stem = file[: -len(".py")] if file.endswith(".py") else file
    parts = [] if stem == "__init__" else [stem]
    while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.basename(folder).isidentifier():
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    return ".".join(parts), folder


def extend_path(folders: Sequence[str]) -> None:
    """Make folders importable, behind the standard library and before what is installed."""
    sys.path[:] = [entry for entry in sys.path if entry not in ("", ".")]
    for folder in map(os.path.abspath, folders):
        if os.path.isdir(folder) and folder not in sys.path:
            sys.path.insert(_behind_the_standard_library(), folder)


def _behind_the_standard_library() -> int:
    library = os.path.dirname(os.__file__)
    own = [
        index
        for index, entry in enumerate(sys.path)
        if entry == library or (entry.startswith(library) and "-packages" not in entry)
    ]
    return own[-1] + 1 if own else 0


def _is_file(text: str) -> bool:
    return text.endswith(".py") or os.sep in text or "/" in text


def _same(one: str | None, other: str) -> bool:
    return one is not None and os.path.exists(one) and os.path.samefile(one, other)


def _leads_to(name: str, path: str) -> bool:
    """Whether importing the top-level module ``name`` reads the file ``path``."""
    if not name.isidentifier():
        return False
    try:
        spec = importlib.util.find_spec(name)
    except (ValueError, ImportError):
        return False
    return spec is not None and _same(spec.origin, path)


def _by_path(name: str, path: str, folders: list[str] | None = None) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=folders)
    if spec is None or spec.loader is None:
        raise TargetError(f"{path} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _import(name: str, target: str) -> types.ModuleType:
    try:
        known = importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        known = False
    if not known:
        hint = f"; if you mean the file, write {name}.py" if os.path.isfile(f"{name}.py") else ""
        raise TargetError(
            f"{target}: there is no module {name} in the project or the environment of {sys.executable}{hint}"
        )
    return _guarded(lambda: importlib.import_module(name), name)


def _guarded(importing: Any, name: str) -> types.ModuleType:
    """Import the user's code, which may raise anything, or ask to exit."""
    try:
        module: types.ModuleType = importing()
    except TargetError:
        raise
    except (Exception, SystemExit) as error:  # the user's code runs here
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_users(frame.filename)]
        at = f" (at {frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        first = (str(error).strip().splitlines() or [""])[0]
        raise TargetError(f"{name} cannot be imported: {type(error).__name__}: {first}{at}") from error
    return module


def _is_users(file: str) -> bool:
    return not file.startswith(("<", os.path.dirname(os.__file__), sys.prefix)) and file != os.path.abspath(__file__)


def _incomplete(target: str) -> str:
    path = target.rstrip(":")
    if os.path.isfile(path):
        names = ", ".join(_names_in(path)[:8])
        return f"{target}: say which function, as in {path}:NAME or {path}:LINE" + (
            f" (it has {names})" if names else ""
        )
    return f"{target}: a target is module:function, file.py:function or file.py:LINE"


def _attribute(module: types.ModuleType, dotted: str, target: str) -> Resolved:
    found: Any = module
    done: list[str] = []
    for part in dotted.split("."):
        if not hasattr(found, part):
            raise TargetError(_no_such(module, found, done, part, target))
        found = getattr(found, part)
        done.append(part)
    file, line = _origin(found)
    return Resolved(found, module, dotted, file or module.__file__ or "", line)


def _a(noun: str) -> str:
    return f"an {noun}" if noun[:1].lower() in "aeiou" else f"a {noun}"


def _origin(function: Any) -> tuple[str, int]:
    """File and first line of a function, below all its wrappers."""
    inner = inspect.unwrap(function)
    code = getattr(inner, "__code__", None)
    if code is not None:
        return code.co_filename, code.co_firstlineno
    return "", 0


def _no_such(module: types.ModuleType, holder: Any, done: list[str], part: str, target: str) -> str:
    where = ".".join(done) or target.rpartition(":")[0]
    near = difflib.get_close_matches(part, [n for n in dir(holder) if not n.startswith("__")], 3, 0.6)
    message = f"{target}: {where} has no {part}"
    if near:
        return f"{message}; did you mean {', '.join('.'.join([*done, name]) for name in near)}?"
    outer = _enclosing_function(module.__file__, part) if module.__file__ else None
    if outer is not None:
        return f"{message}: it is defined inside {outer}, where nothing outside can reach it"
    callables = [n for n, v in vars(holder).items() if callable(v) and not n.startswith("_")] if done == [] else []
    own = [n for n in callables if getattr(getattr(holder, n), "__module__", None) == module.__name__]
    return message + (f"; it has {', '.join(own[:8])}" if own else "")


def _tree(path: str) -> ast.Module | None:
    try:
        with open(path, "rb") as file:
            return ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return None


def _names_in(path: str) -> list[str]:
    tree = _tree(path)
    return [name for name, _, _ in _reachable(tree)] if tree is not None else []


def _reachable(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    """Dotted name, first and last line of what a module and its classes define or assign, in the order of the text."""

    def walk(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, int, int]]:
        for node in body:
            if isinstance(node, _Function):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                yield prefix + node.name, first, node.end_lineno or node.lineno
            elif isinstance(node, ast.ClassDef):
                yield from walk(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.Call, ast.Lambda)):
                for place in node.targets:
                    if isinstance(place, ast.Name):
                        yield prefix + place.id, node.lineno, node.end_lineno or node.lineno
            elif isinstance(node, (ast.If, ast.Try, ast.With)):
                inner = [*node.body, *getattr(node, "orelse", ()), *getattr(node, "finalbody", ())]
                for handler in getattr(node, "handlers", ()):
                    inner += handler.body
                yield from walk(inner, prefix)

    return walk(tree.body, "")


def _at_line(module: types.ModuleType, path: str, line: int, target: str) -> Resolved:
    tree = _tree(path)
    assert tree is not None  # it was imported a moment ago
    known = list(_reachable(tree))
    around = [entry for entry in known if entry[1] <= line <= entry[2]]
    if not around:
        near = sorted(known, key=lambda entry: min(abs(entry[1] - line), abs(entry[2] - line)))[:2]
        hint = "; near it: " + ", ".join(f"{n} (lines {a}–{b})" for n, a, b in near) if near else ""
        raise TargetError(f"{target}: no function of the module or of a class is around line {line}{hint}")
    name, first, last = around[-1]
    found = _attribute(module, name, target)
    if found.line and _same(found.file, path) and not first <= found.line <= last:
        again = [entry for entry in known if entry[0] == name and entry[1] != first]
        if again:
            raise TargetError(f"{target}: {name} is defined again at line {again[-1][1]}, which hides this one")
    return found


def _enclosing_function(path: str, name: str) -> str | None:
    """The function in which a function ``name`` is defined, as ``outer (line 3)``."""
    tree = _tree(path)
    for outer in ast.walk(tree) if tree is not None else ():
        if isinstance(outer, _Function):
            if any(isinstance(node, _Function) and node.name == name for node in ast.walk(outer) if node is not outer):
                return f"{outer.name} (line {outer.lineno})"
    return None
