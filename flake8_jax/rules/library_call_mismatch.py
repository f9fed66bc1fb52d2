"""JAX804: see the page of ``library_call_mismatch``."""

from __future__ import annotations

import difflib
import re

from flake8_jax.core import ir
from flake8_jax.core.findings import Level
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.knowledge.history import show
from flake8_jax.rules._merging import report_wrong_argument
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._wording import listed, spelled
from flake8_jax.semantics.domain.code import bound_paths, last_name, names_read, nodes_around
from flake8_jax.semantics.domain.values import Array
from flake8_jax.semantics.events.arguments import FloatSize
from flake8_jax.semantics.events.events import CallMismatch, LibraryCall
from flake8_jax.semantics.events.refused import MissingMember


@rule(
    "JAX804",
    "error",
    raises="another error",
    settle=report_wrong_argument,
    only=Subscription(effects=frozenset({"consume", "split"})),
)
def library_call_mismatch(event: CallMismatch | FloatSize | MissingMember | LibraryCall) -> Report | None:
    """A call does not fit a function or method of JAX or a library around it, or their object lacks an attribute.

    The libraries are Flax, optax, Equinox, Haiku and NumPyro.

    The finding is a warning if only the name of a keyword argument is unknown or not allowed, or an attribute of an object
    that is not an array, because a release of the library that is newer than jaxlint may have this name. jaxlint reports an
    unknown attribute of an array only with `--preview`, unless PyTorch, NumPy or `jax.numpy` has a function of this name.

    With `--preview`, the rule reports an attribute that a module of Flax or Equinox does not have, such as
    `model.parameters()` of PyTorch, or `model.init(key, x)` of an object of `flax.nnx`.

    With `--preview`, the rule reports `x.split(2, axis=-1)` even if it does not know that `x` is an array, because
    nothing else that JAX code works with has such a method.

    With `--preview`, the rule reports a function of `jax.random` that gets all keys of a split
    (`normal(split(key, 1))`), but takes a single key.

    ## Why is this bad?

    If the arguments of a call do not fit the function, the call raises `TypeError`. The rule finds these mistakes:

    - A required argument is missing, such as the `key` of an Equinox layer or the `rngs` of a `flax.nnx` layer.
    - The call has too many positional arguments, or passes one argument both by position and by name.
    - The function has no parameter with the name of a keyword argument.
    - A shape or a count is a float, such as `1e6` or `n / 2`. JAX takes only ints there.
    - Neither the constructor nor the call of a Flax linen layer gets an argument that one of them needs, such as
      `deterministic` of `nn.Dropout`. The call then raises `ValueError`.
    - The function passes the argument on by itself, as `TrainState.create` does with `opt_state`.
    - `TrainState.create` gets an object for `params` in which no name can be looked for, such as an instance of a
      `flax.struct.dataclass`. `TrainState.create` tests `name in params` since Flax 0.7.5. Pass a dict.
    - The object is not a function. For example, `optax.clip_by_global_norm(1.0)` returns a pair of functions, and
      `x.shape` is a tuple.

    An attribute that an object does not have raises `AttributeError`. The usual cause is a method of PyTorch or NumPy,
    such as `x.numpy()` or `x.unsqueeze(0)`: JAX arrays have no such method.

    jaxlint knows the parameters of the functions in each release of these libraries, for JAX from 0.4.30 on. It
    reports a call only if the call fits none of the releases.

    ## Example

    ```python
    import equinox as eqx
    import jax
    import jax.numpy as jnp


    class Network(eqx.Module):
        layers: list

        def __init__(self):
            self.layers = [
                eqx.nn.Conv2d(3, 8, kernel_size=3),  # expect: library-call-mismatch
                eqx.nn.Linear(8, 2),  # expect: library-call-mismatch
            ]


    def demonstrate():
        Network()  # raises: TypeError
    ```

    ```python
    import flax


    def load(path):
        with open(path, "rb") as file:
            return flax.serialization.from_bytes(file.read())  # expect: library-call-mismatch


    def demonstrate():
        load(__file__)  # raises: TypeError
    ```

    ```python
    import optax


    def optimizer(rate):
        return optax.adam(lr=rate)  # expect: library-call-mismatch


    def demonstrate():
        optimizer(1e-3)  # raises: TypeError
    ```

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dropout(rate=0.1)(nn.Dense(8)(x))  # expect: library-call-mismatch


    def demonstrate():
        Block().init(jax.random.key(0), jnp.ones(3))  # raises: ValueError
    ```

    ```python
    import jax


    def sample(key):
        return jax.random.normal(key, shape=(1e3,))  # expect: library-call-mismatch


    def demonstrate():
        sample(jax.random.key(0))  # raises: TypeError
    ```

    ```python
    import jax.numpy as jnp


    def batched(x):
        return jnp.sin(x).unsqueeze(0)  # expect: library-call-mismatch


    def demonstrate():
        batched(jnp.ones(3))  # raises: AttributeError
    ```

    ```python
    import flax
    import jax
    import jax.numpy as jnp
    import optax
    from flax.training.train_state import TrainState


    @flax.struct.dataclass
    class AgentParams:
        actor: jax.Array
        critic: jax.Array


    def state(actor, critic):
        params = AgentParams(actor, critic)
        return TrainState.create(apply_fn=None, params=params, tx=optax.sgd(0.1))  # expect: library-call-mismatch


    def demonstrate():
        state(jnp.ones(2), jnp.ones(3))  # raises: TypeError
    ```

    ```python
    import optax


    def clip(grads):
        return optax.clip_by_global_norm(1.0)(grads)  # expect: library-call-mismatch


    def demonstrate():
        clip({"w": 1.0})  # raises: TypeError
    ```

    With `--preview`, jaxlint reports an array of keys where JAX takes one:

    ```python
    import jax


    def start(key, width):
        keys = jax.random.split(key, 1)
        return jax.random.normal(keys, (width,))  # expect: library-call-mismatch


    def demonstrate():
        start(jax.random.key(0), 3)  # raises: ValueError
    ```

    ## Use instead

    ```python
    import flax.linen as nn


    class Block(nn.Module):
        @nn.compact
        def __call__(self, x, train):
            return nn.Dropout(rate=0.1)(nn.Dense(8)(x), deterministic=not train)
    ```

    ```python
    import equinox as eqx
    import jax


    class Network(eqx.Module):
        layers: list

        def __init__(self, key):
            first, second = jax.random.split(key)
            self.layers = [eqx.nn.Conv2d(3, 8, kernel_size=3, key=first), eqx.nn.Linear(8, 2, key=second)]
    ```

    ```python
    import flax


    def load(target, path):
        with open(path, "rb") as file:
            return flax.serialization.from_bytes(target, file.read())
    ```

    ```python
    import optax


    def optimizer(rate):
        return optax.adam(learning_rate=rate)
    ```

    ```python
    import jax


    def sample(key):
        return jax.random.normal(key, shape=(10**3,))
    ```

    ```python
    import optax
    from flax.training.train_state import TrainState


    def state(actor, critic):
        params = {"actor": actor, "critic": critic}
        return TrainState.create(apply_fn=None, params=params, tx=optax.sgd(0.1))
    ```

    ## Not reported

    jaxlint does not report a call whose arguments it cannot count, such as `f(*args)`. It does not report a missing
    argument that `functools.partial` has already bound.

    ```python
    from functools import partial

    import equinox as eqx
    import jax


    def layer(*sizes, **options):
        return eqx.nn.Linear(*sizes, **options)


    def build(key):
        conv = partial(eqx.nn.Conv2d, 3, 8, key=key)
        return conv(kernel_size=3)
    ```

    ## Limitations

    The rule checks the number and the names of arguments. It does not check their types and values, except for
    floats as shapes and counts in functions of `jax.numpy`, `jax.nn` and `jax.random`, and for `params` of
    `TrainState.create`. It checks methods and attributes only if the class of the object is certain. An annotation
    does not make the class certain, because the object may be of a subclass. The rule misses attributes of arrays
    if a class of the project has an attribute of the same name, or if an operator computes the array with a value
    that jaxlint does not know. It does not check attributes of classes of the project, releases of JAX before
    0.4.30, or libraries other than JAX, Flax, optax, Equinox, Haiku and NumPyro. Of Haiku and NumPyro, it checks
    functions and constructors only.

    ## Fix safety

    No fix. Only the author knows the value of the missing or wrong argument.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the line raises `TypeError`,
    `ValueError` or `AttributeError`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX706 (`transform-argument-mismatch`), JAX801 (`removed-api`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/jax.html>
    """
    if event.context.presumed or event.context.caught:
        return None
    if isinstance(event, FloatSize):
        return _float_size(event)
    if isinstance(event, MissingMember):
        return _missing_member(event)
    if isinstance(event, LibraryCall):
        return _batch_of_keys(event)
    if event.problem.kind == "uncallable":
        return Report(event.at, _uncallable(event))
    function = f"`{spelled(event.context, event.at, event.name)}`"
    if event.name.endswith(".__call__"):
        function = quote(event.context, event.at.func, function)
    elif last_name(event.at.func) != event.name.rpartition(".")[2]:
        function = f"{quote(event.context, event.at.func, 'the function')} ({function})"
    level: Level | None = "warning" if event.problem.kind in ("unknown", "unnamed") else None
    return Report(event.at, _message(function, event), level=level)


