"""Functions as ``jax.jit`` has them: wrapped where they are not yet, their static arguments, and what compiles.

Vocabulary
----------
jitted        a function that ``jax.jit`` wrapped (or another wrapper that can be lowered).
compilation   tracing, lowering to StableHLO and compiling to machine code: three events, with the seconds each took.
refusal       something the user has to put right; the linter prints it and runs nothing.
"""

from __future__ import annotations

import functools
import inspect
import logging
import os
import re
import site
import sys
import traceback
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from flake8_jax.runtime_checks.child.main import Channel, summary
from flake8_jax.runtime_checks.child.targets import Resolved, TargetError, resolve

_STEPS = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
}
_LOGGED = {
    "trace": re.compile(r"Finished tracing (?:\+ transforming )?(.+) for (?:p?jit|pmap) in ([\d.e-]+)"),
    "lower": re.compile(r"Finished jaxpr to MLIR module conversion (.+) in ([\d.e-]+)"),
    "compile": re.compile(r"Finished XLA compilation of (.+) in ([\d.e-]+)"),
}


class Refusal(Exception):
    """The message says what the user has to put right."""


def import_jax() -> types.ModuleType:
    """JAX, of the interpreter's own environment and not of the linter's. Raises Refusal."""
    forget_linter()
    try:
        import jax
    except ImportError as error:
        raise Refusal(
            f"{sys.executable} cannot import jax ({error}); install it there, as with `pip install 'flake8-jax[runtime]'`, "
            "or name the interpreter that has it with --python"
        ) from error
    module: types.ModuleType = jax
    return module


def forget_linter() -> None:
    """Take the folder of the linter off ``sys.path``: it may be the ``site-packages`` of another environment."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    own = [*site.getsitepackages(), site.getusersitepackages(), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    if sys.path and sys.path[-1] == root and root not in map(os.path.abspath, filter(None, own)):
        sys.path.pop()


def devices() -> list[Any]:
    """Devices of the default backend. Raises Refusal where it cannot be started."""
    jax = import_jax()
    try:
        return list(jax.devices())
    except (RuntimeError, AssertionError) as error:  # an assertion: jax 0.10 where a plug-in is missing
        wanted = os.environ.get("JAX_PLATFORMS")
        asked = f" for JAX_PLATFORMS={wanted}" if wanted else ""
        raise Refusal(f"JAX finds no device{asked}: {summary(error)}; `jaxlint env` shows what is missing") from error


def version() -> tuple[int, ...]:
    """The version of JAX as numbers."""
    return tuple(int(part) for part in re.findall(r"\d+", import_jax().__version__)[:3])


@dataclass(frozen=True)
class Function:
    """What is run. call: takes the inputs. jitted: whether ``call`` is jitted; wrapped: whether we did that.

    static: names of static parameters, None where JAX does not say. changed: names of arguments that it was seen to change in
    place while we traced it; jit drops such changes.
    """

    resolved: Resolved
    call: Callable[..., Any]
    jitted: bool
    wrapped: bool
    static: frozenset[str] | None
    changed: set[str] = field(default_factory=set)

    @property
    def event_names(self) -> frozenset[str] | None:
        """The names of its compilations in JAX's events; None where they are not known."""
        if not self.jitted or not hasattr(self.call, "_cache_size"):
            return None
        name = getattr(self.call, "__name__", None) or "<unnamed function>"
        plain = [name, "<unnamed wrapped function>"] if name.startswith("<unnamed") else [name]
        return frozenset([*plain, *(f"{how}({n})" for how in ("jit", "pmap") for n in plain)])

    def parameters(self) -> frozenset[str] | None:
        """Names that it takes by keyword; None where it takes any."""
        try:
            known = inspect.signature(self.resolved.object).parameters.values()
        except (TypeError, ValueError):
            return None
        return None if any(p.kind is p.VAR_KEYWORD for p in known) else frozenset(p.name for p in known)


def is_jitted(function: Any) -> bool:
    """Whether it can be lowered: what ``jax.jit`` returns, and what other libraries build on it."""
    return callable(getattr(function, "lower", None)) and not isinstance(function, type)


def find(target: str, roots: Sequence[str], static: Sequence[str], donate: Sequence[str], eager: bool) -> Function:
    """The function that a target names, jitted unless ``eager``.

    static, donate: names of parameters, for a function that is not jitted yet. Raises Refusal.
    """
    devices()  # a backend that cannot start shows in stranger ways later
    try:
        resolved = resolve(target, roots)
    except TargetError as error:
        raise Refusal(str(error)) from error
    return prepared(resolved, target, static, donate, eager)


def prepared(resolved: Resolved, target: str, static: Sequence[str], donate: Sequence[str], eager: bool) -> Function:
    """A function that was found, jitted unless it is already or ``eager``. Raises Refusal."""
    function = resolved.object
    if is_jitted(function) or eager:
        for flag, given in (("--static", static), ("--donate", donate)):
            if given:
                state = (
                    "is jitted already; its own settings count" if is_jitted(function) else "is not jitted (--eager)"
                )
                raise Refusal(f"{flag} {','.join(given)}: {target} {state}")
        if is_jitted(function):
            return Function(resolved, function, True, False, _static_names(function))
        return Function(resolved, function, False, False, frozenset())
    return _wrap(resolved, target, static, donate)


