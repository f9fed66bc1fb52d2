"""Values, classes and functions that lead back to themselves: the analysis ends, and soon."""

from __future__ import annotations

import textwrap

import pytest

from flake8_jax.rules import all_rules
from flake8_jax.semantics.analysis.analyze import analyze
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.syntax.lower import lower

PROGRAMS = {
    "list": """
root = []
root[:] = [root, root, None, None]
""",
    "append": """
r = []
r.append(r)
s = [r]
r.append(s)
if x: r = [r]
""",
    "list-item": """
r = [1, 2]
r[0] = r
r[1] = r
for i in r:
    r = i
""",
    "dict": """
d = {}
d['a'] = d
c = {}
c['a'] = c
if unknown(): d = c
""",
    "tuple-in-list": """
r = []
t = (r, r)
r.append(t)
q = []
u = (q, q)
q.append(u)
if unknown(): t = u
""",
    "fields": """
class A: pass
a = A()
a.a = a
a.b = a
b = A()
b.a = b
b.b = a
if unknown(): a = b
f(a)
""",
    "closures": """
def mk():
    def g(): return g
    cell = [g]
    def h(): return cell
    cell.append(h)
    cell[:] = [cell, h]
    return cell
x = mk()
y = mk()
if unknown(): x = y
""",
    "linked-list": """
class N:
    def __init__(self):
        self.prev = self.next = self
a = N()
b = N()
a.next = b
b.prev = a
if unknown(): a = b
import jax
jax.jit(lambda v: v)(a)
""",
    "pytree": """
import jax, dataclasses
@jax.tree_util.register_dataclass
@dataclasses.dataclass
class N:
    l: object
    r: object
n = N(None, None)
n.l = n
n.r = n
m = N(None, None)
m.l = m
m.r = n
if unknown(): n = m
jax.jit(lambda v: v)(n)
jax.vmap(lambda v: v)(n)
jax.tree.map(lambda v: v, n)
@jax.jit
def f(a): return a.l.r.l
f(n)
""",
    "generator": """
def g():
    r = []
    r.append(r)
    yield r
    yield [r, r]
for q in g():
    q.append(g())
""",
    "functools": """
def lru_cache():
    root = []
    root[:] = [root, root, None, None]
    def wrapper(*args, **kwds):
        nonlocal root
        last = root[0]
        link = [last, root, 1, 2]
        last[1] = root[0] = link
        oldroot = root
        root = oldroot[1]
        if args:
            root = link
        return root
    def clear():
        root[:] = [root, root, None, None]
    return wrapper, clear
w, c = lru_cache()
w(1)
c()
""",
    "list-under-transforms": """
import jax
r = []
r.append(r)
r[:] = [r, r, None]
jax.jit(lambda v: v)(r)
jax.vmap(lambda v: v)(r)
jax.lax.scan(lambda c, v: (c, v), r, r)
jax.lax.cond(True, lambda v: v, lambda v: [v], r)
jax.tree.leaves(r)
jax.numpy.stack(r)
""",
    "defaultdict": """
from collections import defaultdict
t = lambda: defaultdict(t)
d = t()
d[1][2] = d
d[3] = d
for k in range(4): d = d[k]
""",
    "default-argument": """
def f(r=[]):
    r.append(r)
    r.append((r, f))
    return f(r)
f(); f([f()])
""",
    "partial-in-list": """
import functools, jax
p = functools.partial(print)
l = [p]
l.append(functools.partial(l.append, l))
l[:] = [l, l, functools.partial(f, l)]
if u(): l = l[0]
jax.jit(l)
l()
""",
    "library-object": """
import optax
s = optax.EmptyState()
s.a = s
s.b = [s]
s.b.append(s)
if u(): s = [s]
t = optax.EmptyState()
t.a = t
if v(): s = t
""",
    "union": """
r = []
if u(): r = {}
r[0] = r
if u(): r = [r]
while u():
    r = [r, r]
    r.append(r)
""",
    "copies": """
import copy
r = []
r.append(r)
r[:] = [r, r, r]
copy.deepcopy(r)
copy.copy(r)
list(r)
tuple(r)
sorted(r)
r + r
r == r
r in r
hash(r)
print(r)
f'{r}'
r.copy()
str(r)
max(r)
sum(r)
*a, b = r
""",
    "class-attributes": """
class A:
    x = []
    x.append(x)
A.me = A
A.a = A()
A.a.a = A.a
class B(A): pass
B.b = B
A.sub = B
if u(): A = B
A.a.a.a.me
""",
    "bound-methods": """
class A:
    def m(self): return self.m
    def n(self):
        self.k = self.n
        self.l = [self.k, self]
        return self.l
a = A()
a.n()
a.m()()()
a.k()()
import jax
jax.jit(a.m)()
jax.jit(a.k)(a)
""",
    "call": """
class A: pass
A.__call__ = A()
A()()
""",
    "call-under-transforms": """
import jax
class A: pass
A.__call__ = A()
@jax.jit
def f(x): return A()(x)
f(1)
jax.jit(A())(1)
jax.vmap(A())(1)
""",
    "call-each-other": """
class A: pass
class B: pass
A.__call__ = B()
B.__call__ = A()
A()()
B()(1, 2)
""",
    "getattr": """
class A:
    def __getattr__(self, n): return self.zzz
A().x
class B: pass
B.__getattr__ = B()
B().x
B()()
class C:
    def __getattr__(self, n): return getattr(self, n)
C().q
class D:
    def __getattr__(self, n): return getattr(D(), n)
D().q()
""",
    "getattr-is-object": """
class A: pass
A.__getattr__ = A()
A.__call__ = A()
A().x
A()(1)
""",
    "property": """
class A: pass
A.p = property(A())
A.__call__ = property(A())
A().p
A()()
class B:
    @property
    def p(self): return self.p
B().p
class C: pass
C.p = property(lambda s: s.p)
C().p
""",
    "property-call": """
class A:
    @property
    def __call__(self): return self
A()()
class B:
    @property
    def __getattr__(self): return self.x
B().y
B().z()
""",
    "setter": """
class A:
    @property
    def p(self): return 1
    @p.setter
    def p(self, v): self.p = v
a = A()
a.p = 1
a.p += 1
""",
    "setter-is-object": """
class A: pass
A.__call__ = A()
A.p = property(A(), A())
A().p = 1
""",
    "partial-call": """
import functools
f = functools.partial(print)
f.func = f
f()
g = lambda: 1
g = functools.partial(g)
class A: pass
A.__call__ = functools.partial(A())
A()()
A.__call__ = functools.partial(A)
A()()
""",
    "static-and-class-methods": """
class A: pass
A.__call__ = staticmethod(A())
A()()
A.__call__ = classmethod(A())
A()()
A()(1)
""",
    "operators": """
class A: pass
A.__add__ = A()
A.__call__ = A()
A() + A()
A.__getitem__ = A()
A()[0]
A()[0] = 1
A.__iter__ = A()
for i in A(): pass
[*A()]
A.__enter__ = A()
with A() as b: pass
A.__str__ = A()
f'{A()}'
str(A())
A.__bool__ = A()
if A(): pass
A.__len__ = A()
len(A())
A.__eq__ = A()
A() == A()
A.__init__ = A()
A()
A.__new__ = A()
A()
A.__hash__ = A()
hash(A())
{A(): 1}
A.__contains__ = A()
1 in A()
A.__neg__ = A()
-A()
A.__exit__ = A()
A.__iadd__ = A()
a = A()
a += 1
del a[0]
""",
    "constructors": """
class A:
    def __init__(self): A()
A()
class B:
    def __init__(self): self.b = B()
B()
class C:
    def __post_init__(self): C()
    def __new__(cls): return C()
C()
""",
    "metaclass": """
class M(type):
    def __call__(cls, *a): return cls(*a)
class A(metaclass=M): pass
A()
class N(type): pass
N.__call__ = N
class B(metaclass=N): pass
B()()
""",
    "metaclass-is-class": """
class A(metaclass=lambda *a: A(*a)): pass
A()
class B: pass
class B(B): pass
class B(B, metaclass=B): pass
B()
""",
    "subclass-in-loop": """
class A: pass
for i in range(9):
    class A(A):
        def f(self): return super().f()
        __call__ = A()
A().f()
A()()
""",
    "bases": """
class A: pass
A.__bases__ = (A,)
A.__class__ = A
A.__mro__ = [A]
A().x
class B(A): pass
A.__bases__ = (B,)
B().x
""",
    "aliases": """
def f(): return g()
g = f
f()
f.__wrapped__ = f
f.__wrapped__()
import functools
@functools.wraps(f)
def f(): return f.__wrapped__()
f()
f = functools.lru_cache(f)
f()
""",
    "decorators": """
def d(f): return d(f)
@d
@d
def d(f): return f
@d
class A: pass
A()
class E:
    def __init__(self, f): self.f = f
    def __call__(self, *a): return self(*a)
@E
def h(): pass
h()
@E
@E
class K: pass
K()
""",
    "transforms": """
import jax
f = jax.jit(lambda x: f(x))
f(1)
g = jax.jit(lambda: g)
g()()
class A: pass
A.__call__ = jax.jit(A())
A()()
h = jax.vmap(jax.jit(lambda x: h))
h(1)(1)
c = jax.custom_jvp(lambda x: c(x))
c.defjvp(c)
c(1)
v = jax.custom_vjp(lambda x: v(x))
v.defvjp(v, v)
jax.grad(v)(1.0)
""",
    "iterators": """
class I:
    def __iter__(self): return self
    def __next__(self): return next(self)
for i in I(): pass
list(I())
next(I())
class J: pass
J.__iter__ = J()
J.__call__ = J()
J.__next__ = J()
for j in J(): pass
for j in zip(J(), J()): pass
map(J(), J())
list(map(J(), [1]))
sorted([1], key=J())
max([1], key=J())
import functools
functools.reduce(J(), [1, 2])
""",
    "namedtuple": """
from typing import NamedTuple
class T(NamedTuple):
    a: 'T'
    b: 'list[T]'
T.__call__ = T
T.m = property(T)
t = T(1, 2)
t.m
t = T(t, [t])
for i in range(5): t = T(t, [t])
T.x = T(T, T)
""",
    "dataclass": """
import dataclasses, jax
@jax.tree_util.register_dataclass
@dataclasses.dataclass
class D:
    a: 'D'
    b: 'list[D]'
    c: 'dict[str, D]'
d = D(1, 2, 3)
d.a = d
d.b = [d, d]
d.c = {'x': d, 'y': d}
@jax.jit
def f(d: D, e: 'D | None' = None): return d.a.b[0].c['x'].a
f(d)
jax.vmap(f)(d)
jax.tree.map(lambda a, b: a, d, d)
dataclasses.replace(d, a=d)
""",
    "annotations": """
A = list['A']
def f(x: A, y: 'A', z: 'dict[str, A]'): return x
f(1, 2, 3)
B = 'B'
def g(x: B, y: 'C'): pass
C = 'D'
D = 'C | D'
def h(x: 'D'): pass
type T = list[T] | dict[str, T]
def k(x: T): pass
""",
    "equinox": """
import equinox as eqx, jax
class M(eqx.Module):
    m: 'M'
    n: list
    def __call__(self, x): return self.m(x)
m = M(None, [])
m.m = m
m.n.append(m)
m.n.append(m)
eqx.filter_jit(m)(1)
jax.jit(m)(1)
eqx.tree_at(lambda t: t.m, m, m)
""",
    "flax": """
import flax.linen as nn, jax
class M(nn.Module):
    def setup(self): self.m = M(); self.l = [self, self]
    def __call__(self, x): return self.m(self.l)
M().init(1, 2)
M().apply({}, 1)
jax.jit(M().apply)({}, 1)
""",
    "global": """
r = []
def f():
    global r
    r = [r, r]
    r[:] = [r, r, f]
    f()
    return r
while f():
    r = f()
""",
    "attribute-dict": """
class A(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
a = A()
a.a = a
a['b'] = a
a.a.a.b
""",
    "dunder-dict": """
class A:
    def __init__(self): self.__dict__ = self; self.__dict__['a'] = self
a = A()
a.a.a
vars(a)
a.__dict__['x'] = a.__dict__
""",
    "super": """
class A:
    def f(self): return super().f()
    @property
    def p(self): return super().p
class B(A):
    def f(self): return super(A, self).f() + super(B, self).f() + A.f(self) + B.f(self)
B().f()
B().p
class C:
    def __getattr__(self, n): return super().__getattr__(n)
C().x
""",
    "delegates": """
class P:
    def __init__(self, o): self._o = o
    def __getattr__(self, n): return getattr(self._o, n)
    def __call__(self, *a): return self._o(*a)
p = P(None)
p._o = p
p.x
p()
for i in range(5): p = P(p)
p.y()
p._o = P(p)
p.z
""",
}


