"""Loops that log their results with Weights & Biases, or show them on a bar of tqdm."""

import jax
import jax.numpy as jnp
import wandb
from tqdm import tqdm


@jax.jit
def step(w, x):
    return w - 0.1 * x, {"loss": jnp.sum(w)}


def logged(w, batches):
    for x in batches:
        w, metrics = step(w, x)
        wandb.log(metrics)  # expect: sync-in-loop
    return w


def logged_by_a_run(w, batches, tracker):
    run = wandb.init(project="steps")
    for x in batches:
        w, metrics = step(w, x)
        run.log({"loss": metrics["loss"]})  # expect: sync-in-loop
    for x in batches:
        w, metrics = step(w, x)
        tracker.log_metrics(metrics)  # expect: sync-in-loop
    return w


def on_a_bar(w, batches):
    bar = tqdm(range(5000))
    for i in bar:
        w, metrics = step(w, batches[i])
        bar.set_postfix(loss=metrics["loss"])  # expect: sync-in-loop
    return w


# --- never flagged -------------------------------------------------------------


def no_results(w, batches):
    for epoch, x in enumerate(batches):
        w, metrics = step(w, x)
        wandb.log({"epoch": epoch, "rows": len(x)})
    return w


class Numbers:
    def __init__(self):
        self.kept = []

    def log(self, metrics):
        self.kept.append(metrics)


def kept_by_the_project(w, batches, logger, level: int):
    numbers = Numbers()
    for x in batches:
        w, metrics = step(w, x)
        numbers.log(metrics)
        logger.log(level, "a step")
    return w, numbers


def now_and_then(w, batches):
    for i, x in enumerate(batches):
        w, metrics = step(w, x)
        if i % 100 == 0:
            wandb.log(metrics)
    return w
