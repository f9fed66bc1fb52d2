"""Programs that grow: for each way in which a program can be long or deep, a function from a size to such a program.

Vocabulary
----------
generator  makes a valid program whose length grows in proportion to the size, in one respect alone.
size       the number of terms, elements, links or levels.

``SIZES`` holds the size that the analysis must handle within the time limit of ``benchmarks/growth.py``. Levels of
nesting stop at what CPython itself compiles: 200 brackets, 100 indentations, 20 blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

Generator = Callable[[int], str]

GENERATORS: dict[str, Generator] = {}
SIZES: dict[str, int] = {}


def grows(size: int) -> Callable[[Generator], Generator]:
    """Enter a generator under its own name, with the size that the analysis must handle."""

    def enter(generator: Generator) -> Generator:
        name = generator.__name__.replace("_", "-")
        GENERATORS[name] = generator
        SIZES[name] = size
        return generator

    return enter


def _program(body: str | Iterable[str], before: str | Iterable[str] = ()) -> str:
    """Run the lines of ``body``, which make ``y`` of the array ``x``, in a jitted function and in an eager one."""
    body = [body] if isinstance(body, str) else list(body)
    before = [before] if isinstance(before, str) else list(before)
    inner = [f"    {line}" for line in body]
    return "\n".join(
        [
            "import jax",
            "import jax.numpy as jnp",
            *before,
            "@jax.jit",
            "def traced(x, a, b):",
            *inner,
            "    return y",
            "def eager(x, a, b):",
            *inner,
            "    return y",
            "traced(jnp.ones(3), 1, 2)",
            "eager(jnp.ones(3), 1, 2)",
            "",
        ]
    )


def _indented(headers: Iterable[str], last: str) -> list[str]:
    """Blocks in blocks: each header is one level deeper than the one before."""
    lines = list(headers)
    return [*(f"{' ' * depth}{header}" for depth, header in enumerate(lines)), f"{' ' * len(lines)}{last}"]


# --- chains of operators ---------------------------------------------------------------------------


@grows(3200)
def sum_of_numbers(n: int) -> str:
    """``1 + 1 + …``."""
    return _program("y = " + " + ".join(["1"] * n))


@grows(3200)
def sum_of_arrays(n: int) -> str:
    """``x + x + …``."""
    return _program("y = " + " + ".join(["x"] * n))


@grows(1600)
def sum_of_terms(n: int) -> str:
    """A polynomial: products of arrays and numbers, added up over many lines."""
    return _program(["y = (", *(f"    + {i} * x ** {i}" for i in range(n)), ")"])


@grows(3200)
def sum_of_strings(n: int) -> str:
    """``"a" + str(a) + …``."""
    return _program("y = " + " + ".join(["'a'", "str(a)"] * (n // 2)))


@grows(3200)
def sum_of_lists(n: int) -> str:
    """``[0] + [0] + …``."""
    return _program("y = " + " + ".join(["[0]"] * n))


@grows(3200)
def sum_of_tuples_of_arrays(n: int) -> str:
    """``(x,) + (x,) + …``."""
    return _program("y = " + " + ".join(["(x,)"] * n))


@grows(3200)
def sum_of_shapes(n: int) -> str:
    """``(3,) + x.shape + …``."""
    return _program("y = " + " + ".join(["(3,)", "x.shape"] * (n // 2)))


@grows(3200)
def merge_of_dicts(n: int) -> str:
    """``{"k0": x} | {"k1": x} | …``."""
    return _program("y = " + " | ".join(f"{{'k{i}': x}}" for i in range(n)))


@grows(150)
def nested_sum(n: int) -> str:
    """``x + (x + (x + …))``."""
    return _program("y = " + "x + (" * n + "x" + ")" * n)


@grows(400)
def power_tower(n: int) -> str:
    """``x ** x ** …``, which leans to the right."""
    return _program("y = " + " ** ".join(["x"] * n))


@grows(400)
def unary_chain(n: int) -> str:
    """``-~-~…x``."""
    return _program("y = " + "-~" * (n // 2) + "x")


@grows(400)
def negation_chain(n: int) -> str:
    """``not not not …``."""
    return _program("y = " + "not " * n + "a")


@grows(3200)
def conjunction_of_names(n: int) -> str:
    """``a and b and a and …``."""
    return _program("y = " + " and ".join(["a", "b"] * (n // 2)))


@grows(3200)
def conjunction_of_tests(n: int) -> str:
    """``if a == 0 and a == 1 and …``."""
    return _program(["y = x", "if " + " and ".join(f"a != {i}" for i in range(n)) + ":", "    y = x + 1"])


@grows(3200)
def conjunction_of_traced_tests(n: int) -> str:
    """``x[0] > 0 and x[1] > 1 and …``, every operand a finding or hidden behind one."""
    return _program("y = " + " and ".join(f"x[{i}] > {i}" for i in range(n)))


@grows(3200)
def disjunction_of_calls(n: int) -> str:
    """``bool(a) or bool(b) or …``."""
    return _program("y = " + " or ".join(["bool(a)", "bool(b)"] * (n // 2)))


@grows(3200)
def mixed_conditions(n: int) -> str:
    """``a is None or b is not None and …``."""
    return _program(["y = x", "if " + " or ".join(["a is None and b > 1"] * (n // 2)) + ":", "    y = x * 2"])


@grows(3200)
def isinstance_alternatives(n: int) -> str:
    """``isinstance(a, T0) or isinstance(a, T1) or …``."""
    types = ("int", "float", "str", "tuple")
    tests = " or ".join(f"isinstance(a, {types[i % 4]})" for i in range(n))
    return _program(["y = x", f"if {tests}:", "    y = x * 2"])


@grows(3200)
def comparison_chain(n: int) -> str:
    """``a < b < a < …``."""
    return _program("y = " + " < ".join(["a", "b"] * (n // 2)))


@grows(3200)
def array_comparison_chain(n: int) -> str:
    """``x == x == …``."""
    return _program("y = " + " == ".join(["x"] * n))


# --- chains of attributes, subscripts and calls ----------------------------------------------------


@grows(3200)
def attribute_chain(n: int) -> str:
    """``x.T.T.T…``."""
    return _program("y = x" + ".T" * n)


@grows(3200)
def unknown_attribute_chain(n: int) -> str:
    """``unknown.a.a.a…`` read twice."""
    return _program(["y = a" + ".part" * n, "y = a" + ".part" * n])


@grows(3200)
def subscript_chain(n: int) -> str:
    """``x[0][0][0]…``."""
    return _program(["y = x" + "[0]" * n, "z = b" + "[0]" * n])


@grows(3200)
def method_chain(n: int) -> str:
    """``x.sum().sum()…``."""
    return _program("y = x" + ".sum()" * n)


@grows(3200)
def call_chain(n: int) -> str:
    """``a()()()…``."""
    return _program("y = a" + "()" * n)


@grows(800)
def update_chain(n: int) -> str:
    """``x.at[0].set(1).at[0].set(1)…``."""
    return _program("y = x" + ".at[0].set(1)" * n)


@grows(800)
def update_lines(n: int) -> str:
    """``x = x.at[0].set(1)``, line by line."""
    return _program(["y = x", *(f"y = y.at[{i}].set({i})" for i in range(n))])


@grows(150)
def nested_calls(n: int) -> str:
    """``f(f(f(…)))`` of a function of the file."""
    return _program("y = " + "f(" * n + "x" + ")" * n, ["def f(v):", "    return v + 1"])


@grows(150)
def nested_library_calls(n: int) -> str:
    """``jnp.sin(jnp.cos(…))``."""
    return _program("y = " + "jnp.sin(jnp.cos(" * (n // 2) + "x" + "))" * (n // 2))


@grows(800)
def call_lines(n: int) -> str:
    """``y = f(y)``, line by line."""
    return _program(["y = x", *["y = f(y)"] * n], ["def f(v):", "    return v + 1"])


@grows(800)
def calls_on_containers(n: int) -> str:
    """``y = f(y)``, line by line, on a tuple that each call wraps."""
    return _program(["y = x", *["y = f(y)"] * n], ["def f(v):", "    return (v, v)"])


@grows(150)
def nested_subscripts(n: int) -> str:
    """``x[x[x[…]]]``."""
    return _program("y = " + "x[" * n + "0" + "]" * n)


@grows(150)
def nested_vmap(n: int) -> str:
    """``jax.vmap(jax.vmap(…))(x)``."""
    return _program("y = " + "jax.vmap(" * n + "jnp.sin" + ")" * n + "(x)")


@grows(150)
def nested_partials(n: int) -> str:
    """``partial(partial(…))``."""
    return _program(
        "y = " + "partial(" * n + "f" + ", 1)" * n + "(x)",
        ["from functools import partial", "def f(*v):", "    return v"],
    )


# --- displays and containers -----------------------------------------------------------------------


@grows(3200)
def list_of_zeros(n: int) -> str:
    """``[0, 0, …]``."""
    return _program("y = [" + ", ".join(["0"] * n) + "]")


@grows(3200)
def list_of_numbers(n: int) -> str:
    """``jnp.array([0, 1, 2, …])``."""
    return _program("y = jnp.array([" + ", ".join(map(str, range(n))) + "])")


@grows(3200)
def list_of_arrays(n: int) -> str:
    """``jnp.stack([x, x, …])``."""
    return _program("y = jnp.stack([" + ", ".join(["x"] * n) + "])")


@grows(3200)
def list_of_mixed_values(n: int) -> str:
    """A list of arrays, numbers, strings, lists, dicts and functions."""
    kinds = ("x", "1", "'a'", "[x]", "{'k': x}", "(x, 1)", "jnp.sin", "None", "a")
    return _program("y = [" + ", ".join(kinds[i % len(kinds)] for i in range(n)) + "]")


@grows(3200)
def list_of_tuples(n: int) -> str:
    """``[("name", 0, x), …]``, which a loop walks."""
    rows = ", ".join(f"('name{i}', {i}, x)" for i in range(n))
    return _program([f"rows = [{rows}]", "y = x", "for name, number, value in rows:", "    y = y + value * number"])


@grows(3200)
def tuple_of_numbers(n: int) -> str:
    """``0, 1, 2, …``, subscripted by a number that is not known."""
    return _program([f"z = ({', '.join(map(str, range(n)))},)", "y = z[a] * x", "w = z[1:-1]"])


@grows(3200)
def set_of_numbers(n: int) -> str:
    """``{0, 1, 2, …}``."""
    return _program("y = a in {" + ", ".join(map(str, range(n))) + "}")


@grows(3200)
def membership(n: int) -> str:
    """``a in (0, 1, 2, …)``."""
    return _program("y = a in (" + ", ".join(map(str, range(n))) + ",)")


@grows(3200)
def dict_of_numbers(n: int) -> str:
    """``{"k0": 0, "k1": 1, …}``."""
    return _program(["z = {" + ", ".join(f"'k{i}': {i}" for i in range(n)) + "}", "y = x * z[a]"])


@grows(3200)
def dict_of_arrays(n: int) -> str:
    """``{"k0": x, …}``, mapped by ``jax.tree.map``."""
    items = ", ".join(f"'k{i}': x" for i in range(n))
    return _program([f"z = {{{items}}}", "y = jax.tree.map(jnp.sin, z)"])


@grows(3200)
def dict_stores(n: int) -> str:
    """``z["k0"] = x``, line by line."""
    return _program(["z = {}", *(f"z['k{i}'] = x" for i in range(n)), "y = z"])


@grows(3200)
def list_appends(n: int) -> str:
    """``z.append(x)``, line by line."""
    return _program(["z = []", *["z.append(x)"] * n, "y = jnp.stack(z)"])


@grows(3200)
def list_of_copies(n: int) -> str:
    """``[0] * n``, and sums of such."""
    return _program(f"y = [0] * {n} + [x] * {n} + [0] * 3200")


@grows(3200)
def fields(n: int) -> str:
    """``self.f0 = x``, line by line."""
    lines = ["class C:", "    def __init__(self, x):", *(f"        self.f{i} = x" for i in range(n))]
    return _program("y = C(x).f0", lines)


@grows(150)
def nested_lists(n: int) -> str:
    """``[[[…x…]]]``."""
    return _program("y = " + "[" * n + "x" + "]" * n)


@grows(150)
def nested_tuples(n: int) -> str:
    """``(((x,),),)``."""
    return _program("y = " + "(" * n + "x" + ",)" * n)


@grows(150)
def nested_pairs(n: int) -> str:
    """``(x, (x, (x, …)))``, given to a jitted function."""
    return _program("y = f(" + "(x, " * n + "x" + ")" * n + ")", ["@jax.jit", "def f(v):", "    return v"])


@grows(150)
def nested_dicts(n: int) -> str:
    """``{0: {0: …}}``."""
    return _program("y = " + "{0: " * n + "x" + "}" * n)


@grows(150)
def nested_parentheses(n: int) -> str:
    """``((((x))))``."""
    return _program("y = " + "(" * n + "x" + ")" * n)


@grows(400)
def doubled_tuples(n: int) -> str:
    """``y = (y, y)``, line by line: a value of 2**n leaves."""
    return _program(["y = x", *["y = (y, y)"] * n])


@grows(400)
def doubled_dicts(n: int) -> str:
    """``y = {"a": y, "b": y}``, line by line."""
    return _program(["y = x", *["y = {'a': y, 'b': y}"] * n])


@grows(400)
def doubled_lists_joined(n: int) -> str:
    """``y = [y, y] if a else [x, y]``, line by line."""
    return _program(["y = x", *["y = [y, y] if a else [x, y]"] * n])


# --- callables -------------------------------------------------------------------------------------


def _functions(n: int) -> list[str]:
    return [line for i in range(n) for line in (f"def f{i}(v):", f"    return v + {i}")]


@grows(1000)
def list_of_functions(n: int) -> str:
    """``[f0, f1, …][a](x)``."""
    names = ", ".join(f"f{i}" for i in range(n))
    return _program([f"z = [{names}]", "y = z[a](x)"], _functions(n))


@grows(1000)
def tuple_of_functions(n: int) -> str:
    """``(f0, f1, …)[a](x)``."""
    names = ", ".join(f"f{i}" for i in range(n))
    return _program(f"y = ({names})[a](x)", _functions(n))


@grows(1000)
def dict_of_functions(n: int) -> str:
    """``{"k0": f0, …}[a](x)``."""
    names = ", ".join(f"'k{i}': f{i}" for i in range(n))
    return _program(f"y = {{{names}}}[a](x)", _functions(n))


@grows(1000)
def switch_of_functions(n: int) -> str:
    """``jax.lax.switch(a, [f0, f1, …], x)``."""
    names = ", ".join(f"f{i}" for i in range(n))
    return _program(f"y = jax.lax.switch(a, [{names}], x)", _functions(n))


@grows(1000)
def loop_over_functions(n: int) -> str:
    """``for f in [f0, f1, …]: y = f(y)``."""
    names = ", ".join(f"f{i}" for i in range(n))
    return _program(["y = x", f"for f in [{names}]:", "    y = f(y)"], _functions(n))


@grows(1000)
def union_of_functions(n: int) -> str:
    """``if a == 0: f = f0``, line by line, and one call of ``f``."""
    choices = [line for i in range(n) for line in (f"if a == {i}:", f"    f = f{i}")]
    return _program(["f = jnp.sin", *choices, "y = f(x)"], _functions(n))


@grows(1000)
def registered_functions(n: int) -> str:
    """``@register`` puts each function into a dict."""
    lines = ["TABLE = {}", "def register(f):", "    TABLE[f.__name__] = f", "    return f"]
    lines += [line for i in range(n) for line in ("@register", f"def f{i}(v):", f"    return v + {i}")]
    return _program("y = TABLE[a](x)", lines)


@grows(1000)
def rebound_attribute(n: int) -> str:
    """``holder.f = f0``, each in a function of its own."""
    setters = [line for i in range(n) for line in (f"def set{i}(holder):", f"    holder.f = f{i}")]
    lines = [*_functions(n), *setters, "class Holder:", "    f = None", "HOLDER = Holder()"]
    return _program("y = HOLDER.f(x)", [*lines, *(f"set{i}(HOLDER)" for i in range(n))])


@grows(1000)
def list_of_objects(n: int) -> str:
    """``[C0(), C1(), …][a](x)``: objects of as many classes."""
    classes = [line for i in range(n) for line in (f"class C{i}:", "    def __call__(self, v):", f"        return v + {i}")]
    return _program(f"y = [{', '.join(f'C{i}()' for i in range(n))}][a](x)", classes)


@grows(1000)
def returned_functions(n: int) -> str:
    """A function that returns another function for each number."""
    lines = ["def choose(k):", *(line for i in range(n) for line in (f"    if k == {i}:", f"        return f{i}"))]
    return _program("y = choose(a)(x)", [*_functions(n), *lines, "    return jnp.sin"])


@grows(1000)
def joined_callables(n: int) -> str:
    """``f = f0 if a else f``, line by line, each time called."""
    lines = [line for i in range(n) for line in (f"f = f{i} if a > {i} else f", "y = f(x)")]
    return _program(["f = jnp.sin", *lines], _functions(n))


@grows(1000)
def jitted_functions(n: int) -> str:
    """``[jax.jit(f0), jax.jit(f1), …]``, which a loop walks."""
    names = ", ".join(f"jax.jit(f{i})" for i in range(n))
    return _program(["y = x", f"for f in [{names}]:", "    y = f(y)"], _functions(n))


@grows(800)
def partials(n: int) -> str:
    """``f = partial(f, 1)``, line by line."""
    lines = ["from functools import partial", "def g(*v):", "    return v"]
    return _program(["f = g", *["f = partial(f, 1)"] * n, "y = f(x)"], lines)


@grows(1000)
def lambdas(n: int) -> str:
    """``[lambda v: v + 0, …]``."""
    return _program(f"y = [{', '.join(f'lambda v: v + {i}' for i in range(n))}][a](x)")


@grows(1000)
def function_chain(n: int) -> str:
    """``f1`` calls ``f0``, ``f2`` calls ``f1`` and so on."""
    lines = ["def f0(v):", "    return v"]
    lines += [line for i in range(1, n) for line in (f"def f{i}(v):", f"    return f{i - 1}(v) + 1")]
    return _program(f"y = f{n - 1}(x)", lines)


@grows(1000)
def recursion_through_all(n: int) -> str:
    """Every function calls the next, and the last the first."""
    lines = [line for i in range(n) for line in (f"def f{i}(v):", f"    return f{(i + 1) % n}(v) + 1")]
    return _program("y = f0(x)", lines)


@grows(150)
def nested_lambdas(n: int) -> str:
    """``lambda: lambda: … x``, called."""
    return _program("y = (" + "lambda: " * n + "x)" + "()" * n)


@grows(150)
def nested_lambda_defaults(n: int) -> str:
    """``lambda v=(lambda v=(…): v): v``."""
    return _program("y = " + "(lambda v=" * n + "x" + ": v)" * n)


@grows(90)
def nested_functions(n: int) -> str:
    """``def f0(): def f1(): …``, each with a variable of its own."""
    lines = [" " * i + f"def f{i}(v{i}):" for i in range(n)] + [" " * n + "return v0"]
    return _program("y = f0(x)", [*lines, *(" " * i + f"return f{i}" for i in range(n - 1, 0, -1))])


@grows(800)
def closures(n: int) -> str:
    """``f = wrap(f)``, line by line: a closure over a closure."""
    return _program(
        ["f = jnp.sin", *["f = wrap(f)"] * n, "y = f(x)"],
        ["def wrap(g):", "    def inner(v):", "        return g(v) + 1", "    return inner"],
    )


@grows(800)
def transforms(n: int) -> str:
    """``f = jax.jit(f)``, line by line."""
    return _program(["f = jnp.sin", *["f = jax.jit(f)"] * n, "y = f(x)"])


@grows(800)
def decorators(n: int) -> str:
    """Many decorators on one function."""
    known = ["def keep(f):", "    return f"]
    return _program("y = g(x)", [*known, *["@keep"] * n, "def g(v):", "    return v"])


@grows(800)
def jit_decorators(n: int) -> str:
    """``@jax.jit`` many times on one function."""
    return _program("y = g(x)", [*["@jax.jit"] * n, "def g(v):", "    return v"])


@grows(1000)
def parameters(n: int) -> str:
    """One function with many parameters, called with as many arguments."""
    names = ", ".join(f"p{i}" for i in range(n))
    return _program(f"y = g({', '.join(['x'] * n)})", [f"def g({names}):", "    return p0"])


@grows(1000)
def keywords(n: int) -> str:
    """One function with many keywords and defaults."""
    names = ", ".join(f"p{i}={i}" for i in range(n))
    given = ", ".join(f"p{i}=x" for i in range(n))
    return _program(f"y = g({given})", [f"def g(*, {names}):", "    return p0"])


@grows(1000)
def annotated_parameters(n: int) -> str:
    """Many parameters with annotations."""
    names = ", ".join(f"p{i}: jax.Array" for i in range(n))
    return _program(f"y = g({', '.join(['x'] * n)})", [f"def g({names}) -> jax.Array:", "    return p0"])


@grows(1000)
def keywords_of_a_library_call(n: int) -> str:
    """A library call with many keywords."""
    return _program(f"y = jnp.zeros(3, {', '.join(f'k{i}=x' for i in range(n))})")


@grows(1000)
def starred_arguments(n: int) -> str:
    """``g(*a, *b, …)`` and ``[*a, *b, …]``."""
    return _program(
        [
            "y = g(" + ", ".join(["*a", "*(x, x)"] * (n // 2)) + ")",
            "z = [" + ", ".join(["*a", "*[x]"] * (n // 2)) + "]",
        ],
        ["def g(*v):", "    return v"],
    )


@grows(1000)
def double_starred_arguments(n: int) -> str:
    """``g(**a, **b, …)`` and ``{**a, **b, …}``."""
    return _program(
        ["y = g(" + ", ".join(["**a", "**{'k': x}"] * (n // 2)) + ")",
         "z = {" + ", ".join(["**a", "**{'k': x}"] * (n // 2)) + "}"],
        ["def g(**v):", "    return v"],
    )  # fmt: skip


@grows(1000)
def early_returns(n: int) -> str:
    """``if a == 0: return …`` line by line."""
    lines = ["def g(v, k):", *(line for i in range(n) for line in (f"    if k == {i}:", f"        return v + {i}"))]
    return _program("y = g(x, a)", [*lines, "    return v"])


# --- classes ---------------------------------------------------------------------------------------


@grows(1000)
def super_chain(n: int) -> str:
    """Classes in a row, each of whose methods calls that of its base."""
    lines = ["class C0:", "    def __init__(self):", "        self.w = 1", "    def f(self, v):", "        return v"]
    for i in range(1, n):
        lines += [f"class C{i}(C{i - 1}):", "    def __init__(self):", "        super().__init__()"]
        lines += ["    def f(self, v):", "        return super().f(v) + self.w"]
    return _program(f"y = C{n - 1}().f(x)", lines)


@grows(1000)
def class_chain(n: int) -> str:
    """Classes in a row, each with a method of its own."""
    lines = ["class C0:", "    def f(self, v):", "        return v"]
    for i in range(1, n):
        lines += [f"class C{i}(C{i - 1}):", f"    def f{i}(self, v):", "        return self.f(v)"]
    return _program(f"y = C{n - 1}().f(x)", lines)


@grows(1000)
def dataclass_chain(n: int) -> str:
    """Dataclasses in a row, each with one field more."""
    lines = ["import dataclasses", "@dataclasses.dataclass", "class C0:", "    f0: int = 0"]
    for i in range(1, n):
        lines += ["@dataclasses.dataclass", f"class C{i}(C{i - 1}):", f"    f{i}: int = {i}"]
    return _program(f"y = x * C{n - 1}().f0", lines)


@grows(1000)
def diamonds(n: int) -> str:
    """Two classes with one base, a class with these two as its bases, and so on."""
    lines = ["class A0:", "    def f(self, v):", "        return v"]
    for i in range(1, n // 3 + 1):
        for side in "BC":
            lines += [f"class {side}{i}(A{i - 1}):", "    def f(self, v):", "        return super().f(v)"]
        lines += [f"class A{i}(B{i}, C{i}):", "    def f(self, v):", "        return super().f(v)"]
    return _program(f"y = A{n // 3}().f(x)", lines)


@grows(1000)
def bases(n: int) -> str:
    """One class with many bases."""
    lines = [line for i in range(n) for line in (f"class B{i}:", f"    def f{i}(self, v):", "        return v")]
    names = ", ".join(f"B{i}" for i in range(n))
    return _program("y = C().f0(x)", [*lines, f"class C({names}):", "    pass"])


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
    return _program("y = C0().f(x)", lines)


@grows(1000)
def methods(n: int) -> str:
    """One class with many methods, each calling the next."""
    lines = ["class C:"]
    for i in range(n):
        lines += [f"    def f{i}(self, v):", f"        return self.f{i + 1}(v)"]
    return _program("y = C().f0(x)", [*lines, f"    def f{n}(self, v):", "        return v"])


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
    return _program(
        [f"y = C({arguments}).f0", f"z = T({arguments}).f0"], [*lines, "class T(typing.NamedTuple):", *names]
    )


@grows(1000)
def linked_instances(n: int) -> str:
    """``node = Node(node)``, line by line."""
    lines = ["class Node:", "    def __init__(self, rest, v):", "        self.rest = rest", "        self.v = v"]
    return _program(["z = None", *["z = Node(z, x)"] * n, "y = z.v"], lines)


@grows(90)
def nested_classes(n: int) -> str:
    """``class A: class A: …``."""
    return _program("y = x", _indented(["class A:"] * n, "pass"))


# --- expressions in expressions --------------------------------------------------------------------


@grows(150)
def nested_ternaries(n: int) -> str:
    """``x if a else (x if a else (…))``."""
    return _program("y = " + "x if a else (" * n + "b" + ")" * n)


@grows(300)
def ternary_chain(n: int) -> str:
    """``x if a == 0 else x + 1 if a == 1 else …``."""
    return _program("y = " + "".join(f"x + {i} if a == {i} else " for i in range(n)) + "x")


@grows(150)
def nested_ternary_tests(n: int) -> str:
    """``x if (a if (…) else b) else x``."""
    return _program("y = " + "(x if " * n + "a" + " else b)" * n)


@grows(60)
def nested_comprehensions(n: int) -> str:
    """``[[[x for i in b] for i in b] …]``."""
    return _program("y = " + "[" * n + "x" + " for i in b]" * n)


@grows(60)
def nested_comprehension_iterables(n: int) -> str:
    """``[i for i in [i for i in …]]``."""
    return _program("y = " + "[i for i in " * n + "b" + "]" * n)


@grows(200)
def comprehension_clauses(n: int) -> str:
    """``[x for i0 in b for i1 in b … if a …]``."""
    return _program("y = [x " + " ".join(f"for i{i} in b if a" for i in range(n)) + "]")


@grows(800)
def formatted_fields(n: int) -> str:
    """An f-string with many fields."""
    return _program("y = f'" + "".join("{a}{x}" for _ in range(n // 2)) + "'")


@grows(100)
def nested_formatted_strings(n: int) -> str:
    """``f"{f'{…}'}"``, with the four kinds of quotes over and over (Python 3.12)."""
    quotes = ("'", '"')
    text = "a"
    for i in range(n):
        quote = quotes[i % 2]
        text = f"f{quote}{{{text}}}{quote}"
    return _program(f"y = {text}")


@grows(1600)
def implicit_concatenation(n: int) -> str:
    """``"a" "b" f"{x}" …``."""
    return _program("y = " + " ".join(["'a'", "f'{a}'"] * (n // 2)))


@grows(150)
def nested_walrus(n: int) -> str:
    """``(y := (y := (… x)))``."""
    return _program("y = " + "(y := " * n + "x" + ")" * n)


@grows(150)
def nested_annotation(n: int) -> str:
    """``def g(v: list[list[…]])``."""
    return _program("y = g([x])", [f"def g(v: {'list[' * n}jax.Array{']' * n}):", "    return v"])


@grows(800)
def union_annotation(n: int) -> str:
    """``def g(v: int | str | …)``."""
    return _program(
        "y = g(x)", [f"def g(v: {' | '.join(['int', 'jax.Array', 'None', 'str'] * (n // 4))}):", "    return v"]
    )


@grows(150)
def nested_slices(n: int) -> str:
    """``x[x[x[0:1]:1]:1]``."""
    return _program("y = " + "x[" * n + "0" + ":1]" * n)


@grows(150)
def nested_stars(n: int) -> str:
    """``[*[*[… x]]]``."""
    return _program("y = " + "[*" * n + "b" + "]" * n)


@grows(150)
def mixed_brackets(n: int) -> str:
    """``([{f([{…}])}])``."""
    opening = ("(", "[", "{0: ", "jnp.sin(")
    closing = (")", "]", "}", ")")
    return _program(
        "y = " + "".join(opening[i % 4] for i in range(n)) + "x" + "".join(closing[i % 4] for i in reversed(range(n)))
    )


@grows(150)
def nested_decorator(n: int) -> str:
    """``@keep(keep(…))``."""
    return _program(
        "y = g(x)", ["def keep(f):", "    return f", f"@{'keep(' * n}keep{')' * n}", "def g(v):", "    return v"]
    )


@grows(150)
def nested_awaits(n: int) -> str:
    """``await (await (…))``."""
    return _program("y = x", ["async def g(v):", f"    return {'(await ' * n}v{')' * n}"])


@grows(150)
def nested_yields(n: int) -> str:
    """``yield (yield (…))``."""
    return _program("y = g(x)", ["def g(v):", f"    z = {'(yield ' * n}v{')' * n}", "    return z"])


# --- statements ------------------------------------------------------------------------------------


@grows(3200)
def chained_assignment(n: int) -> str:
    """``y = y0 = y1 = … = x``."""
    return _program("y = " + " = ".join(f"y{i}" for i in range(n)) + " = x")


@grows(3200)
def unpacking(n: int) -> str:
    """``y, y1, … = x, x, …``."""
    return _program("y, " + ", ".join(f"y{i}" for i in range(n)) + " = x, " + ", ".join(["x"] * n))


@grows(150)
def nested_unpacking(n: int) -> str:
    """``(y, (y, (y, …))) = b``."""
    return _program("(" + "y, (" * n + "y" + ")" * n + ") = b")


@grows(3200)
def assignments(n: int) -> str:
    """``y0 = x + 0``, line by line."""
    return _program(["y = x", *(f"y{i} = x + {i}" for i in range(n))])


@grows(3200)
def module_assignments(n: int) -> str:
    """Globals that a jitted function reads."""
    return _program("y = x + " + " + ".join(f"V{i}" for i in range(n)), [f"V{i} = {i}" for i in range(n)])


@grows(3200)
def augmented_assignments(n: int) -> str:
    """``y += x``, line by line."""
    return _program(["y = x", *["y += x"] * n])


@grows(800)
def with_items(n: int) -> str:
    """``with a as w0, a as w1, …``."""
    return _program(["with " + ", ".join(f"a as w{i}" for i in range(n)) + ":", "    y = x"])


@grows(800)
def except_clauses(n: int) -> str:
    """One ``try`` with many handlers."""
    handlers = [line for i in range(n) for line in (f"except (TypeError, KeyError, E{i}):", f"    y = x + {i}")]
    return _program(["try:", "    y = x", *handlers], [f"class E{i}(Exception): pass" for i in range(n)])


@grows(800)
def deletions(n: int) -> str:
    """``del y0, y1, …``."""
    return _program(["y = x", *(f"y{i} = x" for i in range(n)), "del " + ", ".join(f"y{i}" for i in range(n))])


@grows(3200)
def assertions(n: int) -> str:
    """``assert a > 0``, line by line."""
    return _program([*(f"assert a != {i}" for i in range(n)), "y = x"])


@grows(1000)
def prints(n: int) -> str:
    """``print(x)``, line by line: a finding each."""
    return _program([*["print(x)"] * n, "y = x"])


@grows(1000)
def imports(n: int) -> str:
    """``import m0, m1, …`` and ``from m import n0, n1, …``."""
    names = ", ".join(f"n{i}" for i in range(n))
    return _program("y = n0(x)", [f"import {', '.join(f'm{i}' for i in range(n))}", f"from m import {names}"])


@grows(1000)
def globals_declared(n: int) -> str:
    """``global g0, g1, …``, all of them written."""
    names = [f"g{i}" for i in range(n)]
    lines = ["def setup(v):", f"    global {', '.join(names)}", *(f"    {name} = v" for name in names)]
    return _program("y = x", [*(f"{name} = 0" for name in names), *lines, "setup(1)"])


@grows(18)
def nested_ifs(n: int) -> str:
    """``if a == 0: if a == 1: …``."""
    return _program(["y = x", *_indented([f"if a == {i}:" for i in range(n)], "y = x + 1")])


@grows(18)
def nested_withs(n: int) -> str:
    """``with a: with a: …``."""
    return _program(_indented(["with a:"] * n, "y = x"))


@grows(18)
def nested_tries(n: int) -> str:
    """``try: try: … except: … except: …``."""
    lines = [" " * i + "try:" for i in range(n)] + [" " * n + "y = x"]
    for i in reversed(range(n)):
        lines += [" " * i + "except TypeError:", " " * i + f" y = x + {i}"]
    return _program(lines)


@grows(400)
def match_cases(n: int) -> str:
    """One ``match`` with many cases."""
    cases = [line for i in range(n) for line in (f"    case {i}:", f"        y = x + {i}")]
    return _program(["y = x", "match a:", *cases])


@grows(400)
def match_alternatives(n: int) -> str:
    """``case 0 | 1 | 2 | …``."""
    return _program(["y = x", "match a:", "    case " + " | ".join(map(str, range(n))) + ":", "        y = x + 1"])


@grows(400)
def match_elements(n: int) -> str:
    """``case [p0, p1, …]`` and ``case {"k0": p0, …}``."""
    names = ", ".join(f"p{i}" for i in range(n))
    items = ", ".join(f"'k{i}': p{i}" for i in range(n))
    return _program(
        ["y = x", "match b:", f"    case [{names}]:", "        y = p0", f"    case {{{items}}}:", "        y = p0"]
    )
