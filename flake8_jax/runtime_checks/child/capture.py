"""A function reached by running the user's command: one inside of ``main`` as well, with the arguments it really had.

Vocabulary
----------
watched    the target as its file has it: every function of that dotted name, and every variable of that name that holds one.
           ``main.step`` names the ``step`` that ``main`` defines; where no other
           function is called ``step``, the last name is enough.
shape      of a call: its structure, shapes, dtypes and static values. Each shape is kept once, with the first arguments
           that had it; the calls of every shape are counted.
enough     so many calls were seen, or so many seconds went by since the first. Then the work begins in the middle of the
           last of them, so that meshes and settings around it are as they were; the command is ended as Ctrl-C would.

Python hands the source of every script to ``compile``, and that of modules to their loader: both are replaced while the
command runs, and no file changes. Limitations: lambdas; functions that only a trace calls (their arguments are tracers: arrays
of the same shapes take their place); what the command does in further processes.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib.machinery
import importlib.util
import os
import time
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from flake8_jax.runtime_checks.child.cache_keys import signature_of, unlike
from flake8_jax.runtime_checks.child.importing import OnImport
from flake8_jax.runtime_checks.child.main import summary
from flake8_jax.runtime_checks.child.targets import TargetError, extend_path
from flake8_jax.runtime_checks.child.tracing import ABSTRACT, EAGER, outside_trace, trace_state, value_of
from flake8_jax.runtime_checks.child.workload import CommandError, prepare

WATCH = "__jaxlint_watch__"
_PLAIN_DECORATORS = frozenset(
    {"staticmethod", "classmethod", "property", "abstractmethod", "overload", "cached_property"}
)
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class Enough(KeyboardInterrupt):
    """Ends the user's command where it is: what catches exceptions lets this one through."""


@dataclass(frozen=True)
class Limits:
    """When it is enough: calls, seconds since the first of them. shapes: so many are kept."""

    calls: int
    seconds: float
    shapes: int


@dataclass
class Call:
    """The first call of a shape. number: of the call, from 1; alike: how many calls had this shape. traced: only a trace
    called it. transformed: so did ``grad`` and the like, whose tracers have values."""

    number: int
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    signature: Any
    traced: bool
    transformed: bool
    alike: int = 1


@dataclass
class Seen:
    """What was seen of the target. function: as the program has it, without what watches it. left_out: calls of shapes that
    were too many to keep."""

    path: str
    name: str = ""
    line: int = 0
    function: Any = None
    count: int = 0
    calls: list[Call] = field(default_factory=list)
    left_out: int = 0


def watch(
    target: str,
    roots: list[str],
    command: list[str],
    limits: Limits,
    work: Callable[[Seen], Any],
) -> Any:
    """Run the command until enough calls of the target were seen; returns what ``work`` makes of them.

    Raises TargetError where the target is not in its file or was not called, and CommandError.
    """
    extend_path([folder for root in roots for folder in (root, os.path.join(root, "src"))])
    path, wanted = _located(target)
    watcher = _Watcher(Seen(path), limits, work)
    with open(path, "rb") as file:
        names = _choose(ast.parse(file.read(), path), wanted, target)
    run = prepare(command)
    watcher.install(names)
    ended = "it ended"
    try:
        run()
    except Enough:
        pass
    except SystemExit as error:
        ended = f"it ended with status {error.code}" if error.code else ended
    except KeyboardInterrupt:  # pytest and others make their own of it
        if not watcher.enough:
            raise
    except Exception as error:  # the user's program
        ended = f"it ended with {summary(error)}"
    finally:
        watcher.stop()
    if watcher.failure is not None:
        raise watcher.failure
    if watcher.result is not None:
        return watcher.result
    if not watcher.seen.calls and not watcher.made:
        raise TargetError(f"{target}: {', '.join(names)} was never given a function ({ended})")
    if not watcher.seen.calls:
        raise TargetError(
            f"{target}: the command never called it ({ended}); `jaxlint record -- …` shows what it does call"
        )
    return work(watcher.seen)


def _located(target: str) -> tuple[str, str]:
    """The file of a target, and what is wanted of it. Raises TargetError."""
    where, colon, what = target.rpartition(":")
    if not colon or not where or not what:
        raise TargetError(f"{target}: a target is file.py:function, file.py:LINE or module:function")
    if not where.endswith(".py") and "/" not in where and os.sep not in where:
        try:
            spec = importlib.util.find_spec(where)
        except (ImportError, ValueError):
            spec = None
        if spec is None or spec.origin is None or not os.path.isfile(spec.origin):
            raise TargetError(f"{target}: there is no module {where}")
        where = spec.origin
    if not os.path.isfile(where):
        raise TargetError(f"{target}: there is no file {where}")
    return os.path.realpath(where), what


