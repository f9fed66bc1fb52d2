"""JAX715: see the page of ``evaluation_in_train_mode``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._evaluations import Place, is_evaluation_name, places_of, text_of_call, trains
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._modes import (
    LAYER,
    Model,
    Project,
    flag_of,
    flag_of_field,
    flag_of_parameter,
    is_module,
    methods_of,
    model_of,
    sets_flag,
)
from flake8_jax.rules._units import Unit, calls_in, imports_jax, library_name, units_of
from flake8_jax.semantics.domain.code import last_name, path_of
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import ClassValue, FunctionValue, Instance
from flake8_jax.semantics.events.files import FileRead


@rule("JAX715", "warning")
def evaluation_in_train_mode(event: FileRead) -> list[Report] | None:
    """A model evaluates while its Dropout or BatchNorm layers are in training mode.

    The rule is on only with `--preview`, because it takes code for an evaluation by its names.

    ## Why is this bad?

    In training, a Dropout layer sets random elements to zero, and a BatchNorm layer normalizes with the statistics of the
    batch and updates its running averages. If a model is tested or used in this mode, its results are worse and change
    from call to call, and the averages come from test data.

    A model of `flax.nnx` is in training mode until `model.eval()`. Call it before the evaluation, and `model.train()` after
    it. For Equinox, evaluate `eqx.nn.inference_mode(model)`. In `flax.linen` and Haiku, give the model an argument such as
    `train`, and pass `train=False`.

    jaxlint takes code for an evaluation if a function is named like one (`eval_step`, `validate`, `predict`), if a loop runs
    over `test_loader`, if a call gets `x_test`, or if its result is named `val_loss`.

    ## Example

    ```python
    import jax.numpy as jnp
    from flax import nnx


    class Network(nnx.Module):
        def __init__(self, rngs):
            self.linear = nnx.Linear(8, 8, rngs=rngs)
            self.dropout = nnx.Dropout(0.5, rngs=rngs)

        def __call__(self, x):
            return self.dropout(self.linear(x))


    model = Network(nnx.Rngs(0))


    def predictions(x_test):
        return model(x_test)  # expect: evaluation-in-train-mode


    def demonstrate():
        x = jnp.ones((4, 8))
        assert (predictions(x) != predictions(x)).any()
    ```

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Network(nn.Module):
        @nn.compact
        def __call__(self, x, train: bool):
            return nn.Dropout(0.5, deterministic=not train)(nn.Dense(8)(x))


    model = Network()


    def loss(params, x, y, key):
        out = model.apply(params, x, train=True, rngs={"dropout": key})  # expect: evaluation-in-train-mode
        return jnp.mean((out - y) ** 2)


    @jax.jit
    def step(params, x, y, key):
        grads = jax.grad(loss)(params, x, y, key)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


    def test_loss(params, x_test, y_test, key):
        return loss(params, x_test, y_test, key)


    def demonstrate():
        x, y = jnp.ones((4, 8)), jnp.zeros((4, 8))
        params = model.init(jax.random.key(0), x, train=False)
        params = step(params, x, y, jax.random.key(1))
        assert test_loss(params, x, y, jax.random.key(2)) != test_loss(params, x, y, jax.random.key(3))
    ```

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.BatchNorm(use_running_average=False)(x)  # expect: evaluation-in-train-mode


    def predict(variables, x):
        out, _ = Network().apply(variables, x, mutable=["batch_stats"])
        return out


    def demonstrate():
        x = jnp.array([[1.0], [3.0]])
        variables = Network().init(jax.random.key(0), x)
        assert jnp.abs(predict(variables, x)[0] - predict(variables, x[:1])[0]).max() > 0.5
    ```

    ## Use instead

    ```python
    import jax.numpy as jnp
    from flax import nnx


    class Network(nnx.Module):
        def __init__(self, rngs):
            self.linear = nnx.Linear(8, 8, rngs=rngs)
            self.dropout = nnx.Dropout(0.5, rngs=rngs)

        def __call__(self, x):
            return self.dropout(self.linear(x))


    model = Network(nnx.Rngs(0))


    def predictions(x_test):
        model.eval()
        result = model(x_test)
        model.train()
        return result
    ```

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Network(nn.Module):
        @nn.compact
        def __call__(self, x, train: bool):
            return nn.BatchNorm(use_running_average=not train)(x)


    def predict(variables, x):
        return Network().apply(variables, x, train=False)
    ```

    ## Not reported

    jaxlint does not report an object if other code of the project calls `eval()` or sets `deterministic` or
    `use_running_average`. In a notebook, only the cells up to the evaluation count. It does not report a file that names
    Monte Carlo dropout, ensembles or uncertainty, because such programs draw in evaluation on purpose.

    ```python
    from flax import nnx


    class Network(nnx.Module):
        def __init__(self, rngs):
            self.dropout = nnx.Dropout(0.5, rngs=rngs)

        def __call__(self, x):
            return self.dropout(x)


    def evaluate(model: Network, batches):
        return [model(batch) for batch in batches]


    def main(batches):
        model = Network(nnx.Rngs(0))
        model.eval()
        return evaluate(model, batches)
    ```

    ## Limitations

    The rule looks for the class of a model by names and annotations, in the code of the project. It does not follow models
    that functions of other libraries make.

    ## Fix safety

    No fix. Only the author knows where training goes on.

    ## How it is verified

    jaxlint cannot confirm the finding, because a run shows no error.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX518 (`missing-compact`), JAX520 (`plain-container-in-module`), JAX304 (`constant-key`).

    ## Further reading

    <https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/module.html#flax.nnx.Module.eval>
    """
    scope = event.context.scope
    if is_test(event.context) or scope.is_test or not _is_for_jax(scope):
        return None
    project = Project(scope, event.files)
    if project.is_intended or not project.has_layers:
        return None
    units = list(units_of(scope))
    places = [place for unit in units for place in places_of(unit)]
    return [*_of_objects(project, places), *_of_flags(project, units, places), *_of_layers(project, places)]


def _is_for_jax(scope: ModuleScope) -> bool:
    """The file imports JAX, or a class or a function from a file that does."""
    imported = (v.scope for v in scope.slots.values() if isinstance(v, (ClassValue, FunctionValue)))
    return imports_jax(scope) or any(imports_jax(other) for other in imported)


_MODEL = re.compile(
    r"(?i)(?:^|\.|_)(?:model|net|network|cnn|mlp|classifier|gpt\w*|transformer|vit|resnet|unet|encoder|decoder|module)s?\d*$"
)
_RANDOM = re.compile(r"(?i)key|rng|random|split|subk")


# --- objects that keep their mode ------------------------------------------------------------------------------------


def _of_objects(project: Project, places: list[Place]) -> Iterator[Report]:
    """Evaluations with an object of ``flax.nnx`` or Equinox that nothing switches before."""
    found: list[tuple[Place, str, Model]] = []
    seen: set[tuple[int, str, int]] = set()
    for place in places:
        key = (id(place.unit), place.callee, project.scope.cell_of(place.call.start))
        used = None if key in seen else _object_of(project, place)
        if used is None or (used[1].library == "equinox" and not _is_random(place, used[1])):
            continue
        if not used[1].has_flag and not project.is_switched(_end_of(project, place)):
            seen.add(key)
            found.append((place, *used))
    called = {place.callee for place, _, _ in found}
    for place, name, model in found:
        function = place.unit.function
        if function is None or function.name not in called:
            yield _object_report(place, name, model)


def _is_random(place: Place, model: Model) -> bool:
    """The Dropout layers of Equinox raise an error without a key, unless something made them ready for evaluation."""
    passed = [n for a in place.call.args for n in walk(a.value) if isinstance(n, (ir.Name, ir.Attribute))]
    keywords = [a.keyword for a in place.call.args if a.keyword]
    return "BatchNorm" in model.names or any(_RANDOM.search(n) for n in [*map(last_name, passed), *keywords])


def _end_of(project: Project, place: Place) -> int:
    """How far a switch in this file counts: in a notebook up to the cell that evaluates, or calls the function that does."""
    scope, function = project.scope, place.unit.function
    if not scope.cells:
        return len(scope.text)
    at = place.call.start
    if function is not None:
        name = re.escape(function.name)
        calls = [m.start() for m in re.finditer(rf"(?<!def )\b{name}\b", scope.text)]
        at = max(calls, default=len(scope.text))
    return next((start for start in scope.cells if start > at), len(scope.text))


def _object_of(project: Project, place: Place) -> tuple[str, Model] | None:
    """The model that a call calls or gets, as the code names it, with its class."""
    call = place.call
    inner = call.func.args[0].value if isinstance(call.func, ir.Call) and call.func.args else call.func
    operands = [inner, *(part for a in call.args for part in _elements(a.value))]
    for node in operands:
        path = path_of(node.value if isinstance(node, ir.Subscript) else node)
        if not path or path.partition(".")[0] in ("jax", "jnp", "np", "nnx", "nn", "eqx", "optax"):
            continue
        model = _class_of(project, place.unit, path)
        if model is not None:
            return path, model
    return None


def _elements(node: ir.Expr) -> list[ir.Expr]:
    return list(node.elts) if isinstance(node, (ir.Tuple, ir.List)) else [node]


def _class_of(project: Project, unit: Unit, path: str) -> Model | None:
    """The class with mode layers that a variable or an attribute is of: as declared, as assigned, or as all models are."""
    scope = unit.scope
    if path == "self":
        return _with_layers(model_of(unit.owner, scope)) if unit.owner is not None and is_module(unit.owner) else None
    if unit.function is not None:
        for param in unit.function.params:
            if param.name == path and param.annotation is not None:
                declared = scope.slots.get(path_of(param.annotation))
                if isinstance(declared, ClassValue):
                    return _with_layers(model_of(declared.node, declared.scope))
    known = scope.slots.get(path)
    if isinstance(known, Instance) and (unit.function is None or path not in unit.function.local_names):
        return _with_layers(model_of(known.cls.node, known.cls.scope)) if is_module(known.cls.node) else None
    made = _made(project, path)
    if made:
        models = [model_of(value.node, value.scope) for value in made if is_module(value.node)]
        return _one_of(models) if len(models) == len(made) else None
    values = [s.value for s in _assignments(project, path)]
    built = [v for v in values if isinstance(v, ir.Call) and library_name(v.func, scope) in _BUILDERS]
    if built and len(built) == len(values):
        return _with_layers(model_of(built[0], scope))
    merged = any(isinstance(v, ir.Call) and last_name(v.func) in _MERGES for v in values)
    return _one_of(project.models) if merged or _MODEL.search(path) else None


_BUILDERS = frozenset({"flax.nnx.Sequential", "equinox.nn.Sequential"})
_MERGES = frozenset({"merge", "combine"})


def _one_of(models: list[Model]) -> Model | None:
    """What a model is if it may be of each of these classes."""
    if not models or not all(m.names and m.library == models[0].library and not m.has_flag for m in models):
        return None
    names = frozenset.intersection(*(m.names for m in models))
    return replace(models[0], names=names, is_one_of=len(models) > 1) if names else None


def _with_layers(model: Model) -> Model | None:
    return model if model.names and model.library else None


def _made(project: Project, path: str) -> list[ClassValue]:
    """The classes of the project that the file makes an object of for a variable of that name."""
    found: dict[int, ClassValue] = {}
    for statement in _assignments(project, path):
        func = statement.value.func if isinstance(statement.value, ir.Call) else None
        value = project.scope.slots.get(func.id) if isinstance(func, ir.Name) else None
        if isinstance(value, ClassValue):
            found[id(value)] = value
    return list(found.values())


def _assignments(project: Project, path: str) -> list[ir.Assign]:
    """The assignments of the file to a variable of that name."""
    return [s for s in project.assignments if any(path_of(t) == path for t in s.targets)]


def _object_report(place: Place, name: str, model: Model) -> Report:
    layers = " and ".join(sorted(model.names, reverse=True))
    layers += "" if model.is_one_of else f" of `{model.name}`"
    act = "act" if len(model.names) > 1 else "acts"
    advice = f"call {name}.eval() before, and {name}.train() after"
    if model.library != "flax":
        advice = f"use eqx.nn.inference_mode({name})"
    return Report(
        place.call,
        f"`{text_of_call(place)}` evaluates {place.shown} in training mode, so {layers} {act} as in training; {advice}",
        preview=True,
    )


# --- calls that say their mode -----------------------------------------------------------------------------------------


_RUNS = re.compile(r"(?i)^(?:apply\w*|forward\w*|__call__|loss\w*|\w+_loss|predict\w*|logits\w*|call)$|(?:^|_)fn$")


def _of_flags(project: Project, units: list[Unit], places: list[Place]) -> Iterator[Report]:
    """Evaluations whose call asks for training: itself, by a default, or in a function that it calls."""
    reported: set[int] = set()
    for place in places:
        for call, flag in _asking(project, place.unit, [place.call]):
            if call.start not in reported:
                reported.add(call.start)
                yield _flag_report(place, call, flag, "")
        for unit in units:
            if unit.function is None or unit.function.name != place.callee or sets_flag(place.call):
                continue
            body = project.scope.text[unit.body[0].start : unit.body[-1].end] if unit.body else ""
            if unit is place.unit or trains(body):
                continue
            inner = [c for s in unit.statements for c in calls_in(s)]
            for call, flag in _asking(project, unit, inner):
                if call.start not in reported:
                    reported.add(call.start)
                    yield _flag_report(place, call, flag, unit.function.name)


def _asking(project: Project, unit: Unit, calls: list[ir.Call]) -> Iterator[tuple[ir.Call, str]]:
    """The calls of a model in train mode, with the flag."""
    for call in calls:
        func = call.func
        runs = isinstance(func, ir.Call) or _RUNS.match(last_name(func)) or _MODEL.search(path_of(func))
        flag = flag_of(call) if runs else ""
        applies = isinstance(func, ir.Attribute) and func.attr in _APPLIES
        path = path_of(func.value if isinstance(func, ir.Attribute) and applies else func)
        if not flag and path:
            function, skipped = _called(project, unit, path, applies=applies)
            flag = flag_of_parameter(function, call, skipped) if function is not None else ""
            flag = flag or (_flag_of_module(project, path) if applies else "")
        if flag:
            yield call, flag


_APPLIES = frozenset({"apply", "apply_fn"})


def _called(project: Project, unit: Unit, path: str, *, applies: bool) -> tuple[ir.Function | None, int]:
    """The function that a call of a model runs, and how many of its parameters no argument is for."""
    if path == "self":
        cls = unit.owner if unit.owner is not None and is_module(unit.owner) else None
    else:
        values = list(_made(project, path))
        if unit.function is not None:
            for param in unit.function.params:
                declared = project.scope.slots.get(path_of(param.annotation)) if param.annotation is not None else None
                if param.name == path and isinstance(declared, ClassValue):
                    values = [declared]
        if not values and applies:
            return _transformed(project, path)
        cls = values[0].node if len(values) == 1 and LAYER.search(values[0].scope.text) else None
    function = next((f for f in methods_of(cls) if f.name == "__call__"), None) if cls is not None else None
    return function, (0 if applies else 1)


def _flag_of_module(project: Project, path: str) -> str:
    """The flag of a module that the file makes once: ``Network(train=True)``, or ``train: bool = True`` in its class."""
    values = [s.value for s in _assignments(project, path)]
    classes = _made(project, path)
    if len(values) != 1 or len(classes) != 1 or not isinstance(values[0], ir.Call):
        return ""
    return flag_of(values[0]) or flag_of_field(classes[0].node, values[0])


_TRANSFORMS = {"haiku.transform": 2, "haiku.transform_with_state": 3}
"""How many arguments of ``apply`` stand before those of the function."""


def _transformed(project: Project, path: str) -> tuple[ir.Function | None, int]:
    """The function that Haiku makes a pair of functions of."""
    values = [s.value for s in _assignments(project, path)]
    call = values[0] if len(values) == 1 else None
    name = library_name(call.func, project.scope) if isinstance(call, ir.Call) else ""
    if not isinstance(call, ir.Call) or name not in _TRANSFORMS or not call.args:
        return None, 0
    operand = call.args[0].value
    if isinstance(operand, ir.Lambda):
        return operand.function, -_TRANSFORMS[name]
    value = project.scope.slots.get(operand.id) if isinstance(operand, ir.Name) else None
    return (value.fn if isinstance(value, FunctionValue) else None), -_TRANSFORMS[name]


def _flag_report(place: Place, call: ir.Call, flag: str, function: str) -> Report:
    name = place.unit.scope.text[call.func.start : call.func.end]
    name = name if len(name) <= 40 and "\n" not in name else "this call"
    where = f"when `{function}` evaluates {place.shown}" if function else place.shown
    return Report(
        call,
        f"`{name}` has `{flag}` {where}, so Dropout and BatchNorm layers act as in training; set the flag for evaluation",
        preview=True,
    )


# --- layers that always train ------------------------------------------------------------------------------------------


_CONDITION = re.compile(r"(?i)train|determin|infer|eval|\btest|\bif\b")
_LAYERS = frozenset({"flax.linen.Dropout", "flax.linen.BatchNorm", "haiku.BatchNorm"})


def _of_layers(project: Project, places: list[Place]) -> Iterator[Report]:
    """Layers of ``flax.linen`` and Haiku whose mode no caller can change."""
    scope = project.scope
    for statement in scope.tree.body:
        for call in sorted(calls_in(statement), key=lambda call: call.start):
            made = call.func if isinstance(call.func, ir.Call) else call
            name = library_name(made.func, scope)
            flag = f"has `{flag_of(call)}`" if name in _LAYERS and flag_of(call) else ""
            if name == "haiku.dropout" and not _CONDITION.search(scope.text[statement.start : statement.end]):
                flag = "drops elements"
            if not flag:
                continue
            place = next((p for p in places if _runs_a_model(p)), None) or _place_elsewhere(project)
            if place is None:
                return
            yield Report(
                call,
                f"`{name.rpartition('.')[2]}` {flag} in every call of the model, so it acts as in training "
                f"{place.shown}, too; make the flag an argument",
                preview=True,
            )
            break


def _place_elsewhere(project: Project) -> Place | None:
    """An evaluation in another file."""
    if project.scope.cells:
        return None
    return next((p for f in project.others for u in units_of(f) for p in places_of(u) if _runs_a_model(p)), None)


def _runs_a_model(place: Place) -> bool:
    """The call is of a model, or of what evaluates one."""
    func = place.call.func
    return (
        _RUNS.match(last_name(func)) is not None
        or _MODEL.search(path_of(func)) is not None
        or is_evaluation_name(last_name(func))
    )
