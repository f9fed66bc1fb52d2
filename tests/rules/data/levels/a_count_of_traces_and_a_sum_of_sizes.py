import jax

n_traces = 0
left = 3
n_elements = 0
stats = {"traces": 0, "elements": 0}


class Counter:
    traces = 0


@jax.jit
def step(x):
    global n_traces, left, n_elements
    n_traces += 1  # info: global-write
    left = left - 1  # info: global-write
    n_elements += x.size  # error: global-write
    stats["traces"] += 1  # info: captured-mutation
    stats["elements"] += x.size  # error: captured-mutation
    return x * 2


def counted(f):
    calls = [0]
    n = 0

    @jax.jit
    def inner(x):
        nonlocal n
        n += 1  # info: global-write
        calls[0] = calls[0] + 1  # info: captured-mutation
        return f(x)

    return inner, lambda: (n, calls[0])


print(step(1.0), n_traces, left, n_elements, stats)
