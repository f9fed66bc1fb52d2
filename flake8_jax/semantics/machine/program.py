"""Modules: finding them by name, running their top level once, and what they export.

A name that no file of the project explains belongs to a library: it becomes an External under its canonical name.
Star imports follow ``__all__`` or leave out underscored names. Import cycles give Deferred names, looked up again when
they are read. Limitations: ``sys.path`` changes, import hooks, ``importlib`` with computed names.
"""

from __future__ import annotations

import builtins
import posixpath
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain.classes import PROTOCOLS, mro_of
from flake8_jax.semantics.domain.scopes import NOT_RUN, RUN, RUNNING, ModuleScope
from flake8_jax.semantics.domain.values import (
    BuiltinValue,
    ClassValue,
    Const,
    Deferred,
    External,
    FunctionValue,
    Instance,
    ModuleValue,
    Static,
    Unknown,
    Value,
)
from flake8_jax.semantics.machine.imports import Roots, plain_name
from flake8_jax.semantics.machine.limits import MAX_RESOLVING
from flake8_jax.semantics.machine.rebinding import Rebindings, rebindings

if TYPE_CHECKING:
    from flake8_jax.knowledge import Knowledge

MAX_HEIRS_SEARCHED = 1000
_PLAIN_BASES = PROTOCOLS | {"builtins.object", "abc.ABC", "typing.Generic"}
"""Bases that say nothing of what JAX makes of an object."""
_IMPORTS = re.compile(r"^[ \t]*(?:import\s[^\n;]*|from\s[^\n(;]*(?:\([^)]*\))?)", re.MULTILINE)
_WORD = re.compile(r"\w+")
_WIDE = re.compile(r"^[ \t]*(?:import|from)[ \t]+(?:netket|qutip_jax)\b", re.MULTILINE)
"""Imports of libraries that set ``jax_enable_x64``: NetKet (``netket/utils/config_flags.py``) and QuTiP's JAX backend."""
_LARGE_LAYERS = re.compile(
    r"\b(?:nn|hk|nnx|haiku|linen)\.(?:Conv\w*|Embed|\w*Attention|LSTMCell|OptimizedLSTMCell)\b|[Tt]ransformer|[Aa]ttention\w*\("
)
"""Layers by their names, in code of Flax, Haiku and Equinox, and functions that compute attention."""
_BUILTIN_NAMES = frozenset(n for n in dir(builtins) if not n.startswith("_"))
_BUILTIN_ERRORS = frozenset(
    n
    for n in _BUILTIN_NAMES
    if isinstance(getattr(builtins, n), type) and issubclass(getattr(builtins, n), BaseException)
)


def _nearest(scope: ModuleScope, others: list[ModuleScope]) -> ModuleScope:
    """The file that shares most of its path with a file that may import it."""
    return max(others, key=lambda other: len(posixpath.commonprefix([scope.path, other.path])))


