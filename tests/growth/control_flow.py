"""Programs that grow by their statements: loops, branches, functions that call each other, and many findings.

Limitations: see ``growth.registry``, whose vocabulary this uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from growth.registry import grows

_HEAD = "import jax\nimport jax.numpy as jnp\n\n\n"


def _program(header: str, body: Iterable[str], last: str = "return x") -> str:
    """One function of these statements."""
    return "\n".join([_HEAD + header, *(f"    {line}" for line in (*body, last)), ""])


def _nested(depth: int, header: Callable[[int], str]) -> str:
    """Blocks in blocks, each of which splits a key and draws."""
    lines: list[str] = []
    for level in range(depth):
        lines.append(f"{'    ' * level}{header(level)}")
        lines.append(f"{'    ' * (level + 1)}key, k{level} = jax.random.split(key)")
        lines.append(f"{'    ' * (level + 1)}x = x + jax.random.normal(k{level}, (3,))")
    return _program("def f(key, x, a):", lines)


def _chain(size: int, header: Callable[[int], str], *body: str) -> list[str]:
    """An ``if`` statement with so many ``elif`` branches."""
    lines: list[str] = []
    for i in range(size):
        lines += [f"{'el' if i else ''}if {header(i)}:", *(f"    {line.replace('#', str(i))}" for line in body)]
    return lines


def _functions(size: int, make: Callable[[int], str]) -> str:
    return _HEAD + "".join(make(i) for i in range(size))


# --- loops -----------------------------------------------------------------------------------------


@grows(300)
def partials_of_partials(n: int) -> str:
    """``f = partial(f, f, h=f)``, line by line: all of them are reached from the last along very many paths."""
    lines = (f"f{i + 1} = partial(f{i}, f{i}, h=f{i})\n" for i in range(n))
    first = "from functools import partial\n\n\ndef f0(g, h=None):\n    return g\n\n\n"
    return _HEAD + first + "".join(lines) + f"y = jax.jit(f{n})(jnp.ones(3))\n"


@grows(400)
def functions_with_a_removed_name(n: int) -> str:
    """Functions that use what later releases lack, and are used themselves."""
    return _functions(n, lambda i: f"def f{i}(x):\n    return jax.tree_map(f{(i + 1) % n}, x)\n\n\n")


@grows(40)
def dicts_of_dicts_in_a_loop(n: int) -> str:
    """``p["n0"] = {**p, k: p[k]}``, line by line in a loop: every dict holds all others."""
    lines = (f"    p['n{i}'] = {{**p, k: p[k]}}" for i in range(n))
    return _program("def f(p, x):", ("for k in p:", "    p[k] = x", *lines)) + "\n\nf({'a': {'b': 1}}, 2)\n"


@grows(1000)
def strings_of_strings(n: int) -> str:
    """``s += f"{s}{x}"``: a string that holds what it held before, twice."""
    return _program(
        'def f(x, s=""):', (f's += str({i}) + "{{}}".format(s) + f"{{s}}{{x}}"' for i in range(n)), "print(s)"
    )


@grows(16)
def nested_for_loops(n: int) -> str:
    """``for`` in ``for``: a loop that is run twice to find what changes runs those in it twice each."""
    return _nested(n, lambda level: f"for i{level} in range(3):")


@grows(16)
def nested_while_loops(n: int) -> str:
    """``while`` in ``while``."""
    return _nested(n, lambda level: f"while a.b{level}:")


@grows(18)
def nested_loops_and_branches(n: int) -> str:
    """``for``, ``while`` and ``if`` in turn."""
    headers = ("for i{0} in range(3):", "while a.b{0}:", "if a.c{0}:")
    return _nested(n, lambda level: headers[level % 3].format(level))


@grows(400)
def loops_in_a_row(n: int) -> str:
    """Loops one after the other."""
    body = ["while x > {0}:", "    key, k = jax.random.split(key)", "    x = x + jax.random.normal(k)"]
    return _program("def f(key, x):", (line.format(i) for i in range(n) for line in body))


@grows(400)
def branches_in_a_loop(n: int) -> str:
    """A loop with many branches, each of which splits a key and draws."""
    branch = ["    if a.c{0}:", "        key, k = jax.random.split(key)", "        x = x + jax.random.normal(k)"]
    return _program(
        "def f(key, x, a):", ["for i in range(10):", *(line.format(i) for i in range(n) for line in branch)]
    )


@grows(400)
def breaks(n: int) -> str:
    """A loop with many ways out."""
    ways = ("break", "continue", "return x")
    body = [line for i in range(n) for line in (f"    if a.c{i}:", "        x = x + 1", f"        {ways[i % 3]}")]
    return _program("def f(key, x, a):", ["for i in range(10):", *body])


@grows(40)
def loops_in_functions(n: int) -> str:
    """Functions that call the one before in a loop."""
    first = "def f0(key, x):\n    return x + jax.random.normal(key, (3,))\n\n\n"
    body = "def f{0}(key, x):\n    for i in range(3):\n        x = f{1}(key, x)\n    return x\n\n\n"
    rest = "".join(body.format(i, i - 1) for i in range(1, n))
    return f"{_HEAD}{first}{rest}jax.jit(f{n - 1})(jax.random.key(0), 1.0)\n"


# --- branches --------------------------------------------------------------------------------------


@grows(400)
def elif_branches(n: int) -> str:
    """A chain of comparisons with names, each with a draw."""
    return _program("def f(key, x, mode):", _chain(n, lambda i: f"mode == 'm{i}'", "x = x + jax.random.normal(key)"))


@grows(400)
def elif_branches_of_shapes(n: int) -> str:
    """A chain of tests of a shape in a jitted function, each with a split."""
    body = _chain(n, lambda i: f"x.shape[0] == {i}", "key, k = jax.random.split(key)", "x = x + jax.random.normal(k)")
    return _program("@jax.jit\ndef f(key, x):", body)


@grows(400)
def elif_branches_that_return(n: int) -> str:
    """A chain of tests of a traced value, each of which is a finding."""
    return _program("@jax.jit\ndef f(key, x, mode):", _chain(n, lambda i: f"mode == {i}", "return x + #"))


@grows(400)
def elif_branches_of_isinstance(n: int) -> str:
    """A chain of tests of classes."""
    classes = "".join(f"class C{i}:\n    pass\n\n\n" for i in range(n))
    return _program(f"{classes}def f(x):", _chain(n, lambda i: f"isinstance(x, C{i})", "x = x.a + #"))


@grows(400)
def match_cases_that_draw(n: int) -> str:
    """A ``match`` statement with many cases."""
    cases = [line for i in range(n) for line in (f"    case 'm{i}':", "        x = x + jax.random.normal(key)")]
    return _program("def f(key, x, mode):", ["match mode:", *cases])


@grows(800)
def branches_in_a_row(n: int) -> str:
    """Branches one after the other that draw with one key."""
    body = [line for i in range(n) for line in (f"if a.flag{i}:", f"    x = x + {i} * jax.random.normal(key)")]
    return _program("def f(key, x, a):", body)


@grows(800)
def tests_of_one_thing(n: int) -> str:
    """Branches one after the other on one condition."""
    body = ["if a is None:", "    x = x + 1", "else:", "    key, k = jax.random.split(key)"] * n
    return _program("def f(key, x, a):", body)


@grows(64)
def nested_else(n: int) -> str:
    """``else: if …`` in itself."""
    lines: list[str] = []
    for i in range(n):
        indent = "    " * i
        lines += [f"{indent}if a.m == {i}:", f"{indent}    x = jax.random.normal(key)", f"{indent}else:"]
    return _program("def f(key, x, a):", [*lines, f"{'    ' * n}x = 0"])


# --- functions -------------------------------------------------------------------------------------


@grows(40)
def functions_that_call_twice(n: int) -> str:
    """Each function calls the one before twice: twice as many paths for each of them."""
    first = "def f0(x):\n    if x > N:\n        return x\n    return -x\n\n\n"
    rest = "".join(f"def f{i}(x):\n    return f{i - 1}(x) + f{i - 1}(x)\n\n\n" for i in range(1, n))
    return f"{_HEAD}N = 3\n\n\n{first}{rest}N = 4\nprint(jax.jit(f{n - 1})(1.0))\n"


@grows(400)
def helpers_with_a_finding(n: int) -> str:
    """A jitted function that calls many helpers."""
    helpers = _functions(n, lambda i: f"def h{i}(x):\n    if x.sum() > 0:\n        return x\n    return -x\n\n\n")
    calls = "".join(f"    x = h{i}(x)\n" for i in range(n))
    return f"{helpers}@jax.jit\ndef f(x):\n{calls}    return x\n"


@grows(400)
def calls_of_one_helper(n: int) -> str:
    """A jitted function that calls one helper with many constants."""
    helper = "def h(x, i):\n    if i > 3:\n        return x + i\n    return x\n\n\n"
    calls = "".join(f"    x = h(x, {i})\n" for i in range(n))
    return f"{_HEAD}{helper}@jax.jit\ndef f(x):\n{calls}    return x\n"


@grows(40)
def functions_in_a_circle(n: int) -> str:
    """Functions that call each other across."""
    body = "def f{0}(x, k):\n    if k == 0:\n        return x\n    return f{1}(x, k - 1) + f{2}(x, k - 2)\n\n\n"
    return _functions(n, lambda i: body.format(i, (i + 1) % n, (i * 7 + 3) % n)) + "jax.jit(f0)(1.0, 100)\n"


@grows(400)
def registered_functions_with_findings(n: int) -> str:
    """Functions in a table, called by name."""
    body = "@register('n{0}')\ndef f{0}(x):\n    return x if x > {0} else -x\n\n\n"
    wrap = "    def wrap(f):\n        TABLE[name] = f\n        return f\n    return wrap\n\n\n"
    register = f"TABLE = {{}}\n\n\ndef register(name):\n{wrap}"
    functions = "".join(body.format(i) for i in range(n))
    caller = "@jax.jit\ndef g(x):\n    for f in TABLE.values():\n        x = f(x)\n    return x\n"
    return f"{_HEAD}{register}{functions}{caller}"


@grows(400)
def global_variables(n: int) -> str:
    """A jitted function that reads many global variables, all of which are set again."""
    names = "".join(f"G{i} = {i}\n" for i in range(n))
    reads = "".join(f"    x = x + G{i}\n" for i in range(n))
    return f"{_HEAD}{names}\n\n@jax.jit\ndef f(x):\n{reads}    return x\n\n\nprint(f(1.0))\n{names}"


# --- findings --------------------------------------------------------------------------------------


@grows(4000)
def uses_of_one_key(n: int) -> str:
    """Draws with one key: each but the first is a finding with a fix."""
    return _program("def f(key, x):", ["x = x + jax.random.normal(key, (3,))"] * n)


@grows(2000)
def splits_of_one_key(n: int) -> str:
    """A key that is split again and again."""
    return _program("def f(key, x):", ["key, sub = jax.random.split(key)", "x = x + jax.random.normal(sub, (3,))"] * n)


@grows(1000)
def suppressed_findings(n: int) -> str:
    """Findings with a comment each."""
    return _program("def f(key, x):", ["x = x + jax.random.normal(key, (3,))  # noqa: JAX301"] * n)


@grows(400)
def jitted_functions_with_findings(n: int) -> str:
    """Functions with findings of their own."""
    return _functions(
        n, lambda i: f"@jax.jit\ndef f{i}(x):\n    if x > 0:\n        return x + {i}\n    return float(x)\n\n\n"
    )


@grows(400)
def jits_in_a_loop(n: int) -> str:
    """Transform calls in one loop."""
    return _program("def f(x):", ["for i in range(10):", *(f"    x = jax.jit(lambda t: t + {i})(x)" for i in range(n))])


@grows(400)
def timed_calls(n: int) -> str:
    """Readings of a clock around calls."""
    body = [line for i in range(n) for line in (f"t{i} = time.time()", "y = g(x)", f"print(time.time() - t{i})")]
    return _program("import time\n\ng = jax.jit(lambda x: x + 1)\n\n\ndef f(x):", body)


@grows(400)
def imports_with_findings(n: int) -> str:
    """A name of its own for each use of a library."""
    imports = "".join(f"from jax import random as r{i}\n" for i in range(n))
    draws = "".join(f"    x = r{i}.normal(key)\n" for i in range(n))
    return f"{_HEAD}{imports}\n\ndef f(key):\n{draws}    return x\n"


@grows(1000)
def draws_that_meet(n: int) -> str:
    """One key for all draws, whose shapes are read and whose sums go on from line to line."""
    lines = ["b = x"]
    for i in range(n):
        lines += [f"a{i} = jax.random.normal(key, x.shape)", f"b = b + a{i}.reshape(x.shape)"]
    return _program("def f(key, x):", lines, "return b")


@grows(1000)
def functions_that_no_code_names(n: int) -> str:
    """Jitted functions in a function that never calls them."""
    body = ["@jax.jit", "def g{0}(y):", "    return y + {0}"]
    return _program("def f(x):", (line.format(i) for i in range(n) for line in body))
