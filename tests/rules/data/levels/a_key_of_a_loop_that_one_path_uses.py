import jax


def surely(key, n):
    return [jax.random.normal(key) for _ in range(n)]  # error: key-reuse-in-loop


def perhaps(key, flags):
    total = 0.0
    for flag in flags:
        if flag:
            total += jax.random.normal(key)  # info: key-reuse-in-loop
    return total