def _batch_of_keys(event: LibraryCall) -> Report | None:
    """``jax.random.normal(keys)`` of all keys of a split."""
    key, node = event.bound.get("key"), event.bound_nodes.get("key")
    if not event.name.startswith("jax.random.") or node is None or event.context.presumed or event.context.caught:
        return None
    if not isinstance(key, Array) or key.dtype != "key" or not key.ndim or _is_of_parameter(event, node):
        return None
    shown, function = quote(event.context, node, "its argument"), spelled(event.context, event.at, event.name)
    what = "an array of one key" if key.length == 1 else "an array of keys"
    message = f"{shown} is {what}, but `{function}` takes a single key, so this call raises ValueError"
    return Report(event.at, f"{message}; index it, or use jax.vmap for one draw per key", preview=True)


def _is_of_parameter(event: LibraryCall, node: ir.Expr) -> bool:
    """What the caller passes is known only as far as the transform around the function is: a lifted ``scan`` hands out
    single keys."""
    root, fn = node, event.context.inner
    while isinstance(root, (ir.Subscript, ir.Attribute)):
        root = root.value
    if fn is None or not isinstance(root, ir.Name) or root.id in ("self", "cls"):
        return False
    is_bound = any(root.id in bound_paths(statement) for statement in fn.body)
    return not is_bound and (any(p.name == root.id for p in fn.params) or root.id not in event.context.scope.slots)


