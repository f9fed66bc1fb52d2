"""What JAX itself tells while the user's code runs: compilations, traces, waits for the device, keys, warnings.

Vocabulary
----------
compilation  XLA compiled a function. tracing: JAX ran a Python function to make a jaxpr. Both with the user's stack at that
             time, and with JAX's own words on why, where it has any (``jax_explain_cache_misses``, JAX 0.4.31). moment: when
             it ended, by the clock of the process.
wait         Python asked for the contents of an array; ready: the device had computed them, so that there was nothing to wait
             for. None if that is not known.
draw         a key was consumed: its bytes, and by what. Only visible where code runs without jit.

Event names and ``fun_name`` as measured on JAX 0.10; before 0.6.1 events carry no name, and that of a compilation is the one
that JAX logs.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from flake8_jax.runtime_checks.child.explanations import explain_misses, explanation_of
from flake8_jax.runtime_checks.child.nans import watch_nans
from flake8_jax.runtime_checks.child.places import Place, Places
from flake8_jax.runtime_checks.child.recorder import aval_of
from flake8_jax.runtime_checks.child.replicas import watch_replicas
from flake8_jax.runtime_checks.child.tracing import trace_state

MOST = 4000  # of each list of observations
_SOME = 50  # of each line, once a list has that many: a line that a long loop hides is still seen
_DEPTH = 12  # of the stacks kept
_MOST_KEYS = 1 << 12  # numbers in keys that are made together and followed

_TRACED = "/jax/core/compile/jaxpr_trace_duration"
_COMPILED = "/jax/core/compile/backend_compile_duration"


class _Made:
    """From which making of a key each key comes, by its bytes. Two places that make keys of one seed make two families; the
    younger one is meant by whatever comes after."""

    def __init__(self) -> None:
        self._families: dict[str, int] = {}
        self._count = 0

    def seed(self, keys: list[str]) -> None:
        self._count += 1
        self._families.update(dict.fromkeys(keys, self._count))

    def derive(self, parent: str | None, keys: list[str]) -> None:
        family = self._families.get(parent or "")
        if family is not None:
            self._families.update(dict.fromkeys(keys, family))

    def by(self, key: str) -> int:
        """The number of the making; 0 where the analysis did not see it."""
        return self._families.get(key, 0)


class Instruments:
    """Hooks into JAX, set by ``install``. Lists of observations as JSON data. urge: called with a compilation, and when a key
    is consumed that was before."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.compilations: list[dict[str, Any]] = []
        self.tracings: list[dict[str, Any]] = []
        self.waits: list[dict[str, Any]] = []
        self.draws: list[dict[str, Any]] = []
        self.warned: list[dict[str, Any]] = []
        self.calls: list[dict[str, Any]] = []
        self.drifts: list[dict[str, Any]] = []
        self.nans: list[dict[str, Any]] = []
        self.urge: Callable[[], None] = lambda: None
        self._watches_draws = False
        self._consumed: set[tuple[int, str]] = set()
        self._unwatched = 0
        self._kept: Counter[tuple[int, str, int]] = Counter()
        self._made = _Made()
        self._reasons: list[str] = []
        self._signature = ""
        self._name = ""
        self._busy = False

    def report(self) -> dict[str, Any]:
        return {
            "compilations": self.compilations, "tracings": self.tracings, "waits": self.waits, "draws": self.draws,
            "warnings": self.warned, "calls": self.calls, "drifts": self.drifts,
            "nans": self.nans, "unwatched_draws": self._unwatched,
        }  # fmt: skip

    def install(self) -> None:
        """JAX is imported now: hook in."""
        from jax import monitoring

        monitoring.register_event_duration_secs_listener(self._duration)
        self._explain_misses()
        self._hear_signatures()
        self._watch_waits()
        self._watch_calls()
        self._watch_warnings()

    def install_draws(self, *, everywhere: bool) -> None:
        """Watch what consumes keys. It sees values only where nothing is compiled. everywhere: compile nothing at all."""
        import jax

        self._watches_draws = True
        if everywhere:
            jax.config.update("jax_disable_jit", True)
        for name, effect in (("random_bits_p", "draw"), ("random_split_p", "split"), ("random_fold_in_p", "fold")):
            primitive = _found_in_jax(name)
            if primitive is not None:
                primitive.impl = self._drawing(primitive.impl, effect)
        seeding = _found_in_jax("random_seed_p")
        if seeding is not None:
            seeding.impl = self._seeding(seeding.impl)

    def install_replicas(self) -> None:
        """Watch whether copies of arrays on several devices drift apart."""

        def record(difference: float, devices: int) -> None:
            if len(self.drifts) < MOST:
                self.drifts.append({**self._seen(name="drift"), "difference": difference, "devices": devices})

        watch_replicas(record)

    def install_nans(self) -> None:
        """Have JAX stop at the first NaN, and keep where that came from."""
        import jax

        def record(operation: str, kind: str, source: list[list[Any]], derived: bool) -> None:
            if len(self.nans) < MOST:
                seen = {"name": operation, "kind": kind, "source": source[:_DEPTH], "derived": derived}
                self.nans.append(seen)

        watch_nans(self.places, record)
        jax.config.update("jax_debug_nans", True)

    # --- compilations and traces ----------------------------------------------------------------------------

    def _duration(self, event: str, seconds: float, **data: Any) -> None:
        if event not in (_TRACED, _COMPILED) or self._busy:
            return
        into = self.compilations if event == _COMPILED else self.tracings
        if self._has_room(into):
            name = str(data.get("fun_name") or "")
            found = self._seen(name=name, seconds=seconds, moment=time.perf_counter())
            if event == _COMPILED:
                found["signature"], self._signature = self._signature, ""
                found["name"], self._name = name or self._name, ""
                found["explained"] = self._reasons[-1] if self._reasons else ""
                path, row = found["stack"][0][:2] if found["stack"] else ("", 0)
                reason = explanation_of(found["name"], path, row, self._reasons)
                if reason:
                    found["reason"] = reason
                self._reasons.clear()
            into.append(found)
            if event == _COMPILED and not self._watches_draws:  # without jit, each operation is compiled
                self.urge()

    def _explain_misses(self) -> None:
        wanted = explain_misses()  # by the user: then they go where they went

        def hear(record: logging.LogRecord) -> bool:
            if not _is_miss(record):
                return True
            self._reasons.append(record.getMessage())
            return wanted

        # At the loggers themselves: what a filter of theirs refuses reaches no handler, the user's or our own.
        for name in _EXPLAINING:
            logging.getLogger(name).addFilter(hear)

    def _hear_signatures(self) -> None:
        """JAX logs what it is about to compile, with the types of the arguments, for listeners to its details."""
        logger = logging.getLogger("jax._src.interpreters.pxla")
        shown = logger.getEffectiveLevel()

        def hear(record: logging.LogRecord) -> bool:
            if str(record.msg).startswith("Compiling %s with global shapes") and isinstance(record.args, tuple):
                avals: Any = record.args[1]
                self._name = str(record.args[0])
                self._signature = ", ".join(signature_of(aval) for aval in avals)
            return record.levelno >= shown

        logger.addFilter(hear)
        logger.setLevel(logging.DEBUG)

    # --- waits and calls ------------------------------------------------------------------------------------

    def _watch_waits(self) -> None:
        import numpy
        from jax._src.array import ArrayImpl

        for name in ("__float__", "__int__", "__bool__", "__index__", "__complex__", "item", "tolist", "__array__",
                     "__format__", "__str__", "__repr__", "block_until_ready"):  # fmt: skip
            if hasattr(ArrayImpl, name):
                self._wrap(ArrayImpl, name, self.waits, lambda arguments: True)
        for name in ("asarray", "array"):
            self._wrap(
                numpy, name, self.waits, lambda arguments: bool(arguments) and isinstance(arguments[0], ArrayImpl)
            )
        import jax

        self._wrap(jax, "device_get", self.waits, lambda arguments: True)

    def _watch_calls(self) -> None:
        import jax
        from jax._src import core
        from jax._src.array import ArrayImpl

        self._wrap(core.Tracer, "__iter__", self.calls, lambda arguments: True)
        self._wrap(jax, "pmap", self.calls, lambda arguments: True)
        for owner in (core.Tracer, ArrayImpl):
            for name in ("__eq__", "__ne__"):
                self._wrap(owner, name, self.calls, _compares_with_nan)

    def _wrap(
        self, owner: Any, name: str, into: list[dict[str, Any]], counts: Callable[[tuple[Any, ...]], bool]
    ) -> None:
        original = getattr(owner, name, None)
        if original is None:
            return

        def watched(*arguments: Any, **keywords: Any) -> Any:
            if not self._busy and counts(arguments) and self._has_room(into):
                with self._while_busy():
                    facts = {"ready": _is_ready(arguments)} if into is self.waits else {}
                    into.append(self._seen(name=name, **facts))
            return original(*arguments, **keywords)

        watched.__name__ = name
        watched.__wrapped__ = original  # type: ignore[attr-defined]
        with contextlib.suppress(AttributeError, TypeError):  # a class of C++ that cannot be changed: not seen then
            setattr(owner, name, watched)

    # --- keys -----------------------------------------------------------------------------------------------

    def _drawing(self, original: Callable[..., Any], effect: str) -> Callable[..., Any]:
        def watched(keys: Any, *arguments: Any, **parameters: Any) -> Any:
            if not self._busy and not self._has_room(self.draws):
                self._unwatched += 1
            elif not self._busy:
                with self._while_busy():
                    data = _bytes_of(keys)
                    if data is not None:
                        about = _bytes_of(arguments[0]) if effect == "fold" and arguments else None
                        made = self._made.by(data)
                        self.draws.append(
                            {**self._seen(name=effect, called=self._called()), "key": data, "shape": list(keys.shape),
                             "about": about, "made": made, "mapped": _inside_vmap(),
                             "bits": parameters.get("shape") and list(parameters["shape"])}
                        )  # fmt: skip
                        if (made, data) in self._consumed:
                            self.urge()
                        self._consumed.add((made, data))
            found = original(keys, *arguments, **parameters)
            if effect != "draw" and not self._busy:
                with self._while_busy():
                    self._made.derive(_bytes_of(keys), _rows_of(found))
            return found

        return watched

    def _called(self) -> str:
        """The function of ``jax.random`` that the user's code, or a library, called."""
        frame, found = sys._getframe(1), ""
        while frame is not None and self.places.path_of(frame.f_code) is None:
            if str(frame.f_globals.get("__name__")).startswith(("jax._src.random", "jax.random")):
                found = frame.f_code.co_name
            frame = frame.f_back  # type: ignore[assignment]
        return found if found.isidentifier() else ""

    def _seeding(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **parameters: Any) -> Any:
            found = original(*arguments, **parameters)
            if not self._busy:
                with self._while_busy():
                    self._made.seed(_rows_of(found))
            return found

        return watched

    # --- warnings -------------------------------------------------------------------------------------------

    def _watch_warnings(self) -> None:
        original = warnings.warn

        def warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **more: Any) -> None:
            if self._has_room(self.warned):
                kind = type(message) if isinstance(message, Warning) else category or UserWarning
                self.warned.append({**self._seen(name=kind.__name__), "message": str(message)[:300]})
            original(message, category, stacklevel + 1, source, **more)

        warnings.warn = warn

    # --- all of them ----------------------------------------------------------------------------------------

    def _has_room(self, into: list[dict[str, Any]]) -> bool:
        """Whether to keep a further observation: of a list that is full, only the first ones of each line."""
        if len(into) < MOST:
            return True
        stack = self.places.stack()
        if not stack:
            return False
        line = id(into), stack[0].path, stack[0].row
        self._kept[line] += 1
        return self._kept[line] <= _SOME

    def _seen(self, **data: Any) -> dict[str, Any]:
        stack = self.places.stack()
        if len(stack) > _DEPTH:  # the outermost says which call of the user's it belongs to
            stack = [*stack[: _DEPTH - 1], stack[-1]]
        return {**data, "state": trace_state(), "stack": [_as_list(place) for place in stack]}

    @contextlib.contextmanager
    def _while_busy(self) -> Iterator[None]:
        """What the observing itself does is not observed."""
        self._busy = True
        try:
            yield
        finally:
            self._busy = False


