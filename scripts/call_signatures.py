"""Writes knowledge/signatures/*.toml: the parameters of public functions, classes and methods, and the attributes of objects.

They are those of every release that is asked.

    python scripts/call_signatures.py [--check] [--library LIBRARY …] PYTHON …

Every PYTHON is an interpreter that can import the libraries of the tables, or those that ``--library`` names, whose tables
alone are then written. Together they have some releases of each, with the oldest and the newest that the tables are to cover.
A function stands under the name that the knowledge tables give it, and with each signature that some release gives it under any
of its names. Left out are functions that take any arguments, and classes whose constructor says nothing. Methods and attributes
are those of the classes that the knowledge tables describe; a class that computes attributes (``__getattr__``) has no line for
them. An attribute that ends in ``=`` is surely no method.
``--check`` writes nothing and exits with 1 if a file would change.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from flake8_jax.knowledge import Knowledge, load
from flake8_jax.knowledge.call_signatures import LIBRARIES
from flake8_jax.knowledge.history import version_of

FOLDER = Path(__file__).resolve().parent.parent / "flake8_jax" / "knowledge" / "signatures"
TITLES = {"jax": "JAX", "flax": "Flax", "optax": "optax", "equinox": "Equinox", "haiku": "Haiku", "numpyro": "NumPyro"}
MODULES = (
    "jax", "jax.lax", "jax.nn", "jax.nn.initializers", "jax.numpy", "jax.numpy.fft", "jax.numpy.linalg", "jax.random",
    "jax.scipy.linalg", "jax.scipy.signal", "jax.scipy.special", "jax.tree", "jax.tree_util", "jax.image", "jax.ops",
    "equinox", "equinox.nn", "flax.core", "flax.jax_utils", "flax.linen", "flax.nnx", "flax.serialization",
    "flax.training.checkpoints", "flax.training.common_utils", "flax.training.train_state", "flax.traverse_util",
    "haiku", "haiku.data_structures", "haiku.initializers", "haiku.nets", "haiku.pad",
    "numpyro", "numpyro.contrib.control_flow", "numpyro.diagnostics", "numpyro.distributions",
    "numpyro.distributions.constraints", "numpyro.distributions.transforms", "numpyro.handlers", "numpyro.infer",
    "numpyro.infer.autoguide", "numpyro.infer.initialization", "numpyro.infer.reparam", "numpyro.infer.util", "numpyro.optim",
    "numpyro.util",
    "optax", "optax.contrib", "optax.losses", "optax.projections", "optax.schedules", "optax.tree", "optax.tree_utils",
)  # fmt: skip
WITHOUT_MEMBERS = ("haiku", "numpyro")
"""Libraries whose objects get attributes in other ways as well."""
WITHOUT_METHODS = ("haiku", "numpyro")
"""Libraries whose objects stand where a subclass takes other arguments, or pass through functions that make others of them."""
HARMLESS = ("builtins.object", "builtins.tuple", "flax.linen.module.Module", "equinox._module._module.Module")
"""Classes whose ``__getattr__`` finds nothing that is not declared."""
BASES = ("flax.linen.Module", "flax.nnx.Module", "equinox.Module")
BY_HAND = {
    "flax.training.train_state.TrainState.apply_gradients": "*, grads, step=, apply_fn=, params=, tx=, opt_state=",
    "flax.training.train_state.TrainState.create": "*, apply_fn, params, tx",
    "flax.training.train_state.TrainState.replace": "*, step=, apply_fn=, params=, tx=, opt_state=",
}
"""Methods that hand their keyword arguments to the constructor."""
PROBE = """
import ast, importlib, inspect, json, sys, textwrap, warnings
warnings.simplefilter("ignore")
import jax.numpy as jnp
import jax
from jax._src import core

def written(parameters):
    parts, star, slash = [], False, False
    for p in parameters:
        if slash and p.kind is not p.POSITIONAL_ONLY:
            parts.append("/")
        slash = p.kind is p.POSITIONAL_ONLY
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
        star = star or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        parts.append(mark + p.name + ("" if mark or p.default is p.empty else "="))
    return ", ".join(parts + ["/"] if slash else parts)