def _statement_text(event: MissingMember) -> str:
    """The statements and expressions around the attribute whose test may look for it, up to the attribute, as text."""
    text, body = event.context.scope.text, event.context.scope.tree.body
    around = nodes_around(body, event.at.start, event.at.end)
    testing = [node for node in around if isinstance(node, (ir.If, ir.Assert, ir.BoolOp, ir.IfExp))]
    return "\n".join(text[node.start : event.at.end] for node in testing)


def _is_tried(event: MissingMember) -> bool:
    """The code catches the error."""
    around = nodes_around(event.context.scope.tree.body, event.at.start, event.at.end)
    tried = [node for node in around if isinstance(node, ir.Try) and node.body[-1].end >= event.at.end]
    caught = [h.type for node in tried for h in node.handlers]
    return any(part is None or not _CATCHING.isdisjoint(names_read(part)) for part in caught)


_CATCHING = frozenset({"AttributeError", "Exception", "BaseException"})


def _missing_member(event: MissingMember) -> Report | None:
    """An object has no such attribute, or no such method."""
    context, base, attr = event.context, event.at.value, event.at.attr
    if (
        context.caught
        or _is_tried(event)
        or re.search(rf"hasattr\([^()]+, [\"']{re.escape(attr)}[\"']", _statement_text(event))
    ):
        return None
    subject = quote(context, base, "this value")
    if event.exists:
        what = f"{subject} is a JAX array, and its attribute `{attr}` is not a method, so this call raises TypeError"
        return Report(event.at, f"{what}; {_PROPERTIES.get(attr, 'remove the call')}")
    if event.cls == "method":
        what = f"{subject} is a method, which has no attribute `{attr}`, so this raises AttributeError"
        return Report(event.at, f"{what}; use the object that the method belongs to", level="warning")
    if event.owner:
        remedy = _OF_MODULES.get(event.cls, {}).get(attr, "check the name")
        what = f"{subject} is a `{event.owner}`, a module of {event.title}, which has no attribute `{attr}`"
        return Report(event.at, f"{what}, so this raises AttributeError; {remedy}", preview=True)
    if event.cls != "jax.Array":
        what = f"{subject} is a `{event.cls}`, which has no attribute `{attr}` in {event.title}"
        return Report(event.at, f"{what}, so this raises AttributeError; check the name", level="warning")
    if event.guess:
        what = f"If {subject} is an array, `{attr}` raises AttributeError, because arrays of JAX and NumPy have no such method"
        return Report(event.at, f"{what}; use jnp.{attr}", level="warning", preview=True)
    shown = subject.strip("`") if _NAME.fullmatch(subject.strip("`")) else "x"
    remedy = _ELSEWHERE_METHODS.get(attr) or ("jnp." + attr + "({x})" if event.equivalent else "")
    said = f"use {remedy.replace('{x}', shown)}" if remedy else "check the name"
    message = f"{subject} is a JAX array, which has no attribute `{attr}`, so this raises AttributeError; {said}"
    return Report(event.at, message, level=None if remedy else "warning", preview=not remedy)


