def windows(x):
    for i in range(3):
        yield x[i : i + 3]
