import jax.numpy as jnp
import orbax.checkpoint as ocp
from flax.training import checkpoints

params = {"w": jnp.ones(3)}
checkpoints.save_checkpoint("checkpoints", params, 0)  # error: relative-checkpoint-path
restored = checkpoints.restore_checkpoint("checkpoints", params)  # warning: relative-checkpoint-path
manager = ocp.CheckpointManager("checkpoints")  # warning: relative-checkpoint-path


def save_option(parser, args):
    parser.add_argument("--ckpt_dir", default="runs")
    checkpoints.save_checkpoint(args.ckpt_dir, params, 0)  # warning: relative-checkpoint-path
