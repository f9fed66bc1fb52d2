import abc

import jax


class Solver(abc.ABC):
    def __init__(self, tol, max_steps=20):
        self.tol = tol
        self.max_steps = max_steps

    @abc.abstractmethod
    def advance(self, x): ...

    def damping(self, x):
        return 1.0

    def _iteration(self, _, x):
        return x + self.damping(x) * (self.advance(x) - x)

    def solve(self, x):
        return jax.lax.fori_loop(0, self.max_steps, self._iteration, x)
