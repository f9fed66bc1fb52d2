"""ACM201: ``inv(a) @ b``. A node rule: it needs the syntax around the call, and it replaces nodes."""

from __future__ import annotations

import libcst as cst

from flake8_jax.authoring import NodeFacts, NodeReport, rule


@rule("ACM201", "warning", fixable="sometimes")
def inverse_product(node: cst.BinaryOperation, facts: NodeFacts) -> NodeReport | None:
    """An inverse is multiplied by a matrix or a vector.

    ## Why is this bad?

    `jnp.linalg.solve(a, b)` gives the same, faster and more accurately.

    ## Example

    ```python
    import jax.numpy as jnp


    def predict(a, b):
        return jnp.linalg.inv(a) @ b  # expect: inverse-product
    ```

    ## Use instead

    ```python
    import jax.numpy as jnp
    import numpy as np


    def predict(a, b):
        return jnp.linalg.solve(a, b)


    def on_the_host(a, b):
        return np.linalg.inv(a) @ b
    ```

    ## Fix safety

    Unsafe: `jnp.linalg.inv(a) @ b` becomes `jnp.linalg.solve(a, b)`, whose last digits differ.
    """
    left = node.left
    if not isinstance(node.operator, cst.MatrixMultiply) or not isinstance(left, cst.Call) or len(left.args) != 1:
        return None
    if facts.name(left.func) != "jax.numpy.linalg.inv":
        return None
    message = f"`{facts.source(node)}` inverts a matrix for one product; use jnp.linalg.solve"
    func, argument = left.func, left.args[0]
    if argument.keyword is not None or argument.star or not isinstance(func, cst.Attribute):
        return NodeReport(node, message)
    solve = cst.Call(func.with_changes(attr=cst.Name("solve")), [cst.Arg(argument.value), cst.Arg(node.right)])
    return NodeReport(node, message, replacement=solve, fix_message="Solve the system instead of inverting the matrix")
