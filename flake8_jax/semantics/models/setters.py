"""Library functions that change a setting of JAX or of the process (see ``trackers.process``).

Vocabulary
----------
setting     a variable of the environment or an option of ``jax.config``. switch: a context manager that sets an option.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.code import names_tested_around
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import NONE, Const, ExternalInstance, HostArray, Unknown, Value
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.tables import library
from flake8_jax.semantics.trackers.process import (
    COMPUTED,
    OPTIONS_AT_START,
    STARTED,
    Made,
    emit_setting,
    excuse,
    set_variable,
    set_variables,
    track_written,
)


def body_of(frame: Frame) -> list[ir.Stmt]:
    return frame.fn.body if frame.fn is not None else frame.scope.tree.body


@library("jax.config.update")
def _config_update(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``jax.config.update(name, value)``."""
    given = dict(zip(("name", "val"), args.values, strict=False)) | args.kwargs
    name, value = given.get("name"), given.get("val", Unknown("value"))
    if isinstance(name, Const) and isinstance(name.value, str):
        excuse(m, frame, name.value.upper())
        if name.value == "jax_disable_jit":
            if frame.fn is None:
                frame.scope.unjitted = isinstance(value, Const) and value.value is True
            m.program.unjitting |= names_tested_around(body_of(frame), node)
        point = COMPUTED if name.value == "jax_enable_x64" else STARTED if name.value in OPTIONS_AT_START else ""
        emit_setting(m, frame, node, Made(name.value, "option", value, point))
    return NONE


@library("os.environ.setdefault", "os.environ.__setitem__")
def _environ_item(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``os.environ.setdefault(key, value)``, and ``__setitem__``."""
    track_written(m, frame, node)
    if len(args.values) > 1:
        set_variable(m, frame, node, args.values[0], args.values[1])
    return HostArray()


@library("os.environ.update")
def _environ_update(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    track_written(m, frame, node)
    for values in args.values:
        set_variables(m, frame, node, values)
    for name, value in args.kwargs.items():
        set_variable(m, frame, node, Const(name), value)
    return NONE


@library("jax.distributed.initialize")
def _initialize(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``jax.distributed.initialize()``."""
    emit_setting(m, frame, node, Made("jax.distributed.initialize", "call", NONE, STARTED))
    return NONE


def _numpyro(name: str) -> Any:
    """``numpyro.set_platform`` updates an option, ``numpyro.set_host_device_count`` writes ``XLA_FLAGS``."""

    def handler(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
        value = next(iter((*args.values, *args.kwargs.values())), Unknown("value"))
        emit_setting(m, frame, node, Made(name, "call", value, STARTED))
        return NONE

    return handler


for _name in ("set_platform", "set_host_device_count"):
    library(f"numpyro.{_name}", f"numpyro.util.{_name}")(_numpyro(f"numpyro.{_name}"))


@library("numpyro.enable_x64", "numpyro.util.enable_x64")
def _numpyro_x64(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    value = next(iter((*args.values, *args.kwargs.values())), Const(True))
    excuse(m, frame, "JAX_ENABLE_X64")
    emit_setting(m, frame, node, Made("numpyro.enable_x64", "call", value, COMPUTED))
    return NONE


@library("jax.debug.breakpoint")
def _breakpoint(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``jax.debug.breakpoint()``; one that passes on what it was given is a tool itself."""
    if args.double_star is None:
        emit_setting(m, frame, node, Made("jax.debug.breakpoint", "call", NONE))
    return NONE


def _switch(function: str, option: str) -> Any:
    """A context manager that switches an option on or, given False, off."""

    def handler(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
        value = next(iter((*args.values, *args.kwargs.values())), Const(True))
        emit_setting(m, frame, node, Made(option, "context", value))
        return ExternalInstance(function, dict(args.kwargs))

    return handler


library("jax.disable_jit")(_switch("jax.disable_jit", "jax_disable_jit"))
library("jax.debug_nans")(_switch("jax.debug_nans", "jax_debug_nans"))
library("jax.debug_infs")(_switch("jax.debug_infs", "jax_debug_infs"))
library("jax.checking_leaks")(_switch("jax.checking_leaks", "jax_check_tracer_leaks"))
