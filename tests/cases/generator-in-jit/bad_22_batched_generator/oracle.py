def bad(m):
    try:
        m.run()
    except TypeError:
        return
    raise AssertionError