def signature_of(aval: Any) -> str:
    """``f32[8,128]``; marked where the type is weak, as that of a Python number."""
    return aval_of(aval) + (" (weak)" if getattr(aval, "weak_type", False) else "")


def _found_in_jax(name: str) -> Any:
    """An internal of JAX, whichever module of this release has it; None if none has."""
    modules = [module for path, module in list(sys.modules.items()) if path.startswith("jax._src.")]
    return next((getattr(module, name) for module in modules if name in vars(module)), None)


_MISS = "TRACING CACHE MISS"
_EXPLAINING = ("jax._src.interpreters.partial_eval", "jax._src.pjit")  # JAX 0.8 on, and before


def _is_miss(record: logging.LogRecord) -> bool:
    return record.getMessage().startswith(_MISS)


def _as_list(place: Place) -> list[Any]:
    return [place.path, place.row, place.function, place.run]


def _is_ready(arguments: tuple[Any, ...]) -> bool | None:
    """Whether the device has computed the arrays in the first argument; None if they are deleted."""
    import jax
    from jax._src.array import ArrayImpl

    arrays = [leaf for leaf in jax.tree_util.tree_leaves(arguments[:1]) if isinstance(leaf, ArrayImpl)]
    with contextlib.suppress(RuntimeError):
        return all(array.is_ready() for array in arrays)
    return None


def _compares_with_nan(arguments: tuple[Any, ...]) -> bool:
    other = arguments[1] if len(arguments) > 1 else None
    return isinstance(other, float) and other != other


def _bytes_of(value: Any) -> str | None:
    """The contents of a key, or of the data folded into one; None of a tracer."""
    import numpy

    base = getattr(value, "_base_array", value)
    if type(base).__name__.endswith("Tracer"):
        return None
    return bytes(numpy.asarray(base).tobytes()).hex()[:2000]


def _rows_of(keys: Any) -> list[str]:
    """The bytes of each of some keys; of too many, and of tracers, nothing."""
    import numpy

    base = getattr(keys, "_base_array", keys)
    if type(base).__name__.endswith("Tracer") or base.size > _MOST_KEYS:
        return []
    found = numpy.asarray(base)
    return [
        bytes(row.tobytes()).hex()[:2000] for row in (found.reshape(-1, found.shape[-1]) if found.ndim else [found])
    ]


def _inside_vmap() -> bool:
    """Some frame around is ``vmap`` at work: what is not batched there is the same for every element."""
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if code.co_name in ("vmap_f", "_pmap_f", "cache_miss") and "jax" in code.co_filename:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
