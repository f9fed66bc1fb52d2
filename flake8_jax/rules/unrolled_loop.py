"""JAX408: see the page of ``unrolled_loop``."""

from __future__ import annotations

import builtins

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Candidate, Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._units import calls_in, library_name
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.domain.code import nodes_around, path_of
from flake8_jax.semantics.domain.signatures import underlying
from flake8_jax.semantics.domain.values import Array, Const, FunctionValue, Value, known_elements
from flake8_jax.semantics.events.events import RootMet, UnrolledLoop
from flake8_jax.semantics.events.facts import IN_NEST, IN_PREVIEWED_NEST


@rule("JAX408", "warning", fixable="sometimes", settle=lambda candidates: _compiled_first(candidates))
def unrolled_loop(event: UnrolledLoop | RootMet) -> Report | None:
    """A Python loop in compiled code runs many times, and JAX compiles a copy of its body for each iteration.

    jaxlint reports loops with at least 32 iterations. To change this number, set `unroll-threshold` in the table
    `[tool.jaxlint]` of `pyproject.toml`. For nested loops, jaxlint multiplies the numbers of iterations and reports
    the outermost loop.

    With `--preview`, the rule also reports a loop of unknown length over `range(len(xs))` or `range(x.shape[0])`, as in
    the second example, or over `range(n - 1)` after `n = x.shape[0]`. It reports such a loop in three cases:

    - The body computes a value from each element and adds the value to a sum or appends it to a list.
    - The loop is a comprehension that computes a value from each element (`[score(x[i]) for i in range(x.shape[0])]`).
    - The loop goes over an axis of an array, and each iteration computes with an element and with the result of the
      iteration before (`state = cell(state, x[t])` in the third example). It may test values (`if t > 0:`), and put its
      results into a list.

    With `--preview`, the rule also reports a loop that goes over the elements of an array of unknown length, or of a list
    of arrays that a loop has filled, such as `for x in xs`, `for r in reversed(rewards)`, `for x, y in zip(xs, ys)` or
    `[score(x) for x in xs]`. If the code does not say whether `xs` is an array or a list of layers, jaxlint decides by
    its name and by what the loop does with an element: it does not report a loop over `params` or `layers`, or one that
    unpacks, calls or names a part of an element (`layer["w"]`).

    With `--preview`, the rule also reports a loop over `range(options.steps)` if the default of this option is at least
    32, as in the fourth example. The default is the number in `add_argument("--steps", default=128)`, in a field of a
    class, or in an assignment to the attribute.

    With `--preview`, the rule also reports a loop over `range` of unknown length in two more cases. Either each iteration
    sets one element of an array (`grid = grid.at[i, j].set(…)`), or the loop goes over a length or, by its name, over a
    number of steps (`range(self.timesteps)`), and each iteration needs a result of the iteration before.

    With `--preview`, the rule also reports these loops of unknown length:

    - A loop that computes each step from the one before with several operations or calls
      (`velocity = velocity + dt * force(position)`), unless its names say that it goes over layers or parameters.
    - A loop under `jax.grad` that nothing compiles. JAX then runs, and differentiates, each operation of each
      iteration by itself, and `jit` would unroll the loop.

    With `--preview`, the rule also reports the option `unroll` of `jax.lax.scan` and `jax.lax.fori_loop`, such as
    `unroll=True`, if it makes at least 32 copies of the body, or at least 16 of a body that calls functions of the program.

    ## Why is this bad?

    JAX unrolls Python loops at trace time: the compiled program contains one copy of the body for each iteration. The
    time to trace and compile grows faster than the number of iterations. `jax.lax.fori_loop` and `jax.lax.scan` trace
    the body only once. If the iterations do not depend on each other, you can also use `jax.vmap`, which traces the
    body once, too.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def relax(u):
        for _ in range(100):  # expect: unrolled-loop
            u = 0.5 * (jnp.roll(u, 1) + jnp.roll(u, -1))
        return u


    @jax.jit
    def smooth(u):
        for _ in range(6):  # expect: unrolled-loop
            for weight in (0.1, 0.2, 0.4, 0.4, 0.2, 0.1):
                u = u + weight * (jnp.roll(u, 1) - u)
        return u


    def demonstrate():
        assert str(jax.make_jaxpr(relax)(jnp.ones(4))).count(" = mul ") == 100
        assert str(jax.make_jaxpr(smooth)(jnp.ones(4))).count(" = sub ") == 36
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def image(spectrum, shifts, weights):
        total = jnp.zeros(spectrum.shape)
        for i in range(len(shifts)):  # expect: unrolled-loop
            total += weights[i] * jnp.abs(jnp.fft.ifft(jnp.roll(spectrum, shifts[i])))
        return total


    def demonstrate():
        traced = jax.make_jaxpr(image)(jnp.ones(8), jnp.arange(40), jnp.ones(40))
        assert str(traced).count(" = abs ") == 40
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def encode(weight, x):
        state = jnp.zeros(weight.shape[0])
        for t in range(x.shape[0]):  # expect: unrolled-loop
            state = jnp.tanh(weight @ state + x[t])
        return state


    @jax.jit
    def scores(x):
        return jnp.array([jnp.sum(jnp.exp(x[i])) for i in range(x.shape[0])])  # expect: unrolled-loop


    @jax.jit
    def discounted(rewards):
        total = 0.0
        for reward in reversed(rewards):  # expect: unrolled-loop
            total = jnp.tanh(reward) + 0.9 * total
        return total


    def demonstrate():
        assert str(jax.make_jaxpr(discounted)(jnp.ones(40))).count(" = tanh ") == 40
        traced = jax.make_jaxpr(encode)(jnp.ones((3, 3)), jnp.ones((40, 3)))
        assert str(traced).count(" = tanh ") == 40
        assert str(jax.make_jaxpr(scores)(jnp.ones((40, 3)))).count(" = exp ") == 40
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def error(stiffness, position, velocity, steps):
        for _ in range(steps):  # expect: unrolled-loop
            velocity = velocity - 0.01 * stiffness * position
            position = position + 0.01 * velocity
        return (position - 1.0) ** 2


    slope = jax.grad(error)


    def demonstrate():
        traced = jax.make_jaxpr(slope, static_argnums=3)(1.0, 1.0, 0.0, 40)
        assert str(traced).count(" = sub ") >= 40
        slope(1.0, 1.0, 0.0, 40)
    ```

    ```python
    from dataclasses import dataclass

    import jax
    import jax.numpy as jnp


    @dataclass
    class Options:
        steps: int = 128


    def make_solver(options):
        @jax.jit
        def solve(u):
            for _ in range(options.steps):  # expect: unrolled-loop
                u = 0.5 * (jnp.roll(u, 1) + jnp.roll(u, -1))
            return u

        return solve


    def demonstrate():
        assert str(jax.make_jaxpr(make_solver(Options()))(jnp.ones(4))).count(" = mul ") == 128
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def relax(u):
        def body_fun(_, u):
            return 0.5 * (jnp.roll(u, 1) + jnp.roll(u, -1))

        return jax.lax.fori_loop(0, 100, body_fun, u)
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def image(spectrum, shifts, weights):
        def add(total, element):
            shift, weight = element
            return total + weight * jnp.abs(jnp.fft.ifft(jnp.roll(spectrum, shift))), None

        return jax.lax.scan(add, jnp.zeros(spectrum.shape), (shifts, weights))[0]
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def encode(weight, x):
        def advance(state, element):
            return jnp.tanh(weight @ state + element), None

        return jax.lax.scan(advance, jnp.zeros(weight.shape[0]), x)[0]


    @jax.jit
    def scores(x):
        return jax.vmap(lambda row: jnp.sum(jnp.exp(row)))(x)


    @jax.jit
    def discounted(rewards):
        def add(total, reward):
            return jnp.tanh(reward) + 0.9 * total, None

        return jax.lax.scan(add, 0.0, rewards, reverse=True)[0]
    ```

    ## Not reported

    jaxlint does not report a loop with fewer iterations than `unroll-threshold`, or a loop that computes only Python
    numbers, because they add little to the program. It does not report a loop over a list of layers (`blocks[i]`),
    because the layers may have different shapes. It does not report a loop outside compiled code, because JAX
    compiles no copies of its body.

    ```python
    import jax
    import jax.numpy as jnp

    BLOCKS = 40


    @jax.jit
    def forward(blocks, x):
        for i in range(BLOCKS):
            x = jnp.tanh(x @ blocks[i]["kernel"] + blocks[i]["bias"])
        for _ in range(4):
            x = x / jnp.linalg.norm(x)
        return x


    @jax.jit
    def window(x):
        weights = []
        for i in range(64):
            weights.append(0.5 - 0.5 * abs(i / 63 - 0.5))
        return x * jnp.array(weights)


    @jax.jit
    def step(x):
        return x - 0.1 * jnp.sin(x)


    def fit(x):
        for _ in range(1000):
            x = step(x)
        return x
    ```

    ## Limitations

    The rule does not know how large the body of the loop is, so it also reports loops whose copies compile fast. It
    misses most loops over lists of arrays, `while` loops that change their counter in several places, and the option
    `unroll` of a loop of unknown length.

    ## Fix safety

    Unsafe. `for i in range(n)` becomes `jax.lax.fori_loop` if the body only computes new values of its variables.
    These variables must keep their shapes and dtypes, and the counter `i` becomes an array. jaxlint offers no fix in a
    file that looks at the program that JAX makes (`jax.jit(f).lower(x)`, `jax.make_jaxpr(f)`).

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if one trace runs the body of the loop (of
    nested loops: the body of the innermost loop) at least 32 times. This number does not depend on `unroll-threshold`.
    It cannot confirm a finding about the option `unroll`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX104 (`traced-iteration`), JAX103 (`traced-range`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/control-flow.html>
    """
    if isinstance(event, RootMet):
        return _report_option(event)
    if _is_in_handler(event) or _builds_object(event):
        return None
    if event.eager:
        return _report_eager(event)
    if not event.copies:
        return _report_gathering(event)
    if event.option:
        return _report_default(event)
    alone = event.copies == event.trips
    loop = f"The loop over {quote(event.context, event.at)}"
    unrolled = f"{loop} unrolls" if alone else f"{loop} and those in it unroll"
    return Report(
        event.at,
        f"{unrolled} into {event.copies} copies of {'its' if alone else 'the innermost'} body, "
        "which slows compilation; use jax.lax.fori_loop, scan or vmap",
        "info" if is_test(event.context) else None,
        unless=IN_NEST,
    )


