"""Keys that stay as they are after a draw, where the next call finds them: in an object, or in what a function returns.

    def act(self, x):
        return jax.random.categorical(self.key, f(x))     nothing stores another key in self.key
    def sample(x, key):
        return x + jax.random.normal(key, x.shape), key   who goes on with this key draws the same numbers

Vocabulary
----------
kept        the attribute of an object, or the parameter that a function returns.
starting    methods that run once for each object.

Limitations: keys that reach the draw through another function, attributes that code of other modules stores.
"""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report
from flake8_jax.rules._facts import is_test
from flake8_jax.semantics.domain.code import all_statements, bound_paths, last_name, nodes_around, path_of
from flake8_jax.semantics.domain.equal_draws import mentions_equal_draws
from flake8_jax.semantics.events.events import LibraryCall

_STARTING = re.compile(
    r"__(?!call__|next__|iter__|getitem__)|"
    r"_*(?:init|setup|build|create|make|reset|load|prepare|run|train|fit|main|start|generate|get_data)"
)
"""Names of methods that run once for each object, or start it from the beginning."""
_LIBRARY = frozenset(
    {"object", "ABC", "Protocol", "Generic", "Module", "nn.Module", "nnx.Module", "eqx.Module", "abc.ABC"}
)
_LIBRARY_CLASSES = re.compile(r"(?:(?:flax\.)?(?:nn|nnx|linen)|eqx|equinox|hk|abc|typing)\.\w+")
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "setup"})
_REPLACING = frozenset({"replace", "_replace", "tree_at", "setattr", "__setattr__"})


def kept_key(event: LibraryCall) -> Report | None:
    """A draw from a key that nothing replaces before the next call."""
    fact, context, fn = event.fact, event.context, event.context.inner
    key = event.bound_nodes.get("key") or (event.nodes[0] if event.nodes else None)
    if fact is None or fn is None or fact.key_effect not in ("consume", "split") or not event.used:
        return None
    if not isinstance(key, (ir.Attribute, ir.Name)) or context.presumed or context.shapes_only or is_test(context):
        return None
    if _is_said(event):
        return None
    return _in_object(event, key, fn) if isinstance(key, ir.Attribute) else _returned(event, key, fn)


def _in_object(event: LibraryCall, key: ir.Attribute, fn: ir.Function) -> Report | None:
    """``self.key``, which no code of the class and of the file stores outside of the constructor."""
    tree, around = (
        event.context.scope.tree,
        list(nodes_around(event.context.scope.tree.body, event.at.start, event.at.end)),
    )
    classes = [node for node in around if isinstance(node, ir.ClassDef)]
    methods = [node.function for node in around if isinstance(node, ir.FunctionDef)]
    if not classes or not methods or not isinstance(key.value, ir.Name) or not methods[0].params:
        return None
    method = methods[0]
    if key.value.id != method.params[0].name or _STARTING.match(method.name) or fn.is_generator:
        return None
    if not all(_is_known_base(base, tree) for base in classes[0].bases) or _is_property(classes[0], key.attr):
        return None
    if not any(isinstance(one, ir.ClassDef) and _gives(one, key.attr) for one in tree.body):
        return None
    if any(_replaces(node, key.attr) for statement in tree.body for node in walk(statement)):
        return None
    if _makes_another(method, classes[0].name):
        return None
    return Report(
        event.at,
        f"`{path_of(key)}` is the same key in every call of `{method.name}`, so each call draws the same numbers; "
        "split it and store a new key, or take a key as an argument",
        "warning",
        preview=True,
    )


def _makes_another(method: ir.Function, name: str) -> bool:
    """The method makes an object of its own class, which may hold the next key: ``return Stream(key), sub``."""
    calls = [node for statement in method.body for node in walk(statement) if isinstance(node, ir.Call)]
    return any(path_of(call.func) in (name, "cls", "self.__class__") or _is_own_type(call.func) for call in calls)


def _is_own_type(func: ir.Expr) -> bool:
    """``type(self)``."""
    return isinstance(func, ir.Call) and path_of(func.func) == "type" and len(func.args) == 1


