import json
import logging
import os
import time

import jax
import numpy as np


@jax.jit
def reads(x):
    table = np.load("table.npz")  # info: impure-call
    with open("names.txt") as file:  # info: impure-call
        names = file.read()
    return x * len(table) * len(names) * int(os.environ["SCALE"])  # info: impure-call


@jax.jit
def acts(x):
    with open("log.txt", "w") as file:  # info: impure-call
        json.dump({}, file)  # info: impure-call
    np.save("x.npy", 1)  # info: impure-call
    return x + time.time()  # info: impure-call


batches = iter([1, 2])


@jax.jit
def takes(x):
    return x + next(batches)  # warning: impure-call


@jax.jit
def shows(x):
    logging.info("step(%s)", x)  # info: print-in-staged
    print(x)  # info: print-in-staged
    return x