def _defined(tree: ast.Module) -> list[tuple[str, ast.stmt]]:
    """Every function and every variable that may hold one, by its dotted name."""
    found: list[tuple[str, ast.stmt]] = []

    def walk(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (*_Function, ast.ClassDef)):
                if not isinstance(child, ast.ClassDef):
                    found.append((prefix + child.name, child))
                walk(child, f"{prefix}{child.name}.")
                continue
            if isinstance(child, ast.Assign) and isinstance(child.value, (ast.Call, ast.Lambda)):
                found.extend((prefix + name.id, child) for name in child.targets if isinstance(name, ast.Name))
            walk(child, prefix)

    walk(tree, "")
    return found


def _choose(tree: ast.Module, wanted: str, target: str) -> frozenset[str]:
    """The dotted name that is wanted. Raises TargetError where nothing has it."""
    known = _defined(tree)
    if wanted.isdigit():
        row = int(wanted)
        around = [
            (name, node)
            for name, node in known
            if _first(node) <= row <= (node.end_lineno or node.lineno)
            and (not isinstance(node, ast.Assign) or _makes_function(node.value))
        ]
        if not around:
            raise TargetError(f"{target}: no function is around line {row}")
        return frozenset({min(around, key=lambda pair: (pair[1].end_lineno or 0) - _first(pair[1]))[0]})
    wanted = wanted.replace(".<locals>", "")
    names = {name for name, _ in known}
    if wanted in names:
        return frozenset({wanted})
    inside = sorted(name for name in names if name.endswith(f".{wanted}"))
    if len(inside) == 1:
        return frozenset(inside)
    if inside:
        raise TargetError(f"{target}: there are {', '.join(inside)}; say which")
    functions = [name for name, node in known if not isinstance(node, ast.Assign) or _makes_function(node.value)]
    raise TargetError(f"{target}: the file has no function {wanted}; it has {', '.join(functions[:12]) or 'none'}")


def _makes_function(node: ast.expr) -> bool:
    return isinstance(node, ast.Lambda) or (
        isinstance(node, ast.Call) and _last_name(node.func).endswith(("jit", "pmap"))
    )


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