def crashes(text: str, *, inspect: bool) -> list[str]:
    """The tracebacks of an analysis with all rules."""
    file = SourceFile("example.py", "example", False, lower(text), text)
    request = AnalysisRequest(preview=True, collect_functions=inspect)
    return [trace for _, _, trace in analyze([file], request, all_rules()).crashes]


@pytest.mark.parametrize("inspect", [False, True], ids=["check", "inspect"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_leads_back_to_itself_is_analysed(name: str, inspect: bool) -> None:
    body = PROGRAMS[name].lstrip()
    assert crashes(f"import jax\n{body}", inspect=inspect) == []


@pytest.mark.parametrize(
    "name", [name for name, body in PROGRAMS.items() if "global" not in body and "type T" not in body]
)
def test_it_is_analysed_in_a_jitted_function_too(name: str) -> None:
    body = textwrap.indent(PROGRAMS[name].lstrip(), "    ")
    head = "(u, unknown, v, x, f, e0):\n"
    assert crashes(f"import jax\ndef eager{head}{body}\n@jax.jit\ndef traced{head}{body}", inspect=False) == []


@pytest.mark.parametrize(
    "step", ["y = (y, y)", "y = [y, y]", "y = {'a': y, 'b': y}", "y = [y] * 9", "y.append([y] * 9)"]
)
def test_a_value_that_doubles_line_by_line_is_analysed(step: str) -> None:
    lines = "".join(f"    {step}\n" for _ in range(20))
    text = f"import jax\ndef f(x):\n    y = [x]\n{lines}    return jax.tree.map(jax.jit(lambda v: v), y)\njax.vmap(f)(f(1))\n"
    assert crashes(text, inspect=False) == []
