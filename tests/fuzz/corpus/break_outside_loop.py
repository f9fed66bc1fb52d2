# Broke: `break` and `continue` outside of a loop raised IndexError in the analysis.
import jax

for i in range(3):
    pass
else:
    continue


def f(x):
    class Inner:
        break

    for _ in x:

        def g():
            continue

    break
