import jax
import jax.numpy as jnp


class Search:
    def __init__(self, best):
        self.best = best

    def ask(self):
        return self.best + jnp.linspace(-1.0, 1.0, 8)[:, None]

    def tell(self, points, values):
        self.best = points[jnp.argmax(values)]


def height(x):
    return -jnp.sum((x - 0.3) ** 2)


heights = jax.vmap(height)
every, rounds = 1, 40

solver = Search(jnp.ones(2))
for i in range(rounds):
    points = solver.ask()
    values = heights(points)  # info: transform-in-loop
    solver.tell(points, values)
    if i % every == 0 or i == rounds - 1:
        print(heights(solver.best[None]))  # info: transform-in-loop

x = jnp.ones((8, 2))
for i in range(rounds):
    x = x - 0.1 * heights(x)[:, None]  # info: transform-in-loop

solver = Search(jnp.ones(2))
for i in range(rounds):
    points = solver.ask()
    solver.tell(points, points[:, 0])
    if i % 25 == 0 or i == rounds - 1:
        print(heights(points))

for i in range(16):
    points = solver.ask()
    solver.tell(points, heights(points))

rows = []
for i in range(rounds):
    row = heights(x + i)
    rows.append(row)
