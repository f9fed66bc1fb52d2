"""JAX206: see the page of ``sync_in_loop``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Candidate, Report, Subscription, rule
from flake8_jax.rules._elements import tests_element
from flake8_jax.rules._facts import LOG, PRINT, effect, host_behaviour
from flake8_jax.rules._host_use import (
    Use,
    acts_on_host,
    conversions_beside,
    ends_loop,
    goes_over_data,
    has_inner_loop,
    is_new,
    is_reduced,
    is_tested,
    use_of,
    waits_anyway,
)
from flake8_jax.rules._presumed_waits import (
    is_made_in_loop,
    is_presumed_wait,
    names_number,
    read_at_once,
    report_in_step,
    waits_of_loops,
    without_known_waits,
)
from flake8_jax.rules._tracers import is_dispatched, quote
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.domain.code import (
    all_statements,
    bound_paths,
    is_named_step,
    nodes_around,
    path_of,
    paths_read,
)
from flake8_jax.semantics.domain.joining import members_of
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import GRAD, Array, DictValue, HostArray, TupleValue, Value
from flake8_jax.semantics.events.events import (
    Context,
    FileRead,
    Formatting,
    Indexing,
    LibraryCall,
    MethodCall,
    Store,
    TruthTest,
)

_CASTS = frozenset({"builtins.float", "builtins.int", "builtins.bool", "builtins.complex"})
_SETTING_UP = frozenset({"__init__", "__post_init__", "setup"})
_FEW = 100
"""So many waits are not worth a thought: they take milliseconds in all."""
_MANY = 1000
"""A user reads so many lines, and waits for them."""
_SEVERAL = 3
"""A display that shows so many results copies each by itself, beside the wait."""
_GETTING = "jax.device_get"
_SENDING = "wandb.log"
_SENDERS = ("tqdm.", "tensorboardX.")
_READING_METHODS = frozenset({"item", "tolist"})


def _report_first(candidates: list[Candidate]) -> list[Candidate]:
    """Keep one report for the arrays that the loops of one function fill: the first store waits for the others. The same for
    results that only names show to be such, if no other report of the function shows its waits."""
    candidates = without_known_waits(candidates)
    first: dict[tuple[str, int, int, bool], int] = {}
    for candidate in sorted(candidates, key=lambda c: (isinstance(c.event, Store), c.start)):
        first.setdefault(_group(candidate), candidate.start)
    return [c for c in candidates if not _is_one_of_many(c) or first[_group(c)] == c.start]


def _group(candidate: Candidate) -> tuple[str, int, int, bool]:
    context, is_store = candidate.event.context, isinstance(candidate.event, Store)
    around = nodes_around(context.scope.tree.body, candidate.start, candidate.start + 1) if is_store else ()
    loop = next((node.start for node in around if isinstance(node, (ir.For, ir.While))), 0)
    return candidate.path, id(context.inner), loop, is_store


def _is_one_of_many(candidate: Candidate) -> bool:
    return isinstance(candidate.event, Store) or is_presumed_wait(candidate.event)


@rule("JAX206", "info", only=Subscription(where=frozenset({"loop", "eager"}), arrays=True), settle=_report_first)
def sync_in_loop(
    event: LibraryCall | MethodCall | TruthTest | Formatting | Indexing | Store | FileRead,
) -> Report | list[Report] | None:
    """A loop that calls a compiled function reads a result on the host in every iteration.

    jaxlint reports a read if two conditions hold:

    - Each iteration of the loop computes with results of the iteration before, as in `w = step(w, x)`.
    - The loop only adds up, stores, prints or logs the value that it reads.

    In each iteration, jaxlint reports only the first read after the last compiled call, because later reads find their
    values ready. The findings are notes: of 12 findings in public repositories, 4 were worth a change.

    With `--preview`, the rule also reports other ways to read a result. Of 16 such findings in public repositories, 6 were
    worth a change:

    - A call of `jax.device_get` on a scalar or on a dict of scalars.
    - A progress bar, `wandb.log`, `run.log` or `add_scalar` of TensorBoard that gets results in each iteration
      (`pbar.set_postfix(metrics)` in the third example), and a `print` of a dict of results.
    - An `if` that tests a JAX array (`if jnp.isnan(loss): raise ValueError` in the fourth example), because Python waits
      for the value of the test. An `if` inside another `if` of the loop is not reported.
    - A test of a JAX array that ends the loop (`if jnp.abs(g).max() < 1e-3: break` in the fifth example,
      `while float(error) > 1e-3`).
    - A call of `max` or `min` with a JAX array (`worst = max(worst, loss)`), because Python waits for the value of the
      comparison. `jnp.maximum` does not wait.
    - An index of a NumPy array that is a JAX array (`rows[index]` in the second example), which is copied to the host
      each time.
    - An element of a NumPy array that gets the result of a jitted function (`xs[k + 1] = step(xs[k])`,
      `losses[i] = loss`). Only the first such line of a function is reported.
    - A read in a comprehension (`[float(evaluate(w, x)) for x in batches]`), and
      `{name: float(value) for name, value in metrics.items()}` in a loop or a training step.

    With `--preview`, the rule also reports reads in these loops:

    - A loop over data (`for x in batches`, but not over a `range`) that evaluates a model, and adds up or collects one
      number of each iteration (`losses.append(loss.item())`). Its iterations need no results of one another.
    - A training loop whose step differentiates through `scan` or another loop of JAX.
    - A loop that evaluates at times (`if step % 1000 == 0: evaluate(w)`).

    With `--preview`, the rule also reports reads in code that jaxlint sees only in part:

    - The result comes from a function whose code jaxlint does not see, or whose name says that it makes a training step
      (`train_step_fn(state, batch)`, `agent.update(batch)`).
    - The function or method that reads has such a name itself (`train_batch` in the sixth example). jaxlint does not need to
      see a loop that calls it.
    - The loop calls a jitted function or a step by its name, and formats the result (`f"{loss:.3f}"`), converts it, or
      compares it (`if loss < best: best = loss`), or reads the number of the step from it (`if state.step % 100 == 0`),
      which Python could count without a wait. Of 4 such findings in public repositories, none was worth a change, because
      a neighboring line waited, too. Only the first read of a loop is reported, and none in a loop over epochs or with up
      to 100 iterations.

    ## Why is this bad?

    A compiled call returns at once, and the device works while Python prepares the next call. If the code reads the
    result (`float(loss)`, `loss.item()`, `np.asarray(loss)` or `print(loss)`), Python waits until the device has
    computed it. The device then has no work until Python makes the next call. Read the value every N steps or after
    the loop.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def train_step(w, x):
        loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - 0.05 * g, loss


    def fit(w, batches):
        history = []
        for x in batches:
            w, loss = train_step(w, x)
            history.append(float(loss))  # expect: sync-in-loop
        return w, history


    def demonstrate():
        w, history = fit(jnp.ones(2), [jnp.ones((3, 2))] * 4)
        assert len(history) == 4 and all(type(loss) is float for loss in history)
    ```

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def train_step(w, x):
        return w - 0.05 * x.T @ (x @ w)


    def fit(w, key, steps):
        rows = np.ones((1000, 2))
        for _ in range(steps):
            key, subkey = jax.random.split(key)
            index = jax.random.randint(subkey, (32,), 0, len(rows))
            w = train_step(w, rows[index])  # expect: sync-in-loop
        return w


    def demonstrate():
        assert fit(jnp.ones(2), jax.random.key(0), 4).shape == (2,)
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def train_step(w, x):
        loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - 0.05 * g, {"loss": loss, "norm": jnp.linalg.norm(g)}


    def fit(w, pbar):
        for x in pbar:
            w, metrics = train_step(w, x)
            pbar.set_postfix(metrics)  # expect: sync-in-loop
        return w


    def demonstrate():
        class Bar(list):
            def set_postfix(self, metrics):  # as tqdm does
                self.shown = [str(value) for value in metrics.values()]

        bar = Bar([jnp.ones((3, 2))] * 4)
        fit(jnp.ones(2), bar)
        assert len(bar.shown) == 2
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def train_step(w, x):
        loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - 0.05 * g, loss


    def fit(w, batches):
        for x in batches:
            w, loss = train_step(w, x)
            if jnp.isnan(loss):  # expect: sync-in-loop
                raise ValueError("the loss is NaN")
        return w


    def demonstrate():
        assert fit(jnp.ones(2), [jnp.ones((3, 2))] * 4).shape == (2,)
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def gradient(x):
        return jax.grad(lambda x: jnp.sum((x - 3) ** 2))(x)


    def minimize(x, steps):
        for _ in range(steps):
            g = gradient(x)
            x = x - 0.1 * g
            if jnp.abs(g).max() < 1e-3:  # expect: sync-in-loop
                break
        return x


    def demonstrate():
        assert jnp.allclose(minimize(jnp.zeros(2), 1000), 3.0, atol=1e-3)
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def train_step(w, x):
        loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - 0.05 * g, loss


    class Trainer:
        def __init__(self, w):
            self.w = w

        def train_batch(self, x):
            self.w, loss = train_step(self.w, x)
            return loss.item()  # expect: sync-in-loop


    def demonstrate():
        trainer = Trainer(jnp.ones(2))
        assert trainer.train_batch(jnp.ones((3, 2))) > trainer.train_batch(jnp.ones((3, 2)))
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def is_far(state):
        x, g = state
        return jnp.abs(g).max() >= 1e-3


    def advance(state):
        x, g = state
        g = jax.grad(lambda x: jnp.sum((x - 3) ** 2))(x)
        return x - 0.1 * g, g


    @jax.jit
    def minimize(x):
        x, g = jax.lax.while_loop(is_far, advance, (x, jnp.full_like(x, jnp.inf)))
        return x
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def advance(x, u):
        x = x + 0.1 * jnp.sin(u)
        return x, x


    @jax.jit
    def simulate(x, controls):
        return jax.lax.scan(advance, x, controls)[1]
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def train_step(w, x):
        loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - 0.05 * g, loss


    def fit(w, batches, log_every=100):
        history = []
        for step, x in enumerate(batches):
            w, loss = train_step(w, x)
            history.append(loss)
            if step % log_every == 0:
                print(f"step {step}: {float(loss):.4f}")
        return w, [float(loss) for loss in history]
    ```

    ## Not reported

    jaxlint does not report these reads:

    - jaxlint does not report a read of a value that no compiled call in the loop computes, because the loop does not
      wait for it.
    - jaxlint does not report a value with which the loop keeps the best result so far (`if loss < best: best = loss`),
      or that the loop passes to another function, because the loop needs this value at once. Without `--preview`,
      jaxlint does not report a value that ends the loop (`while float(error) > 1e-3`, `if error < 1e-3: break`).
    - jaxlint does not report a read in an iteration that also waits for the device in another place: in
      `jax.block_until_ready`, in the step of an environment (`env.step(action)`), in an assertion on a result, or in a
      read of a value that the loop needs. A call of a function that `eqx.filter_jit` compiles also waits.
    - jaxlint does not report a read in an iteration that contains a whole epoch or a loop of JAX such as `scan`,
      because the wait is then short compared with the iteration. `--preview` makes exceptions for a step that
      differentiates through the loop and for an evaluation inside an `if`, as described above.
    - jaxlint does not report `np.mean(loss)`, because NumPy calls the method of the JAX array, which does not wait.
      jaxlint reports `float(np.mean(loss))`, which waits.
    - jaxlint does not report a loop that is known to have at most 100 iterations (at most 1,000 if the code prints the
      value), because the waits take little time in total.
    - jaxlint does not report the printing of one or two results on a line that `print(…, end=…)` overwrites in the
      terminal, because the user watches this line.
    - jaxlint does not report a read in `__init__`, because this code runs once for each object.

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def train_step(w, x):
        return w - 0.05 * x.T @ (x @ w)


    def fit(w, files):
        for name in files:
            x = np.load(name)
            if x.mean() > 10.0 or float(x.max()) > 100.0:
                continue
            w = train_step(w, x)
            print(name, w.shape)
            assert jnp.isfinite(w).all()
        return w


    def timed(w, files):
        for name in files:
            w = jax.block_until_ready(train_step(w, np.load(name)))
            print(name, w)
        return w
    ```

    ## Limitations

    The rule does not know how long an iteration takes. It also reports a read in a loop whose iterations take far
    longer than the wait, although such a read costs little. With `--preview`, it trusts names such as `train_step`: if such
    a function returns a Python number, the finding is wrong. The rule does not see reads in the code of other
    libraries, such as a logger or a trainer that calls `.item()` on its argument.

    ## Fix safety

    No fix. The author has to decide where the program reads the value, for example every 100 steps.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the line of the finding waits for the
    device at least twice in one run of the function that has the loop. It cannot confirm a finding in a training step
    without a loop.

    ## Since

    0.2.0.

    ## Related rules

    JAX201 (`host-cast`), JAX202 (`host-item`), JAX203 (`numpy-on-tracer`), JAX204 (`sync-in-staged`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/async_dispatch.html>
    """
    if isinstance(event, FileRead):
        return waits_of_loops(event)
    context = event.context
    in_step = report_in_step(event)
    if in_step is not None or not context.loop_ids or not _repeats(context, event.at):
        return in_step
    if _is_of_iteration_before(context.scope, event.at):
        return None
    if isinstance(event, Indexing):
        return _copied_index(event)
    if isinstance(event, Store):
        return _stored(event)
    if is_presumed_wait(event):
        return _presumed(event)
    if context.ready:
        return None
    if isinstance(event, LibraryCall) and event.name in _CHOOSING:
        return _chosen(event)
    if isinstance(event, TruthTest) and tests_element(context.scope, event.at):
        return None  # see JAX419
    if ends_loop(context.scope, event.at):
        return _ended(event)
    if isinstance(event, TruthTest):
        return _tested(event)
    value = _read_value(event)
    if value is None or _awaited(value, context) is None:
        return None
    is_needed = _is_needed(event, value)
    if is_needed and _is_needed(event, value, lenient=True):
        return None
    if not context.carries and not _is_collected(event, value):
        return None
    reads, verb = (quote(context, event.at), "read") if _is_conversion(event) else (_showing(event), "show")
    return Report(
        event.at,
        f"{reads} waits for the device in every iteration; {verb} it every N steps or after the loop",
        preview=is_needed or context.coarse or context.epoch or not context.carries or _is_newer(event, value),
    )


def _is_of_iteration_before(scope: ModuleScope, at: ir.Node) -> bool:
    """``history.append(float(previous))`` and then ``previous = loss``: the device works on while the host waits."""
    around = list(nodes_around(scope.tree.body, at.start, at.end))
    loop = next((node for node in reversed(around) if isinstance(node, (ir.For, ir.While))), None)
    if loop is None:
        return False
    read = {node.id for node in walk(at) if isinstance(node, ir.Name)}
    assigned = [s for s in all_statements(loop.body) if isinstance(s, ir.Assign)]
    bindings = [(s, target.id) for s in assigned for target in s.targets if isinstance(target, ir.Name)]
    kept = {name for s, name in bindings if s.start > at.end and isinstance(s.value, ir.Name)}
    return bool(kept & read) and all(s.start > at.end for s, name in bindings if name in kept & read)


def _is_newer(event: LibraryCall | MethodCall | Formatting, value: Value) -> bool:
    """A form of read, or a result of unknown code, that is reported with ``--preview``."""
    if _is_getting(event) or not any(isinstance(member, Array) for member in members_of(value)):
        return True
    return isinstance(event, LibraryCall) and _is_showing(event) and not _is_plain(event, value)


def _is_plain(event: LibraryCall, value: Value) -> bool:
    """``print(loss)``, ``logging.info(f"{loss}")``: of no dict, and no progress bar."""
    return not _is_sent(event) and value in (*event.args, *event.formatted)


def _is_sent(event: LibraryCall | MethodCall | Formatting) -> bool:
    """``pbar.set_postfix(metrics)``, ``wandb.log(metrics)``: no user waits for a line of it."""
    return isinstance(event, LibraryCall) and (event.name == _SENDING or event.name.startswith(_SENDERS))


def _is_collected(event: LibraryCall | MethodCall | Formatting, value: Value) -> bool:
    """An evaluation adds up, or collects, one number of each iteration: ``losses.append(loss.item())``."""
    if not isinstance(event, (LibraryCall, MethodCall)) or not _is_conversion(event):
        return False
    scalar = isinstance(event, MethodCall) or _is_scalar(event, value)
    scope = event.context.scope
    return scalar and goes_over_data(scope, event.at) and use_of(scope, event.at, lenient=True) == "kept"


def _is_getting(event: LibraryCall | MethodCall | Formatting) -> bool:
    """``jax.device_get(metrics)``."""
    return isinstance(event, LibraryCall) and event.name == _GETTING


def _is_conversion(event: LibraryCall | MethodCall | TruthTest | Formatting) -> bool:
    """``float(loss)``, ``loss.item()``, ``np.asarray(loss)``: the call itself brings a value to the host."""
    return isinstance(event, MethodCall) or (isinstance(event, LibraryCall) and not _is_showing(event))


def _is_showing(event: LibraryCall) -> bool:
    """The call prints or logs what it gets: ``print``, ``pbar.set_postfix``, ``wandb.log``."""
    return effect(event) in (PRINT, LOG) or event.name == _SENDING


def _showing(event: LibraryCall | MethodCall | TruthTest | Formatting) -> str:
    """Printing or logging a value, or making a string of it, as the subject of a sentence."""
    subject = _subject(event)
    if isinstance(event, LibraryCall):
        by = callee(event.context, event.at)
        if subject is not None:
            return f"Showing {quote(event.context, subject)} with {by}"
        text = next((node for node in event.nodes if isinstance(node, ir.Name)), None)
        return (
            f"Showing the result in {quote(event.context, text)} with {by}" if text else f"Showing a result with {by}"
        )
    return f"Formatting {quote(event.context, subject, 'a result')}"


def _repeats(context: Context, at: ir.Node) -> bool:
    """Eager code that runs in nearly every iteration of a loop that is long, and whose iterations are short."""
    if context.guarded or context.staged or context.presumed or context.first:
        return False
    if context.epoch and (context.steady or has_inner_loop(context.scope, at)):
        return False
    setting_up = context.inner is not None and context.inner.name in _SETTING_UP
    return not 0 < context.iterations <= _FEW and not setting_up


def _presumed(event: LibraryCall | MethodCall) -> Report | None:
    """``loss = train_step_fn(model, batch); total += float(loss)`` of a function that is not known."""
    context = event.context
    value = read_at_once(event)
    if value is None or _is_needed(event, value, lenient=True) or not is_made_in_loop(event):
        return None
    read = quote(context, event.at)
    problem = f"If the step is jitted, {read} waits for the device in every iteration"
    return Report(event.at, f"{problem}; read it every N steps or after the loop", preview=True)


def _is_needed(event: LibraryCall | MethodCall | Formatting, value: Value, *, lenient: bool = False) -> bool:
    """The program needs the value at once, waits anyway, or shows it to a user who waits for it."""
    context = event.context
    use = _shown(event) or use_of(context.scope, event.at, lenient=lenient)
    is_large = isinstance(event, LibraryCall) and not _is_scalar(event, value) and not (lenient and names_number(event))
    is_handed_on = use == "returned" and (context.inner is None or not is_named_step(context.inner.name))
    if use == "needed" or is_handed_on or (use == "kept" and is_large):
        return True
    if use == "shown" and 0 < context.iterations <= _MANY and not _is_sent(event):
        return True
    if use == "refreshed" and context.iterations <= _MANY and (context.iterations or _shown_at_once(event) < _SEVERAL):
        return True
    shown = walk(event.at) if isinstance(event, LibraryCall) and _is_showing(event) else (_subject(event),)
    return any(is_tested(context.scope, node) for node in shown) or waits_anyway(context.scope, event.at)


def _copied_index(event: Indexing) -> Report | None:
    """``rows[index]`` with an array of NumPy and one of the device."""
    if not isinstance(event.base, HostArray) or (event.context.inner is None and not event.context.loop):
        return None
    base, index = quote(event.context, event.at.value), quote(event.context, event.at.index)
    return Report(
        event.at,
        f"Indexing the NumPy array {base} copies {index} from the device in every iteration; "
        "make the index with NumPy or keep the data on the device",
        preview=True,
    )


def _tested(event: TruthTest) -> Report | None:
    """``if jnp.isnan(loss): raise``, ``if pred == label: correct += 1``."""
    context, test = event.context, event.at
    if event.how not in _BRANCHING or not all(map(_is_on_device, members_of(event.value))):
        return None
    if not isinstance(test, (ir.Call, ir.Compare)) and not is_dispatched(event.value, context):
        return None
    around = list(nodes_around(context.scope.tree.body, test.start, test.end))
    functions = [i for i, node in enumerate(around) if isinstance(node, (ir.FunctionDef, ir.Lambda))]
    own = around[functions[-1] :] if functions else around
    leaving = _LEAVING if any(isinstance(node, (ir.For, ir.While)) for node in own) else ()
    ifs = [node for node in own if isinstance(node, ir.If)]
    chosen = [node for node in ifs if node.test.start <= test.start < node.test.end]
    if any(node not in chosen and node.body[0].start <= test.start < node.body[-1].end for node in ifs):
        return None  # some iterations come here
    followed = [statement for node in chosen for statement in all_statements([*node.body, *node.orelse])]
    tested = paths_read(test)
    if any(isinstance(s, leaving) or not tested.isdisjoint(bound_paths(s)) for s in followed):
        return None  # the loop needs to know: it ends, or keeps the best so far
    problem = f"Testing {quote(context, test)} waits for the device in every iteration"
    return Report(test, f"{problem}; test it every N steps, or compute with jnp.where or a sum instead", preview=True)


_BRANCHING = frozenset({"if", "elif", "ternary", "and", "or"})
_LEAVING = (ir.Break, ir.Continue, ir.Return)


def _is_on_device(value: Value) -> bool:
    return type(value) is Array and value.level < GRAD and not value.declared and value.dtype != "key"


def _ended(event: LibraryCall | MethodCall | TruthTest | Formatting) -> Report | None:
    """``if jnp.abs(g).max() < 1e-3: break``, ``while float(error) > 1e-3``."""
    scope, shown = event.context.scope, quote(event.context, event.at)
    if isinstance(event, TruthTest):
        read = [event.value] if event.how in (*_BRANCHING, "while", "not") else []
    elif isinstance(event, MethodCall):
        read = [event.value] if event.method in _READING_METHODS else []
    elif isinstance(event, LibraryCall) and (event.name in _CASTS or host_behaviour(event) == "converts"):
        read = list(event.args[:1])
    else:
        return None
    if not any(all(map(_is_on_device, members_of(value))) for value in read) or acts_on_host(scope, event.at):
        return None
    verb = "Testing " if isinstance(event, TruthTest) else ""
    problem = f"{verb}{shown} waits for the device in every iteration"
    return Report(
        event.at, f"{problem}; test it every N steps, or write the loop with jax.lax.while_loop", preview=True
    )


def _chosen(event: LibraryCall) -> Report | None:
    """``worst = max(worst, loss)``."""
    context = event.context
    pairs = list(zip(event.args, event.nodes, strict=False))
    if len(pairs) < _PAIR or any(node is None for _, node in pairs) or waits_anyway(context.scope, event.at):
        return None
    if not any(all(map(_is_on_device, members_of(value))) and is_new(context.scope, node) for value, node in pairs):
        return None
    problem = f"{quote(context, event.at)} waits for the device in every iteration, because Python compares the values"
    return Report(event.at, f"{problem}; use {_CHOOSING[event.name]}", preview=True)


_CHOOSING = {"builtins.max": "jnp.maximum", "builtins.min": "jnp.minimum"}
_PAIR = 2


def _stored(event: Store) -> Report | None:
    """``xs[:, k + 1] = f(xs[:, k])``, ``losses[i] = loss`` with an array of NumPy."""
    context, value = event.context, event.value
    if event.how != "item" or not isinstance(event.base, HostArray) or not isinstance(event.at, ir.Subscript):
        return None
    if context.ready or not isinstance(value, Array) or not is_dispatched(value, context):
        return None
    is_fed_back = _is_read_again(context, event.at)
    if (not is_fed_back and (not context.carries or value.ndim != 0)) or waits_anyway(context.scope, event.at):
        return None
    base = quote(context, event.at.value, "a NumPy array")
    problem = f"Storing a result of a jitted function in the NumPy array {base} waits for the device in every iteration"
    advice = "use jax.lax.scan" if is_fed_back else "append it to a list, and convert the list after the loop"
    return Report(event.at, f"{problem}; {advice}", preview=True)


def _is_read_again(context: Context, target: ir.Subscript) -> bool:
    """The iterations of the innermost loop compute with elements of the array that they fill."""
    around = list(nodes_around(context.scope.tree.body, target.start, target.end))
    loop = next((node for node in reversed(around) if isinstance(node, (ir.For, ir.While))), None)
    array = path_of(target.value)
    assigned = [s.value for s in all_statements(loop.body) if isinstance(s, ir.Assign)] if loop is not None else []
    return bool(array) and any(array in paths_read(value) for value in assigned)


def _is_scalar(event: LibraryCall, value: Value) -> bool:
    """A larger array may be brought to the host to make room on the device, unless only one number of it is kept."""
    parts = _parts(value) if _is_getting(event) else [value]
    members = [member for part in parts for member in members_of(part)]
    return (
        event.name in _CASTS
        or is_reduced(event.context.scope, event.at)
        or all(isinstance(member, Array) and member.ndim == 0 for member in members)
    )


def _shown_at_once(event: LibraryCall | MethodCall | Formatting) -> int:
    """How many results the call of ``print`` around brings to the host, one by one."""
    if _is_conversion(event):
        return conversions_beside(event.context.scope, event.at)
    shown = (*event.args, *event.formatted) if isinstance(event, LibraryCall) else ()
    return sum(is_dispatched(value, event.context) for value in shown)


def _shown(event: LibraryCall | MethodCall | TruthTest | Formatting) -> Use | None:
    """How a call shows a value that it gets as it is."""
    if not isinstance(event, LibraryCall) or not _is_showing(event):
        return None
    return "refreshed" if "end" in event.kwargs else "shown"


def _read_value(event: LibraryCall | MethodCall | TruthTest | Formatting) -> Value | None:
    """The value that the event brings to the host, if it brings one."""
    if isinstance(event, MethodCall):
        return event.value if event.method in _READING_METHODS else None
    if not isinstance(event, LibraryCall):
        return event.value
    if event.name in _CASTS:
        return event.args[0] if event.args else None
    if _is_showing(event):
        shown = (*event.args, *event.formatted, *event.kwargs.values())
        leaves = [leaf for value in shown for leaf in _parts(value)]
        return next((leaf for leaf in leaves if is_dispatched(leaf, event.context)), None)
    if _is_getting(event):
        return _awaited(event.args[0], event.context) if event.args else None
    if host_behaviour(event) == "converts":
        return next((value for value in event.args if is_dispatched(value, event.context)), None)
    return None


def _awaited(value: Value, context: Context) -> Value | None:
    """The value, or the tuple or dict of such values, if all of it is still being computed."""
    parts = _parts(value)
    return value if parts and all(is_dispatched(part, context) for part in parts) else None


def _parts(value: Value, depth: int = 3) -> list[Value]:
    """The leaves of nested dicts and tuples; the value itself where it is neither."""
    if isinstance(value, DictValue) and value.is_closed() and depth:
        return [leaf for _, item in value.items() for leaf in _parts(item, depth - 1)]
    if isinstance(value, TupleValue) and depth:
        return [leaf for item in value.elts for leaf in _parts(item, depth - 1)]
    return [value]


def _subject(event: LibraryCall | MethodCall | TruthTest | Formatting) -> ir.Node | ir.Expr | None:
    """The expression to name in the message."""
    if isinstance(event, MethodCall):
        return event.at.func.value if isinstance(event.at.func, ir.Attribute) else None
    if isinstance(event, LibraryCall):
        pairs = zip(event.args, event.nodes, strict=False)
        return next((node for value, node in pairs if is_dispatched(value, event.context)), None)
    return event.at