def _outcome(event: LibraryCall) -> str:
    """What the next use of the key has in common with this one."""
    splits = event.fact is not None and event.fact.key_effect == "split"
    return "gets the same keys" if splits else "draws the same numbers"


def _is_known_base(base: ir.Argument, tree: ir.Module) -> bool:
    """A base class that stores no key: one of a library, or of this file, whose stores are found with all others."""
    name = path_of(base.value)
    if base.keyword is not None or name in _LIBRARY or _LIBRARY_CLASSES.fullmatch(name):
        return True
    return any(isinstance(one, ir.ClassDef) and one.name == name for one in tree.body)


def _gives(class_: ir.ClassDef, name: str) -> bool:
    """The class has the attribute as a field, or its constructor stores it."""
    for one in class_.body:
        if isinstance(one, ir.AnnAssign) and path_of(one.target) == name:
            return True
        fn = one.function if isinstance(one, ir.FunctionDef) else None
        if fn is not None and fn.name in _CONSTRUCTORS and any(f"self.{name}" in bound_paths(part) for part in fn.body):
            return True
    return False


def _is_property(class_: ir.ClassDef, name: str) -> bool:
    """``self.key`` computes a key."""
    return any(isinstance(one, ir.FunctionDef) and one.function.name == name for one in class_.body)


def _replaces(node: object, name: str) -> bool:
    """The code stores another key in the attribute of any object, or makes an object with another one."""
    if isinstance(node, ir.Call):
        named = any(argument.keyword == name for argument in node.args)
        named |= any(isinstance(part, ir.Constant) and part.value == name for part in walk(node))
        named |= any(isinstance(part, ir.Attribute) and part.attr == name for part in walk(node))
        return named and last_name(node.func) in _REPLACING
    if isinstance(node, ir.FunctionDef) and node.function.name not in _CONSTRUCTORS:
        bound = [bound_paths(one) for one in node.function.body]
        return any(path.endswith(f".{name}") for paths in bound for path in paths)
    return False


def _returned(event: LibraryCall, key: ir.Name, fn: ir.Function) -> Report | None:
    """A parameter that the function returns as it is, beside what it drew of it."""
    if not any(p.name == key.id for p in fn.params) or fn.is_lambda or fn.is_generator:
        return None
    bound = [one for one in all_statements(fn.body) if one.end > event.at.start and key.id in bound_paths(one)]
    if bound or any(isinstance(one, (ir.For, ir.While)) for one in nodes_around(fn.body, event.at.start, event.at.end)):
        return None
    given_back = _return_after(fn.body, event.at)
    if given_back is None or not isinstance(given_back.value, ir.Tuple):
        return None
    parts = [part for one in given_back.value.elts for part in (one.elts if isinstance(one, ir.Tuple) else [one])]
    if not any(isinstance(part, ir.Name) and part.id == key.id for part in parts):
        return None
    return Report(
        event.at,
        f"`{fn.name}` returns `{key.id}`, which it has used here, so a caller that goes on with it {_outcome(event)}; "
        f"split `{key.id}` first and return a new key",
        "warning",
        preview=True,
    )


def _return_after(body: list[ir.Stmt], node: ir.Node) -> ir.Return | None:
    """The ``return`` that ends each run of the function that comes by this node; None if there are several."""
    found: list[ir.Return] = []
    around = list(nodes_around(body, node.start, node.end))
    if isinstance(around[0], ir.Return):
        return around[0]
    for block in (
        body,
        *(part for one in around for part in (getattr(one, "body", None), getattr(one, "orelse", None))),
    ):
        if isinstance(block, list) and any(one.start <= node.start and node.end <= one.end for one in block):
            found += [one for one in all_statements(block) if isinstance(one, ir.Return) and one.end > node.start]
    kinds = list(dict.fromkeys(id(one) for one in found))
    return found[0] if len(kinds) == 1 else None


def _is_said(event: LibraryCall) -> bool:
    """The line says that equal numbers are meant."""
    text, start = event.context.scope.text, event.at.start
    line = text[text.rfind("\n", 0, start) + 1 :].partition("\n")[0]
    return mentions_equal_draws(line.partition("#")[2])
