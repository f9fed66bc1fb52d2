"""JAX503: see the page of ``self_write``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._changes import leak, leaks, may_leak
from flake8_jax.rules._traced_writes import traced_attributes, traced_setters
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.classes import find_in_class
from flake8_jax.semantics.domain.values import ClassValue, ExternalInstance, Instance, UnionValue, Value
from flake8_jax.semantics.events.events import FileRead, Mutation
from flake8_jax.semantics.events.facts import READ_LATER, UNDONE


@rule("JAX503", "error")
def self_write(event: Mutation | FileRead) -> Report | list[Report] | None:
    """A traced method stores a traced value in `self`, or in another object that exists before the trace begins.

    The finding is an error if the code computes the new value of the attribute from the old one, or reads the attribute
    after the trace. Otherwise, it is a note: while the trace runs, the tracer is still valid.

    With `--preview`, the rule also reports an assignment that stores a tracer only if a condition has a certain outcome.
    It also reports traced functions that store a tracer in an object which jaxlint does not know, by an assignment
    (`system.params = params`) or by a method such as `model.set_parameters(params)`.

    ## Why is this bad?

    Python runs a traced method only while JAX traces it. An assignment to an attribute then stores a tracer, which is
    invalid after tracing: code that reads the attribute raises `UnexpectedTracerError`. Later calls of the compiled
    method do not set the attribute again. Return the new value and assign it outside the method, or make the object a
    pytree and return a changed object.

    ## Example

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    class Normaliser:
        def __init__(self, n):
            self.mean = jnp.zeros(n)

        @partial(jax.jit, static_argnums=0)
        def __call__(self, x):
            self.mean = 0.9 * self.mean + 0.1 * x.mean(axis=0)  # expect: self-write
            return x - self.mean


    def demonstrate():
        normalise = Normaliser(2)
        normalise(jnp.ones((3, 2)))
        try:
            normalise.mean + 1
        except jax.errors.UnexpectedTracerError:
            return
        raise AssertionError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def normalise(mean, x):
        mean = 0.9 * mean + 0.1 * x.mean(axis=0)
        return mean, x - mean


    class Normaliser:
        def __init__(self, n):
            self.mean = jnp.zeros(n)

        def __call__(self, x):
            self.mean, y = normalise(self.mean, x)
            return y
    ```

    ## Not reported

    jaxlint does not report these assignments:

    - The traced function makes the object itself, such as `fresh` below, so the object exists only during the trace.
    - The object is a pytree and an argument of the traced function, as in `Moments.update` below. The function changes
      a copy of the object, and can return the copy.
    - The value is static (`self.shape = x.shape`), so it stays valid after tracing.
    - The function gives the attribute its old value again, as in `Model.scaled` below, so no tracer is left in it.

    ```python
    import copy
    from functools import partial

    import jax
    import jax.numpy as jnp


    @jax.tree_util.register_pytree_node_class
    class Moments:
        def __init__(self, mean, count):
            self.mean = mean
            self.count = count

        def tree_flatten(self):
            return (self.mean, self.count), None

        @classmethod
        def tree_unflatten(cls, aux, children):
            return cls(*children)

        @jax.jit
        def update(self, x):
            self.count = self.count + 1
            self.mean = self.mean + (x - self.mean) / self.count
            return self


    class Model:
        def __init__(self, moments):
            self.moments = moments
            self.shape = None
            self.scale = 1.0

        @partial(jax.jit, static_argnums=0)
        def scaled(self, x, scale):
            self.shape = x.shape
            other = copy.copy(self)
            other.scale = scale
            fresh = Moments(x, 0)
            fresh.count = fresh.count + scale
            self.scale = scale
            y = self.apply(x) + other.apply(x) + fresh.count
            self.scale = 1.0
            return y

        def apply(self, x):
            return x * self.scale
    ```

    ## Limitations

    The rule misses an attribute that counts calls with a Python number (`self.calls += 1`). Such an attribute is
    wrong, because it counts only the traces. The rule also misses assignments through a property setter or
    `__setattr__`, and objects whose class comes from a library. It reports nothing for modules of Flax and Haiku,
    because these libraries carry the state of a module through the trace.

    ## Fix safety

    No fix. The method has to return the new value, and every caller has to keep it.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the assignment runs while JAX traces.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX501 (`global-write`), JAX502 (`captured-mutation`), JAX508 (`cached-tracer`), JAX511 (`stale-static-self`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/errors.html#jax.errors.UnexpectedTracerError>
    """
    if isinstance(event, FileRead):
        return [*traced_setters(event), *traced_attributes(event)]
    surely = leaks(event)
    if event.how != "attribute" or event.target is None or not (surely or may_leak(event)) or not _keeps(event.target):
        return None
    subject = quote(event.context, event.at, event.name)
    message = f"This assignment to {subject} {leak(event.context, subject, surely=surely)}"
    sure_given = "" if event.itself else READ_LATER
    return Report(event.at, message, unless=UNDONE, sure_given=sure_given, preview=not surely)


def _keeps(value: Value) -> bool:
    """A plain object, which keeps what is assigned to it."""
    if isinstance(value, UnionValue):
        return all(_keeps(member) for member in value.members)
    if isinstance(value, Instance):
        cls = value.cls
        if "static_attributes" in cls.traits or "filtered" in cls.traits or cls.has_unknown_base:
            return False
        return find_in_class(cls, "__setattr__") is None
    return isinstance(value, ClassValue) or (
        isinstance(value, ExternalInstance) and value.cls == "types.SimpleNamespace"
    )
