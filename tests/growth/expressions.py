"""Programs that grow by their expressions: chains, displays, and expressions in expressions."""

from __future__ import annotations

from growth.registry import grows, program

# --- chains of operators ---------------------------------------------------------------------------


@grows(3200)
def sum_of_numbers(n: int) -> str:
    """``1 + 1 + …``."""
    return program("y = " + " + ".join(["1"] * n))


@grows(3200)
def sum_of_arrays(n: int) -> str:
    """``x + x + …``."""
    return program("y = " + " + ".join(["x"] * n))


@grows(1600)
def sum_of_terms(n: int) -> str:
    """A polynomial: products of arrays and numbers, added up over many lines."""
    return program(["y = (", *(f"    + {i} * x ** {i}" for i in range(n)), ")"])


@grows(1500)
def sum_of_calls(n: int) -> str:
    """``jnp.sin(x * 0) + jnp.sin(x * 1) + …``, as programs that generate code write it."""
    terms = " + ".join(f"jnp.sin(x * {i})" for i in range(n))
    return program(f"y = {terms}")


@grows(3200)
def sum_of_strings(n: int) -> str:
    """``"a" + str(a) + …``."""
    return program("y = " + " + ".join(["'a'", "str(a)"] * (n // 2)))


@grows(3200)
def sum_of_lists(n: int) -> str:
    """``[0] + [0] + …``."""
    return program("y = " + " + ".join(["[0]"] * n))


@grows(3200)
def sum_of_tuples_of_arrays(n: int) -> str:
    """``(x,) + (x,) + …``."""
    return program("y = " + " + ".join(["(x,)"] * n))


@grows(3200)
def sum_of_shapes(n: int) -> str:
    """``(3,) + x.shape + …``."""
    return program("y = " + " + ".join(["(3,)", "x.shape"] * (n // 2)))


@grows(3200)
def merge_of_dicts(n: int) -> str:
    """``{"k0": x} | {"k1": x} | …``."""
    return program("y = " + " | ".join(f"{{'k{i}': x}}" for i in range(n)))


@grows(150)
def nested_sum(n: int) -> str:
    """``x + (x + (x + …))``."""
    return program("y = " + "x + (" * n + "x" + ")" * n)


@grows(400)
def power_tower(n: int) -> str:
    """``x ** x ** …``, which leans to the right."""
    return program("y = " + " ** ".join(["x"] * n))


@grows(400)
def unary_chain(n: int) -> str:
    """``-~-~…x``."""
    return program("y = " + "-~" * (n // 2) + "x")


@grows(400)
def negation_chain(n: int) -> str:
    """``not not not …``."""
    return program("y = " + "not " * n + "a")


@grows(3200)
def conjunction_of_names(n: int) -> str:
    """``a and b and a and …``."""
    return program("y = " + " and ".join(["a", "b"] * (n // 2)))


@grows(3200)
def conjunction_of_tests(n: int) -> str:
    """``if a == 0 and a == 1 and …``."""
    return program(["y = x", "if " + " and ".join(f"a != {i}" for i in range(n)) + ":", "    y = x + 1"])


@grows(3200)
def conjunction_of_traced_tests(n: int) -> str:
    """``x[0] > 0 and x[1] > 1 and …``, every operand a finding or hidden behind one."""
    return program("y = " + " and ".join(f"x[{i}] > {i}" for i in range(n)))


@grows(3200)
def disjunction_of_calls(n: int) -> str:
    """``bool(a) or bool(b) or …``."""
    return program("y = " + " or ".join(["bool(a)", "bool(b)"] * (n // 2)))


@grows(3200)
def mixed_conditions(n: int) -> str:
    """``a is None or b is not None and …``."""
    return program(["y = x", "if " + " or ".join(["a is None and b > 1"] * (n // 2)) + ":", "    y = x * 2"])


@grows(3200)
def isinstance_alternatives(n: int) -> str:
    """``isinstance(a, T0) or isinstance(a, T1) or …``."""
    types = ("int", "float", "str", "tuple")
    tests = " or ".join(f"isinstance(a, {types[i % 4]})" for i in range(n))
    return program(["y = x", f"if {tests}:", "    y = x * 2"])


@grows(3200)
def comparison_chain(n: int) -> str:
    """``a < b < a < …``."""
    return program("y = " + " < ".join(["a", "b"] * (n // 2)))


@grows(3200)
def array_comparison_chain(n: int) -> str:
    """``x == x == …``."""
    return program("y = " + " == ".join(["x"] * n))


# --- chains of attributes, subscripts and calls ----------------------------------------------------


@grows(3200)
def attribute_chain(n: int) -> str:
    """``x.T.T.T…``."""
    return program("y = x" + ".T" * n)


@grows(3200)
def unknown_attribute_chain(n: int) -> str:
    """``unknown.a.a.a…`` read twice."""
    return program(["y = a" + ".part" * n, "y = a" + ".part" * n])


@grows(3200)
def subscript_chain(n: int) -> str:
    """``x[0][0][0]…``."""
    return program(["y = x" + "[0]" * n, "z = b" + "[0]" * n])


@grows(3200)
def method_chain(n: int) -> str:
    """``x.sum().sum()…``."""
    return program("y = x" + ".sum()" * n)


@grows(3200)
def call_chain(n: int) -> str:
    """``a()()()…``."""
    return program("y = a" + "()" * n)


@grows(800)
def update_chain(n: int) -> str:
    """``x.at[0].set(1).at[0].set(1)…``."""
    return program("y = x" + ".at[0].set(1)" * n)


@grows(800)
def update_lines(n: int) -> str:
    """``x = x.at[0].set(1)``, line by line."""
    return program(["y = x", *(f"y = y.at[{i}].set({i})" for i in range(n))])


@grows(150)
def nested_calls(n: int) -> str:
    """``f(f(f(…)))`` of a function of the file."""
    return program("y = " + "f(" * n + "x" + ")" * n, ["def f(v):", "    return v + 1"])


@grows(150)
def nested_library_calls(n: int) -> str:
    """``jnp.sin(jnp.cos(…))``."""
    return program("y = " + "jnp.sin(jnp.cos(" * (n // 2) + "x" + "))" * (n // 2))


@grows(800)
def call_lines(n: int) -> str:
    """``y = f(y)``, line by line."""
    return program(["y = x", *["y = f(y)"] * n], ["def f(v):", "    return v + 1"])


@grows(800)
def calls_on_containers(n: int) -> str:
    """``y = f(y)``, line by line, on a tuple that each call wraps."""
    return program(["y = x", *["y = f(y)"] * n], ["def f(v):", "    return (v, v)"])


@grows(150)
def nested_subscripts(n: int) -> str:
    """``x[x[x[…]]]``."""
    return program("y = " + "x[" * n + "0" + "]" * n)


@grows(150)
def nested_vmap(n: int) -> str:
    """``jax.vmap(jax.vmap(…))(x)``."""
    return program("y = " + "jax.vmap(" * n + "jnp.sin" + ")" * n + "(x)")


@grows(150)
def nested_partials(n: int) -> str:
    """``partial(partial(…))``."""
    return program(
        "y = " + "partial(" * n + "f" + ", 1)" * n + "(x)",
        ["from functools import partial", "def f(*v):", "    return v"],
    )


# --- displays and containers -----------------------------------------------------------------------


@grows(3200)
def list_of_zeros(n: int) -> str:
    """``[0, 0, …]``."""
    return program("y = [" + ", ".join(["0"] * n) + "]")


@grows(3200)
def list_of_numbers(n: int) -> str:
    """``jnp.array([0, 1, 2, …])``."""
    return program("y = jnp.array([" + ", ".join(map(str, range(n))) + "])")


@grows(3200)
def list_of_arrays(n: int) -> str:
    """``jnp.stack([x, x, …])``."""
    return program("y = jnp.stack([" + ", ".join(["x"] * n) + "])")


@grows(3200)
def list_of_mixed_values(n: int) -> str:
    """A list of arrays, numbers, strings, lists, dicts and functions."""
    kinds = ("x", "1", "'a'", "[x]", "{'k': x}", "(x, 1)", "jnp.sin", "None", "a")
    return program("y = [" + ", ".join(kinds[i % len(kinds)] for i in range(n)) + "]")


@grows(3200)
def list_of_tuples(n: int) -> str:
    """``[("name", 0, x), …]``, which a loop walks."""
    rows = ", ".join(f"('name{i}', {i}, x)" for i in range(n))
    return program([f"rows = [{rows}]", "y = x", "for name, number, value in rows:", "    y = y + value * number"])


@grows(3200)
def tuple_of_numbers(n: int) -> str:
    """``0, 1, 2, …``, subscripted by a number that is not known."""
    return program([f"z = ({', '.join(map(str, range(n)))},)", "y = z[a] * x", "w = z[1:-1]"])


@grows(3200)
def set_of_numbers(n: int) -> str:
    """``{0, 1, 2, …}``."""
    return program("y = a in {" + ", ".join(map(str, range(n))) + "}")


@grows(3200)
def membership(n: int) -> str:
    """``a in (0, 1, 2, …)``."""
    return program("y = a in (" + ", ".join(map(str, range(n))) + ",)")


@grows(3200)
def dict_of_numbers(n: int) -> str:
    """``{"k0": 0, "k1": 1, …}``."""
    return program(["z = {" + ", ".join(f"'k{i}': {i}" for i in range(n)) + "}", "y = x * z[a]"])


@grows(3200)
def dict_of_arrays(n: int) -> str:
    """``{"k0": x, …}``, mapped by ``jax.tree.map``."""
    items = ", ".join(f"'k{i}': x" for i in range(n))
    return program([f"z = {{{items}}}", "y = jax.tree.map(jnp.sin, z)"])


@grows(3200)
def dict_stores(n: int) -> str:
    """``z["k0"] = x``, line by line."""
    return program(["z = {}", *(f"z['k{i}'] = x" for i in range(n)), "y = z"])


@grows(400)
def dict_copies_in_itself(n: int) -> str:
    """``d["k0"] = dict(d)``, line by line: every copy holds all before it."""
    return program(["y = {'a': x}", *(f"y['k{i}'] = dict(y, k=x)" for i in range(n))])


@grows(3200)
def list_appends(n: int) -> str:
    """``z.append(x)``, line by line."""
    return program(["z = []", *["z.append(x)"] * n, "y = jnp.stack(z)"])


@grows(3200)
def list_of_copies(n: int) -> str:
    """``[0] * n``, and sums of such."""
    return program(f"y = [0] * {n} + [x] * {n} + [0] * 3200")


@grows(3200)
def fields(n: int) -> str:
    """``self.f0 = x``, line by line."""
    lines = ["class C:", "    def __init__(self, x):", *(f"        self.f{i} = x" for i in range(n))]
    return program("y = C(x).f0", lines)


@grows(150)
def nested_lists(n: int) -> str:
    """``[[[…x…]]]``."""
    return program("y = " + "[" * n + "x" + "]" * n)


@grows(150)
def nested_tuples(n: int) -> str:
    """``(((x,),),)``."""
    return program("y = " + "(" * n + "x" + ",)" * n)


@grows(150)
def nested_pairs(n: int) -> str:
    """``(x, (x, (x, …)))``, given to a jitted function."""
    return program("y = f(" + "(x, " * n + "x" + ")" * n + ")", ["@jax.jit", "def f(v):", "    return v"])


@grows(150)
def nested_dicts(n: int) -> str:
    """``{0: {0: …}}``."""
    return program("y = " + "{0: " * n + "x" + "}" * n)


@grows(150)
def nested_parentheses(n: int) -> str:
    """``((((x))))``."""
    return program("y = " + "(" * n + "x" + ")" * n)


@grows(400)
def doubled_tuples(n: int) -> str:
    """``y = (y, y)``, line by line: a value of 2**n leaves."""
    return program(["y = x", *["y = (y, y)"] * n])


@grows(400)
def doubled_dicts(n: int) -> str:
    """``y = {"a": y, "b": y}``, line by line."""
    return program(["y = x", *["y = {'a': y, 'b': y}"] * n])


@grows(400)
def doubled_lists_joined(n: int) -> str:
    """``y = [y, y] if a else [x, y]``, line by line."""
    return program(["y = x", *["y = [y, y] if a else [x, y]"] * n])


# --- expressions in expressions --------------------------------------------------------------------


@grows(150)
def nested_ternaries(n: int) -> str:
    """``x if a else (x if a else (…))``."""
    return program("y = " + "x if a else (" * n + "b" + ")" * n)


@grows(300)
def ternary_chain(n: int) -> str:
    """``x if a == 0 else x + 1 if a == 1 else …``."""
    return program("y = " + "".join(f"x + {i} if a == {i} else " for i in range(n)) + "x")


@grows(150)
def nested_ternary_tests(n: int) -> str:
    """``x if (a if (…) else b) else x``."""
    return program("y = " + "(x if " * n + "a" + " else b)" * n)


@grows(16)
def nested_comprehensions_of_names(n: int) -> str:
    """``[[… for i in ('a', 'b', 'c')] for j in ('a', 'b', 'c')]``, each run element by element."""
    return program("y = " + "[" * n + "x" + "".join(f" for i{i} in ('a', 'b', 'c')]" for i in range(n)))


@grows(16)
def nested_comprehensions_that_draw(n: int) -> str:
    """``[[… for i in range(a)] for j in range(a)]``: each use of a key makes a second run of what is around it."""
    draw = "jax.random.normal(jax.random.key(0))"
    return program("y = " + "[" * n + draw + "".join(f" for i{i} in range(a)]" for i in range(n)))


@grows(60)
def nested_comprehensions(n: int) -> str:
    """``[[[x for i in b] for i in b] …]``."""
    return program("y = " + "[" * n + "x" + " for i in b]" * n)


@grows(60)
def nested_comprehension_iterables(n: int) -> str:
    """``[i for i in [i for i in …]]``."""
    return program("y = " + "[i for i in " * n + "b" + "]" * n)


@grows(200)
def comprehension_clauses(n: int) -> str:
    """``[x for i0 in b for i1 in b … if a …]``."""
    return program("y = [x " + " ".join(f"for i{i} in b if a" for i in range(n)) + "]")


@grows(800)
def formatted_fields(n: int) -> str:
    """An f-string with many fields."""
    return program("y = f'" + "".join("{a}{x}" for _ in range(n // 2)) + "'")


@grows(100)
def nested_formatted_strings(n: int) -> str:
    """``f"{f'{…}'}"``, with the four kinds of quotes over and over (Python 3.12)."""
    quotes = ("'", '"')
    text = "a"
    for i in range(n):
        quote = quotes[i % 2]
        text = f"f{quote}{{{text}}}{quote}"
    return program(f"y = {text}")


@grows(1600)
def implicit_concatenation(n: int) -> str:
    """``"a" "b" f"{x}" …``."""
    return program("y = " + " ".join(["'a'", "f'{a}'"] * (n // 2)))


@grows(150)
def nested_walrus(n: int) -> str:
    """``(y := (y := (… x)))``."""
    return program("y = " + "(y := " * n + "x" + ")" * n)


@grows(150)
def nested_annotation(n: int) -> str:
    """``def g(v: list[list[…]])``."""
    return program("y = g([x])", [f"def g(v: {'list[' * n}jax.Array{']' * n}):", "    return v"])


@grows(800)
def union_annotation(n: int) -> str:
    """``def g(v: int | str | …)``."""
    return program(
        "y = g(x)", [f"def g(v: {' | '.join(['int', 'jax.Array', 'None', 'str'] * (n // 4))}):", "    return v"]
    )


@grows(150)
def nested_slices(n: int) -> str:
    """``x[x[x[0:1]:1]:1]``."""
    return program("y = " + "x[" * n + "0" + ":1]" * n)


@grows(150)
def nested_stars(n: int) -> str:
    """``[*[*[… x]]]``."""
    return program("y = " + "[*" * n + "b" + "]" * n)


@grows(150)
def mixed_brackets(n: int) -> str:
    """``([{f([{…}])}])``."""
    opening = ("(", "[", "{0: ", "jnp.sin(")
    closing = (")", "]", "}", ")")
    return program(
        "y = " + "".join(opening[i % 4] for i in range(n)) + "x" + "".join(closing[i % 4] for i in reversed(range(n)))
    )


@grows(150)
def nested_decorator(n: int) -> str:
    """``@keep(keep(…))``."""
    return program(
        "y = g(x)", ["def keep(f):", "    return f", f"@{'keep(' * n}keep{')' * n}", "def g(v):", "    return v"]
    )


@grows(150)
def nested_awaits(n: int) -> str:
    """``await (await (…))``."""
    return program("y = x", ["async def g(v):", f"    return {'(await ' * n}v{')' * n}"])


@grows(150)
def nested_yields(n: int) -> str:
    """``yield (yield (…))``."""
    return program("y = g(x)", ["def g(v):", f"    z = {'(yield ' * n}v{')' * n}", "    return z"])
