"""The machine for one project, with a tracker of every kind.

Packages are walked: a new tracker, operation or model is a new file there and nothing else.

"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from types import ModuleType

from flake8_jax.core.registry import Rule
from flake8_jax.knowledge import Knowledge
from flake8_jax.semantics import interpreter, models, trackers
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.interpreter.objects import external_attribute
from flake8_jax.semantics.interpreter.running import run_module
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.program import Program
from flake8_jax.semantics.machine.tracker import Tracker


@functools.cache
def tracker_kinds() -> tuple[type[Tracker], ...]:
    """Every class of tracker, by the name of its module."""
    return tuple(
        kind
        for module in _modules_of(trackers)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Tracker) and kind.__module__ == module.__name__
    )


@functools.cache
def fill_tables() -> None:
    """Import every module that says in a table of ``machine.dispatch`` how something runs."""
    for package in (interpreter, models):
        _modules_of(package)


def _modules_of(package: ModuleType) -> list[ModuleType]:
    names = [info.name for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")]
    return [importlib.import_module(name) for name in names]


def assemble(knowledge: Knowledge, scopes: list[ModuleScope], rules: tuple[Rule, ...]) -> Machine:
    """A machine that has run nothing yet."""
    fill_tables()
    program = Program(knowledge, scopes)
    m = Machine(program, rules, tracker_kinds())
    program.run_module = functools.partial(run_module, m)
    program.constant = functools.partial(external_attribute, m)
    return m