def _wrap(resolved: Resolved, target: str, static: Sequence[str], donate: Sequence[str]) -> Function:
    import jax

    try:
        parameters = list(inspect.signature(resolved.object).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    names = [] if takes_any else [parameter.name for parameter in parameters]
    for flag, given in (("--static", static), ("--donate", donate)):
        unknown = [name for name in given if names and name not in names]
        if unknown:
            raise Refusal(f"{flag} {unknown[0]}: {target} has no such parameter; it has {', '.join(names)}")
    settings: dict[str, Any] = {}
    if static:
        settings["static_argnames"] = tuple(static)
    if donate:
        settings["donate_argnames"] = tuple(donate)
    changed: set[str] = set()
    watched = _watching_arguments(resolved.object, changed)
    return Function(resolved, jax.jit(watched, **settings), True, True, frozenset(static), changed)


def _watching_arguments(function: Any, changed: set[str]) -> Any:
    """The function, which adds to ``changed`` the names of the arguments whose arrays it replaces."""
    import jax

    if not isinstance(function, (types.FunctionType, types.MethodType)):
        return function
    signature = inspect.signature(function)

    def leaves(args: Any, kwargs: Any) -> dict[str, list[Any]]:
        try:
            given = signature.bind(*args, **kwargs).arguments
            return {name: jax.tree_util.tree_leaves(value) for name, value in given.items()}
        except (TypeError, ValueError):  # the call is wrong, or an argument is no tree
            return {}

    def differing(one: dict[str, list[Any]], other: dict[str, list[Any]]) -> set[str]:
        return {name for name in one if list(map(id, one[name])) != list(map(id, other.get(name, ())))}

    @functools.wraps(function)
    def watched(*args: Any, **kwargs: Any) -> Any:
        before, again = leaves(args, kwargs), leaves(args, kwargs)
        result = function(*args, **kwargs)
        changed.update(differing(before, leaves(args, kwargs)) - differing(before, again))
        return result

    return watched


def _static_names(jitted: Any) -> frozenset[str] | None:
    info = getattr(jitted, "_jit_info", None)  # private, since jax 0.4.31
    if info is None:
        return None
    names = set(getattr(info, "static_argnames", ()) or ())
    signature = getattr(info, "fun_signature", None)
    if signature is not None:
        positional = list(signature.parameters)
        names.update(
            positional[number] for number in getattr(info, "static_argnums", ()) or () if number < len(positional)
        )
    return frozenset(names)


def mode_of(function: Function) -> str:
    """``jitted``, ``jitted here`` (and what that loses) or ``eager``."""
    if function.changed:
        return f"jitted here, which loses its changes to {', '.join(sorted(function.changed))}"
    return "jitted here" if function.wrapped else "jitted" if function.jitted else "eager"


class Compilations:
    """Listens to what JAX traces, lowers and compiles. There is one listener a process: JAX keeps it for good."""

    def __init__(self) -> None:
        self._events: list[tuple[str, str, float]] = []
        # What comes out of the cache on disk was not compiled, but its events say it was.
        import_jax().config.update("jax_enable_compilation_cache", False)
        if version() >= (0, 6, 1):  # events carry the name of the function since then
            from jax import monitoring

            monitoring.register_event_duration_secs_listener(self._on_event)
        else:
            logger = logging.getLogger("jax._src.dispatch")
            logger.setLevel(logging.DEBUG)
            logger.propagate = False
            logger.addHandler(_Reading(self._events))

    def _on_event(self, event: str, duration_secs: float, **facts: Any) -> None:
        if event in _STEPS:
            self._events.append((_STEPS[event], str(facts.get("fun_name", "")), duration_secs))

    def reset(self) -> None:
        """Forget the events."""
        self._events.clear()

    def of(self, names: frozenset[str] | None) -> dict[str, dict[str, float]]:
        """For each step, how often it was done and the seconds it took; of functions of these names, or of all."""
        found = {}
        for step in _STEPS.values():
            took = [s for kind, name, s in self._events if kind == step and (names is None or name in names)]
            found[step] = {"count": len(took), "seconds": sum(took)}
        return found

    def compiled(self) -> list[str]:
        """Names of everything that was compiled, in order."""
        return [re.sub(r"^jit\((.*)\)$", r"\1", name) for kind, name, _ in self._events if kind == "compile"]


class _Reading(logging.Handler):
    """Reads the same facts from the log of versions of JAX whose events have no names."""

    def __init__(self, events: list[tuple[str, str, float]]) -> None:
        super().__init__()
        self._events = events

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        for step, pattern in _LOGGED.items():
            match = pattern.match(message)
            if match:
                self._events.append((step, match[1], float(match[2])))


@dataclass(frozen=True)
class Inputs:
    """The inputs of one call. text: what they look like. source: ``given``, ``file``, ``made up``, ``command`` (what the
    user's command passed), or ``shapes`` (arrays of the shapes that it traced with). alike: calls that had such inputs.
    unlike: what tells them from earlier ones that look the same."""

    label: str
    text: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    source: str
    alike: int = 1
    unlike: str = ""


def call(function: Function, inputs: Inputs, roots: Sequence[str]) -> Any:
    """Call it and wait for the result. Raises Refusal where it raises."""
    jax: Any = import_jax()
    try:
        return jax.block_until_ready(function.call(*inputs.args, **inputs.kwargs))
    except Exception as error:  # the user's function runs here
        raise Refusal(failure(function, inputs, error, roots)) from error


def fresh(inputs: Inputs) -> Inputs:
    """The same inputs in buffers of their own, for a function that may take them."""
    jax: Any = import_jax()
    args, kwargs = jax.block_until_ready(
        jax.tree_util.tree_map(
            lambda leaf: leaf.copy() if isinstance(leaf, jax.Array) else leaf, (inputs.args, dict(inputs.kwargs))
        )
    )
    return replace(inputs, args=args, kwargs=kwargs)


def executables() -> list[Any]:
    """The compiled programs that live in this process; none where the backend does not list them."""
    client: Any = getattr(devices()[0], "client", None)
    return list(client.live_executables()) if hasattr(client, "live_executables") else []


def compiled_since(known: Sequence[Any], function: Function) -> Any:
    """Of the programs that are not among those ``known``, the function's own, or the one that needs the most memory. Where none
    is its own, since it was compiled before: that program, if there is one only."""
    made = executables()
    new = [one for one in made if not any(one is other for other in known)]
    name = getattr(function.call, "__name__", "")
    own = {f"jit_{name}", f"pmap_{name}"}
    named = [one for one in made if any(re.sub(r"\W", "_", module.name) in own for module in one.hlo_modules())]
    mine = [one for one in new if any(one is other for other in named)]
    if named and not mine:
        return named[0] if len(named) == 1 else None
    return max(mine or new, key=lambda one: peak(memory_of(one)), default=None)


def memory_of(compiled: Any) -> dict[str, int]:
    """Bytes for each device, as the compiler states them: ``argument``, ``output``, ``temp``, ``alias`` …; empty where it
    does not. compiled: what ``Lowered.compile`` returns, or a program of the backend."""
    try:
        ask = getattr(compiled, "memory_analysis", None) or compiled.get_compiled_memory_stats
        said = ask()
    except Exception:  # not every compiler counts
        return {}
    names = ("argument", "output", "temp", "alias", "generated_code")
    return {
        name: int(getattr(said, f"{name}_size_in_bytes")) for name in names if hasattr(said, f"{name}_size_in_bytes")
    }


def loops_in(text: str) -> dict[str, float]:
    """How many loops a compiled program has, as a part of its cost, because the compiler counts the body of each once. text: of
    its HLO."""
    count = text.count(" while(")
    return {"loops": float(count)} if count else {}


def peak(memory: Mapping[str, int]) -> int:
    """Bytes that arguments, results and temporaries take together, at most."""
    return memory.get("argument", 0) + memory.get("output", 0) + memory.get("temp", 0) - memory.get("alias", 0)


def failure(function: Function, inputs: Inputs, error: BaseException, roots: Sequence[str]) -> str:
    """A sentence on an exception of the user's function."""
    place = user_place(error, roots)
    text = f"{function.resolved.qualname}({inputs.text}) raised {summary(error)}" + (f" (at {place})" if place else "")
    kinds = {kind.__name__ for kind in type(error).__mro__}
    traced = {"ConcretizationTypeError", "TracerBoolConversionError", "TracerIntegerConversionError"}
    if function.wrapped and (kinds & traced or "not a valid JAX type" in str(error)):
        text += "; it was jitted for this, so name what is static: --static NAME"
    return text


def user_place(error: BaseException, roots: Sequence[str]) -> str:
    """``file:line`` of the innermost frame of the user's; empty if there is none."""
    inside = [os.path.join(os.path.abspath(root), "") for root in roots]
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename.startswith(tuple(inside)) and "-packages" not in f.filename]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else ""


def answer(
    task: Callable[[Mapping[str, Any]], Mapping[str, Any]], request: Mapping[str, Any], channel: Channel
) -> None:
    """Send the result of a task, or its refusal; exits with status 2 on a refusal."""
    try:
        result = task(request)
    except Refusal as error:
        channel.send("refused", text=str(error))
        raise SystemExit(2) from error
    channel.send("result", **result)


def setting() -> dict[str, Any]:
    """Where something was run: the facts that every result carries."""
    jax = import_jax()
    device = devices()[0]
    return {
        "jax": jax.__version__,
        "python": ".".join(map(str, sys.version_info[:3])),
        "platform": device.platform,
        "device": device.device_kind,
    }
