"""Pallas: kernels, and what stages functions inside of them.

Vocabulary
----------
kernel      a function that gets a ``Ref`` for each input, output and scratch buffer, whatever its annotations say. A
            parameter may also be a tuple or an object of them.
body        the function that a decorator such as ``pl.when(condition)`` runs where it stands.

Limitations: how many Refs a kernel gets, which of them are semaphores, what a kernel writes.
"""

from __future__ import annotations

from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.signatures import defaults_of, keyword_names, parameter_names
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    REF,
    Array,
    BoundMethod,
    Const,
    External,
    ExternalInstance,
    FunctionValue,
    PartialValue,
    TransformedValue,
    Unknown,
    Value,
    known_elements,
)
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.application import Transformation
from flake8_jax.semantics.models.staging import enter, stage
from flake8_jax.semantics.models.tables import model

_FUNCTIONS = (FunctionValue, PartialValue, BoundMethod, TransformedValue)


def _ref() -> Value:
    return ExternalInstance(REF, level=ABSTRACT)


@model("pallas_call")
def _pallas_call(m: Machine, app: Transformation) -> Value:
    """``pallas_call(kernel, …)`` and the like give a callable of arrays; without the kernel a decorator."""
    parameter = app.fact.operands[0]
    kernel = app.bound.get(parameter)
    if kernel is None:
        return PartialValue(External(app.name), tuple(app.at.args.values), dict(app.at.args.kwargs))
    for member in known_elements(kernel) or joining.members_of(kernel):
        if isinstance(member, _FUNCTIONS):
            _stage_kernel(m, app, member)
    return Unknown("pallas")


def _stage_kernel(m: Machine, app: Transformation, kernel: Value) -> None:
    """Run a kernel on Refs. ``passes`` of the fact says what comes before them."""
    optional = defaults_of(kernel)
    required = [name for name in parameter_names(kernel) or [] if name not in optional]
    leading: list[Value] = [Unknown(descriptor) for descriptor in app.fact.passes]
    refs = [_ref() for _ in required[len(leading) :]]
    named = {name: _ref() for name in keyword_names(kernel) if name not in optional}
    options = {name: value for name, value in app.bound.items() if name not in app.fact.operands}
    arguments = Arguments([*leading, *refs][: len(required)], named, unknown_rest=True)
    stage(m, kernel, app.at.to(arguments), enter(m, app.fact, app.name, None, options))


@model("pallas_body")
def _pallas_body(m: Machine, app: Transformation) -> Value:
    """``@pl.when(condition)``, ``@pl.loop(0, n)``, ``@pl.core_map(mesh)``: the decorated function runs at once. ``passes`` of
    the fact says on which leading arguments."""
    given = app.at.args.values
    body = given[-1] if given else None
    if not isinstance(body, _FUNCTIONS):
        return PartialValue(External(app.name), tuple(given), dict(app.at.args.kwargs))
    leading: list[Value] = [
        Array(ABSTRACT, "int", 0) if descriptor == "int" else Unknown(descriptor) for descriptor in app.fact.passes
    ]
    arguments = Arguments(leading[: len(parameter_names(body) or [])], unknown_rest=True)
    stage(m, body, app.at.to(arguments), enter(m, app.fact, app.name, None, dict(app.bound)))
    return Const(None)
