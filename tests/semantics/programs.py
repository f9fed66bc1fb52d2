"""Random small programs that jit a function full of ordinary Python.

A program is made of typed variables, so that it mostly runs; every so often it asks a tracer for its truth. ``reveal``
stands after every statement that binds something, and ``reveal(0)`` opens every block, so that both JAX and the engine
tell which code they reach and what they see there.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

HEAD = """\
# file: program.py
import jax
import jax.numpy as jnp
from jaxlint_testing import reveal


class Box:
    def __init__(self, value, n):
        self.value = value
        self.n = n

    @property
    def double(self):
        return self.n * 2

    def put(self, value):
        self.value = value
        return self


def pick(flag, a, b):
    reveal(flag)
    if flag:
        return a
    return b


def halves(value, n):
    for i in range(n):
        yield i, value


def maybe(value, default=None):
    if value is None:
        return default
    return value


@jax.jit
def step(x, y, t):
"""
TAIL = """

def main():
    return step(jnp.arange(3.0), jnp.float32(2), {"a": jnp.ones(3), "n": 4})
"""


@dataclass
class Program:
    """A program being written: its lines, and the variables of each type that every path so far binds."""

    rng: random.Random
    lines: list[str] = field(default_factory=list)
    counter: int = 0
    vars: dict[str, list[str]] = field(
        default_factory=lambda: {
            "array": ["x", "y", 't["a"]'],
            "int": [],
            "list": [],
            "dict": [],
            "fn": [],
            "box": [],
            "maybe": [],
            "any": [],
        }
    )

    def fresh(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    def emit(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def pick(self, kind: str) -> str | None:
        names = self.vars[kind]
        return self.rng.choice(names) if names else None

    # --- expressions --------------------------------------------------------------------------------------

    def integer(self, depth: int = 2) -> str:
        options = [str(self.rng.randint(0, 5)), "x.ndim", "x.shape[0]", "len(x)"]
        if depth:
            a, b = self.integer(depth - 1), self.integer(depth - 1)
            options += [
                f"({a} + {b})",
                f"({a} * 2)",
                f"max({a}, {b})",
                f"({a} % 3)",
                f"pick({self.test(depth - 1)}, {a}, {b})",
            ]
        for kind, text in (
            ("int", "{}"),
            ("list", "len({})"),
            ("box", "{}.n"),
            ("box", "{}.double"),
            ("fn", "{}(1)"),
            ("dict", "{}['n']"),
            ("dict", "{}.get('n', 0)"),
            ("maybe", "maybe({}, 7)"),
        ):
            name = self.pick(kind)
            if name is not None:
                options.append(text.format(name))
        return self.rng.choice(options)

    def test(self, depth: int = 1) -> str:
        options = [
            f"{self.integer(0)} > {self.integer(0)}",
            "x.ndim == 1",
            f"{self.integer(0)} == 2",
            "True",
            "'a' in t",
        ]
        maybe, items = self.pick("maybe"), self.pick("list")
        if maybe:
            options += [f"{maybe} is None", f"{maybe} is not None", f"not {maybe}"]
        if items:
            options += [f"{items}", f"not {items}", f"len({items}) > 2"]
        if depth:
            a, b = self.test(depth - 1), self.test(depth - 1)
            options += [f"({a} and {b})", f"({a} or {b})", f"not ({a})", "isinstance(x, jax.Array)"]
        if self.rng.random() < 0.03:
            options = [f"jnp.sum({self.array(0)}) > 0"]
        return self.rng.choice(options)

    def array(self, depth: int = 2) -> str:
        name = self.pick("array") or "x"
        options = [name, f"{name} + 1", f"jnp.sin({name})", f"jnp.sum({name})"]
        if depth:
            a, n = self.array(depth - 1), self.integer(depth - 1)
            options += [
                f"({a} * {n})",
                f"({a} - jnp.sum({self.array(depth - 1)}))",
                f"jnp.where({a} > 0, {a}, {n})",
                f"jax.lax.cond(jnp.sum({a}) > 0, lambda v: v * 2, lambda v: v + v, {a})",
                f"jax.lax.scan(lambda c, v: (c + v, v), 0.0, x)[{self.rng.randint(0, 1)}]",
                f"jax.lax.fori_loop(0, 3, lambda i, c: c + i, ({a}) * 1.0)",
                f"pick({self.test(0)}, {a}, {name})",
                f"jax.grad(lambda w: jnp.sum(w * {n}))(({a}) * 1.0)",
                f"jax.tree.map(lambda v: v + 1, {a})",
            ]
        box = self.pick("box")
        if box:
            options.append(f"({box}.value + x)")
        return self.rng.choice(options)

    def anything(self) -> str:
        return self.rng.choice(
            [self.array(1), self.integer(1), "None", f"({self.array(0)}, {self.integer(0)})", "'text'"]
        )

    # --- statements ---------------------------------------------------------------------------------------

    def bind(self, depth: int, kind: str, value: str, name: str | None = None) -> None:
        name = name or self.fresh(kind[0])
        self.emit(depth, f"{name} = {value}")
        self.emit(depth, f"reveal({name})")
        if name not in self.vars[kind]:
            self.vars[kind].append(name)

    def statement(self, depth: int, room: int, *, in_loop: bool) -> None:
        choices = [
            "int",
            "array",
            "list",
            "dict",
            "fn",
            "box",
            "maybe",
            "again",
            "mutate",
            "unpack",
            "augment",
            "comprehension",
            "walrus",
            "swap",
            "slice",
            "star",
        ]
        if room:
            choices += ["if", "if", "for", "while", "try", "with", "else", "helper", "helper", "match"]
        if in_loop:
            choices += ["leave"]
        getattr(self, "do_" + self.rng.choice(choices))(depth, room)

    def do_int(self, depth: int, room: int) -> None:
        self.bind(depth, "int", self.integer())

    def do_array(self, depth: int, room: int) -> None:
        self.bind(depth, "array", self.array())

    def do_list(self, depth: int, room: int) -> None:
        self.bind(depth, "list", f"[{self.anything()}, {self.anything()}]" if self.rng.random() < 0.8 else "[]")

    def do_dict(self, depth: int, room: int) -> None:
        self.bind(depth, "dict", f"{{'n': {self.integer()}, 'v': {self.anything()}}}")

    def do_fn(self, depth: int, room: int) -> None:
        name = self.fresh("f")
        self.emit(depth, f"def {name}(k, base={self.integer(1)}):")
        self.emit(depth + 1, "reveal(k)")
        if self.rng.random() < 0.5:
            self.emit(depth + 1, f"if k > {self.integer(0)}:")
            self.emit(depth + 2, f"return base + {self.integer(1)}")
        self.emit(depth + 1, f"return k + {self.integer(1)}")
        self.vars["fn"].append(name)

    def do_helper(self, depth: int, room: int) -> None:
        """A nested function with its own body, several returns and effects on what it captures; then a call of it."""
        name, result = self.fresh("h"), self.fresh("i")
        saved = {kind: list(names) for kind, names in self.vars.items()}
        captured = [n for n in self.vars["int"] if n[-1].isdigit() and n.isidentifier()][-1:]
        self.emit(depth, f"def {name}(p, q=None, *rest, flag=False):")
        if captured and self.rng.random() < 0.4:
            self.emit(depth + 1, f"nonlocal {captured[0]}")
        else:
            captured = []
        self.emit(depth + 1, "reveal(p)")
        self.emit(depth + 1, "reveal(q)")
        for kind in ("int", "maybe", "list"):  # in parentheses: to be read, not to be bound
            self.vars[kind] = [n if n in captured or "(" in n else f"({n})" for n in self.vars[kind]]
        self.vars["int"] += ["p", "len(rest)"]
        self.vars["maybe"].append("q")
        for _ in range(self.rng.randint(1, 3)):
            self.statement(depth + 1, room - 1, in_loop=False)
            if self.rng.random() < 0.5:
                self.emit(depth + 1, f"if {self.test()}:")
                self.emit(depth + 2, f"return {self.integer(1)}")
            if self.rng.random() < 0.2:
                self.emit(depth + 1, f"for j in range({self.integer(0)}):")
                self.emit(depth + 2, f"if j > {self.integer(0)}:")
                self.emit(depth + 3, "return j")
        self.emit(depth + 1, f"return {self.integer(1)}")
        self.vars = saved
        arguments = self.rng.choice(
            [
                f"{self.integer(1)}",
                f"{self.integer(1)}, {self.integer(0)}",
                f"{self.integer(0)}, 2, 3, flag=True",
                f"p={self.integer(0)}",
                f"*({self.integer(0)}, None)",
                f"**dict(p={self.integer(0)})",
            ]
        )
        self.emit(depth, f"{result} = {name}({arguments})")
        self.emit(depth, f"reveal({result})")
        for shown in self.vars["list"][-1:] + self.vars["dict"][-1:] + self.vars["int"][-1:]:
            self.emit(depth, f"reveal({shown})")
        self.vars["int"].append(result)

    def do_walrus(self, depth: int, room: int) -> None:
        name = self.fresh("i")
        self.emit(depth, f"reveal(({name} := {self.integer(1)}) > 2 and ({name} := {name} + 1))")
        self.emit(depth, f"reveal({name})")
        self.vars["int"].append(name)

    def do_swap(self, depth: int, room: int) -> None:
        a, b = self.fresh("i"), self.fresh("i")
        self.emit(depth, f"{a}, {b} = {self.integer(1)}, {self.integer(1)}")
        self.emit(depth, f"{a}, {b} = {b}, {a} + {b}")
        self.emit(depth, f"reveal({b})")
        self.vars["int"] += [a, b]

    def do_slice(self, depth: int, room: int) -> None:
        source = self.pick("list") or "[1, 2, x]"
        self.bind(
            depth,
            "list",
            self.rng.choice(
                [
                    f"{source}[1:]",
                    f"{source}[::-1]",
                    f"{source} * 2",
                    f"{source}[:{self.integer(0)}]",
                    f"[*{source}, 1]",
                    f"list(map(lambda v: v, {source}))",
                ]
            ),
        )

    def do_star(self, depth: int, room: int) -> None:
        first, rest = self.fresh("a"), self.fresh("l")
        self.emit(depth, f"{first}, *{rest} = x + 1, {self.integer(0)}, {self.integer(0)}")
        self.emit(depth, f"reveal({rest})")
        self.vars["array"].append(first)
        self.vars["list"].append(rest)

    def do_match(self, depth: int, room: int) -> None:
        self.emit(depth, f"match {self.integer(1)}:")
        self.emit(depth + 1, f"case {self.rng.randint(0, 3)}:")
        self.block(depth + 2, room - 1, 1, in_loop=False)
        self.emit(depth + 1, "case other:")
        self.emit(depth + 2, "reveal(other)")
        self.block(depth + 2, room - 1, 1, in_loop=False)

    def do_box(self, depth: int, room: int) -> None:
        self.bind(depth, "box", f"Box({self.array(1)}, {self.integer()})")

    def do_maybe(self, depth: int, room: int) -> None:
        self.bind(
            depth, "maybe", self.rng.choice(["None", self.integer(1), f"{self.integer(0)} if {self.test()} else None"])
        )

    def do_again(self, depth: int, room: int) -> None:
        kind = self.rng.choice(["int", "maybe", "list"])
        name = self.pick(kind)
        if name is None or not name.isidentifier():
            return self.do_int(depth, room)
        made = {"int": self.integer(), "maybe": "None", "list": f"[{self.anything()}] + {name}"}[kind]
        return self.bind(depth, kind, made, name)

    def do_mutate(self, depth: int, room: int) -> None:
        items, table, box = self.pick("list"), self.pick("dict"), self.pick("box")
        options = []
        if items:
            options += [
                f"{items}.append({self.anything()})",
                f"{items}.extend(({self.anything()},))",
                f"{items} and {items}.pop()",
                f"{items}.insert(0, {self.anything()})",
                f"{items}.reverse()",
            ]
        if table:
            options += [
                f"{table}['n'] = {self.integer()}",
                f"{table}['v'] = {self.anything()}",
                f"{table}.update(n=3)",
                f"{table}['k{self.rng.randint(0, 2)}'] = {self.anything()}",
            ]
        if box:
            options += [f"{box}.n = {self.integer()}", f"{box}.put({self.array(1)})", f"{box}.n += 1"]
        if not options:
            return self.do_list(depth, room)
        self.emit(depth, self.rng.choice(options))
        for name, shown in ((items, items), (table, table), (box, f"{box}.n")):
            if name:
                self.emit(depth, f"reveal({shown})")
        return None

    def do_unpack(self, depth: int, room: int) -> None:
        a, b = self.fresh("i"), self.fresh("a")
        self.emit(depth, f"{a}, {b} = {self.integer()}, {self.array()}")
        self.emit(depth, f"reveal({a})")
        self.vars["int"].append(a)
        self.vars["array"].append(b)

    def do_augment(self, depth: int, room: int) -> None:
        name = self.pick("int")
        if name is None or not name.isidentifier():
            return self.do_int(depth, room)
        self.emit(depth, f"{name} {self.rng.choice('+*')}= {self.integer(1)}")
        self.emit(depth, f"{name} = {name} % 7")
        self.emit(depth, f"reveal({name})")
        return None

    def do_comprehension(self, depth: int, room: int) -> None:
        source = self.pick("list") or "(x, 2)"
        self.bind(
            depth,
            "list",
            self.rng.choice(
                [
                    f"[k + {self.integer(0)} for k in range({self.integer(0)})]",
                    f"[(k, {self.integer(0)}) for k in {source}]",
                    f"[k for k in {source} if k is not None]",
                    f"sorted([{self.integer(0)}, {self.integer(0)}])",
                    f"list(reversed({source}))",
                    f"[k for k, v in halves(x, {self.integer(0)})]",
                    f"list(zip({source}, {source}))",
                ]
            ),
        )

    def block(self, depth: int, room: int, count: int, *, in_loop: bool) -> None:
        """A block that may or may not run: what it rebinds is forgotten after it."""
        saved = {kind: list(names) for kind, names in self.vars.items()}
        self.emit(depth, "reveal(0)")
        for _ in range(count):
            self.statement(depth, room, in_loop=in_loop)
        self.vars = saved

    def do_if(self, depth: int, room: int) -> None:
        self.emit(depth, f"if {self.test()}:")
        self.block(depth + 1, room - 1, self.rng.randint(1, 3), in_loop=False)
        if self.rng.random() < 0.3:
            self.emit(depth, f"elif {self.test()}:")
            self.block(depth + 1, room - 1, self.rng.randint(1, 2), in_loop=False)
        if self.rng.random() < 0.5:
            self.emit(depth, "else:")
            self.block(depth + 1, room - 1, self.rng.randint(1, 2), in_loop=False)
        for name in self.vars["int"][-2:] + self.vars["maybe"][-2:] + self.vars["list"][-1:]:
            self.emit(depth, f"reveal({name})")

    def do_else(self, depth: int, room: int) -> None:
        name, kind = self.fresh("e"), self.rng.choice(["int", "array", "maybe"])
        make = {"int": self.integer, "array": self.array, "maybe": lambda: self.rng.choice(["None", self.integer(1)])}[
            kind
        ]
        self.emit(depth, f"if {self.test()}:")
        self.emit(depth + 1, f"{name} = {make()}")
        self.emit(depth, "else:")
        self.emit(depth + 1, f"{name} = {make()}")
        self.emit(depth, f"reveal({name})")
        self.vars[kind].append(name)

    def do_for(self, depth: int, room: int) -> None:
        name = self.fresh("i")
        source = self.rng.choice(
            [
                f"range({self.integer(0)})",
                "range(3)",
                "(1, 2)",
                "[4, 5, 6]",
                "enumerate((x, y))",
                "t",
                f"halves(x, {self.integer(0)})",
            ]
        )
        self.emit(depth, f"for {name} in {source}:")
        self.emit(depth + 1, f"reveal({name})")
        ints = list(self.vars["int"])
        if source.startswith(("range", "(", "[")):
            self.vars["int"].append(name)
        self.block(depth + 1, room - 1, self.rng.randint(1, 3), in_loop=True)
        self.vars["int"] = ints
        if self.rng.random() < 0.2:
            self.emit(depth, "else:")
            self.block(depth + 1, room - 1, 1, in_loop=False)
        for shown in self.vars["int"][-2:] + self.vars["maybe"][-2:] + self.vars["list"][-1:]:
            self.emit(depth, f"reveal({shown})")

    def do_while(self, depth: int, room: int) -> None:
        name = self.fresh("w")
        self.emit(depth, f"{name} = {self.integer(0)}")
        self.emit(depth, f"while {name} < {self.rng.randint(1, 4)}:")
        self.emit(depth + 1, f"{name} += 1")
        self.emit(depth + 1, f"reveal({name})")
        self.block(depth + 1, room - 1, self.rng.randint(1, 2), in_loop=True)
        self.emit(depth, f"reveal({name})")

    def do_leave(self, depth: int, room: int) -> None:
        self.emit(depth, f"if {self.test()}:")
        self.emit(depth + 1, "reveal(0)")
        self.emit(depth + 1, self.rng.choice(["break", "continue", "continue"]))

    def do_try(self, depth: int, room: int) -> None:
        self.emit(depth, "try:")
        self.block(depth + 1, room - 1, 1, in_loop=False)
        if self.rng.random() < 0.3:
            self.emit(depth + 1, "raise KeyError(3)")
        self.emit(depth, "except KeyError:")
        self.block(depth + 1, room - 1, 1, in_loop=False)
        self.emit(depth, "finally:")
        self.block(depth + 1, 0, 1, in_loop=False)

    def do_with(self, depth: int, room: int) -> None:
        self.emit(depth, "with jax.named_scope('here'):")
        self.block(depth + 1, room - 1, self.rng.randint(1, 2), in_loop=False)


def program(seed: int) -> str:
    """The program of that number: one file with a function ``main``."""
    made = Program(random.Random(seed))
    made.emit(1, "reveal(0)")
    for _ in range(made.rng.randint(4, 10)):
        made.statement(1, 2, in_loop=False)
    made.emit(1, "return x")
    return HEAD + "\n".join(made.lines) + "\n" + TAIL


# --- nested transforms ------------------------------------------------------------------------------------

PIPELINE_HEAD = """\
# file: program.py
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxlint_testing import reveal


