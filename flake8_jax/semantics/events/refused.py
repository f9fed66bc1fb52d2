"""Events about code that a library or Python refuses as soon as it runs: each tells of one such place."""

from __future__ import annotations

from typing import Literal

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain.values import ListValue, Site, Value
from flake8_jax.semantics.events.context import Context


class SequenceOperation(msgspec.Struct, frozen=True, eq=False):
    """An operator joins a list or a tuple with an array of JAX. ``at``: the operation; sequence: the list or tuple."""

    context: Context
    at: ir.BinOp
    sequence: ir.Expr
    is_list: bool


class ListIndex(msgspec.Struct, frozen=True, eq=False):
    """A list is the whole index of an array of JAX, or of its ``.at``. ``at``: the access."""

    context: Context
    at: ir.Subscript
    index: ListValue


class StagedResult(msgspec.Struct, frozen=True, eq=False):
    """A function that a transform traces has returned a value that holds more than arrays. name: of the transform. ``at``: what
    the function returns, or where the transform was applied."""

    context: Context
    at: ir.Node | Site
    name: str
    value: Value


class ArrayDefault(msgspec.Struct, frozen=True, eq=False):
    """A field of a data class has an array for its default. ``at``: the default, or the call of ``field`` that holds it. name:
    of the field. owner: the class. host: it is an array of NumPy."""

    context: Context
    at: ir.Node
    name: str
    owner: str
    host: bool


class MissingMember(msgspec.Struct, frozen=True, eq=False):
    """An object of a library has no such attribute in any known release. ``at``: where it is read. cls: the class of the
    object; ``method`` of a method. title: of the library. equivalent: a function of ``jax.numpy`` has the name. exists: there
    is such an attribute, but it is no method, and the code calls it. guess: only the call says that the object is an array.
    owner: the object is of this class of the project, and ``cls`` is the base of that."""

    context: Context
    at: ir.Attribute
    cls: str
    title: str
    equivalent: bool
    exists: bool
    guess: bool = False
    owner: str = ""


class StraySubmodule(msgspec.Struct, frozen=True, eq=False):
    """A method of a module of Flax linen that is neither ``setup`` nor decorated with ``nn.compact`` makes another module.
    method: the ``__call__`` that leads there. owner: the class of the object."""

    context: Context
    at: ir.Call
    method: ir.FunctionDef
    owner: str


class RelativePath(msgspec.Struct, frozen=True, eq=False):
    """Orbax gets a relative path, of a call of ``name``. ``at``: the argument. certain: the call raises by itself; else once it
    finds or writes an array. default: the text of an option that the path starts with, if only the default is known."""

    context: Context
    at: ir.Node
    name: str
    certain: bool
    default: str = ""


ContainerKind = Literal["list", "tuple", "dict"]


class PlainContainer(msgspec.Struct, frozen=True, eq=False):
    """A module of ``flax.nnx`` keeps modules or arrays in a plain container. ``at``: the assignment to the attribute, or the
    call that appends. owner: the class of the module. name: the attribute."""

    context: Context
    at: ir.Node
    kind: ContainerKind
    owner: str
    name: str


class StaticAttribute(msgspec.Struct, frozen=True, eq=False):
    """The constructor of a ``flax.nnx`` module assigns a module, a variable or an array to an attribute that is static, because
    its first value was a constant such as None. owner: the class. name: of the attribute. first: its first value, as text."""

    context: Context
    at: ir.Node
    owner: str
    name: str
    first: str


class AugmentedVariable(msgspec.Struct, frozen=True, eq=False):
    """An operator such as ``+=`` changes a variable of ``flax.nnx`` in place. ``at``: the statement. exact: it
    surely is one."""

    context: Context
    at: ir.AugAssign
    exact: bool
