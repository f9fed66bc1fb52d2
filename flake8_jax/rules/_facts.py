"""What the knowledge tables say of the function that an event calls, its module's default included.

Limitations: facts of methods have no module default.
"""

from __future__ import annotations

from flake8_jax.core.cells import SUFFIX
from flake8_jax.core.findings import Level
from flake8_jax.core.testing import TEST, is_test_function
from flake8_jax.semantics.events.events import Context, LibraryCall, MethodCall

PRINT = "print"
LOG = "log"
RANDOM = "random"


def host_behaviour(event: LibraryCall) -> str:
    """``FunctionFact.host`` of the called function: what it does to a tracer; empty where nothing is known."""
    if event.fact is not None:
        return event.fact.host
    return event.namespace.host if event.namespace is not None else ""


def effect(event: LibraryCall | MethodCall) -> str | None:
    """``FunctionFact.impure`` of the called function: what it does to the world."""
    if event.fact is not None:
        return event.fact.impure
    if isinstance(event, LibraryCall):
        if event.name == "builtins.print":
            return PRINT
        if event.namespace is not None:
            return event.namespace.impure
    return None


def is_test(context: Context) -> bool:
    """By the conventions of test runners: a test file, or a test function of another file."""
    around = context.function.split(".")[:-1]
    in_test = any(part.startswith(TEST) for part in around) or (
        context.inner is not None and is_test_function(context.inner)
    )
    return context.scope.is_test or in_test


def level_in_notebook(context: Context) -> Level | None:
    """The level where what is unwise is mostly shown on purpose, or tried once: in a notebook."""
    return "info" if context.scope.path.endswith(SUFFIX) else None