_OF_NNX = "call the module itself, which holds its parameters"
_AS_STATE = "use nnx.state(model, nnx.Param)"
_AS_ARRAYS = "use eqx.filter(model, eqx.is_array)"
_FROM_INIT = "use what model.init(…) returns"
_BY_FLAG = "pass a flag such as train=False to the call"
_OF_MODULES = {
    "flax.linen.Module": {
        "parameters": _FROM_INIT, "params": _FROM_INIT, "state_dict": _FROM_INIT, "named_parameters": _FROM_INIT,
        "eval": _BY_FLAG, "train": _BY_FLAG, "forward": "use model.apply(variables, x)",
    },
    "flax.nnx.Module": {
        "apply": _OF_NNX, "init": _OF_NNX, "init_with_output": _OF_NNX, "bind": _OF_NNX, "forward": _OF_NNX,
        "parameters": _AS_STATE, "params": _AS_STATE, "state_dict": _AS_STATE, "named_parameters": _AS_STATE,
    },
    "equinox.Module": {
        "apply": "call the module itself, which holds its parameters", "init": "call the class to make a module",
        "parameters": _AS_ARRAYS, "params": _AS_ARRAYS, "state_dict": _AS_ARRAYS, "eval": "use eqx.nn.inference_mode(model)",
        "train": "use eqx.nn.inference_mode(model, False)",
    },
}  # fmt: skip
"""What to write instead, by the base of a module."""
_NAME = re.compile(r"[\w.]{1,24}")
"""What stands in the advice as it is."""
_PROPERTIES = {
    "size": "use .shape for the sizes of all axes, or .size without the parentheses",
    "device": "use .device without the parentheses, or .devices()",
}
_ELSEWHERE_METHODS = {
    "append": "a Python list, or jnp.append({x}, …)",
    "backward": "jax.grad of the function that computes the loss",
    "bool": "{x}.astype(bool)",
    "clamp": "{x}.clip(…)",
    "cpu": "np.asarray({x}) for a NumPy array",
    "ctypes": "np.asarray({x}).ctypes",
    "cuda": "jax.device_put",
    "detach": "jax.lax.stop_gradient({x})",
    "dim": "{x}.ndim",
    "double": "{x}.astype(jnp.float64)",
    "dump": "jnp.save(…, {x})",
    "dumps": "np.asarray({x}).dumps()",
    "expand": "jnp.broadcast_to({x}, …)",
    "fill": "jnp.full_like({x}, …)",
    "flags": "np.asarray({x}).flags",
    "float": "{x}.astype(jnp.float32)",
    "half": "{x}.astype(jnp.float16)",
    "int": "{x}.astype(int)",
    "itemset": "{x}.at[…].set(…)",
    "long": "{x}.astype(int)",
    "numel": "{x}.size",
    "numpy": "np.asarray({x})",
    "permute": "{x}.transpose(…)",
    "set": "{x}.at[…].set(…)",
    "strides": "np.asarray({x}).strides",
    "to": "jax.device_put, or {x}.astype(…) for a dtype",
    "tofile": "np.asarray({x}).tofile(…)",
    "tostring": "{x}.tobytes()",
    "unsqueeze": "jnp.expand_dims({x}, axis=…)",
}
"""What JAX has for methods of the arrays of other libraries, those of NumPy among them (the whole list, on JAX 0.10.2)."""


def _uncallable(event: CallMismatch) -> str:
    """What is called is an object of a library."""
    called = quote(event.context, event.at.func, "this value")
    if event.name in ("optax.GradientTransformation", "optax.GradientTransformationExtraArgs"):
        what = f"{called} is a pair of functions (`init` and `update`), so this call raises TypeError"
        return f"{what}; call its method `update`, or pass it to optax.chain with the optimizer"
    kind = "a JAX array" if event.name == "jax.Array" else f"a `{event.name}`"
    return f"{called} is {kind}, which is not a function, so this call raises TypeError; remove the call"


def _float_size(event: FloatSize) -> Report:
    """A float is where JAX needs the ints of a shape, or a count."""
    subject = quote(event.context, event.found, f"`{event.parameter}`")
    takes = f"`{spelled(event.context, event.at, event.name)}` takes only ints for `{event.parameter}`"
    message = f"{subject} is a float, but {takes}, so this call raises TypeError; write an int, or divide with //"
    return Report(event.found, message)