class _Watching(ast.NodeTransformer):
    """Wraps the functions of these dotted names, outside of their decorators, and what is assigned to such names."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._scope: list[str] = []

    def _inside(self, node: Any) -> Any:
        self._scope.append(node.name)
        self.generic_visit(node)
        self._scope.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return self._inside(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        name = ".".join([*self._scope, node.name])
        self._inside(node)
        if name in self._names:
            outer = 0
            while outer < len(node.decorator_list) and _last_name(node.decorator_list[outer]) in _PLAIN_DECORATORS:
                outer += 1
            where = node.decorator_list[outer] if outer < len(node.decorator_list) else node
            line = ast.Constant(_first(node))
            probe = ast.Call(ast.Name(WATCH, ast.Load()), [ast.Constant(name), line], [])
            node.decorator_list.insert(outer, ast.copy_location(probe, where))
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return self._inside(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        names = [".".join([*self._scope, name.id]) for name in node.targets if isinstance(name, ast.Name)]
        chosen = [name for name in names if name in self._names]
        if chosen and isinstance(node.value, (ast.Call, ast.Lambda)):
            line = ast.Constant(node.lineno)
            probe = ast.Call(ast.Name(WATCH, ast.Load()), [ast.Constant(chosen[0]), line], [])
            node.value = ast.copy_location(ast.Call(probe, [node.value], []), node.value)
        return node


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


class _Watcher:
    """Called for every call of the target; begins the work when it has seen enough."""

    def __init__(self, seen: Seen, limits: Limits, work: Callable[[Seen], Any]) -> None:
        self.seen = seen
        self.enough = False
        self.made = False
        self.result: Any = None
        self.failure: Exception | None = None
        self._most, self._seconds, self._shapes = limits.calls, limits.seconds, limits.shapes
        self._work = work
        self._deadline = float("inf")
        self._depth = 0
        self._stopped = False

    def install(self, names: frozenset[str]) -> None:
        """From now on, the file is compiled with the target watched, and what JAX makes of it is watched too."""
        path, original = self.seen.path, builtins.compile
        transform = _Watching(names)

        def compiling(source: Any, filename: Any, mode: str, *rest: Any, **more: Any) -> Any:
            flags = more.get("flags", rest[0] if rest else 0)
            is_path = isinstance(filename, (str, bytes, os.PathLike))
            if mode == "exec" and not flags & ast.PyCF_ONLY_AST and is_path:
                if os.path.realpath(os.fsdecode(filename)) == path:
                    tree = (
                        source if isinstance(source, ast.AST) else original(source, filename, mode, ast.PyCF_ONLY_AST)
                    )
                    source = _complete(transform.visit(tree))
                    return original(source, filename, mode, flags, True)
            return original(source, filename, mode, *rest, **more)

        loader: Any = importlib.machinery.SourceFileLoader
        loading = loader.get_code

        def get_code(self_: Any, name: str) -> Any:
            file = self_.get_filename(name)
            if os.path.realpath(file) != path:
                return loading(self_, name)
            return compiling(self_.get_data(file), file, "exec", dont_inherit=True)

        builtins.compile = compiling
        loader.get_code = get_code
        setattr(builtins, WATCH, self._watch_here)
        OnImport(self._change_jax).install()

    def stop(self) -> None:
        """Watch no longer: calls go straight through."""
        self._stopped = True

    def _change_jax(self, jax: Any) -> None:
        for name in ("jit", "pmap"):
            setattr(jax, name, self._of_transform(getattr(jax, name)))

    def _of_transform(self, transform: Any) -> Any:
        @functools.wraps(transform)
        def made(*args: Any, **kwargs: Any) -> Any:
            result = transform(*args, **kwargs)
            inner = args[0] if args else kwargs.get("fun")
            found = getattr(inner, "__jaxlint_watched__", None)
            return result if found is None else self._watch(result, *found)

        return made

    def _watch_here(self, name: str, line: int) -> Callable[[Any], Any]:
        def here(value: Any) -> Any:
            if not callable(value):
                return value
            self.made = True
            return self._watch(value, name, line)

        return here

    def _watch(self, function: Any, name: str, line: int) -> Any:
        if isinstance(function, type):
            return function
        watched = _plain if isinstance(function, types.FunctionType) else _Watched
        return watched(function, functools.partial(self.called, function, name, line), (name, line))

    def called(self, function: Any, name: str, line: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of the target. Of a watched function within a watched one, the outer one counts."""
        if self.enough and not self._stopped:
            raise Enough
        if self._depth or self._stopped:
            return function(*args, **kwargs)
        self._depth += 1
        try:
            self._record(function, name, line, args, kwargs)
            if self.seen.count >= self._most or time.monotonic() > self._deadline:
                self._finish()
            return function(*args, **kwargs)
        finally:
            self._depth -= 1

    def _record(self, function: Any, name: str, line: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        seen = self.seen
        seen.count += 1
        if seen.count == 1:
            self._deadline = time.monotonic() + self._seconds
        state = trace_state()
        traced = state == ABSTRACT
        if seen.function is None or (seen.calls and seen.calls[0].traced and not traced):
            # What only a trace calls counts as long as nothing better comes.
            seen.function, seen.name, seen.line, seen.calls = function, name, line, []
        elif traced:
            return
        signature = signature_of(function, None, args, kwargs)
        for call in seen.calls:
            if not unlike(signature, call.signature):
                call.alike += 1
                return
        if len(seen.calls) < self._shapes:
            own, named = kept_values((args, kwargs))
            seen.calls.append(Call(seen.count, own, named, signature, traced, state != EAGER))
        else:
            seen.left_out += 1

    def _finish(self) -> None:
        self.enough = True
        if trace_state() != ABSTRACT:
            self._stopped = True
            try:
                with outside_trace():  # under grad, calls go another way, and a slower one
                    self.result = self._work(self.seen)
            except Exception as error:  # the user's program is not to see it
                self.failure = error
            self._stopped = False
        raise Enough


def _complete(tree: Any) -> Any:
    for node in ast.walk(tree):
        if hasattr(node, "lineno") and getattr(node, "end_lineno", None) is None:
            node.end_lineno, node.end_col_offset = node.lineno, node.col_offset  # type: ignore[attr-defined]
    return ast.fix_missing_locations(tree)


def kept_values(values: Any) -> Any:
    """The arguments as they are now: arrays that may be donated or overwritten are copied, tracers become their values, or
    shapes where they have none."""
    import jax
    import numpy as np

    def kept(leaf: Any) -> Any:
        if isinstance(leaf, jax.core.Tracer):
            value = value_of(leaf)
            if value is None:
                return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)
            with outside_trace():  # the value of a number is no array
                return value.copy() if isinstance(value, jax.Array) else jax.numpy.asarray(value, leaf.dtype)
        if isinstance(leaf, (jax.Array, np.ndarray)):
            return leaf.copy()
        return leaf

    return jax.tree_util.tree_map(kept, values)


def _plain(function: Any, called: Callable[..., Any], identity: tuple[str, int]) -> Any:
    """A function in the place of a function."""

    @functools.wraps(function)
    def watched(*args: Any, **kwargs: Any) -> Any:
        return called(args, kwargs)

    watched.__jaxlint_watched__ = identity  # type: ignore[attr-defined]
    return watched


class _Watched:
    """In the place of a jitted function or another callable object: it has all that the object has."""

    def __init__(self, inner: Any, called: Callable[..., Any], identity: tuple[str, int]) -> None:
        self.__wrapped__ = inner
        self.__jaxlint_watched__ = identity
        self.__jaxlint_called__ = called

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__jaxlint_called__(args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)


__all__ = ["Call", "CommandError", "Enough", "Limits", "Seen", "watch"]
