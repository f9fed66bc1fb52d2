"""Which layers act differently in training, which classes hold them, and what switches them.

Vocabulary
----------
mode layer  a layer that acts in one way in training and in another in evaluation: Dropout, BatchNorm.
switch      code that sets the mode of an object for the calls that follow: ``model.eval()``, ``eqx.nn.inference_mode(model)``.
flag        an argument of a call that sets the mode for this call: ``train=True``, ``deterministic=False``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.rules._units import library_name
from flake8_jax.semantics.domain.code import last_name, path_of
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import ClassValue, FunctionValue

LAYERS = {
    "flax.nnx.Dropout": "Dropout",
    "flax.nnx.BatchNorm": "BatchNorm",
    "equinox.nn.Dropout": "Dropout",
    "equinox.nn.BatchNorm": "BatchNorm",
}
"""The mode layers of libraries whose objects keep their mode."""
TRAINING_FLAGS = frozenset({"train", "training", "is_training", "is_train", "train_mode", "training_mode"})
EVALUATION_FLAGS = frozenset({"deterministic", "use_running_average", "inference", "eval_mode", "is_eval"})
_SWITCH = re.compile(
    r"\.eval\(\s*\)|\bset_attributes\(|\bset_mode\(|\bnnx\.view\(|\b(?:tree_)?inference_mode\b|\btree_inference\b"
    r"|\b(?:deterministic|use_running_average)\b(?!\s*=\s*False)|\binference\s*[=:](?!\s*False)"
)
_COMMENT = re.compile(r"#.*")
_INTENDED = re.compile(r"(?i)mc[ _-]?dropout|monte[ _-]?carlo|bayes|uncertaint|ensemble")
_RATES = frozenset({"rate", "p"})
_DEPTH = 6


@dataclass(frozen=True, eq=False)
class Model:
    """A class of the project with what it holds, in all classes and functions that it is made of. names: the mode layers.
    parts: the classes, with their files. is_one_of: the object may be of another class, which has mode layers, too."""

    node: ir.ClassDef | ir.Call
    library: str
    names: frozenset[str]
    parts: tuple[tuple[ir.ClassDef, ModuleScope], ...]
    is_one_of: bool = False

    @property
    def name(self) -> str:
        """The name of the class, or of the function of a library that puts layers together."""
        return self.node.name if isinstance(self.node, ir.ClassDef) else last_name(self.node.func)

    @property
    def has_flag(self) -> bool:
        """A method of it has a parameter that sets the mode, whatever the layers get."""
        methods = [f for cls, _ in self.parts for f in methods_of(cls)]
        return any(p.name in TRAINING_FLAGS | EVALUATION_FLAGS for f in methods for p in f.params)


def methods_of(cls: ir.ClassDef) -> list[ir.Function]:
    """The methods that the body of a class defines."""
    return [s.function for s in cls.body if isinstance(s, ir.FunctionDef)]


def model_of(cls: ir.ClassDef | ir.Call, scope: ModuleScope) -> Model:
    """What is known of a class, or of what a call puts together, by what its code names."""
    names: set[str] = set()
    libraries: set[str] = set()
    parts: list[tuple[ir.ClassDef, ModuleScope]] = []
    seen: set[int] = set()
    todo: list[tuple[ir.ClassDef | ir.Function | ir.Call, ModuleScope, int]] = [(cls, scope, _DEPTH)]
    while todo:
        node, where, depth = todo.pop()
        if id(node) in seen or not depth:
            continue
        seen.add(id(node))
        if isinstance(node, ir.ClassDef):
            parts.append((node, where))
        for part in walk(node):
            if isinstance(part, ir.Call) and library_name(part.func, where) in LAYERS and _is_off(part):
                seen.add(id(part.func))
            if id(part) in seen or not isinstance(part, (ir.Name, ir.Attribute)):
                continue
            name = library_name(part, where)
            if name in LAYERS:
                names.add(LAYERS[name])
                libraries.add(name.partition(".")[0])
            value = where.slots.get(part.id) if isinstance(part, ir.Name) else None
            if isinstance(value, ClassValue):
                todo.append((value.node, value.scope, depth - 1))
            elif isinstance(value, FunctionValue):
                todo.append((value.fn, value.scope, depth - 1))
    library = libraries.pop() if len(libraries) == 1 else ""
    return Model(cls, library, frozenset(names), tuple(parts))


def _is_off(call: ir.Call) -> bool:
    """``nnx.Dropout(0.0, …)`` drops nothing."""
    rates = [
        a.value for n, a in enumerate(call.args) if a.keyword in _RATES or (n == 0 and not a.keyword and not a.star)
    ]
    return any(isinstance(rate, ir.Constant) and rate.kind in ("int", "float") and rate.value == 0 for rate in rates)


@dataclass(frozen=True, eq=False)
class Project:
    """scope: the file that is read. files: those of the project."""

    scope: ModuleScope
    files: tuple[ModuleScope, ...]

    @cached_property
    def others(self) -> list[ModuleScope]:
        """The other files that may run in one program with it: a notebook is a program of its own."""
        return [f for f in self.files if f is not self.scope and not f.cells and not f.is_test]

    @cached_property
    def is_intended(self) -> bool:
        """The file says that it draws from its layers in evaluation on purpose."""
        return _INTENDED.search(self.scope.text) is not None

    @cached_property
    def assignments(self) -> list[ir.Assign]:
        """All assignments of the file."""
        return [n for s in self.scope.tree.body for n in walk(s) if isinstance(n, ir.Assign)]

    @property
    def has_layers(self) -> bool:
        """Some file names a mode layer."""
        return LAYER.search(self.scope.text) is not None or _program(self.files).has_layers

    def is_switched(self, end: int) -> bool:
        """Some code switches modes: of another file, or of this one up to the offset."""
        others = _program(self.files).switching - {self.scope}
        return bool(others) or _switches(self.scope.text[:end])

    @cached_property
    def models(self) -> list[Model]:
        """The classes with a ``__call__`` of their own that some code outside of them makes objects of; else all that no other
        one names."""
        if self.scope.cells:
            program = _program_of((self.scope, *_shared(self.files)))
        else:
            program = _program(self.files)
        roots = [(cls, f) for cls, f in program.classes if cls.name in program.made]
        if not roots:
            named = {n.id for cls, _ in program.classes for s in cls.body for n in walk(s) if isinstance(n, ir.Name)}
            roots = [(cls, f) for cls, f in program.classes if cls.name not in named]
        return [model_of(cls, f) for cls, f in roots]


LAYER = re.compile(r"(?i)dropout|batch_?norm")


@dataclass(frozen=True, eq=False)
class _Program:
    """classes: the modules. made: the names of all that code outside of modules calls. switching: the files that switch."""

    has_layers: bool
    switching: frozenset[ModuleScope]
    classes: list[tuple[ir.ClassDef, ModuleScope]]
    made: frozenset[str]


def _shared(files: tuple[ModuleScope, ...]) -> tuple[ModuleScope, ...]:
    return tuple(f for f in files if not f.cells and not f.is_test)


@lru_cache(maxsize=1)
def _program(files: tuple[ModuleScope, ...]) -> _Program:
    """What the files that may run in one program say, once for all rules that read files."""
    return _program_of(_shared(files))


def _program_of(files: tuple[ModuleScope, ...]) -> _Program:
    classes = [(s, f) for f in files for s in f.tree.body if isinstance(s, ir.ClassDef) and is_module(s)]
    made = frozenset(last_name(c.func) for f in files if classes for c in _calls_outside(f))
    switching = frozenset(f for f in files if _switches(f.text))
    return _Program(any(LAYER.search(f.text) for f in files), switching, classes, made)


def _switches(text: str) -> bool:
    return _SWITCH.search(_COMMENT.sub("", text)) is not None


_MODULE = re.compile(r"^(?:\w+\.)*(?:nnx\.|eqx\.|equinox\.)?Module$")


def is_module(cls: ir.ClassDef) -> bool:
    """A module of a library that is called."""
    bases = [path_of(base.value) for base in cls.bases]
    return any(_MODULE.match(b) for b in bases) and any(f.name == "__call__" for f in methods_of(cls))


def _calls_outside(scope: ModuleScope) -> Iterator[ir.Call]:
    for statement in scope.tree.body:
        if not isinstance(statement, ir.ClassDef):
            yield from (n for n in walk(statement) if isinstance(n, ir.Call))
        else:
            bases = {path_of(b.value).rpartition(".")[2] for b in statement.bases}
            if "Module" not in bases:
                yield from (n for n in walk(statement) if isinstance(n, ir.Call))


def flag_of(call: ir.Call) -> str:
    """``train=True``: the flag of a call that asks for training; of the module as well, if the call makes it."""
    for argument in call.args:
        if argument.keyword and _asks(argument.keyword, argument.value):
            return f"{argument.keyword}={argument.value.value}"  # type: ignore[union-attr]
    owner = call.func.value if isinstance(call.func, ir.Attribute) else call.func
    return flag_of(owner) if isinstance(owner, ir.Call) else ""


def _asks(name: str, value: ir.Expr | None) -> bool:
    """The value of a flag that asks for training."""
    if not isinstance(value, ir.Constant) or value.kind != "bool":
        return False
    return value.value is True if name in TRAINING_FLAGS else value.value is False and name in EVALUATION_FLAGS


def flag_of_field(cls: ir.ClassDef, call: ir.Call) -> str:
    """The flag that a field of a class has by default if the call of the class does not set it by name."""
    for statement in cls.body:
        if isinstance(statement, ir.AnnAssign) and isinstance(statement.target, ir.Name):
            name = statement.target.id
            given = any(a.keyword == name or not a.keyword for a in call.args)
            if not given and _asks(name, statement.value):
                return f"{name}={_spelled(statement.value)} by default"
    return ""


def sets_flag(call: ir.Call) -> bool:
    """The call says for itself which mode it is for."""
    return any(
        argument.keyword in TRAINING_FLAGS | EVALUATION_FLAGS
        or (isinstance(argument.value, ir.Constant) and argument.value.kind == "bool")
        or last_name(argument.value) in TRAINING_FLAGS | EVALUATION_FLAGS
        for argument in call.args
    )


def flag_of_parameter(function: ir.Function, call: ir.Call, skipped: int) -> str:
    """The flag of a function that a call leaves at a default for training, or sets to it by its position. skipped: how many
    parameters more than positional arguments stand before, such as ``self``; fewer if negative."""
    if any(a.star for a in call.args):
        return ""
    positional = [a.value for a in call.args if not a.keyword]
    for number, param in enumerate(function.params):
        if param.name not in TRAINING_FLAGS | EVALUATION_FLAGS or any(a.keyword == param.name for a in call.args):
            continue
        place = number - skipped
        if param.kind != "kwonly" and 0 <= place < len(positional):
            return f"{param.name}={_spelled(positional[place])}" if _asks(param.name, positional[place]) else ""
        if _asks(param.name, param.default):
            return f"{param.name}={_spelled(param.default)} by default"
    return ""


def _spelled(node: ir.Expr | None) -> str:
    return str(node.value) if isinstance(node, ir.Constant) else ""