class Program:
    """All files of the project by module name, every class defined in them, and what libraries are known to have.

    What a run asks about the program it asks here, so that one place knows what an entry has read.

    run_module, constant: how a module's top level runs, and what a constant of a library is; given by what runs code.
    library_objects: the values of ``library.name``, one each. instantiating: classes whose generic object is being made.
    records_left: how many more NamedTuples the outermost of them may hold.
    x64: whether 64-bit dtypes may be enabled, once that is known.
    free_names, tested_names, deciding, filled_attributes, self_stores: what walks over functions have found, by identity.
    unjitting: names in the tests under which code switches ``jax_disable_jit`` on.
    dispatched: the classes of the first arguments of functions registered with ``singledispatch``, by identity.
    """

    run_module: Callable[[ModuleScope], None]
    constant: Callable[[str, str], Value]

    def __init__(self, knowledge: Knowledge, scopes: Iterable[ModuleScope]) -> None:
        self.knowledge = knowledge
        self.by_name: dict[str, ModuleScope] = {}
        self.packages: set[str] = set()
        self.classes: list[ClassValue] = []
        self.goes_on = False
        """Whether code runs on after a call that surely raises outside tracing, and cells after one that does: in previews."""
        self.lazy = False
        """Whether a module runs only once a name of it is read. What its top level does to others is then seen late."""
        self.builtin_values: dict[str, Value] = {}
        self.slot_ids: set[int] = set()
        self.registered: set[str] = set()
        self.unjitting: set[str] = set()
        """Methods of classes that a loop registers as pytrees; the empty name stands for any class."""
        self._having: tuple[int, dict[str, list[ClassValue]]] | None = None
        self.x64: bool | None = None
        self._large_layers: dict[tuple[ModuleScope, ...], bool] = {}
        self._imported: frozenset[str] | None = None
        self._rebindings: Rebindings | None = None
        self.library_objects: dict[tuple[str, str], External] = {}
        self.free_names: dict[int, tuple[str, ...]] = {}
        self.tested_names: dict[int, frozenset[str]] = {}
        self.deciding: dict[int, frozenset[str]] = {}
        self.filled_attributes: dict[int, frozenset[str]] = {}
        self.self_stores: dict[int, set[str]] = {}
        self.dispatched: dict[int, ir.Expr] = {}
        self.instantiating: list[Any] = []
        self.records_left = 0
        self._resolving = 0
        scopes = list(scopes)
        self.roots = Roots(scopes, knowledge.libraries | {"numpy", "scipy"})
        for scope in scopes:
            scope.key = self.roots.key(scope)
            self.by_name.setdefault(scope.key, scope)
            self.slot_ids.add(id(scope.slots))
            # Imports find no notebook: `jax.ipynb` makes no package `jax`.
            parts = [] if scope.path.endswith(".ipynb") else scope.key.split(".")
            for i in range(1, len(parts)):
                self.packages.add(".".join(parts[:i]))
        self.roots.place(scopes)

    def mentions_x64(self) -> bool:
        """Some file of the project enables 64-bit dtypes, or may: by ``jax_enable_x64``, its environment variable, the
        context manager, or the import of a library that does."""
        if self.x64 is None:
            texts = [scope.text for scope in self.by_name.values()]
            self.x64 = any("enable_x64" in text or "ENABLE_X64" in text or _WIDE.search(text) for text in texts)
        return self.x64

    def mentions_large_layers(self, scopes: tuple[ModuleScope, ...]) -> bool:
        """These files, or files that they import, name layers that mostly have many parameters: attention, embeddings,
        convolutions. What a file imports is taken by the last part of its name."""
        known = self._large_layers.get(scopes)
        if known is None:
            known = self._large_layers[scopes] = any(
                _LARGE_LAYERS.search(scope.text) for scope in self._imported_by(scopes)
            )
        return known

    def _imported_by(self, scopes: tuple[ModuleScope, ...]) -> list[ModuleScope]:
        """The files, and those that they import, directly or not."""
        named: dict[str, list[ModuleScope]] = {}
        for scope in self.by_name.values():
            named.setdefault(plain_name(scope.key).rpartition(".")[2], []).append(scope)
        found = list(dict.fromkeys(scopes))
        for scope in found:  # it gets longer
            words = {word for text in _IMPORTS.findall(scope.text) for word in _WORD.findall(text)}
            nearest = [_nearest(scope, named[word]) for word in words if word in named]
            found += [other for other in dict.fromkeys(nearest) if other not in found]
        return found

    def is_imported(self, scope: ModuleScope) -> bool:
        """Some import in the project names the module, or one of that name: others can get at its classes."""
        if self._imported is None:
            imports = [text for other in self.by_name.values() for text in _IMPORTS.findall(other.text)]
            self._imported = frozenset(word for text in imports for word in _WORD.findall(text))
        return plain_name(scope.key).rpartition(".")[2] in self._imported

    def is_replaced(self, owner: ModuleScope | ClassValue, name: str, value: Value) -> bool:
        """Some file sets the variable of this module or class from outside, so that it may hold something else."""
        return self._set_from_outside().replaces(owner, name, value)

    def is_library_name_set(self, name: str) -> bool:
        """The project may put something else in the place of a library's class or function, or of a method of it."""
        return self._set_from_outside().sets_in_library(name)

    def _set_from_outside(self) -> Rebindings:
        if self._rebindings is None:
            self._rebindings = rebindings(self.by_name.values())
        return self._rebindings

    # --- classes by what they have --------------------------------------------------------------------

    def pytree_with(self, name: str) -> list[ClassValue]:
        """The project's pytree classes (and NamedTuples) that define an attribute of that name themselves."""
        if self._having is None or self._having[0] != len(self.classes):
            table: dict[str, list[ClassValue]] = {}
            for cls in self.classes:
                if cls.traits & {"pytree", "namedtuple"} and "static_attributes" not in cls.traits:
                    for attribute in {*cls.namespace, *(f.name for f in cls.fields)}:
                        table.setdefault(attribute, []).append(cls)
            self._having = (len(self.classes), table)
        return self._having[1].get(name, [])

    def defines_method(self, name: str) -> bool:
        """Whether any class of the project has a method or an attribute of that name."""
        return any(name in cls.namespace for cls in self.classes)

    def defines_member(self, name: str) -> bool:
        """Whether any class of the project has a method, an attribute or a field of that name."""
        return any(name in cls.namespace or any(f.name == name for f in cls.fields) for cls in self.classes)

    def add_class(self, cls: ClassValue) -> None:
        """A class statement has run, or what is as good as one."""
        self.classes.append(cls)

    def may_be_pytree(self, cls: ClassValue) -> bool:
        """JAX may take objects of the class, or of a subclass, apart: one is registered, or may be in code unseen, such as a
        decorator that is not known."""
        family = (*mro_of(cls), *self.subclasses(cls))
        if any(c.has_unknown_base or c.traits & {"pytree", "altered"} for c in family):
            return True
        if not all(self._registers_nothing(base) for c in family for base in c.external_bases):
            return True
        return any(not method or any(method in c.namespace for c in family) for method in self.registered)

    def _registers_nothing(self, base: str) -> bool:
        """Subclasses of this library class are not pytrees by themselves, as those of Flax linen and Haiku."""
        if base in _PLAIN_BASES:
            return True
        fact = self.knowledge.class_(base)
        return fact is not None and fact.static_attributes and not fact.pytree

    def subclasses(self, cls: ClassValue) -> list[ClassValue]:
        """The classes that have it for a direct base, of the modules that have run."""
        return cls.subclasses

    def add_subclass(self, base: ClassValue, cls: ClassValue) -> None:
        """``cls`` has that base."""
        base.subclasses.append(cls)

    def is_overridden(self, function: FunctionValue) -> bool:
        """A subclass has another method of that name, which may be the one that a call on ``self`` finds."""
        owner = function.owner
        return owner is not None and bool(self.overrides_of(owner, function.fn.name, limit=1))

    def overrides_of(self, cls: ClassValue, name: str, limit: int = 12) -> list[tuple[ClassValue, Value]]:
        """Definitions of an attribute in (transitive) subclasses."""
        found: list[tuple[ClassValue, Value]] = []
        todo, searched = list(self.subclasses(cls)), 0
        while todo and len(found) < limit and searched < MAX_HEIRS_SEARCHED:
            sub = todo.pop()
            searched += 1
            if name in sub.namespace:
                found.append((sub, sub.namespace[name]))
            todo += self.subclasses(sub)
        return found

    def generic(self, cls: ClassValue) -> Instance | None:
        """The generic instance of a class; None before the first request for it."""
        return cls.generic

    # --- running ---------------------------------------------------------------------------------

    def ensure_run(self, scope: ModuleScope) -> None:
        """Run a module's top level if it has not run yet."""
        if scope.state == NOT_RUN:
            scope.state = RUNNING
            self.run_module(scope)
            scope.state = RUN

    def begin(self) -> tuple[int, int]:
        """An entry begins: what ``resume`` has to know."""
        saved = self._resolving, len(self.instantiating)
        self._resolving = 0
        return saved

    def resume(self, saved: tuple[int, int], *, finished: bool) -> None:
        """The entry is over. finished: it ran to its end; else it was cut off."""
        self._resolving, instantiating = saved
        if not finished:
            del self.instantiating[instantiating:]

    def resolve(self, value: Value) -> Value:
        """Look up a name again that was imported from a module still being run at that time."""
        if not isinstance(value, Deferred):
            return value
        if self._resolving >= MAX_RESOLVING:
            return Unknown("import cycle")
        self._resolving += 1
        try:
            return self.resolve(self.attribute(value.scope, value.name))
        finally:
            self._resolving -= 1

    # --- names -----------------------------------------------------------------------------------

    def builtin(self, name: str) -> Value | None:
        """The builtin of that name."""
        if name not in _BUILTIN_NAMES:
            return None
        found = self.builtin_values.get(name)
        if found is None:
            found = External("builtins." + name) if name in _BUILTIN_ERRORS else BuiltinValue(name)
            self.builtin_values[name] = found
        return found

    def absolute(self, scope: ModuleScope, module: str, level: int) -> str:
        """The key of what an import names (see ``imports``)."""
        if level == 0:
            key = self.roots.meant(scope, module)
            found = self.roots.found(scope, module) if not self.is_project(key) else None
            return found.key if found is not None else key
        parts = scope.key.split(".")
        drop = level - 1 if scope.is_package else level
        base = parts[: len(parts) - drop] if drop <= len(parts) else []
        return ".".join([*base, module] if module else base)

    def variable(self, scope: ModuleScope, name: str) -> Value | None:
        """What a module's variable holds, as its own code sees it; None before it is bound."""
        return scope.slots.get(name)

    def is_variable(self, slots: dict[Any, Any]) -> bool:
        """Whether these slots are those of a module, or outlive a run as they do."""
        return id(slots) in self.slot_ids

    def scope_of(self, name: str) -> ModuleScope | None:
        """The module of that absolute name, whether or not it has run."""
        return self.by_name.get(name)

    def is_project(self, name: str) -> bool:
        return name in self.by_name or name in self.packages

    def load(self, name: str) -> Value:
        """The module of that absolute name."""
        scope = self.by_name.get(name)
        if scope is not None:
            if not self.lazy:
                self.ensure_run(scope)
            return ModuleValue(scope)
        if name in self.packages:
            return self._namespace(name)
        return External(self.knowledge.canonical(plain_name(name)))

    def _namespace(self, name: str) -> Value:
        """A namespace package: a module without a file."""
        scope = ModuleScope("", name, is_package=True, tree=ir.Module([], [0], 0))
        scope.state = RUN
        self.by_name[name] = scope
        return ModuleValue(scope)

    def load_top(self, scope: ModuleScope, module: str) -> Value:
        """``import a.b.c`` binds ``a`` (and makes sure that ``a.b.c`` can be found below it)."""
        dotted = self.absolute(scope, module, 0)
        if plain_name(dotted) != module:
            return self._above(module.split("."), self.load(dotted))
        top = dotted.split(".")[0]
        if not self.is_project(top):
            return External(plain_name(top))
        if self.by_name.get(dotted) is not None and not self.lazy:
            self.ensure_run(self.by_name[dotted])
        return self.load(top)

    def _above(self, parts: list[str], value: Value) -> Value:
        """The outermost of the modules without a file around a module that has another name."""
        for length in range(len(parts) - 1, 0, -1):
            around = ModuleScope("", ".".join(parts[:length]), is_package=True, tree=ir.Module([], [0], 0))
            around.state = RUN
            around.slots[parts[length]] = value
            value = ModuleValue(around)
        return value

    def imported(self, scope: ModuleScope, node: ir.ImportFrom, name: str) -> Value:
        """``from module import name`` in that file."""
        module = self.absolute(scope, node.module, node.level)
        if node.level == 0 and module not in self.by_name and not self.is_project(f"{module}.{name}"):
            found = self.roots.found(scope, f"{node.module}.{name}")
            if found is not None:
                return self.load(found.key)
        return self.member(module, name)

    def member(self, module: str, name: str) -> Value:
        """``from module import name``, by the key of the module."""
        scope = self.by_name.get(module)
        if scope is None and module not in self.packages:
            canonical = self.knowledge.canonical(f"{plain_name(module)}.{name}" if module else name)
            if self.knowledge.constant(canonical) is not None:
                owner, _, attr = canonical.rpartition(".")
                return self.constant(owner, attr)
            return External(canonical)
        if scope is None:
            return self.load(f"{module}.{name}") if self.is_project(f"{module}.{name}") else Unknown(name)
        if self.lazy and scope.state == NOT_RUN and name in scope.tree.bound_names:
            return Deferred(scope, name)
        self.ensure_run(scope)
        return self.attribute(scope, name)

    def attribute(self, scope: ModuleScope, name: str) -> Value:
        """``module.name`` as another file sees it."""
        value = scope.slots.get(name)
        if value is None and scope.state == NOT_RUN:
            self.ensure_run(scope)
            value = scope.slots.get(name)
        known = self._own_transform(scope, name)
        if known is not None:
            return known
        if value is not None:
            if isinstance(value, Deferred):
                resolved = self.resolve(value)
                if scope.state == RUN:
                    scope.slots[name] = resolved
                return resolved
            if name in scope.rebound and isinstance(value, (Const, Static)):
                return Unknown(name, host_test=True)
            return Unknown(name, host_test=True) if self.is_replaced(scope, name, value) else value
        below = f"{scope.key}.{name}"
        if self.is_project(below):
            return self.load(below)
        if scope.state == RUNNING:
            return Deferred(scope, name) if name in scope.tree.bound_names else Unknown(name)
        return Unknown(name)

    def _own_transform(self, scope: ModuleScope, name: str) -> Value | None:
        """A transform that the project itself defines, being a library that the knowledge tables describe."""
        knowledge = self.knowledge
        if scope.name.partition(".")[0] not in knowledge.libraries:
            return None
        canonical = knowledge.canonical(f"{scope.name}.{name}")
        return External(canonical) if knowledge.transform(canonical) is not None else None

    def star(self, module: str) -> dict[str, Value]:
        """What ``from module import *`` binds."""
        scope = self.by_name.get(module)
        if scope is None:
            fact = getattr(self.knowledge, "exports", None)
            names = fact(module) if fact is not None else ()
            return {n: self.member(module, n) for n in names}
        self.ensure_run(scope)
        names = scope.tree.star_exports
        if names is None:
            names = [n for n in scope.slots if isinstance(n, str) and not n.startswith("_")]
        return {n: self.attribute(scope, n) for n in names}
