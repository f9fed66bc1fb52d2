"""Relative paths of checkpoints, which Orbax refuses, and paths that are absolute or not known."""

import argparse
import os
import pathlib
import tempfile

import jax.numpy as jnp
from flax.training import checkpoints

PARAMS = {"w": jnp.ones(3)}
FOLDER = "runs"
DATE = str(os.getpid())
PARSER = argparse.ArgumentParser()
PARSER.add_argument("--ckpt-dir", default="runs")
PARSER.add_argument("--folder-of-logs", default="logs")
PARSER.add_argument("--unset-folder")


def save_named():
    checkpoints.save_checkpoint(ckpt_dir=FOLDER, target=PARAMS, step=0)  # expect: relative-checkpoint-path


# raises ValueError: save_named()


def save_joined():
    folder = os.path.join("runs", DATE)
    checkpoints.save_checkpoint(folder, PARAMS, 0)  # expect: relative-checkpoint-path


# raises ValueError: save_joined()


def save_below():
    checkpoints.save_checkpoint(pathlib.Path("runs") / "first", PARAMS, 0)  # expect: relative-checkpoint-path


# raises ValueError: save_below()


def save_to(path):
    checkpoints.save_checkpoint(path, PARAMS, 0)  # expect: relative-checkpoint-path


def save_formatted(n):
    path = f"./runs/{n}"
    save_to(path)


# raises ValueError: save_formatted(3)


def restore():
    return checkpoints.restore_checkpoint("no/such/folder", PARAMS)  # expect: relative-checkpoint-path


# runs: restore()


class Config:
    folder: str = "runs"
    absolute: str = "/tmp/runs"
    unset: str | None = None


def save_field(config: Config):
    checkpoints.save_checkpoint(os.path.join(config.folder, "last"), PARAMS, 0)  # expect: relative-checkpoint-path
    checkpoints.save_checkpoint(config.absolute, PARAMS, 0)
    if config.unset is not None:
        checkpoints.save_checkpoint(config.unset, PARAMS, 0)


# raises ValueError: save_field(Config())


def save_item(options):
    checkpoints.save_checkpoint(f"{options['ckpt_dir']}/last", PARAMS, 0)  # expect: relative-checkpoint-path


# raises ValueError: save_item(vars(PARSER.parse_args([])))


def save_default(path="runs"):
    checkpoints.save_checkpoint(path, PARAMS, 0)  # expect: relative-checkpoint-path


# --- never flagged -------------------------------------------------------------


def save_absolute():
    checkpoints.save_checkpoint(os.path.abspath(FOLDER) + "/first", PARAMS, 0)


def save_in(folder, n):
    checkpoints.save_checkpoint(f"{folder}/{n}", PARAMS, n)
    checkpoints.save_checkpoint(os.path.join(folder, "last"), PARAMS, n)


def save_made_absolute(path="runs"):
    path = os.path.abspath(path)
    checkpoints.save_checkpoint(path, PARAMS, 0)


# runs: save_made_absolute()


def save_changed(args):
    args.folder_of_logs = os.path.abspath(args.folder_of_logs)
    checkpoints.save_checkpoint(args.folder_of_logs, PARAMS, 0)


# runs: save_changed(PARSER.parse_args([]))


def save_without_default(args):
    checkpoints.save_checkpoint(args.unset_folder, PARAMS, 0)
    checkpoints.save_checkpoint(os.path.abspath(args.folder_of_logs), PARAMS, 0)


def save_temporary():
    with tempfile.TemporaryDirectory() as folder:
        save_in(folder, 3)


# runs: save_temporary()
