"""ACM101: a matrix is inverted in traced code. An event rule."""

from __future__ import annotations

from flake8_jax.authoring import LibraryCall, Report, Subscription, contains_tracer, is_reportable, quote, rule


@rule("ACM101", "warning", only=Subscription(where=frozenset({"staged"}), arrays=True))
def explicit_inverse(event: LibraryCall) -> Report | None:
    """A traced matrix is inverted.

    ## Why is this bad?

    `jnp.linalg.inv` costs more than solving one system, and it loses accuracy in float32.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def whiten(covariance, x):
        return jnp.linalg.inv(covariance).T @ x  # expect: explicit-inverse


    step = jax.jit(whiten)
    step(jnp.eye(3), jnp.ones(3))
    ```

    ## Use instead

    Solve the system. Outside tracing, the rule reports nothing.

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def whiten(covariance, x):
        return jnp.linalg.solve(covariance.T, x)


    print(jnp.linalg.inv(jnp.eye(3)))
    ```
    """
    if event.name != "jax.numpy.linalg.inv" or not is_reportable(event.context):
        return None
    if not event.args or not contains_tracer(event.args[0]):
        return None
    subject = quote(event.context, event.nodes[0], "the matrix")
    return Report(event.at, f"Inverting {subject} is slow and inexact; solve the system with jnp.linalg.solve")
