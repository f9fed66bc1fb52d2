import optax


def schedules(rate, config):
    first = optax.cosine_decay_schedule(rate, 100, config.min_lr)  # warning: argument-meaning
    return first, optax.cosine_decay_schedule(rate, 100, 1e-6)  # info: argument-meaning
