"""Programs that grow by what they define and call: functions, classes, and statements that bind names."""

from __future__ import annotations

from growth.registry import functions, grows, indented, program

# --- callables -------------------------------------------------------------------------------------


@grows(1000)
def list_of_functions(n: int) -> str:
    """``[f0, f1, …][a](x)``."""
    names = ", ".join(f"f{i}" for i in range(n))
    return program([f"z = [{names}]", "y = z[a](x)"], functions(n))


@grows(1000)
def tuple_of_functions(n: int) -> str:
    """``(f0, f1, …)[a](x)``."""
    names = ", ".join(f"f{i}" for i in range(n))
    return program(f"y = ({names})[a](x)", functions(n))


@grows(1000)
def dict_of_functions(n: int) -> str:
    """``{"k0": f0, …}[a](x)``."""
    names = ", ".join(f"'k{i}': f{i}" for i in range(n))
    return program(f"y = {{{names}}}[a](x)", functions(n))


@grows(1000)
def switch_of_functions(n: int) -> str:
    """``jax.lax.switch(a, [f0, f1, …], x)``."""
    names = ", ".join(f"f{i}" for i in range(n))
    return program(f"y = jax.lax.switch(a, [{names}], x)", functions(n))


@grows(1000)
def loop_over_functions(n: int) -> str:
    """``for f in [f0, f1, …]: y = f(y)``."""
    names = ", ".join(f"f{i}" for i in range(n))
    return program(["y = x", f"for f in [{names}]:", "    y = f(y)"], functions(n))


@grows(1000)
def union_of_functions(n: int) -> str:
    """``if a == 0: f = f0``, line by line, and one call of ``f``."""
    choices = [line for i in range(n) for line in (f"if a == {i}:", f"    f = f{i}")]
    return program(["f = jnp.sin", *choices, "y = f(x)"], functions(n))


@grows(1000)
def registered_functions(n: int) -> str:
    """``@register`` puts each function into a dict."""
    lines = ["TABLE = {}", "def register(f):", "    TABLE[f.__name__] = f", "    return f"]
    lines += [line for i in range(n) for line in ("@register", f"def f{i}(v):", f"    return v + {i}")]
    return program("y = TABLE[a](x)", lines)


@grows(1000)
def rebound_attribute(n: int) -> str:
    """``holder.f = f0``, each in a function of its own."""
    setters = [line for i in range(n) for line in (f"def set{i}(holder):", f"    holder.f = f{i}")]
    lines = [*functions(n), *setters, "class Holder:", "    f = None", "HOLDER = Holder()"]
    return program("y = HOLDER.f(x)", [*lines, *(f"set{i}(HOLDER)" for i in range(n))])


@grows(1000)
def list_of_objects(n: int) -> str:
    """``[C0(), C1(), …][a](x)``: objects of as many classes."""
    classes = [
        line for i in range(n) for line in (f"class C{i}:", "    def __call__(self, v):", f"        return v + {i}")
    ]
    return program(f"y = [{', '.join(f'C{i}()' for i in range(n))}][a](x)", classes)


@grows(1000)
def returned_functions(n: int) -> str:
    """A function that returns another function for each number."""
    lines = ["def choose(k):", *(line for i in range(n) for line in (f"    if k == {i}:", f"        return f{i}"))]
    return program("y = choose(a)(x)", [*functions(n), *lines, "    return jnp.sin"])


@grows(1000)
def joined_callables(n: int) -> str:
    """``f = f0 if a else f``, line by line, each time called."""
    lines = [line for i in range(n) for line in (f"f = f{i} if a > {i} else f", "y = f(x)")]
    return program(["f = jnp.sin", *lines], functions(n))


@grows(1000)
def jitted_functions(n: int) -> str:
    """``[jax.jit(f0), jax.jit(f1), …]``, which a loop walks."""
    names = ", ".join(f"jax.jit(f{i})" for i in range(n))
    return program(["y = x", f"for f in [{names}]:", "    y = f(y)"], functions(n))


@grows(800)
def partials(n: int) -> str:
    """``f = partial(f, 1)``, line by line."""
    lines = ["from functools import partial", "def g(*v):", "    return v"]
    return program(["f = g", *["f = partial(f, 1)"] * n, "y = f(x)"], lines)


@grows(1000)
def lambdas(n: int) -> str:
    """``[lambda v: v + 0, …]``."""
    return program(f"y = [{', '.join(f'lambda v: v + {i}' for i in range(n))}][a](x)")


