import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt


def loss(params, key):
    return jnp.mean(params * jax.random.normal(key, (3,)))


def report(plain, averaged, key):
    first = loss(plain, key)
    print("plain", first)
    keys = jax.random.split(key, 3)  # info: key-reuse
    second = sum(loss(averaged, k) for k in keys)
    if second < 1:
        print("averaged", second)


def histograms(key):
    x = jax.random.normal(key, (10,))
    plt.hist(x)
    x = jax.random.uniform(key, (10,))  # info: key-reuse
    plt.hist(x)


def benchmark(key):
    results = {}
    x = jax.random.normal(key, (10,))
    results["normal"] = x.mean()
    y = jax.random.uniform(key, (10,))  # info: key-reuse
    results["uniform"] = y.mean()
    for name, value in results.items():
        print(f"{name}: {value}")


def both_in_one_plot(key):
    x = jax.random.normal(key, (10,))
    y = jax.random.uniform(key, (10,))  # error: key-reuse
    plt.scatter(x, y)


def both_in_one_array(key):
    results = []
    x = jax.random.normal(key, (10,))
    results.append(x)
    y = jax.random.uniform(key, (10,))  # error: key-reuse
    results.append(y)
    print(jnp.stack(results))


def one_is_returned(key):
    x = jax.random.normal(key, (10,))
    y = jax.random.uniform(key, (10,))  # error: key-reuse
    print(x)
    return y


def one_decides_about_the_other(key):
    x = jax.random.normal(key, ())
    print(x)
    y = jax.random.uniform(key, ())  # error: key-reuse
    if x > 0:
        y = y + 1
    print(y)


class Model:
    def fit(self, x):
        self.x = x


def one_is_kept(key, model):
    x = jax.random.normal(key, (10,))
    model.fit(x)
    y = jax.random.uniform(key, (10,))  # error: key-reuse
    print(model.score(y))


def the_next_iteration_reads_it(key, n):
    total = jnp.zeros(10)
    for i in range(n):
        sub = jax.random.fold_in(key, i)
        x = jax.random.normal(sub, (10,)) + total
        print(x)
        total = jax.random.uniform(sub, (10,))  # error: key-reuse
        print(total)


def a_function_reads_it(key):
    def show():
        print(x)

    x = jax.random.normal(key, (10,))
    y = jax.random.uniform(key, (10,))  # error: key-reuse
    show()
    print(y)