def _compiled_first(candidates: list[Candidate]) -> list[Candidate]:
    """One report for a loop that one path compiles and another one does not."""
    eager = {id(c) for c in candidates if isinstance(c.event, UnrolledLoop) and c.event.eager}
    compiled = {(c.path, c.start) for c in candidates if id(c) not in eager}
    return [c for c in candidates if id(c) not in eager or (c.path, c.start) not in compiled]


_LEAST, _LEAST_OF_CALLS = 32, 16
"""So many copies of a body are too many, and of one that calls functions of the program."""


def _report_option(event: RootMet) -> Report | None:
    """A loop of JAX with an option that unrolls it."""
    trips = _trips(event)
    if not trips or not isinstance(event.at, ir.Call) or is_test(event.context):
        return None
    if "cost_analysis" in event.context.scope.text:
        return None  # XLA counts the operations of a loop once, so that code unrolls it to count all of them
    unroll = event.options.get("unroll")
    factor = unroll.value if isinstance(unroll, Const) and type(unroll.value) in (bool, int) else 0
    copies = trips if factor is True else min(factor, trips)
    body = underlying(event.operand)
    is_large = isinstance(body, FunctionValue) and _calls_program(body)
    if copies < (_LEAST_OF_CALLS if is_large else _LEAST):
        return None
    option = next((a.value for a in event.at.args if a.keyword == "unroll"), event.at)
    problem = f"`unroll` makes {event.name.rpartition('.')[2]} compile {copies} copies of its body"
    if option is event.at:
        problem = f"{callee(event.context, event.at)} is unrolled into {copies} copies of its body"
    advice = "leave `unroll` out, or unroll a few iterations"
    return Report(option, f"{problem}, which slows compilation; {advice}", "info", preview=True)


