"""Parameters of unknown callers that a program pickles: the first counts."""

import io
import pickle

import jax


def sent(params, history, queue):
    queue.put(pickle.dumps(params))
    pickle.dump(history, io.BytesIO())


class Trainer:
    def __init__(self, params, opt_state):
        self.params, self.opt_state = params, opt_state

    def save(self, file):
        pickle.dump({"epoch": 3, "opt_state": self.opt_state}, file)  # expect: pickled-array
        pickle.dump(self.params, file)


def doubled(params):
    return jax.tree.map(lambda leaf: 2 * leaf, params)
