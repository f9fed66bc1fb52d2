"""Processes that are started before and after JAX computes."""

import argparse
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.dummy import Pool as Threads

import jax
import jax.numpy as jnp
import torch.utils.data

LENGTH = jnp.float32
double = jax.jit(lambda x: 2 * x)


def work(queue):
    queue.put(1)


def processes(key):
    x = jax.random.normal(key, (3,))
    queue = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=work, args=(queue,)) for _ in range(4)]
    for worker in workers:
        worker.start()  # expect: fork-after-jax
    return x


def loader(dataset):
    batches = torch.utils.data.DataLoader(dataset, batch_size=4, num_workers=2)  # expect: fork-after-jax
    params = jnp.zeros(3)
    for i, batch in enumerate(batches):
        params = params + i * batch.sum()
    return params


def copies():
    n = jax.device_count()
    return n, os.fork()  # expect: fork-after-jax


class Trainer:
    def __init__(self):
        self.state = double(1.0)

    def evaluate(self, data):
        pool = multiprocessing.Pool(processes=4)  # expect: fork-after-jax
        return pool.map(abs, data)


def train(data):
    return Trainer().evaluate(data)


def by_context(data):
    total = jnp.sum(jnp.asarray(data))
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(mp_context=context) as executor:  # expect: fork-after-jax
        executor.map(abs, data)
    return total


def by_option(dataset):
    parser = argparse.ArgumentParser()
    parser.add_argument("--loader-workers", type=int, default=4, help="processes that load")
    parser.add_argument("--no_workers", type=int, default=0)
    args = parser.parse_args()
    y = jnp.zeros(3)
    four = torch.utils.data.DataLoader(dataset, num_workers=int(args.loader_workers))  # expect: fork-after-jax
    every = torch.utils.data.DataLoader(dataset, num_workers=os.cpu_count())  # expect: fork-after-jax
    none = torch.utils.data.DataLoader(dataset, num_workers=args.no_workers)
    return y, four, every, none


def a_loader_of_a_training(dataset):
    return torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True, num_workers=2)  # expect: fork-after-jax


# --- silent ---------------------------------------------------------------------------------------


def other_ways(dataset, data, args):
    y = jnp.zeros(3)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(abs, data)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver")) as executor:
        executor.map(abs, data)
    with ThreadPoolExecutor(2) as executor, Threads(2) as pool:
        executor.map(abs, data)
        pool.map(abs, data)
    plain = torch.utils.data.DataLoader(dataset, num_workers=0)
    spawned = torch.utils.data.DataLoader(dataset, num_workers=4, multiprocessing_context="spawn")
    unknown = torch.utils.data.DataLoader(dataset, num_workers=args.workers)
    return y, plain, spawned, unknown


def before(data):
    with multiprocessing.Pool(2) as pool:
        found = pool.map(abs, data)
    return double(jnp.asarray(found))


def perhaps(data, flag):
    if flag:
        data = jnp.asarray(data)
    with multiprocessing.Pool(2) as pool:
        return pool.map(abs, data)
