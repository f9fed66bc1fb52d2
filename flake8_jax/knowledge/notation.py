"""One-line facts: how the tables write down what a library function does, and how that is read.

Vocabulary
----------
line   ``PARAMETERS -> RESULT; FLAG; FLAG``, for instance ``key: consume, shape: shape, dtype -> float; pure``.
role   what follows a parameter's colon, where the parameter means something special::

    consume initialize split derive read clone
                                      the PRNG key, and what becomes of it
    shape axis                        must be static: a shape, length or count; an axis or dimension number
    size                              makes a data-dependent result shape static
    callback calls stages             a function run on the host; called unstaged; staged with unknown arguments
    schedule                          a function of a step count; staged with a traced integer
    axis_name                         names a mapped axis

flag   ``pure``, ``idle``, ``make`` (a key comes out, none goes in), or ``field=value`` for ``host``, ``equivalent``,
       ``impure``, ``sync``, ``data_dependent``, ``data_dependent_on``, ``rank``.

Parameters and result are those of ``FunctionFact``; ``... -> array`` leaves the signature open. Parsing a table of
such lines costs a third of parsing the same facts as TOML tables, and a reader sees one function a line.

Limitations: defaults, annotations, and positional-only markers.
"""

from __future__ import annotations

from typing import cast

from flake8_jax.knowledge.model import FunctionFact, KeyEffect

KEY_ROLES = frozenset({"consume", "initialize", "split", "derive", "read", "clone"})
LIST_ROLES = {
    "shape": "shape_params",
    "axis": "axis_params",
    "callback": "callback",
    "calls": "calls",
    "stages": "stages",
    "schedule": "schedules",
}
SINGLE_ROLES = {"size": "size_param", "axis_name": "axis_name"}
BOOLEAN_FLAGS = frozenset({"pure", "idle"})
VALUE_FLAGS = frozenset({"host", "equivalent", "impure", "sync", "data_dependent", "data_dependent_on", "rank"})


class NotationError(ValueError):
    """A line that does not follow the notation; the message quotes it."""


def parse_function(line: str) -> FunctionFact:
    """The fact that ``line`` writes down. Raises NotationError."""
    signature, arrow, rest = line.partition("->")
    if not arrow:
        raise NotationError(f"no '->' in {line!r}")
    result, *flags = (part.strip() for part in rest.split(";"))
    if not result:
        raise NotationError(f"no result after '->' in {line!r}")
    fields: dict[str, object] = {"returns": result}
    params = _parse_parameters(signature, fields, line)
    for flag in flags:
        _parse_flag(flag, fields, line)
    return FunctionFact(params=params, **fields)  # type: ignore[arg-type]


def _parse_parameters(signature: str, fields: dict[str, object], line: str) -> list[str]:
    """Names in order; roles go into ``fields``."""
    text = signature.strip()
    if text in ("", "..."):
        return []
    names = []
    for part in text.split(","):
        name, colon, role = (piece.strip() for piece in part.partition(":"))
        if not name.lstrip("*").isidentifier() and name != "*":
            raise NotationError(f"{part.strip()!r} is no parameter in {line!r}")
        names.append(name)
        if colon:
            _assign_role(name.lstrip("*"), role, fields, line)
    return names


def _assign_role(name: str, role: str, fields: dict[str, object], line: str) -> None:
    if role in KEY_ROLES:
        fields["key"] = name
        fields["key_effect"] = cast(KeyEffect, role)
    elif role in LIST_ROLES:
        cast("list[str]", fields.setdefault(LIST_ROLES[role], [])).append(name)
    elif role in SINGLE_ROLES:
        fields[SINGLE_ROLES[role]] = name
    else:
        raise NotationError(f"unknown role {role!r} in {line!r}")


def _parse_flag(flag: str, fields: dict[str, object], line: str) -> None:
    name, equals, value = (piece.strip() for piece in flag.partition("="))
    if flag in BOOLEAN_FLAGS:
        fields[flag] = True
    elif flag == "make":
        fields["key_effect"] = "make"
    elif equals and name in VALUE_FLAGS:
        fields[name] = value
    else:
        raise NotationError(f"unknown flag {flag!r} in {line!r}")
