"""JAX519: see the page of ``array_field_default``."""

from __future__ import annotations

from flake8_jax.core.registry import Candidate, Report, rule
from flake8_jax.rules._merging import first_of_each, place_of
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.refused import ArrayDefault


def _one_for_each_class(candidates: list[Candidate]) -> list[Candidate]:
    """Python refuses the class at the first such field."""
    return first_of_each(candidates, lambda one: (place_of(one.event.context, one.start), one.event.owner))


@rule("JAX519", "error", raises="another error", settle=_one_for_each_class)
def array_field_default(event: ArrayDefault) -> Report | None:
    """A field of a data class, a Flax module or an Equinox module has an array as its default.

    ## Why is this bad?

    `dataclasses` refuses a default value that has no hash, because all objects would share this value. Arrays of JAX
    and NumPy have no hash. Since Python 3.11, the class definition therefore raises `ValueError: mutable default`, so
    the module cannot be imported. JAX needs Python 3.11 since version 0.7.

    `flax.struct.dataclass`, `chex.dataclass`, Flax linen modules and Equinox modules use `dataclasses` too.

    ## Example

    ```python
    import dataclasses

    import jax
    import jax.numpy as jnp


    def define():
        @dataclasses.dataclass
        class Gains:
            weights: jax.Array = jnp.ones(3)  # expect: array-field-default

        return Gains


    def demonstrate():
        try:
            define()
        except ValueError as error:
            assert "mutable default" in str(error)
        else:
            raise AssertionError
    ```

    ## Use instead

    ```python
    import dataclasses

    import jax
    import jax.numpy as jnp


    @dataclasses.dataclass
    class Gains:
        weights: jax.Array = dataclasses.field(default_factory=lambda: jnp.ones(3))
    ```

    ## Not reported

    jaxlint does not report a `NamedTuple`, because Python accepts any default there. It reports nothing if the project
    supports only releases of JAX before 0.7: such a project may run on Python 3.10, which accepts an array as a
    default.

    ```python
    from typing import NamedTuple

    import jax
    import jax.numpy as jnp


    class Gains(NamedTuple):
        weights: jax.Array = jnp.ones(3)
    ```

    ## Limitations

    The rule misses defaults whose value it does not know, and fields that code adds after the class definition.

    ## Fix safety

    No fix. A `default_factory` makes a new array for each object, which the author may not want.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the class definition raises
    `ValueError`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX304 (`constant-key`), JAX403 (`unhashable-static`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html>
    """
    if event.context.caught or event.context.presumed:
        return None
    kind = "a NumPy array" if event.host else "a JAX array"
    return Report(
        event.at,
        f"The default of `{event.name}` is {kind}, {quote(event.context, event.at)}, and arrays have no hash, so "
        f"defining `{event.owner}` raises ValueError on Python 3.11 and newer; use field(default_factory=…)",
    )