def _trips(event: RootMet) -> int:
    """How often the loop runs its body; 0 if that is not known."""
    if event.name == "jax.lax.fori_loop":
        lower = event.options.get("lower")
        return (
            _integer(event.options.get("upper")) - lower.value
            if isinstance(lower, Const) and _integer(lower) == lower.value
            else 0
        )
    if event.name != "jax.lax.scan":
        return 0
    length, xs = event.options.get("length"), event.options.get("xs")
    if length is not None and _integer(length):
        return _integer(length)
    parts = (xs, *(known_elements(xs) or ())) if xs is not None else ()
    return max((part.length or 0 for part in parts if isinstance(part, Array)), default=0)


def _integer(value: Value | None) -> int:
    """A known integer; 0 for anything else."""
    return value.value if isinstance(value, Const) and type(value.value) is int else 0


def _calls_program(body: FunctionValue) -> bool:
    """The body calls something that is neither of a library, nor a method of an array."""
    scope, own = body.scope, {parameter.name for parameter in body.fn.params}
    for statement in body.fn.body:
        for call in calls_in(statement):
            name = path_of(call.func)
            if name and not library_name(call.func, scope) and ("." not in name or name.startswith("self.")):
                if not hasattr(builtins, name) and name not in own:
                    return True
    return False