@grows(1000)
def function_chain(n: int) -> str:
    """``f1`` calls ``f0``, ``f2`` calls ``f1`` and so on."""
    lines = ["def f0(v):", "    return v"]
    lines += [line for i in range(1, n) for line in (f"def f{i}(v):", f"    return f{i - 1}(v) + 1")]
    return program(f"y = f{n - 1}(x)", lines)


@grows(1000)
def recursion_through_all(n: int) -> str:
    """Every function calls the next, and the last the first."""
    lines = [line for i in range(n) for line in (f"def f{i}(v):", f"    return f{(i + 1) % n}(v) + 1")]
    return program("y = f0(x)", lines)


@grows(150)
def nested_lambdas(n: int) -> str:
    """``lambda: lambda: … x``, called."""
    return program("y = (" + "lambda: " * n + "x)" + "()" * n)


@grows(150)
def nested_lambda_defaults(n: int) -> str:
    """``lambda v=(lambda v=(…): v): v``."""
    return program("y = " + "(lambda v=" * n + "x" + ": v)" * n)


@grows(90)
def nested_functions(n: int) -> str:
    """``def f0(): def f1(): …``, each with a variable of its own."""
    lines = [" " * i + f"def f{i}(v{i}):" for i in range(n)] + [" " * n + "return v0"]
    return program("y = f0(x)", [*lines, *(" " * i + f"return f{i}" for i in range(n - 1, 0, -1))])


@grows(800)
def closures(n: int) -> str:
    """``f = wrap(f)``, line by line: a closure over a closure."""
    return program(
        ["f = jnp.sin", *["f = wrap(f)"] * n, "y = f(x)"],
        ["def wrap(g):", "    def inner(v):", "        return g(v) + 1", "    return inner"],
    )


@grows(800)
def transforms(n: int) -> str:
    """``f = jax.jit(f)``, line by line."""
    return program(["f = jnp.sin", *["f = jax.jit(f)"] * n, "y = f(x)"])


@grows(800)
def decorators(n: int) -> str:
    """Many decorators on one function."""
    known = ["def keep(f):", "    return f"]
    return program("y = g(x)", [*known, *["@keep"] * n, "def g(v):", "    return v"])


@grows(800)
def jit_decorators(n: int) -> str:
    """``@jax.jit`` many times on one function."""
    return program("y = g(x)", [*["@jax.jit"] * n, "def g(v):", "    return v"])


@grows(1000)
def parameters(n: int) -> str:
    """One function with many parameters, called with as many arguments."""
    names = ", ".join(f"p{i}" for i in range(n))
    return program(f"y = g({', '.join(['x'] * n)})", [f"def g({names}):", "    return p0"])


@grows(1000)
def keywords(n: int) -> str:
    """One function with many keywords and defaults."""
    names = ", ".join(f"p{i}={i}" for i in range(n))
    given = ", ".join(f"p{i}=x" for i in range(n))
    return program(f"y = g({given})", [f"def g(*, {names}):", "    return p0"])


@grows(1000)
def annotated_parameters(n: int) -> str:
    """Many parameters with annotations."""
    names = ", ".join(f"p{i}: jax.Array" for i in range(n))
    return program(f"y = g({', '.join(['x'] * n)})", [f"def g({names}) -> jax.Array:", "    return p0"])


@grows(1000)
def keywords_of_a_library_call(n: int) -> str:
    """A library call with many keywords."""
    return program(f"y = jnp.zeros(3, {', '.join(f'k{i}=x' for i in range(n))})")