def parameters(value):
    if not isinstance(value, type):
        found = list(inspect.signature(value).parameters.values())
        if found and getattr(value, "_default_context_manager_value", None) is found[0].default:
            return [found[0].replace(default=found[0].empty)]  # a setting of JAX: the default only says that there is none
        return found
    if issubclass(value, tuple) and hasattr(value, "_fields"):
        return list(inspect.signature(value.__new__).parameters.values())[1:]
    if not inspect.isfunction(value.__init__):
        raise ValueError
    return list(inspect.signature(value.__init__).parameters.values())[1:]

def taken(method):
    "The parameters of a method, or of what a decorator put in its place, if that does not take any arguments."
    outer = list(inspect.signature(method, follow_wrapped=False).parameters.values())
    any_arguments = all(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in outer if p.name != "self")
    return list(inspect.signature(method).parameters.values()) if any_arguments else outer

def stored(cls):
    "What the methods of a class store in its objects, and what it declares."
    names = set()
    for base in cls.__mro__:
        names |= set(vars(base).get("__annotations__", {})) if base is not object else set()
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(base)))
        except (OSError, TypeError, SyntaxError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.add(node.attr)
    return names

def data_of(cls):
    "The attributes that are no methods: properties, members, fields of tuples."
    kinds = (property, int, bool, str)
    names = {name for name in dir(cls) if isinstance(getattr(cls, name, None), kinds)}
    return names | set(getattr(cls, "_fields", ()))

def described(cls):
    "The classes that compute attributes, all attributes, those that are no methods, the signatures of the methods."
    dynamic = [f"{base.__module__}.{base.__qualname__}" for base in cls.__mro__
               if "__getattr__" in vars(base) or "__getattribute__" in vars(base)]
    methods, fields = {}, getattr(cls, "__dataclass_fields__", ())
    for name in dir(cls):
        value = getattr(cls, name, None)
        if name in fields or (name.startswith("_") and name != "__call__") or isinstance(value, type) or not callable(value):
            continue
        if name == "__call__" and not any("__call__" in vars(base) for base in cls.__mro__):
            continue
        try:
            took = taken(value)
        except (TypeError, ValueError):
            continue
        is_bound = inspect.ismethod(value) or isinstance(inspect.getattr_static(cls, name), staticmethod)
        methods[name] = written(took if is_bound else took[1:])
    return dynamic, sorted(set(dir(cls)) | stored(cls)), sorted(data_of(cls)), methods

def described_array():
    "The same of arrays and tracers."
    x, key = jnp.ones((2, 2)), jax.random.key(0)
    names = {*dir(type(x)), *dir(core.Tracer), *dir(core.ShapedArray), *dir(type(key)), *dir(x), *dir(key)}
    data, methods = [], {}
    for name in dir(x):
        try:
            value = getattr(x, name)
            if not callable(value):
                data.append(name)
            elif not name.startswith("_") and name != "at":
                methods[name] = written(inspect.signature(value).parameters.values())
        except (AttributeError, NotImplementedError, TypeError, ValueError):
            pass
    return [], sorted(names), sorted(data), methods

found, versions, classes = {}, {}, {"jax.Array": described_array()}
for path in json.load(sys.stdin):
    try:
        module = importlib.import_module(path)
    except ImportError:
        continue
    top = path.partition(".")[0]
    versions[top] = importlib.import_module(top).__version__
    for name in dir(module):
        value = getattr(module, name, None)
        if name.startswith("_") or not callable(value) or inspect.ismodule(value):
            continue
        if isinstance(value, type) and issubclass(value, BaseException):
            continue
        if isinstance(value, type) and f"{path}.{name}" != "jax.Array":
            classes[f"{path}.{name}"] = described(value)
        try:
            found[f"{path}.{name}"] = written(parameters(value))
        except (TypeError, ValueError):
            pass
json.dump([versions, found, classes], sys.stdout)
"""


Described = tuple[list[str], list[str], list[str], dict[str, str]]
"""Of a class: the classes that compute attributes, all attributes, those that are no methods, signatures of methods."""


def probe(python: str, libraries: Sequence[str]) -> tuple[dict[str, str], dict[str, str], dict[str, Described]]:
    """The releases that an interpreter has, the signatures of their functions, and their classes."""
    modules = [module for module in MODULES if module.partition(".")[0] in libraries]
    done = subprocess.run([python, "-c", PROBE], input=json.dumps(modules), capture_output=True, text=True, check=True)
    versions, found, classes = json.loads(done.stdout)
    return versions, found, classes


def _is_open(signature: str) -> bool:
    """It takes any call."""
    return signature in ("*args, **kwargs", "*args, **kwds")


def merged(releases: list[dict[str, str]], knowledge: Knowledge) -> dict[str, list[str]]:
    """By canonical name, the signatures of all releases, those of the first release first."""
    signatures: dict[str, list[str]] = {}
    for found in releases:
        for name, signature in sorted(found.items()):
            known = signatures.setdefault(knowledge.canonical(name), [])
            if signature not in known:
                known.append(signature)
    return {name: known for name, known in signatures.items() if not any(map(_is_open, known))}


def methods_of(classes: dict[str, Described], knowledge: Knowledge) -> dict[str, str]:
    """The signatures of the methods of the classes that the tables describe, in one release: each once, for the base that has
    the same."""
    found = {}
    of_bases = {base: classes[base][3] for base in BASES if base in classes}
    for name, (_, _, _, methods) in classes.items():
        cls = knowledge.canonical(name)
        if knowledge.class_(cls) is None or cls.partition(".")[0] in WITHOUT_METHODS:
            continue
        for method, said in methods.items():
            if not any(base != cls and own.get(method) == said for base, own in of_bases.items()):
                found[f"{cls}.{method}"] = BY_HAND.get(f"{cls}.{method}", said)
    return found


def members(releases: list[dict[str, Described]], knowledge: Knowledge) -> dict[str, str]:
    """By class, the attributes that its objects have in any release; with ``=`` if some release has data there, and none a
    method."""
    have: dict[str, set[str]] = {}
    are_data: dict[str, set[str]] = {}
    are_methods: dict[str, set[str]] = {}
    dynamic: set[str] = set()
    for classes in releases:
        for name, (computing, attributes, data, methods) in classes.items():
            cls = knowledge.canonical(name)
            if knowledge.class_(cls) is None:
                continue
            if set(computing).difference(HARMLESS):
                dynamic.add(cls)
            public = {one for one in attributes if not one.startswith("_")}
            have.setdefault(cls, set()).update(public)
            are_data.setdefault(cls, set()).update(public.intersection(data))
            are_methods.setdefault(cls, set()).update(methods)
    return {
        cls: " ".join(f"{name}=" if name in are_data[cls] - are_methods[cls] else name for name in sorted(names))
        for cls, names in have.items()
        if cls not in dynamic
    }


def table(library: str, versions: list[str], signatures: dict[str, list[str]], attributes: dict[str, str]) -> str:
    """The text of one file."""
    lines = [
        f"# {TITLES[library]}: the parameters of functions, the attributes of objects. Written by scripts/call_signatures.py.",
        "",
        "[releases]",
        f'"title" = "{TITLES[library]}"',
        f'"newest" = "{max(versions, key=version_of)}"',
        f'"oldest" = "{min(versions, key=version_of)}"',
        "",
        "[signatures]",
        *(f'"{name}" = "{" | ".join(known)}"' for name, known in sorted(signatures.items())),
        "",
        "[members]",
        *(f'"{name}" = "{names}"' for name, names in sorted(attributes.items())),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--library", action="append", choices=LIBRARIES)
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    options = parser.parse_args()
    libraries = options.library or LIBRARIES
    answers = [probe(python, libraries) for python in options.pythons]
    probed = sorted(answers, key=lambda answer: version_of(answer[0][libraries[0]]), reverse=True)
    knowledge = load()
    signatures = merged([found | methods_of(classes, knowledge) for _, found, classes in probed], knowledge)
    attributes = members([classes for _, _, classes in probed], knowledge)
    changed = False
    for library in libraries:
        own = {name: known for name, known in signatures.items() if name.partition(".")[0] == library}
        wanted = () if library in WITHOUT_MEMBERS else (library,)
        of_classes = {name: names for name, names in attributes.items() if name.partition(".")[0] in wanted}
        text = table(library, [versions[library] for versions, _, _ in probed], own, of_classes)
        path = FOLDER / f"{library}.toml"
        changed = changed or not path.exists() or path.read_text(encoding="utf-8") != text
        if not options.check:
            path.write_text(text, encoding="utf-8")
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
