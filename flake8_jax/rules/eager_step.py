"""JAX414: see the page of ``eager_step``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._fresh import stores
from flake8_jax.rules._keys import at_place, is_inside, place
from flake8_jax.rules._steps import is_without_jit_on_purpose, report_gradients_first
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.code import (
    all_statements,
    bound_paths,
    function_around,
    names_read,
    nodes_around,
    statement_at,
)
from flake8_jax.semantics.domain.values import Site
from flake8_jax.semantics.events.events import EagerStep, LibraryCall


@rule("JAX414", "info", only=Subscription(where=frozenset({"eager"})), settle=report_gradients_first)
def eager_step(event: EagerStep | LibraryCall) -> Report | None:
    """A loop outside tracing runs a model or an optimizer without `jit` in every iteration.

    The findings are notes: of 21 findings in public repositories, 14 were worth a change, and 7 were short
    loops, layers of a model, or programs that raise an error before the loop. If a function that the loop calls runs the
    model or the optimizer, the finding is at that line of the function, and names one of the loops that call the function.

    With `--preview`, the rule also reports these models and optimizers:

    - Models and optimizers that only their names show: `model.apply(params, x)`, `model.forward(params, x)`,
      `state.apply_fn({"params": params}, x)` and `state.apply_gradients(grads=grads)` of an object that jaxlint does not
      know. In a file that uses Flax NNX or Equinox, also `self.q_network(x)`, `model(x)` and the like.
    - An optimizer of `jax.example_libraries.optimizers`, such as `opt_update(i, grads, state)`.
    - A model, an optimizer or operations that a loop with 20 to 99 iterations runs, such as the sampling loop of a diffusion
      model.
    - A second function that the same loop calls, if it runs a model or an optimizer, too.

    With `--preview`, the rule also reports a method that trains without `jit` and stores the new parameters in its object
    (`self.params = optax.apply_updates(…)`), even if jaxlint sees no loop that calls the method: a training step runs
    many times.

    With `--preview`, the rule also reports operations on what an environment returns
    (`jnp.logical_or(terminated, truncated)` in the fourth example), because they copy values of the host to the device.

    With `--preview`, the rule also reports six kinds of loops that the top level of a script, its function `main` or a
    command of the program (`@hydra.main(…)`, `@click.command()`, `@app.command()`) runs:

    - The loop does six or more array operations without `jit` in each iteration and passes the result to the next
      iteration (`u = u + dt * laplacian(u)`).
    - The loop calls a jitted function, such as a gradient, and then an unjitted function with six or more array
      operations, such as an optimizer written by hand.
    - The loop calls a jitted gradient, and a loop inside of it replaces each leaf of the parameters
      (`params[i] = params[i] - 0.1 * grads[i]` in the fifth example), or a comprehension or `jax.tree.map` does so.
    - The loop calls a jitted training step, but computes other values without `jit`, such as the noise of a diffusion
      model. jaxlint reports the loop if it makes six or more array operations and random draws for this. It does not
      count `jnp.asarray`.
    - The loop takes the elements of an array one by one and computes with them (`float(x[i]) ** 2`).
    - The loop puts the elements of an array into a list (`rows.extend(x)`), which makes a JAX array of each element.

    With `--preview`, the rule also reports three kinds of loops in any code that surely runs outside tracing. It does not
    report a loop that plots, loads or saves files, or a loop around another loop with array operations. Of 14 such
    findings in public repositories, 7 were worth a change.

    - The loop calls an unjitted function of the program that makes five or more array operations or random draws, such
      as `predict` in the third example.
    - The statements of the loop make five or more such operations. An index (`x[i]`) and a method (`x.mean()`) count, too.
      jaxlint reports the statement with the most operations.
    - The loop counts the elements of an array (`for i in range(len(xs))`), calls a function of the program for each of them
      (`found.append(score(xs[i]))`), and only collects or adds the results. `jax.vmap` can compute all of them in one call.
      A comprehension over the rows of an array (`[score(x) for x in xs]`) is reported, too, unless it is known to be short.

    With `--preview`, the rule also reports a Python loop that computes each step from the one before with JAX, such as
    the steps of a simulation in the last example, and a loop that sets the elements of an array one by one. jaxlint
    does not need to know who calls the function: outside `jit`, JAX runs the operations of each step one by one, and
    under `jit` it unrolls the loop. The rule reads the names of such a loop: it does not report a loop over layers or
    parameters, a loop around another loop, or one that calls NumPy, a plotting library or an environment. If a
    transform of the project runs the loop, JAX408 (`unrolled-loop`) reports it instead.

    ## Why is this bad?

    Outside `jit`, JAX sends each operation of the loop body to the device by itself, and the Python code of the model
    or the optimizer (Flax or optax, for example) runs again in every iteration. A jitted step does all of this in one
    call.

    We measured loops over small models. A training loop was 10 times slower if only the optimizer ran outside `jit`,
    and 58 times slower if the whole step did. A loop that only applies a model was 70 to 800 times slower if the model
    ran outside `jit`.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp
    import optax

    optimizer = optax.adam(1e-3)


    def loss(params, x):
        return jnp.mean((jnp.tanh(x @ params["w1"]) @ params["w2"]) ** 2)


    gradient = jax.jit(jax.grad(loss))


    def fit(params, batches):
        opt_state = optimizer.init(params)
        for x in batches:
            grads = gradient(params, x)
            updates, opt_state = optimizer.update(grads, opt_state, params)  # expect: eager-step
            params = optax.apply_updates(params, updates)
        return params


    def demonstrate():
        import time

        def seconds(params, x):
            def whole(params, state):
                updates, state = optimizer.update(jax.grad(loss)(params, x), state, params)
                return optax.apply_updates(params, updates), state

            state, jitted = optimizer.init(params), jax.jit(whole)
            jax.block_until_ready((jitted(params, state), fit(params, [x])))
            start = time.perf_counter()
            jax.block_until_ready(fit(params, [x] * 50))
            middle = time.perf_counter()
            for _ in range(50):
                params, state = jitted(params, state)
            jax.block_until_ready(params)
            return middle - start, time.perf_counter() - middle

        eager, jitted = seconds({"w1": jnp.ones((8, 16)), "w2": jnp.ones((16, 1))}, jnp.ones((4, 8)))
        assert eager > 2 * jitted
    ```

    With `--preview`, jaxlint also reports operations beside a jitted step:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def train_step(w, x, noise):
        return w - 0.1 * jnp.mean(w * x - noise)


    def main(batches):
        w, key = jnp.ones(37), jax.random.key(0)
        for x in batches:
            key, time_key, noise_key = jax.random.split(key, 3)
            t = jax.random.uniform(time_key)
            noise = jax.random.normal(noise_key, (37,))
            noised = jnp.sqrt(t) * x + jnp.sqrt(1.0 - t) * noise  # expect: eager-step
            w = train_step(w, noised, noise)
        return w


    def demonstrate():
        main([jnp.ones(37)])
        jaxpr = jax.make_jaxpr(lambda: main([jnp.ones(37)]))()
        eager = [equation for equation in jaxpr.eqns if equation.primitive.name not in ("jit", "pjit")]
        assert len(eager) >= 6
    ```

    With `--preview`, jaxlint also reports an evaluation that calls an unjitted function:

    ```python
    import jax
    import jax.numpy as jnp


    def predict(params, x):
        hidden = jnp.tanh(x @ params["w1"] + params["b1"])
        return hidden @ params["w2"] + params["b2"]


    def accuracy(params, batches):
        correct = total = 0
        for x, labels in batches:
            logits = predict(params, x)  # expect: eager-step
            correct += int(jnp.sum(jnp.argmax(logits, axis=-1) == labels))
            total += len(labels)
        return correct / total


    def demonstrate():
        params = {"w1": jnp.ones((5, 7)), "b1": jnp.ones(7), "w2": jnp.ones((7, 3)), "b2": jnp.ones(3)}
        assert accuracy(params, [(jnp.ones((2, 5)), jnp.zeros(2))] * 4) == 1.0
        assert len(jax.make_jaxpr(predict)(params, jnp.ones((2, 5))).eqns) >= 5
    ```

    With `--preview`, jaxlint also reports an operation on what an environment returns:

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def choose(weights, observation):
        return jnp.argmax(observation @ weights)


    def episode(weights, env):
        observation, finished = env.reset(), False
        while not finished:
            action = np.asarray(choose(weights, observation))
            observation, reward, terminated, truncated, info = env.step(action)
            finished = jnp.logical_or(terminated, truncated)  # expect: eager-step
        return reward


    def demonstrate():
        class Env:
            def reset(self):
                self.steps = 0
                return np.ones(5)

            def step(self, action):
                self.steps += 1
                return np.ones(5), 1.0, self.steps == 3, False, {}

        assert episode(jnp.ones((5, 2)), Env()) == 1.0
        assert isinstance(jnp.logical_or(True, False), jax.Array)
    ```

    With `--preview`, jaxlint also reports an optimizer written by hand that goes over the leaves one by one:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def gradient(params, x):
        return jax.grad(lambda params: jnp.sum(jnp.tanh(x @ params[0] + params[1])))(params)


    def main(batches):
        params = [jnp.ones((5, 3)), jnp.ones(3)]
        for x in batches:
            grads = gradient(params, x)
            for i in range(len(params)):
                params[i] = params[i] - 0.1 * grads[i]  # expect: eager-step
        return params


    def demonstrate():
        batches = [jnp.ones((2, 5))] * 8
        jaxpr = jax.make_jaxpr(lambda: main(batches))()
        assert sum(equation.primitive.name == "sub" for equation in jaxpr.eqns) == 16
        main(batches)
    ```

    With `--preview`, jaxlint also reports the steps of a simulation:

    ```python
    import jax.numpy as jnp


    def rollout(dynamics, x, controls):
        xs = [x]
        for u in controls:  # expect: eager-step
            xs.append(dynamics(xs[-1], u))
        return jnp.stack(xs)


    def demonstrate():
        calls = []

        def dynamics(x, u):
            calls.append(u)
            return x + 0.1 * u

        rollout(dynamics, jnp.ones(2), jnp.ones((30, 2)))
        assert len(calls) == 30
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp
    import optax

    optimizer = optax.adam(1e-3)


    def loss(params, x):
        return jnp.mean((jnp.tanh(x @ params["w1"]) @ params["w2"]) ** 2)


    @jax.jit
    def step(params, opt_state, x):
        grads = jax.grad(loss)(params, x)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state


    def fit(params, batches):
        opt_state = optimizer.init(params)
        for x in batches:
            params, opt_state = step(params, opt_state, x)
        return params
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def train_step(w, x, key):
        key, time_key, noise_key = jax.random.split(key, 3)
        t = jax.random.uniform(time_key)
        noise = jax.random.normal(noise_key, (3,))
        noised = jnp.sqrt(t) * x + jnp.sqrt(1.0 - t) * noise
        return w - 0.1 * jnp.mean(w * noised - noise), key


    def main(batches):
        w, key = jnp.ones(3), jax.random.key(0)
        for x in batches:
            w, key = train_step(w, x, key)
        return w
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def correct_answers(params, x, labels):
        hidden = jnp.tanh(x @ params["w1"] + params["b1"])
        logits = hidden @ params["w2"] + params["b2"]
        return jnp.sum(jnp.argmax(logits, axis=-1) == labels)


    def accuracy(params, batches):
        correct = total = 0
        for x, labels in batches:
            correct += int(correct_answers(params, x, labels))
            total += len(labels)
        return correct / total
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(params, x):
        grads = jax.grad(lambda params: jnp.sum(jnp.tanh(x @ params[0] + params[1])))(params)
        return jax.tree.map(lambda leaf, grad: leaf - 0.1 * grad, params, grads)


    def main(batches):
        params = [jnp.ones((5, 3)), jnp.ones(3)]
        for x in batches:
            params = step(params, x)
        return params
    ```

    ```python
    from functools import partial

    import jax


    @partial(jax.jit, static_argnames="dynamics")
    def rollout(dynamics, x, controls):
        def step(x, u):
            x = dynamics(x, u)
            return x, x

        return jax.lax.scan(step, x, controls)[1]
    ```

    ## Not reported

    jaxlint does not report a loop in which a jitted step or a jitted `apply` function of a model does all the work,
    because JAX already runs it as one call. It does not report a loop that is known to have fewer than 100 iterations,
    which gains little from `jit`.

    ```python
    import flax.linen as nn
    import jax

    net = nn.Sequential([nn.Dense(16), nn.relu, nn.Dense(1)])
    predict = jax.jit(net.apply)


    def outputs(params, x):
        return [predict(params, row) for row in x]


    def ensemble(params, x):
        total = 0.0
        for member in ("first", "second", "third"):
            total = total + net.apply(params[member], x)
        return total / 3
    ```

    ## Limitations

    The rule does not know what an object is that a parameter or unknown code gives, so with `--preview` it trusts the
    names `apply`, `apply_fn` and `apply_gradients`, and the names of models. If such a method is already jitted, the
    finding is wrong.

    If no code of the project calls the function with the loop, the users of a library may jit the function. The rule then
    takes the loop for code outside tracing if it goes over data, passes results of a jitted function on, shows a progress
    bar (`tqdm`), or is known to have at least 100 iterations.

    The rule does not see functions behind decorators that it does not know, because such a decorator may jit them. It
    counts an operator such as `a * b` only if it knows that the result is a JAX array. It does not know how large the
    arrays are. It also reports loops over large arrays, although these gain less
    from `jit`.

    ## Fix safety

    No fix. The author has to decide which statements of the loop belong to the jitted step.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if JAX compiles at least three operations
    of the reported line one by one. If the program ran the same operations before this line, JAX does not compile them
    again, so `jaxlint verify` cannot confirm the finding.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX410 (`transform-in-loop`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/jit-compilation.html>
    """
    context = event.context
    if context.staged or context.presumed or is_test(context):
        return None
    found = _report_loop(event) if isinstance(event, EagerStep) else _report_stored(event)
    # What stands around is asked last, and only of what is reported: there are as many calls as a long expression has.
    return None if found is None or is_without_jit_on_purpose(context, event.at) else found


def _report_loop(event: EagerStep) -> Report:
    """Of a loop, by what its iterations run."""
    context = event.context
    subject = quote(context, event.at, "this")
    where = at_place(Site(event.loop_scope, event.loop.start, event.loop.start), context)
    if event.kind in ("model", "layer", "layers", "optimizer"):
        return Report(event.at, _whole_message(event, subject, where), unless=event.unless, preview=event.presumed)
    if event.kind == "operation":
        message = f"The loop {where} runs {subject} and its other operations one by one, because nothing is jitted"
        return Report(event.at, f"{message}; jit its body or use jax.lax.scan", preview=True)
    if event.kind == "function":
        message = (
            f"{subject} runs operation by operation in each iteration of the loop {where}, because it is not jitted"
        )
        return Report(event.at, f"{message}; jit that function", unless=event.unless, preview=True)
    if event.kind == "glue" and not event.count:
        message = f"{subject} runs operation by operation for each leaf in each iteration of the loop {where}"
        return Report(
            event.at, f"{message}, beside a jitted function; move the update into that function", preview=True
        )
    if event.kind == "glue":
        message = (
            f"{subject} and other operations ({event.count} in all) run one by one in each iteration of the loop {where}, "
            "beside a jitted function"
        )
        return Report(event.at, f"{message}; move them into that function", preview=True)
    if event.kind == "some":
        message = (
            f"{subject} and other operations ({event.count} in all) run one by one in each iteration of the loop {where}, "
            "because they are not jitted"
        )
        return Report(event.at, f"{message}; move them into a jitted function", unless=event.unless, preview=True)
    if event.kind == "each":
        alone = isinstance(event.loop, ir.Comprehension)
        message = f"The {'comprehension' if alone else 'loop'} {where} calls {subject} for one element at a time"
        advice = "compute all of them in one jitted call of jax.vmap"
        advice = advice if alone else f"if no call needs another one, {advice}"
        return Report(event.at, f"{message}; {advice}", unless=event.unless, preview=True)
    if event.kind == "sent":
        problem = f"{subject} sends what the environment returned to the device in each iteration of the loop {where}"
        return Report(event.at, f"{problem}; use NumPy there", unless=event.unless, preview=True)
    if event.kind in ("stepwise", "stepping", "filling"):
        return _report_steps(event)
    if event.kind == "rows":
        message = f"{subject} makes an array of each element in each iteration of the loop {where}, which is slow"
        return Report(event.at, f"{message}; convert the whole array with np.asarray first", preview=True)
    message = f"{subject} takes one element from the device in each iteration of the loop {where}, which is slow"
    advice = "use array operations or jax.vmap, or convert the array with np.asarray first"
    return Report(event.at, f"{message}; {advice}", preview=True)


def _report_steps(event: EagerStep) -> Report:
    """Of a loop that computes each step from the one before."""
    subject = quote(event.context, event.at, "this")
    loop = f"The `while` loop on {subject}" if isinstance(event.loop, ir.While) else f"The loop over {subject}"
    doing = "sets an array element by element" if event.kind == "filling" else "computes each step from the one before"
    problem = f"{loop} {doing} in Python, so JAX runs its operations one by one"
    if event.kind == "filling":
        return Report(
            event.at, f"{problem}, or unrolls them under jit; use jax.vmap", unless=event.unless, preview=True
        )
    function = "jax.lax.while_loop" if isinstance(event.loop, ir.While) else "jax.lax.scan"
    advice = f"use {function}" if event.kind == "stepwise" else f"jit a function that does one step, or use {function}"
    return Report(event.at, f"{problem}, or unrolls them under jit; {advice}", unless=event.unless, preview=True)


_UPDATING = frozenset({"optax.apply_updates", "equinox.apply_updates"})


def _report_stored(event: LibraryCall) -> Report | None:
    """``self.params = optax.apply_updates(self.params, updates)`` in a method that no code of the project calls in a loop. A
    method that stores its result cannot be jitted itself."""
    inner = event.context.inner
    if event.name not in _UPDATING or inner is None or not inner.params or inner.name == "__init__":
        return None
    around = list(nodes_around(event.context.scope.tree.body, event.at.start, event.at.end))
    functions = [node for node in around if isinstance(node, ir.FunctionDef)]
    if not any(isinstance(node, ir.ClassDef) for node in around) or any(f.decorators for f in functions):
        return None
    if not _is_stored(inner, event.at):
        return None
    problem = f"{quote(event.context, event.at)} runs outside jit, and `{inner.name}` stores its result"
    advice = f"jit a function that returns what `{inner.name}` stores"
    return Report(event.at, f"{problem}, so JAX runs each operation of the step separately; {advice}", preview=True)


def _is_stored(function: ir.Function, call: ir.Node) -> bool:
    """The function assigns the result of a call to an attribute of its object, perhaps by way of a variable."""
    own = f"{function.params[0].name}."
    statement = statement_at(function.body, call)
    bound = bound_paths(statement) if isinstance(statement, ir.Assign) else set()
    if any(path.startswith(own) for path in bound):
        return True
    later = (s for s in all_statements(function.body) if isinstance(s, ir.Assign) and s.start > call.start)
    return any(names_read(s.value) & bound and any(p.startswith(own) for p in bound_paths(s)) for s in later)


_NOWHERE = ir.Node(-1, -1)


def _whole_message(event: EagerStep, subject: str, where: str) -> str:
    """Of a model or an optimizer: in the loop, or in a function that it calls."""
    if event.called is None:
        problem = (
            f"The loop {where} runs {_work(event)} in {subject} outside jit, so JAX runs each operation separately"
        )
        return f"{problem}; {_advice(event)}"
    scope = event.context.scope
    apart = event.loop if event.loop_scope is scope else _NOWHERE
    function = function_around(scope.tree.body, event.at, apart)
    name = f"`{function.function.name}`" if function is not None else "this function"
    called = place(event.called, event.context)
    problem = f"{subject} runs outside jit in every iteration of a loop that calls {name} ({called})"
    step = f"a function that returns what {name} stores" if function is not None and stores(function.function) else name
    return f"{problem}, so JAX runs each operation separately; jit {step}"


def _advice(event: EagerStep) -> str:
    """What to do: training has a step, a loop that only applies a model may have none."""
    if event.kind == "optimizer":
        return "jit a function that does one step"
    is_same = event.loop_scope is event.context.scope and names_read(event.at).isdisjoint(bound_paths(event.loop))
    if is_same:
        return "make this call once before the loop"
    return "move this call into a jitted function" if _is_here(event) else "jit the function that runs the model"


def _work(event: EagerStep) -> str:
    """``an optimizer (called on line 88)``: with its place, if it is not the call of the finding itself."""
    inner = "" if _is_here(event) or event.work is None else f" (called {at_place(event.work, event.context)})"
    return f"{'an optimizer' if event.kind == 'optimizer' else 'a model'}{inner}"


def _is_here(event: EagerStep) -> bool:
    """The model runs in the expression of the finding itself."""
    return event.work is None or is_inside(event.work, Site(event.context.scope, event.at.start, event.at.end))
