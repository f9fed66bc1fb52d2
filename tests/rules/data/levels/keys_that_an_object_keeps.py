import jax


class Trainer:
    def __init__(self, key):
        self.key = key

    def draws_from_what_it_splits_next(self):
        self.key = jax.random.split(self.key)[0]
        return jax.random.normal(self.key)

    def keeps_one_and_draws_from_the_other(self):
        self.key, sub = jax.random.split(self.key)
        return jax.random.normal(sub)

    def keeps_all(self):
        return jax.random.normal(self.key)  # info: key-reuse


def run(seed):
    trainer = Trainer(jax.random.key(seed))
    for _ in range(10):
        print(trainer.draws_from_what_it_splits_next())  # error: key-reuse


def right(seed):
    trainer = Trainer(jax.random.key(seed))
    for _ in range(10):
        print(trainer.keeps_one_and_draws_from_the_other())


def same(seed):
    trainer = Trainer(jax.random.key(seed))
    for _ in range(10):
        print(trainer.keeps_all())  # error: key-reuse-in-loop