class Pair(NamedTuple):
    value: jax.Array
    n: int


class Holder:
    def __init__(self, fn, q):
        self.fn = fn
        self.q = q

    def call(self, p, r=None):
        reveal(self.q)
        return self.fn(p, self.q, r)

"""

CALLS = [
    "{f}({p}, {q}, {r})",
    "{f}({p}, {q}, {r})",
    "jax.jit({f})({p}, {q}, {t})",
    "jax.jit({f}, static_argnums=(1, 2))({p}, {n}, {s})",
    "jax.jit({f}, static_argnames=('r',))({p}, {q}, r={s})",
    "jax.jit(partial({f}, q={n}))({p})",
    "jax.jit(lambda v: {f}(v, {q}, {r}))({p})",
    "jax.vmap({f}, in_axes=(0, None, None))(jnp.stack([{p}, {p}]), {q}, {r})[0]",
    "jax.vmap({f})(jnp.stack([{p}, {p}]), jnp.stack([{p}, {p}]))[0]",
    "jax.vmap(lambda v: {f}(v, {q}, {r}))(jnp.stack([{p}, {p}]))[1]",
    "jax.grad({f})({p} * 1.0, {q}, {r})",
    "jax.grad({f}, argnums=1)({p}, {p} * 1.0, {r})",
    "jax.value_and_grad({f})({p} * 1.0, {q}, {r})[{b}]",
    "jax.jacfwd(lambda v: {f}(v, {q}, {r}))({p} * 1.0)",
    "jax.jvp(lambda v: {f}(v, {q}, {r}), ({p} * 1.0,), ({p} * 1.0,))[{b}]",
    "jax.lax.cond(jnp.sum({p}) > 0, lambda: {f}({p}, {q}, {r}) * 1.0, lambda: {p} * 1.0)",
    "jax.lax.cond(jnp.sum({p}) > 0, {f}, lambda p, q: p * 1.0, {p} * 1.0, {n})",
    "jax.lax.scan(lambda c, x: ({f}(c, {q}, {r}) * 1.0, x), {p} * 1.0, jnp.arange(2.0))[0]",
    "jax.lax.scan(lambda c, x: (c, {f}(x + c, {n}, {r})), {p}, jnp.arange(2.0))[1][0]",
    "jax.lax.fori_loop(0, 2, lambda i, c: {f}(c, i, {r}) * 1.0, {p} * 1.0)",
    "jax.lax.while_loop(lambda c: c < 0, lambda c: {f}(c, {q}, {r}) * 1.0, {p} * 1.0)",
    "jax.lax.map(lambda v: {f}(v, {q}, {r}), jnp.arange(2.0))[0]",
    "jax.lax.switch({b}, [lambda v: {f}(v, {n}) * 1.0, lambda v: v * 1.0], {p})",
    "jax.checkpoint({f})({p}, {q}, {t})",
    "jax.checkpoint({f}, static_argnums=(1,))({p}, {n})",
    "({p} + 0 * jax.eval_shape({f}, {p}, {q}, {t}).ndim)",
    "jax.vjp(lambda v: {f}(v, {q}, {r}), {p} * 1.0)[0]",
    "jax.linearize(lambda v: {f}(v, {q}, {r}), {p} * 1.0)[0]",
    "partial({f}, {p})({q}, r={r})",
    "Holder({f}, {q}).call({p}, {r})",
    "jax.jit(Holder({f}, {n}).call)({p})",
    "jax.tree.map(lambda v: {f}(v, {q}, {r}), {{'a': {p}}})['a']",
    "jax.jit(lambda pair: {f}(pair.value, pair.n))(Pair({p}, {n}))",
    "jax.vmap(lambda d: {f}(d['a'], d['b']))({{'a': jnp.arange(2.0), 'b': jnp.arange(2.0)}})[0]",
    "jax.vmap(jax.grad({f}), in_axes=(0, None, None))(jnp.arange(2.0) + {p}, {q}, {r})[0]",
    "jax.jit(jax.vmap({f}, in_axes=(0, None)), static_argnums=())(jnp.arange(2.0), {q})[0]",
    "jax.grad(jax.checkpoint({f}))({p} * 1.0, {n})",
]


def pipeline(seed: int) -> str:
    """A program whose functions call one another through transforms."""
    rng = random.Random(seed)
    lines = [PIPELINE_HEAD]
    names: list[str] = []
    for i in range(rng.randint(2, 5)):
        lines += [f"def f{i}(p, q, r=None):", "    reveal(p)", "    reveal(q)", "    reveal(r)"]
        lines += ["    reveal(p + 1)", "    reveal(p > 0)", "    reveal(jnp.zeros(2))", "    reveal(q * 2)"]
        lines += ["    if isinstance(r, dict):", "        reveal(r['k'])", "        reveal(r['n'])"]
        lines += ["    total = jnp.sin(p * q)"]
        for k in range(rng.randint(1, 2) if names else 0):
            lines += [f"    v{k} = {_call(rng, rng.choice(names), 'p', 'q', 'r')}"]
            lines += [f"    reveal(v{k})", f"    total = total + v{k}"]
        lines += ["    return total + q * q * 0.5", ""]
        names.append(f"f{i}")
    lines += ["def main():", "    x = jnp.float32(2)"]
    for k in range(rng.randint(1, 3)):
        lines += [f"    m{k} = {_call(rng, names[-1], 'x', '2', 'None')}", f"    reveal(m{k})"]
    lines += ["    return x", ""]
    return "\n".join(lines)


def _call(rng: random.Random, function: str, p: str, q: str, r: str) -> str:
    return rng.choice(CALLS).format(
        f=function,
        p=p,
        q=rng.choice([q, q, "2", f"{p} * 2", "1.5"]),
        n=rng.choice(["2", "3"]),
        r=rng.choice([r, "None", f"{{'k': {p}, 'n': 3}}"]),
        t=rng.choice(["None", f"{{'k': {p}, 'n': 3}}", f"{{'k': {q}, 'n': {p}}}"]),
        s=rng.choice(["None", "'text'"]),
        b=rng.choice(["0", "1"]),
    )
