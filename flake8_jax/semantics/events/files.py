"""Events about a file as a whole."""

from __future__ import annotations

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.events.context import Context


class FileRead(msgspec.Struct, frozen=True, eq=False):
    """The top level of a file has run: for rules that read the code of a whole file. ``at``: the first statement. The modules,
    classes and functions that the file imports or defines are in the slots of ``context.scope``. ``files``: those of the
    project, this one included."""

    context: Context
    at: ir.Node
    files: tuple[ModuleScope, ...] = ()
