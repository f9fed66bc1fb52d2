"""The machine for one project, with a tracker of every kind.

Trackers are found by walking their package, so a new one is a new file there and nothing else.

"""

from __future__ import annotations

import functools
import importlib
import pkgutil

from flake8_jax.core.registry import Rule
from flake8_jax.knowledge import Knowledge
from flake8_jax.semantics import trackers
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.interpreter import statements
from flake8_jax.semantics.interpreter.attributes import external_attribute
from flake8_jax.semantics.interpreter.running import run_module
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.program import Program
from flake8_jax.semantics.machine.tracker import Tracker
from flake8_jax.semantics.models import donation

assert statements.__name__  # importing it fills in how statements run
assert donation.__name__  # and this one, how what a transform returned is called


@functools.cache
def tracker_kinds() -> tuple[type[Tracker], ...]:
    """Every class of tracker, by the name of its module."""
    found: list[type[Tracker]] = []
    for info in pkgutil.iter_modules(trackers.__path__, f"{trackers.__name__}."):
        module = importlib.import_module(info.name)
        found += [
            kind
            for kind in vars(module).values()
            if isinstance(kind, type) and issubclass(kind, Tracker) and kind.__module__ == info.name
        ]
    return tuple(found)


def assemble(knowledge: Knowledge, scopes: list[ModuleScope], rules: tuple[Rule, ...]) -> Machine:
    """A machine that has run nothing yet."""
    program = Program(knowledge, scopes)
    m = Machine(program, rules, tracker_kinds())
    program.run_module = functools.partial(run_module, m)
    program.constant = functools.partial(external_attribute, m)
    return m
