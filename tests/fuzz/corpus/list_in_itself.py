# Broke: lists that hold themselves raised RecursionError where they were joined.
def lru_cache(user_function):
    root = []
    root[:] = [root, root, None, None]

    def wrapper(key):
        nonlocal root
        last = root[0]
        link = [last, root, key, user_function]
        last[1] = root[0] = link
        oldroot = root
        oldroot[2] = key
        root = oldroot[1]
        root[2] = root[3] = None
        return oldroot

    return wrapper
