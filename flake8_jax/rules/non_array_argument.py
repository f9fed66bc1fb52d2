"""JAX413: see the page of ``non_array_argument``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._merging import report_wrong_argument
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._untraceable import (
    HOOKS,
    JITS,
    annotated_object,
    is_callable,
    is_no_array,
    is_optimizer,
    refused_kind,
)
from flake8_jax.rules._wording import passed_in
from flake8_jax.semantics.domain.classes import find_in_class
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    Const,
    DictValue,
    ExternalInstance,
    FunctionValue,
    Instance,
    ListValue,
    Site,
    SliceValue,
    Static,
    TransformedValue,
    TupleValue,
    Value,
)
from flake8_jax.semantics.events.events import LibraryCall, RootMet, TransformCall
from flake8_jax.semantics.events.refused import ListIndex, SequenceOperation, StagedResult
from flake8_jax.semantics.events.sequence_operands import elements_of, sequence_operand, shape_operand

_MODULES = ("haiku.", "flax.linen.", "flax.nnx.", "equinox.")
"""Libraries of modules: objects that compute when they are called."""
_LAYERS = frozenset({
    "Linear", "Dense", "DenseGeneral", "MLP", "Conv", "Conv1D", "Conv2D", "Conv3D", "Conv1d", "Conv2d", "Conv3d",
    "ConvTranspose",
    "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose", "Embed", "Embedding", "LayerNorm", "BatchNorm", "GroupNorm",
    "RMSNorm", "Dropout", "MultiHeadAttention", "MultiheadAttention", "MultiHeadDotProductAttention", "SelfAttention", "LSTM",
    "GRU", "LSTMCell", "GRUCell", "VanillaRNN", "Sequential",
})  # fmt: skip
_ON_ARRAYS = ("jax.numpy.", "jax.nn.", "jax.scipy.special.")
_OPERANDS = (["x"], ["x", "y"], ["x1", "x2"])


@rule("JAX413", "error", fixable="sometimes", raises="another error", settle=report_wrong_argument)
def non_array_argument(
    event: TransformCall | LibraryCall | RootMet | SequenceOperation | StagedResult | ListIndex,
) -> Report | None:
    """A string, a function, a module or another non-array value is passed where JAX takes only arrays.

    ## Why is this bad?

    `jit` makes a tracer for every argument that is not static. JAX can trace only arrays, numbers and pytrees of
    them; other values raise `TypeError`. Name the parameter in `static_argnames`, or bind the argument beforehand
    with `functools.partial`.

    Functions of `jax.numpy` and `jax.random`, and operators, also need arrays. They raise `TypeError` in these cases:

    - The code passes a function or a module and forgets to call it: `jnp.tanh(network)` instead of
      `jnp.tanh(network(x))`.
    - A function of `jax.random` gets a number or a shape in place of a key.
    - A function such as `jnp.sum` or `jnp.unique` gets a list, or a list is given for an option such as `repeats` of
      `jnp.repeat`. Unlike NumPy, most functions of `jax.numpy` do not convert lists; `jnp.asarray` does.
    - An operator gets a list and an array of JAX: `[1, 2] + x`.

    With `--preview`, the rule also reports such a value in the result of a function that JAX traces, for example in
    `return jax.tree, map(f, params)`, where a comma stands for a dot.

    With `--preview`, the rule also reports a list as the index of an array of JAX, as in `x[[0, 2]]`. NumPy takes such a
    list, and JAX raises `TypeError`.

    With `--preview`, the rule also reports a shape in place of an array, as in `jnp.repeat(x, y.shape[:-1])`.

    With `--preview`, the rule also reports a seed of `jax.random.key` that is None, or a parameter whose default is None
    and that the function uses only as the seed.

    The finding is a warning if jaxlint knows only from the annotation of a parameter (`model: Model`) that the
    argument is an object of a class of the project.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def activate(x, kind):
        return jnp.tanh(x) if kind == "tanh" else x


    def forward(x):
        return activate(x, "tanh")  # expect: non-array-argument


    def demonstrate():
        forward(jnp.ones(2))  # raises: TypeError
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def layer(x):
        return jnp.dot(x, jnp.ones((2, 2)))


    def network(x):
        return jax.nn.tanh(layer)  # expect: non-array-argument


    def demonstrate():
        network(jnp.ones(2))  # raises: TypeError
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def shuffled(x):
        return x[jax.random.permutation(x.shape[0])]  # expect: non-array-argument


    def demonstrate():
        shuffled(jnp.ones(3))  # raises: TypeError
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def loss(w, x):
        return jnp.sum((w - x) ** 2)


    def evaluate(w, batches):
        losses = []
        for x in batches:
            losses.append(loss(w, x))
        return jnp.mean(losses)  # expect: non-array-argument


    def demonstrate():
        evaluate(jnp.ones(2), [jnp.ones(2)])  # raises: TypeError
    ```

    ```python
    import jax.numpy as jnp


    def with_bounds(x):
        return [0.0, 1.0] + jnp.sort(x)  # expect: non-array-argument


    def demonstrate():
        with_bounds(jnp.ones(2))  # raises: TypeError
    ```

    ```python
    import jax.numpy as jnp


    def ends(x):
        return jnp.sort(x)[[0, -1]]  # expect: non-array-argument


    def demonstrate():
        ends(jnp.ones(3))  # raises: TypeError
    ```

    ## Use instead

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, static_argnames="kind")
    def activate(x, kind):
        return jnp.tanh(x) if kind == "tanh" else x


    def forward(x):
        return activate(x, "tanh")
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def layer(x):
        return jnp.dot(x, jnp.ones((2, 2)))


    def network(x):
        return jax.nn.tanh(layer(x))
    ```

    ```python
    import jax


    def shuffled(key, x):
        return x[jax.random.permutation(key, x.shape[0])]
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def loss(w, x):
        return jnp.sum((w - x) ** 2)


    def evaluate(w, batches):
        losses = []
        for x in batches:
            losses.append(loss(w, x))
        return jnp.mean(jnp.asarray(losses))
    ```

    ## Not reported

    jaxlint does not report numbers, None, or pytrees of numbers such as `{"scale": 2.0}`, because JAX can trace them.
    It does not report a string as the default value of a parameter (`mode="shift"`) if no call passes this argument,
    because JAX does not trace a default value.

    ```python
    import jax


    @jax.jit
    def scaled(x, options, bias=None, mode="shift"):
        y = x * options["scale"]
        return y if bias is None or mode != "shift" else y + bias


    def forward(x):
        return scaled(x, {"scale": 2.0}), scaled(x, {"scale": 1}, None)
    ```

    ## Limitations

    The rule misses objects whose class comes from a library, except optimizers of optax and the neural-network modules of
    Flax and Equinox.

    ## Fix safety

    For a string or a function as an argument of a jitted function, jaxlint adds the parameter to `static_argnames`.
    This fix is unsafe, because JAX then compiles the function again for each value.

    A list or a tuple in a call of `jax.numpy` becomes an array: `jnp.sum([a, b])` becomes
    `jnp.sum(jnp.asarray([a, b]))`. This fix is safe if every element is an array or a number, because the old call
    always raises an error. Otherwise it is unsafe, because `jnp.asarray` raises an error for other elements and for
    elements of different shapes.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the call raises `TypeError`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX403 (`unhashable-static`), JAX404 (`static-arg-mismatch`), JAX405 (`jit-on-method`), JAX406 (`static-arg-in-loop`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.jit.html>
    """
    context = event.context
    if context.presumed or context.caught:
        return None
    if isinstance(event, LibraryCall):
        return _not_called(event) or _no_key(event) or _no_seed(event) or _not_converted(event)
    if isinstance(event, SequenceOperation):
        return _operated(event)
    if isinstance(event, StagedResult):
        return _returned(event)
    if isinstance(event, ListIndex):
        return _indexed(event)
    if isinstance(event, RootMet):
        found_parameter = annotated_object(event)
        if found_parameter is None:
            return None
        parameter, cls = found_parameter
        return Report(parameter, _OBJECT.format(parameter.name, cls.node.name), "warning")
    found = untraceable(event)
    if not found:
        return None
    _parameter, node, value = found[0]
    subject = quote(context, node, "This argument")
    advice = "name its parameter in static_argnames or bind it with functools.partial"
    message = f"{subject} {_untraceable_kind(value)}, which jit cannot trace; {advice}"
    return Report(node if node is not None else event.at, message)


_OBJECT = "`{}` is a `{}` object, which jit cannot trace; name it in static_argnames or bind it with functools.partial"


def _untraceable_kind(value: Value) -> str:
    """``is a string``, ``holds a value``: what jit cannot trace."""
    if isinstance(value, Const) or (isinstance(value, Static) and value.kind == "str"):
        return "is a string"
    if is_optimizer(value):
        return "is an optimizer (a pair of functions)"
    if isinstance(value, ExternalInstance):
        return "is a Flax layer"
    if isinstance(value, (TupleValue, ListValue, DictValue)):
        return "holds a value that is not an array"
    if isinstance(value, Instance):
        return f"is a `{value.cls.node.name}` object"
    return "is a function" if is_callable(value) else "is not an array"


def _returned(event: StagedResult) -> Report | None:
    """``return jax.tree, map(f, params)``: the function that ``jit`` traces gives a module and a generator."""
    kind = refused_kind(event.value)
    if not kind:
        return None
    short = event.name.rpartition(".")[2]
    subject = "The result" if isinstance(event.at, Site) else quote(event.context, event.at)
    message = (
        f"{subject} is or holds {kind}, but a function under {short} must return arrays, numbers or pytrees of these"
    )
    hint = _HINTS.get(kind, "return only what JAX can trace")
    return Report(event.at, f"{message}; {hint}", preview=True)


_HINTS = {
    "a generator": "make a list of its elements, or use jax.tree.map for a pytree",
    "a module": "check the name: a comma may stand for a dot",
    "a function": "call it, or return it outside of the traced function",
    "a string": "return it outside of the traced function",
}

_USING_KEYS = frozenset({"consume", "split", "derive"})
_KINDS: dict[type, str] = {bool: "a bool", int: "an int", float: "a float", str: "a string"}


def _no_key(event: LibraryCall) -> Report | None:
    """A number, a string or a shape is where a function of ``jax.random`` takes its key."""
    fact, short = event.fact, event.name.rpartition(".")[2]
    if fact is None or not fact.key or fact.key_effect not in _USING_KEYS or not event.name.startswith("jax.random."):
        return None
    value, node = event.bound.get(fact.key), event.bound_nodes.get(fact.key)
    kind = _kind_of(value, node) if value is not None and node is not None else ""
    if not kind or node is None:
        return None
    subject = quote(event.context, node, "the first argument")
    where = passed_in(event.context, node)
    return Report(
        node, f"{subject} is {kind}{where}, but `{short}` needs a key here; pass a key such as jax.random.key(seed)"
    )


def _no_seed(event: LibraryCall) -> Report | None:
    """``PRNGKey(seed)`` where ``seed`` is None unless a caller passes it."""
    if event.name not in ("jax.random.PRNGKey", "jax.random.key") or not event.args or not event.nodes:
        return None
    node, value = event.nodes[0], event.args[0]
    if node is None:
        return None
    if isinstance(value, Const) and value.value is None:
        wrong = f"{quote(event.context, node)} is None"
    elif _is_none_by_default(event, node):
        wrong = f"{quote(event.context, node)} is None by default"
    else:
        return None
    return Report(
        node, f"{wrong}, but {event.name} needs an integer; use 0 or a seed from NumPy", preview=True, level="info"
    )


def _is_none_by_default(event: LibraryCall, node: ir.Expr) -> bool:
    """A parameter whose default is None, and which the function tests or assigns nowhere."""
    fn = event.context.inner
    if fn is None or not isinstance(node, ir.Name):
        return False
    defaults = [p.default for p in fn.params if p.name == node.id]
    if not defaults or not isinstance(defaults[0], ir.Constant) or defaults[0].value is not None:
        return False
    uses = [n for statement in fn.body for n in walk(statement) if isinstance(n, ir.Name) and n.id == node.id]
    return len(uses) == 1


def _kind_of(value: Value, node: ir.Expr) -> str:
    """What a value is that cannot be a key. An annotation of a name may be wrong, and an attribute may be set later."""
    if isinstance(node, ir.Attribute):
        return ""
    if isinstance(value, Const):
        return _KINDS.get(type(value.value), "")
    if isinstance(value, Static) and value.kind == "int":
        return "" if isinstance(node, ir.Name) else "an int"
    if isinstance(value, TupleValue) and value.elts and not value.names:
        plain = all(isinstance(element, Const) and type(element.value) is int for element in value.elts)
        return "a tuple" if plain else ""
    return ""


def _not_called(event: LibraryCall) -> Report | None:
    """A function or a module is given to a function on arrays: the call is missing."""
    fact, short = event.fact, event.name.rpartition(".")[2]
    if (
        fact is None
        or not event.name.startswith(_ON_ARRAYS)
        or fact.returns not in ("array", "float", "like(x)", "bool")
    ):
        return None
    operands = [p.partition(":")[0] for p in fact.params]
    if operands not in _OPERANDS and not (fact.rank and operands[:1] in (["x"], ["a"])):
        return None
    names = operands if operands in _OPERANDS else operands[:1]
    for name in names:
        value, node = event.bound.get(name), event.bound_nodes.get(name)
        if value is None or node is None:
            continue
        kind = "a function" if is_callable(value) else "a module" if _is_module(value) else ""
        if kind:
            subject = quote(event.context, node, "the argument")
            where = passed_in(event.context, node)
            return Report(
                node, f"{subject} is {kind}{where}, but `{short}` takes only arrays; pass the result of calling it"
            )
    return None


def _operated(event: SequenceOperation) -> Report:
    """``[1, 2] + x``."""
    kind = "a list" if event.is_list else "a tuple"
    subject = quote(event.context, event.sequence, f"this {kind[2:]}")
    return Report(
        event.at,
        f"{subject} is {kind}, and `{event.at.op}` with an array of JAX raises TypeError; convert it with jnp.asarray, or join "
        "both with jnp.concatenate",
    )


def _indexed(event: ListIndex) -> Report:
    """``x[[0, 2]]``."""
    subject = quote(event.context, event.at.index, "the index")
    remedy = "convert it with jnp.asarray"
    elements = elements_of(event.index)
    if elements and all(isinstance(element, SliceValue) for element in elements):
        remedy = "convert it with tuple()"
    return Report(
        event.at,
        f"{subject} is a list, and JAX takes no list as index, so this raises TypeError; {remedy}",
        preview=True,
    )


def _not_converted(event: LibraryCall) -> Report | None:
    """A list is given to a function of ``jax.numpy``, which converts none."""
    found, short = sequence_operand(event), event.name.removeprefix("jax.numpy.")
    if found is None:
        return _of_shape(event, short)
    subject = quote(event.context, found.node, "the argument")
    # What a call gives in a tuple are results of their own, as of `init, apply = …`.
    results = isinstance(found.value, TupleValue) and isinstance(found.node, ir.Call)
    is_written_out = isinstance(found.node, (ir.List, ir.Tuple)) or _holds_numbers(found.value)
    conversion = "np.asarray" if found.counts else "jnp.asarray"
    one_array = f"convert it with {conversion}" if is_written_out else "make it one array first, such as with jnp.stack"
    remedy = "take the result that you mean out of it" if results else one_array
    where = passed_in(event.context, found.node)
    return Report(found.node, f"{subject} is {found.kind}{where}, but jnp.{short}() takes only arrays; {remedy}")


def _of_shape(event: LibraryCall, short: str) -> Report | None:
    """``jnp.repeat(x, y.shape[:-1])``."""
    node = shape_operand(event)
    if node is None:
        return None
    problem = f"{quote(event.context, node)} is a tuple, but jnp.{short}() takes only arrays"
    return Report(
        node, f"{problem}; take the number that you mean out of it, or convert it with np.asarray", preview=True
    )


def _holds_numbers(value: Value) -> bool:
    """A list or tuple of Python numbers."""
    elements = value.elts if isinstance(value, TupleValue) else value.known() if isinstance(value, ListValue) else None
    return bool(elements) and all(isinstance(e, Const) and type(e.value) in (int, float) for e in elements or ())


def _is_module(value: Value) -> bool:
    """An object of a library of modules, or of a class of the project that is one, which surely does not turn into an array."""
    if isinstance(value, ExternalInstance):
        return value.cls.startswith(_MODULES) and value.cls.rpartition(".")[2] in _LAYERS
    if not isinstance(value, Instance) or not value.exact or value.cls.has_unknown_base:
        return False
    bases = value.cls.external_bases
    is_own = bool(bases) and all(base.startswith(_MODULES) and base.endswith(".Module") for base in bases)
    if not is_own or find_in_class(value.cls, "__call__") is None:
        return False  # in the Flax of old, making a module with ``apply`` is calling it
    return not any(find_in_class(value.cls, name) for name in (*HOOKS, "__array__"))


def untraceable(event: TransformCall) -> list[tuple[int | str, ir.Expr | None, Value]]:
    """The arguments that are written in the call, not static, and surely no arrays: position or name, IR and value."""
    if event.name not in JITS or event.statics is None or not event.sure:
        return []
    positions, names = event.statics
    if (positions or names) and not _has_signature(event.operand):
        return []
    written: list[tuple[int | str, ir.Expr | None, Value]] = [
        (i, node, value)
        for i, (node, value) in enumerate(zip(event.nodes, event.args))
        if i not in positions and node is not None  # ``self`` of a method is not: that is jit-on-method's
    ]
    written += [(k, event.keyword_nodes.get(k), v) for k, v in event.kwargs.items() if k not in names]
    return [(where, node, value) for where, node, value in written if is_no_array(value)]


def _has_signature(operand: Value) -> bool:
    """Which parameter an argument is for is known, so that a static name and a position can be told to be one."""
    while isinstance(operand, (BoundMethod, TransformedValue)):
        operand = operand.func if isinstance(operand, BoundMethod) else operand.operand
    return isinstance(operand, FunctionValue) and all(p.kind != "vararg" for p in operand.fn.params)
