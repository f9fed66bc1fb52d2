"""Programs that do not belong on a page."""


def test_the_caller_decides_whether_code_is_traced(jaxlint_check) -> None:
    jaxlint_check(
        {
            "linear.py": """
import jax.numpy as jnp

def inverse(a):
    return jnp.linalg.inv(a)  # expect: explicit-inverse
""",
            "main.py": """
import jax
import linear

jax.jit(linear.inverse)(jax.numpy.eye(3))
""",
        }
    )
