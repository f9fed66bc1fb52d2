def constant(peak):
    return lambda t: peak


def stepped(peak):
    def rate(t):
        return peak * 0.5 ** int(t / 10)  # expect: host-cast

    return rate


_REGISTRY = {"constant": constant, "stepped": stepped}


def make_schedule(name, peak):
    return _REGISTRY[name](peak)
