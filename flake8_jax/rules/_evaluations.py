"""Where a program evaluates a model, by the names that its author chose.

Vocabulary
----------
evaluation  code that measures a model, or uses it, and does not train it: in ``eval_step``, in a loop over ``val_loader``, on
            ``x_test``, for ``val_loss``.
split       a part of the data that is not for training.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.testing import is_test_function
from flake8_jax.rules._units import Unit, own_expressions, text_of
from flake8_jax.semantics.domain.code import last_name, path_of

_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
_EVALUATES = re.compile(
    r"(?:^|_)(?:eval\w*|val|valid|validat\w+|test|predict\w*|pred|infer|inference|generate|accuracy|translate)(?:_|$)"
)
_UNIT_TEST = re.compile(
    r"test_(?!(?:one_)?(?:step|epoch|loop|batch|fn|loss|acc|accuracy|model|set|iteration|episode)\b)"
)
_MAKES = re.compile(
    r"(?:^|_)(?:(?:get|load|make|create|build|save|plot|show|draw|setup|init|is|should|parse|read|write|print)(?:_|$)|dataset|data|"
    r"dataloader|loader|batch(?:es)?$|key$|keys$|noise$)"
)
_TRAINS = re.compile(
    r"\bgrad\(|value_and_grad|\.backward\(|optimi[sz]er\.update|\bopt\.update|\btx\.update|apply_gradients|apply_updates|"
    r"filter_grad|\btrain_(?:step|epoch|batch|one)\w*\(|\bupdate_step\("
)
_NO_EVALUATION = re.compile(
    r"(?i)train|update|(?:^|_)(?:fit|grad|init|load|restore|save|split|merge|state|display|tabulate|print|append|extend|len|"
    r"enumerate|zip|optimizer|jit|vmap|partial|tqdm|main|run|put|device_put|isinstance|next|iter|range|clone|copy|replace|"
    r"set\w*|get|items|log\w*|count\w*|format|join|summary|plot\w*|show|create\w*|make\w*|build\w*|setup)(?:_|$)"
)
_SPLIT = re.compile(
    r"^(?:x|y|ds|data)?(?:test|val|valid|validation|eval|evaluation|holdout|heldout|dev)(?:s|ing|set|sets|ds|dl|data|loader|"
    r"loaders|dataset|dataloader|gen|iter|batch|batches|x|y|images|labels|inputs)?$"
)
_NO_SPLIT = frozenset({"val", "vals", "valid", "test", "tests", "dev", "x", "y", "eval"})
"""Names that say something else as well when they stand alone."""
_SPLIT_NAMES = frozenset({"test", "val", "valid", "validation", "eval"})


def _words(name: str) -> list[str]:
    return _WORD.sub("_", name).lower().strip("_").split("_")


def is_split_name(name: str) -> bool:
    """``x_test``, ``val_loader``, ``testset``: what is not for training."""
    words = _words(name)
    if "train" in words or "training" in words or (len(words) == 1 and words[0] in _NO_SPLIT):
        return False
    return any(_SPLIT.match(word) for word in words)


def names_split(node: ir.Node) -> str:
    """The name in an expression that says so."""
    for part in sorted(_data_in(node), key=lambda part: part.start):
        if isinstance(part, (ir.Name, ir.Attribute)) and is_split_name(last_name(part)):
            return path_of(part) or last_name(part)
        if isinstance(part, ir.Constant) and part.kind == "str" and str(part.value).lower() in _SPLIT_NAMES:
            return f'"{part.value}"'
    return ""


def _data_in(node: ir.Node) -> Iterator[ir.Node]:
    """The parts of an expression but the functions that it calls: ``eval_step`` of ``eval_step(x)`` is no data."""
    called = {id(part.func) for part in walk(node) if isinstance(part, ir.Call)}
    return (part for part in walk(node) if isinstance(part, ir.Node) and id(part) not in called)


def is_evaluation_name(name: str) -> bool:
    """``eval_step``, ``validate``, ``predict``: a function that evaluates a model."""
    snake = _WORD.sub("_", name).lower()
    if _UNIT_TEST.match(snake) or _MAKES.search(snake) or "train" in snake:
        return False
    return _EVALUATES.search(snake) is not None


def trains(text: str) -> bool:
    """The code computes gradients, or takes steps with them."""
    return _TRAINS.search(text) is not None


@dataclass(frozen=True, eq=False)
class Place:
    """A call that evaluates. shown: what says so, as words of a message."""

    unit: Unit
    statement: ir.Stmt
    call: ir.Call
    shown: str

    @property
    def callee(self) -> str:
        """The last part of the name of what it calls."""
        return last_name(self.call.func)


def places_of(unit: Unit) -> Iterator[Place]:
    """The calls of a unit that evaluate, in the order of the text."""
    function = unit.function
    named = ""
    if function is not None and is_evaluation_name(function.name) and not is_test_function(function):
        body = unit.scope.text[function.body[0].start : function.body[-1].end] if function.body else ""
        named = "" if trains(body) else f"in `{function.name}`"
    loops = [s for s in unit.statements if isinstance(s, ir.For)]
    for statement in unit.statements:
        expressions = list(own_expressions(statement))
        calls = sorted((e for e in expressions if isinstance(e, ir.Call)), key=lambda call: call.start)
        for call in calls:
            if (
                _NO_EVALUATION.search(_WORD.sub("_", last_name(call.func)).lower())
                or last_name(call.func)[:1].isupper()
            ):
                continue
            shown = named or _shown(unit, statement, call, expressions, loops)
            if shown:
                yield Place(unit, statement, call, shown)


def _shown(unit: Unit, statement: ir.Stmt, call: ir.Call, expressions: list[ir.Expr], loops: list[ir.For]) -> str:
    """What shows that a call evaluates, of the loop around it, its arguments, its name and the name of its result."""
    for loop in loops:
        if loop.start < call.start and call.end <= loop.end and loop.iter.end < call.start:
            split = names_split(loop.iter)
            if split and not trains(unit.scope.text[loop.start : loop.end]):
                return f"in the loop over `{split}`"
    for outer in expressions:
        if isinstance(outer, ir.Comprehension) and outer.start < call.start and call.end <= outer.end:
            split = next(filter(None, (names_split(g.iter) for g in outer.generators)), "")
            if split:
                return f"for each of `{split}`"
    if any(
        "train" in _words(last_name(n))
        for a in call.args
        for n in walk(a.value)
        if isinstance(n, (ir.Name, ir.Attribute))
    ):
        return ""
    split = next(filter(None, (names_split(a.value) for a in call.args)), "")
    if split:
        return f"on `{split}`"
    if is_evaluation_name(last_name(call.func)):
        return f"in `{last_name(call.func)}`"
    targets = [statement.target] if isinstance(statement, ir.AugAssign) else []
    if isinstance(statement, ir.Assign) and _is_value(statement.value, call):
        targets = statement.targets
    for target in targets:
        for part in target.elts if isinstance(target, (ir.Tuple, ir.List)) else [target]:
            name = last_name(part)
            if is_split_name(name) and len(_words(name)) > 1:
                return f"for `{name}`"
    return ""


def _is_value(value: ir.Expr, call: ir.Call) -> bool:
    """The value is what the call returns, or its mean."""
    return value is call or (
        value.start <= call.start and call.end <= value.end and not isinstance(value, ir.Comprehension)
    )


def text_of_call(place: Place) -> str:
    """The call as a message quotes it."""
    text = " ".join(text_of(place.call, place.unit.scope).split())
    return text if len(text) <= 40 else f"{text_of(place.call.func, place.unit.scope)}(…)"
