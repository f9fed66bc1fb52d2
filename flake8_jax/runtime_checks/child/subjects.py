"""What is measured: a function with its inputs, named and given, or as the user's command calls it.

Request: ``target``, ``static``, ``donate``, ``eager``, ``roots``; ``cases`` and ``cases_file``, ``seed``, ``dims``; or
``command`` (words), ``calls`` and ``wait``: so many calls of the target are looked at, or those of so many seconds, and so
many ``shapes`` of them are kept.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flake8_jax.runtime_checks.child.cache_keys import differences, is_dynamic
from flake8_jax.runtime_checks.child.capture import Call, CommandError, Limits, Seen, kept_values, watch
from flake8_jax.runtime_checks.child.inputs import (
    Case,
    InputError,
    describe_case,
    filled,
    guesses,
    make_case,
    parse_case,
    shapes_of,
)
from flake8_jax.runtime_checks.child.jitting import (
    Function,
    Inputs,
    Refusal,
    find,
    forget_linter,
    import_jax,
    prepared,
)
from flake8_jax.runtime_checks.child.main import summary
from flake8_jax.runtime_checks.child.targets import Resolved, TargetError, load
from flake8_jax.runtime_checks.child.wrappers import OfArrays

_MOST_NAMED = 3
_KINDS = {"placement": "devices or sharding", "static-identity": "identity", "weak-type": "weak type"}

Work = Callable[[Function, list[Inputs]], Mapping[str, Any]]


def measured(request: Mapping[str, Any], work: Work, *, abstract: bool = False) -> Mapping[str, Any]:
    """What ``work`` makes of the function and the inputs that a request asks for.

    abstract: inputs are shapes only. Raises Refusal.
    """
    if not request.get("command"):
        function = find(
            request["target"], request["roots"], request["static"], request.get("donate", ()), request["eager"]
        )
        return work(function, all_inputs(request, function, abstract=abstract))
    forget_linter()
    limits = Limits(request["calls"], request["wait"], request["shapes"])

    def begin(seen: Seen) -> Mapping[str, Any]:
        return {**work(*_as_called(seen, request, abstract)), "left_out": seen.left_out}

    try:
        return watch(  # type: ignore[no-any-return]
            request["target"], request["roots"], request["command"], limits, begin
        )
    except (TargetError, CommandError) as error:
        raise Refusal(str(error)) from error


def _as_called(seen: Seen, request: Mapping[str, Any], abstract: bool) -> tuple[Function, list[Inputs]]:
    """The function and the inputs of the calls that were seen."""
    jax: Any = import_jax()
    function, calls = _unbound(seen.function, seen.calls)
    found = Resolved(function, types.ModuleType(seen.name), seen.name, seen.path, seen.line)

    def jitted(static: Sequence[str]) -> Function:
        return prepared(found, request["target"], static, request.get("donate", ()), request["eager"])

    subject = jitted(list(request["static"]) or _constant(function, calls))
    if subject.wrapped and not request["static"] and not _can_be_traced(subject, calls[0]):
        with_numbers = jitted(_constant(function, calls, counts=True))
        subject = with_numbers if _can_be_traced(with_numbers, calls[0]) else subject
    if subject.jitted:
        jax.clear_caches()  # the program has compiled it; what that takes is measured here
    inputs: list[Inputs] = []
    for call in calls:
        args, kwargs = shapes_of((call.args, call.kwargs)) if abstract else filled((call.args, call.kwargs))
        source = "shapes" if call.traced else "command"
        text = describe_case(args, kwargs)
        same = next((pair[1] for pair in zip(inputs, calls) if pair[0].text == text), None)
        unlike = "" if same is None else _unlike(call, same)
        inputs.append(Inputs(f"call {call.number}", text, tuple(args), kwargs, source, call.alike, unlike))
    return subject, inputs


def _can_be_traced(function: Function, call: Call) -> bool:
    """Whether JAX can trace the function with the arguments of a call."""
    try:
        _evaluate_shape(function, Inputs("", "", tuple(call.args), call.kwargs, "command"))
    except Exception:  # the user's function; what it raises is shown when it is measured
        return False
    return True


def _unlike(call: Call, same: Call) -> str:
    """What tells a call from one whose inputs have the same text."""
    where = [one.where for one in differences(call.signature, same.signature)]
    kinds = dict.fromkeys(_KINDS.get(one.kind, one.kind) for one in differences(call.signature, same.signature))
    more = f" and {len(where) - _MOST_NAMED} more" if len(where) > _MOST_NAMED else ""
    return (
        f"unlike call {same.number} in the {', '.join(kinds)} of {', '.join(where[:_MOST_NAMED])}{more}"
        if where
        else ""
    )


def _unbound(function: Any, calls: list[Call]) -> tuple[Any, list[Call]]:
    """A method that is not jitted belongs to its object: that of the first call."""
    first = calls[0].args[:1]
    if isinstance(function, types.FunctionType) and first and not isinstance(first[0], type):
        if inspect.getattr_static(type(first[0]), function.__name__, None) is not None:
            mine = [call for call in calls if call.args[:1] and call.args[0] is first[0]]
            bound = [Call(c.number, c.args[1:], c.kwargs, c.signature, c.traced, c.transformed, c.alike) for c in mine]
            return types.MethodType(function, _without_tracers(first[0])), bound
    return function, calls


def _without_tracers(receiver: Any) -> Any:
    """The object; if a trace has left tracers in its attributes, a copy of it with arrays of their shapes."""
    jax: Any = import_jax()
    traced = {
        name: value
        for name, value in getattr(receiver, "__dict__", {}).items()
        if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree_util.tree_leaves(value))
    }
    if not traced:
        return receiver
    try:
        copied: Any = object.__new__(type(receiver))  # copy.copy would ask a half-made object for its attributes
    except TypeError:  # a subclass of a built-in type
        return receiver
    copied.__dict__.update(vars(receiver), **{name: filled(kept_values(value)) for name, value in traced.items()})
    return copied


def _constant(function: Any, calls: Sequence[Call], *, counts: bool = False) -> list[str]:
    """Parameters that cannot be traced, or that were no tracers although the program transformed the function. counts: and
    those that are Python ints or bools, such as the length of a loop."""
    if hasattr(function, "lower"):
        return []
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    found: dict[str, None] = {}
    for call in calls:
        given = dict(signature.bind(*call.args, **call.kwargs).arguments)
        for parameter in signature.parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                given.pop(parameter.name, None)
            elif parameter.kind is parameter.VAR_KEYWORD:
                given |= given.pop(parameter.name, {})
        for name, value in given.items():
            numbers = call.transformed and _is_of(value, (bool, int, float, complex))
            if not is_dynamic(value) or numbers or (counts and _is_of(value, (bool, int))):
                found[name] = None
    return list(found)


def _is_of(value: Any, kinds: tuple[type, ...]) -> bool:
    """Whether it is a Python number of these types, or a tuple of such."""
    parts = value if type(value) is tuple else (value,)
    return bool(parts) and all(_is_of(p, kinds) if type(p) is tuple else isinstance(p, kinds) for p in parts)


def all_inputs(request: Mapping[str, Any], function: Function, *, abstract: bool = False) -> list[Inputs]:
    """The inputs that a request asks for: ``cases``, ``cases_file``, or some made up. Raises Refusal.

    abstract: shapes in place of arrays.
    """
    found: list[Inputs] = []
    try:
        for number, entry in enumerate(request.get("cases") or ()):
            case = parse_case(entry["text"])
            found.append(_made(case, entry.get("label") or str(number + 1), "given", request, function, abstract))
        if request.get("cases_file"):
            found += _from_file(request["cases_file"], len(found), abstract)
        if not found:
            found.append(_made_up(request, function, abstract))
    except InputError as error:
        raise Refusal(str(error)) from error
    return found


def _made(
    case: Case, label: str, source: str, request: Mapping[str, Any], function: Function, abstract: bool
) -> Inputs:
    args, kwargs = make_case(
        case, request.get("seed", 0), request.get("dims"), function.parameters(), abstract=abstract
    )
    return Inputs(label, describe_case(args, kwargs), tuple(args), kwargs, source)


def _made_up(request: Mapping[str, Any], function: Function, abstract: bool) -> Inputs:
    """The first guess that the function can be traced with."""
    import jax

    problem = ""
    for case in guesses(function.resolved.object):
        inputs = _made(case, "made up", "made up", request, function, True)
        try:
            _evaluate_shape(function, inputs)
        except Exception as error:  # the user's function, on inputs that it was not written for
            problem = problem or summary(error)
            continue
        jax.clear_caches()  # what was traced to find out is traced again where that is counted
        return _made(case, "made up", "made up", request, function, abstract)
    raise Refusal(
        f"{function.resolved.qualname} can be traced with none of the inputs that were made up ({problem}); "
        "say the inputs with --case 'f32[8,128], …'"
        + (", and what is static with --static" if function.wrapped else "")
    )


def _evaluate_shape(function: Function, inputs: Inputs) -> Any:
    if function.jitted and hasattr(function.call, "eval_shape"):
        return function.call.eval_shape(*inputs.args, **inputs.kwargs)
    return OfArrays(function.call, inputs).result()


def _from_file(path: str, before: int, abstract: bool) -> list[Inputs]:
    """Cases that the function ``cases()`` of a file of the user's gives.

    Each is a tuple of arguments, a dict of keyword arguments, a pair of both, or the only argument.
    """
    try:
        module = load(path)
    except TargetError as error:
        raise Refusal(str(error)) from error
    function = getattr(module, "cases", None)
    if not callable(function):
        raise Refusal(
            f"{path} has no function cases(); it should return or yield the arguments of one call after another"
        )
    try:
        given = list(function())
    except Exception as error:  # the user's function
        raise Refusal(f"{path}: cases() raised {summary(error)}") from error
    found = []
    for number, case in enumerate(given, before + 1):
        args, kwargs = (shapes_of if abstract else filled)(split_case(case))
        found.append(Inputs(str(number), describe_case(args, kwargs), args, kwargs, "file"))
    if not found:
        raise Refusal(f"{path}: cases() gave nothing")
    return found


def split_case(case: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments of one case of a file."""
    if type(case) is dict and all(isinstance(name, str) for name in case):
        return (), case
    if type(case) is tuple:
        if len(case) == 2 and type(case[0]) is tuple and type(case[1]) is dict:
            return case
        return case, {}
    return (case,), {}