@grows(1000)
def starred_arguments(n: int) -> str:
    """``g(*a, *b, …)`` and ``[*a, *b, …]``."""
    return program(
        [
            "y = g(" + ", ".join(["*a", "*(x, x)"] * (n // 2)) + ")",
            "z = [" + ", ".join(["*a", "*[x]"] * (n // 2)) + "]",
        ],
        ["def g(*v):", "    return v"],
    )


@grows(1000)
def double_starred_arguments(n: int) -> str:
    """``g(**a, **b, …)`` and ``{**a, **b, …}``."""
    return program(
        ["y = g(" + ", ".join(["**a", "**{'k': x}"] * (n // 2)) + ")",
         "z = {" + ", ".join(["**a", "**{'k': x}"] * (n // 2)) + "}"],
        ["def g(**v):", "    return v"],
    )  # fmt: skip


@grows(1000)
def early_returns(n: int) -> str:
    """``if a == 0: return …`` line by line."""
    lines = ["def g(v, k):", *(line for i in range(n) for line in (f"    if k == {i}:", f"        return v + {i}"))]
    return program("y = g(x, a)", [*lines, "    return v"])


# --- classes ---------------------------------------------------------------------------------------


@grows(1000)
def super_chain(n: int) -> str:
    """Classes in a row, each of whose methods calls that of its base."""
    lines = ["class C0:", "    def __init__(self):", "        self.w = 1", "    def f(self, v):", "        return v"]
    for i in range(1, n):
        lines += [f"class C{i}(C{i - 1}):", "    def __init__(self):", "        super().__init__()"]
        lines += ["    def f(self, v):", "        return super().f(v) + self.w"]
    return program(f"y = C{n - 1}().f(x)", lines)


@grows(1000)
def class_chain(n: int) -> str:
    """Classes in a row, each with a method of its own."""
    lines = ["class C0:", "    def f(self, v):", "        return v"]
    for i in range(1, n):
        lines += [f"class C{i}(C{i - 1}):", f"    def f{i}(self, v):", "        return self.f(v)"]
    return program(f"y = C{n - 1}().f(x)", lines)


@grows(1000)
def dataclass_chain(n: int) -> str:
    """Dataclasses in a row, each with one field more."""
    lines = ["import dataclasses", "@dataclasses.dataclass", "class C0:", "    f0: int = 0"]
    for i in range(1, n):
        lines += ["@dataclasses.dataclass", f"class C{i}(C{i - 1}):", f"    f{i}: int = {i}"]
    return program(f"y = x * C{n - 1}().f0", lines)


@grows(1000)
def diamonds(n: int) -> str:
    """Two classes with one base, a class with these two as its bases, and so on."""
    lines = ["class A0:", "    def f(self, v):", "        return v"]
    for i in range(1, n // 3 + 1):
        for side in "BC":
            lines += [f"class {side}{i}(A{i - 1}):", "    def f(self, v):", "        return super().f(v)"]
        lines += [f"class A{i}(B{i}, C{i}):", "    def f(self, v):", "        return super().f(v)"]
    return program(f"y = A{n // 3}().f(x)", lines)


@grows(1000)
def bases(n: int) -> str:
    """One class with many bases."""
    lines = [line for i in range(n) for line in (f"class B{i}:", f"    def f{i}(self, v):", "        return v")]
    names = ", ".join(f"B{i}" for i in range(n))
    return program("y = C().f0(x)", [*lines, f"class C({names}):", "    pass"])


@grows(1000)
def heirs(n: int) -> str:
    """One base class with many subclasses that override its method."""
    lines = [
        "class Base:",
        "    def f(self, v):",
        "        return self.g(v)",
        "    def g(self, v):",
        "        raise TypeError",
    ]
    for i in range(n):
        lines += [f"class C{i}(Base):", "    def g(self, v):", f"        return v + {i}"]
    return program("y = C0().f(x)", lines)


@grows(1000)
def methods(n: int) -> str:
    """One class with many methods, each calling the next."""
    lines = ["class C:"]
    for i in range(n):
        lines += [f"    def f{i}(self, v):", f"        return self.f{i + 1}(v)"]
    return program("y = C().f0(x)", [*lines, f"    def f{n}(self, v):", "        return v"])


@grows(1000)
def dataclass_fields(n: int) -> str:
    """A dataclass and a NamedTuple with many fields."""
    names = [f"    f{i}: jax.Array" for i in range(n)]
    lines = [
        "import dataclasses, typing",
        "@jax.tree_util.register_dataclass",
        "@dataclasses.dataclass",
        "class C:",
        *names,
    ]
    arguments = ", ".join(["x"] * n)
    return program(
        [f"y = C({arguments}).f0", f"z = T({arguments}).f0"], [*lines, "class T(typing.NamedTuple):", *names]
    )


@grows(1000)
def linked_instances(n: int) -> str:
    """``node = Node(node)``, line by line."""
    lines = ["class Node:", "    def __init__(self, rest, v):", "        self.rest = rest", "        self.v = v"]
    return program(["z = None", *["z = Node(z, x)"] * n, "y = z.v"], lines)


@grows(90)
def nested_classes(n: int) -> str:
    """``class A: class A: …``."""
    return program("y = x", indented(["class A:"] * n, "pass"))


# --- statements ------------------------------------------------------------------------------------


@grows(3200)
def chained_assignment(n: int) -> str:
    """``y = y0 = y1 = … = x``."""
    return program("y = " + " = ".join(f"y{i}" for i in range(n)) + " = x")


@grows(3200)
def unpacking(n: int) -> str:
    """``y, y1, … = x, x, …``."""
    return program("y, " + ", ".join(f"y{i}" for i in range(n)) + " = x, " + ", ".join(["x"] * n))


@grows(150)
def nested_unpacking(n: int) -> str:
    """``(y, (y, (y, …))) = b``."""
    return program("(" + "y, (" * n + "y" + ")" * n + ") = b")


@grows(3200)
def assignments(n: int) -> str:
    """``y0 = x + 0``, line by line."""
    return program(["y = x", *(f"y{i} = x + {i}" for i in range(n))])


@grows(3200)
def module_assignments(n: int) -> str:
    """Globals that a jitted function reads."""
    return program("y = x + " + " + ".join(f"V{i}" for i in range(n)), [f"V{i} = {i}" for i in range(n)])


@grows(3200)
def augmented_assignments(n: int) -> str:
    """``y += x``, line by line."""
    return program(["y = x", *["y += x"] * n])


@grows(800)
def with_items(n: int) -> str:
    """``with a as w0, a as w1, …``."""
    return program(["with " + ", ".join(f"a as w{i}" for i in range(n)) + ":", "    y = x"])


@grows(800)
def except_clauses(n: int) -> str:
    """One ``try`` with many handlers."""
    handlers = [line for i in range(n) for line in (f"except (TypeError, KeyError, E{i}):", f"    y = x + {i}")]
    return program(["try:", "    y = x", *handlers], [f"class E{i}(Exception): pass" for i in range(n)])


@grows(800)
def deletions(n: int) -> str:
    """``del y0, y1, …``."""
    return program(["y = x", *(f"y{i} = x" for i in range(n)), "del " + ", ".join(f"y{i}" for i in range(n))])


@grows(3200)
def assertions(n: int) -> str:
    """``assert a > 0``, line by line."""
    return program([*(f"assert a != {i}" for i in range(n)), "y = x"])


@grows(1000)
def prints(n: int) -> str:
    """``print(x)``, line by line: a finding each."""
    return program([*["print(x)"] * n, "y = x"])


@grows(1000)
def imports(n: int) -> str:
    """``import m0, m1, …`` and ``from m import n0, n1, …``."""
    names = ", ".join(f"n{i}" for i in range(n))
    return program("y = n0(x)", [f"import {', '.join(f'm{i}' for i in range(n))}", f"from m import {names}"])


@grows(1000)
def globals_declared(n: int) -> str:
    """``global g0, g1, …``, all of them written."""
    names = [f"g{i}" for i in range(n)]
    lines = ["def setup(v):", f"    global {', '.join(names)}", *(f"    {name} = v" for name in names)]
    return program("y = x", [*(f"{name} = 0" for name in names), *lines, "setup(1)"])


@grows(18)
def nested_ifs(n: int) -> str:
    """``if a == 0: if a == 1: …``."""
    return program(["y = x", *indented([f"if a == {i}:" for i in range(n)], "y = x + 1")])


@grows(18)
def nested_withs(n: int) -> str:
    """``with a: with a: …``."""
    return program(indented(["with a:"] * n, "y = x"))


@grows(18)
def nested_tries(n: int) -> str:
    """``try: try: … except: … except: …``."""
    lines = [" " * i + "try:" for i in range(n)] + [" " * n + "y = x"]
    for i in reversed(range(n)):
        lines += [" " * i + "except TypeError:", " " * i + f" y = x + {i}"]
    return program(lines)


@grows(400)
def match_cases(n: int) -> str:
    """One ``match`` with many cases."""
    cases = [line for i in range(n) for line in (f"    case {i}:", f"        y = x + {i}")]
    return program(["y = x", "match a:", *cases])


@grows(400)
def match_alternatives(n: int) -> str:
    """``case 0 | 1 | 2 | …``."""
    return program(["y = x", "match a:", "    case " + " | ".join(map(str, range(n))) + ":", "        y = x + 1"])


@grows(400)
def match_elements(n: int) -> str:
    """``case [p0, p1, …]`` and ``case {"k0": p0, …}``."""
    names = ", ".join(f"p{i}" for i in range(n))
    items = ", ".join(f"'k{i}': p{i}" for i in range(n))
    return program(
        ["y = x", "match b:", f"    case [{names}]:", "        y = p0", f"    case {{{items}}}:", "        y = p0"]
    )


@grows(200)
def records_that_name_one_another(n: int) -> str:
    """NamedTuples whose annotations name two others each: the paths through them are far more than the classes."""
    head = "import jax\nfrom typing import NamedTuple\n\n\n"
    records = (f"class T{i}(NamedTuple):\n    a: 'T{(i + 1) % n}'\n    b: 'T{i * 7 % n}'\n\n\n" for i in range(n))
    users = (f"@jax.jit\ndef f{i}(t: T{i}):\n    return t\n\n\n" for i in range(n))
    return head + "".join(records) + "".join(users)
