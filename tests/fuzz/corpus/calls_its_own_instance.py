# Broke: an instance whose class is called through another instance of it raised RecursionError.
class A:
    pass


A.__call__ = A()
A()()


def widths(x):
    class Layer:
        pass

    if x:
        Layer.__call__ = Layer()

        def __call__(self, x):
            return Layer()(x)