def _report_eager(event: UnrolledLoop) -> Report | None:
    """A loop that a transform runs without jit."""
    if is_test(event.context):
        return None
    copies = f"{event.copies} copies of its body" if event.copies else "a copy of its body for each iteration"
    problem = f"JAX differentiates the loop over {quote(event.context, event.at)} operation by operation"
    advice = (
        "use jax.lax.scan" if event.copies or event.recurs else "use jax.vmap, or jax.lax.map or scan to save memory"
    )
    message = f"{problem}, and jit would unroll it into {copies}; {advice}"
    return Report(event.at, message, "info", preview=True, unless=IN_PREVIEWED_NEST)


def _report_gathering(event: UnrolledLoop) -> Report | None:
    """A loop of which only the data say how often it runs."""
    if is_test(event.context):
        return None
    problem = f"The loop over {quote(event.context, event.at)} unrolls into a copy of its body for each iteration"
    advice = "use jax.lax.scan" if event.recurs else "use jax.vmap, or jax.lax.map or scan to save memory"
    message = f"{problem}, which slows compilation if there are many; {advice}"
    return Report(event.at, message, "info", preview=True, unless=IN_PREVIEWED_NEST)


def _report_default(event: UnrolledLoop) -> Report | None:
    """A loop that an option makes long."""
    if is_test(event.context):
        return None
    problem = f"The loop over {quote(event.context, event.at)} unrolls into {event.copies} copies of its body"
    message = f"{problem} by the default of `{event.option}`, which slows compilation; use jax.lax.fori_loop or scan"
    return Report(event.at, message, "info", preview=True, unless=IN_PREVIEWED_NEST)


def _is_in_handler(event: UnrolledLoop) -> bool:
    """The loop runs where tracing the same by other means has failed: eagerly, then."""
    for node in nodes_around(event.context.scope.tree.body, event.at.start, event.at.start + 1):
        if isinstance(node, ir.Try) and any(
            handler.body and handler.body[0].start <= event.at.start < handler.body[-1].end for handler in node.handlers
        ):
            return True
    return False


_OF_CONTAINERS = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "pop", "remove", "clear"})


def _builds_object(event: UnrolledLoop) -> bool:
    """Each iteration changes an object by its own methods, such as the circuit of a library: no loop of JAX can carry it."""
    start = event.at.start
    around = [n for n in nodes_around(event.context.scope.tree.body, start, start + 1) if isinstance(n, ir.For)]
    for node in walk(around[-1]) if around else ():
        call = node.value if isinstance(node, ir.ExprStmt) else None
        if isinstance(call, ir.Call) and isinstance(call.func, ir.Attribute) and isinstance(call.func.value, ir.Name):
            # A library or a logger of the module is not built here.
            if call.func.value.id not in event.context.scope.slots and call.func.attr not in _OF_CONTAINERS:
                return True
    return False