def _message(function: str, event: CallMismatch) -> str:
    """What is wrong with the call, and what to do."""
    problem = event.problem
    names = listed(problem.names) if problem.names else ""
    if problem.kind == "unset":
        layer = quote(event.context, event.at.func, event.name.rpartition(".")[2])
        return f"Neither the constructor of {layer} nor this call gets {names}, so the call raises ValueError; pass it here"
    if problem.kind == "missing" and problem.names == ("new_val",):
        option = f"jax.config.jax_{event.name.rpartition('.')[2]}"
        sets = f"{function} is a context manager that sets an option, so this call without a value raises TypeError"
        return f"{sets}; pass the new value, or read `{option}`"
    if problem.kind == "missing":
        pronoun = "them" if len(problem.names) > 1 else "it"
        return f"This call does not pass {names}, which {function} requires, so it raises TypeError; pass {pronoun}"
    if problem.kind == "too-many" and problem.most == 0:
        return f"{function} takes only keyword arguments, so this call raises TypeError; pass them by keyword, or remove them"
    if problem.kind == "too-many":
        most = f"{problem.most} positional argument{'' if problem.most == 1 else 's'}"
        return f"{function} takes at most {most}, so this call raises TypeError; pass the others by keyword, or remove them"
    if problem.kind == "own":
        pronoun = "them" if len(problem.names) > 1 else "it"
        return f"{function} passes {names} on by itself, so this call raises TypeError; leave {pronoun} out"
    if problem.kind == "no-lookup":
        cls, name = problem.names
        what = f"{function} looks for a name in `{name}`, but `{cls}` does not support `in`"
        return f"{what}, so this call raises TypeError; pass a dict of its fields"
    if problem.kind == "twice":
        return _given_twice(function, event)
    release = f"{event.title} {show(event.newest)}"
    plural = "s" if len(problem.names) > 1 else ""
    if problem.kind == "unnamed":
        takes = f"{function} of {release} takes {names} only by position, so this call raises TypeError"
        return f"{takes}; pass {'them' if plural else 'it'} without a name"
    lacks = f"{function} of {release} has no parameter{plural} {names}, so this call raises TypeError"
    if event.name == "jax.lax.cond" and _COND.issuperset(problem.names):
        now = "pass the operands by position after both functions, which get all of them: cond(pred, f, g, *operands)"
        return f"{lacks}; {now}"
    meant = [_meant(name, event) for name in problem.names]
    if all(meant) and len({*meant}) == len(meant):
        return f"{lacks}; use {' and '.join(f'`{name}=`' for name in meant)}"
    return f"{lacks}; remove {'them' if plural else 'it'} or check the name{plural}"


def _given_twice(function: str, event: CallMismatch) -> str:
    """A keyword names a parameter that an argument before it takes the place of."""
    name, position = event.problem.names[0], event.problem.position
    passed = [argument.value for argument in event.at.args if argument.keyword is None]
    taken = quote(event.context, passed[position], "an argument") if position < len(passed) else "an argument"
    remedy = f"pass `{name}` first" if position == 0 else f"pass `{name}` once"
    if position == 0 and _MODULES.match(event.name) and (made := quote(event.context, event.at.func, "")):
        made = made.strip("`")
        remedy = f"`{made}` makes a module, so call what it makes: {made}()({taken.strip('`')})"
    return f"{taken} stands in the place of `{name}`, which {function} also gets by keyword, so this raises TypeError; {remedy}"


_MODULES = re.compile(r"flax\.(linen|nnx)\.[A-Z]\w*$")
_COND = frozenset({"false_operand", "true_operand"})
_ELSEWHERE = {
    "dim": "axis",
    "dims": "axis",
    "in_axis_resources": "in_shardings",
    "keepdim": "keepdims",
    "out_axis_resources": "out_shardings",
    "prng_key": "key",
    "rng": "key",
    "seed": "key",
}
"""Parameters that other libraries and older releases have for one that the function takes."""


def _meant(name: str, event: CallMismatch) -> str:
    """The parameter that a name of no parameter stands for: of the same meaning elsewhere, or the only one of a similar
    name. Empty if there is none."""
    if (other := _ELSEWHERE.get(name)) in event.left:
        return other
    turned = [one for one in event.left if sorted(one.split("_")) == sorted(name.split("_"))]
    if len(turned) == 1:
        return turned[0]
    close = difflib.get_close_matches(name, event.left, n=2, cutoff=0.7)
    return close[0] if len(close) == 1 else ""
