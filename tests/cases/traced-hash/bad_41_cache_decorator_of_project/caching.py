import functools


def memoise(fn):
    store = {}

    @functools.wraps(fn)
    def wrapper(*args):
        try:
            return store[args]  # expect: traced-hash
        except KeyError:
            store[args] = out = fn(*args)
            return out

    return wrapper
