import jax

rate = 0.1
history = {"steps": 0}


def set_rate(value):
    global rate
    rate = value


@jax.jit
def _step(w, rate):
    history = {"rate": rate}
    return w - history["rate"] * w


def step(w):
    history["steps"] += 1
    return _step(w, rate)
