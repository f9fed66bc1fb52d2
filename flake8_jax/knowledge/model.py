"""The shape of the knowledge tables: what jaxlint knows about code that it does not read.

Vocabulary
----------
fact        one entry of a table: what is known of one qualified name (``jax.random.normal``).
canonical   the one name under which a fact stands. ``aliases`` map the other public spellings to it.
returns     a *result descriptor*, the small language below.
contract    what a library does with user code: which arguments it stages, which methods of a subclass it runs.

Result descriptors (``FunctionFact.returns``)::

    array float int bool complex   a JAX array; with the class of its dtype where that is certain
    like(PARAM)                    an array with the dtype class of that argument
    static                         a host value known while tracing: an int, a shape, a bool of the host
    reflection                     a host value that says what another one is: it is not known how a test of it comes out
    dtype                          a dtype object
    dtype_test                     whether the first argument is of the kind that the second names; like ``reflection`` where
                                   the kind is not known
    key / keys                     one PRNG key / an array of keys along a new leading axis
    replaced(PARAM, NAME, …)       the argument with the other arguments but NAME, … for its fields
    same(PARAM)                    the argument itself, unchanged (block_until_ready, lax.stop_gradient on trees …)
                                   (of a method: ``self`` may be named wherever PARAM may)
    tree                           a pytree of arrays of unknown structure, traced wherever an array would be
    tree_like(PARAM)               a pytree with the structure of that argument and arrays for leaves
    arrays_like(PARAM)             that argument with other arrays; what is no array stays
    collective(PARAM)              the same, but a static argument gives a static of another value (``psum(1, "i")``)
    leaves(PARAM)                  a Python list of the leaves of that argument; its length is static
    tree_of(PARAM)                 a pytree of unknown structure with the leaves of that argument
    list(D)                        a Python list of unknown length of results D
    tuple(D, D, …)                 a Python tuple; ``tuple(D, ...)``: of unknown length
    instance(QUALNAME)             an object of that class
    host                           a NumPy array or another concrete host object that holds data
    unless(P, …, D)                D where none of those parameters is passed, else unknown (``return_counts`` …)
    one_or_list(D)                 D where one positional argument is passed, else a list of D (``atleast_1d``)
    none                           None
    function                       a callable of which no more is known
    context                        a context manager; used as a decorator, it leaves the function as it is
    unknown                        nothing is known

A dtype class is that of the plain call: where the call passes ``dtype`` (or ``preferred_element_type``), it is that
of the argument. ``host`` results of static arguments are static too (``np.prod(x.shape)``).

Tables write a ``FunctionFact`` as a line of text wherever that says all there is to say; ``knowledge.notation``
documents and reads it.
"""

from __future__ import annotations

from typing import Literal, Union

import msgspec

Tracing = Literal["abstract", "concrete", "none"]
KeyEffect = Literal["consume", "initialize", "split", "derive", "read", "make", "clone"]


class FunctionFact(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a library function (or a method of a library object) does.

    params: parameter names in positional order; keyword-only ones follow after the entry ``"*"``; ``"*name"``
        is a vararg (what follows it is keyword-only too), ``"**name"`` takes the remaining keywords. Empty: the
        signature is not known. Methods leave ``self`` out.
    returns: a result descriptor.
    key: the parameter that is a PRNG key; key_effect says what happens to it.
        consume: a sampler draws from it. initialize: so does what makes parameters, which have to start somewhere.
        split: it is used up and new keys come out. derive: ``fold_in``: new key, the parent stays usable with other
        data. read: looked at only. make: no key in, a key out. clone: gives an equal key that may be used again.
    shape_params: parameters that must be static because they are shapes, lengths, sizes, counts of classes.
    axis_params: parameters that must be static because they are axes or dimension numbers.
    size_param: the parameter that makes a data-dependent result shape static; where it is not passed, staged
        calls raise. ``data_dependent`` says when: ``always``, ``one-argument`` (jnp.where), ``traced-argument``
        (jnp.repeat: only when the parameter named in ``data_dependent_on`` is traced).
    host: how it behaves on a tracer for functions that run on the host (NumPy, math, …), where its first
        parameter is that tracer (for sequences: an element of it is):
        ``converts`` raises TracerArrayConversionError (``math``: TypeError or ConcretizationTypeError);
        ``dispatches`` calls the array's own method and works, giving what the array would give;
        ``static`` looks only at shape or dtype and works; ``inert`` does not look at it at all.
    equivalent: the jax.numpy name that does the same on tracers, for fixes.
    impure: what it does to the world: ``time``, ``random``, ``io``, ``environment``, ``print``, ``log``.
    sync: it waits for or copies device values: ``device_get``, ``block_until_ready``, ``copy_to_host_async``,
        ``item`` (``.item()``, ``.tolist()``).
    callback: parameters that are functions run on the host, never staged.
    calls: parameters that are functions which it simply calls, unstaged, with unknown arguments.
    stages: parameters that are functions which it stages with *unknown* arguments (a contract).
    schedules: parameters that are functions of a step count which it stages on a traced integer (a contract).
    pure: no effect but its result; a statement that drops the result is a mistake.
    idle: the device computes nothing for it: it places or describes arrays, or makes them of constants.
    rank: of the array that it gives. ``number``: it has no axes, unless the call passes ``axis``, ``axes`` or ``keepdims``
        (``sum``). ``same``: it has the axes of the first argument (``exp``). ``flat``: so it is along an ``axis``; without one,
        it has a single axis (``cumsum``). ``broadcast``: it has as many as the argument with most axes (``clip``).
    axis_name: the parameter that names a mapped axis, which something around the call has to bind (``psum``, ``axis_index`` …).
    """

    params: list[str] = []
    returns: str = "unknown"
    key: str | None = None
    key_effect: KeyEffect | None = None
    shape_params: list[str] = []
    axis_params: list[str] = []
    size_param: str | None = None
    data_dependent: Literal["", "always", "one-argument", "traced-argument"] = ""
    data_dependent_on: str | None = None
    host: Literal["", "converts", "dispatches", "static", "inert"] = ""
    equivalent: str | None = None
    impure: str | None = None
    sync: str | None = None
    callback: list[str] = []
    calls: list[str] = []
    stages: list[str] = []
    schedules: list[str] = []
    pure: bool = False
    idle: bool = False
    rank: Literal["", "number", "same", "flat", "broadcast"] = ""
    axis_name: str | None = None


class TransformFact(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A function that stages one or more of its operands, or wraps one so that calling the result stages it.

    model: which executable model in ``semantics.transforms`` applies:
        ``wrap``         the call gives a callable with the operand's signature (jit, grad, vmap, checkpoint …)
        ``lift``         like wrap, but the operand may also be a module *class*, whose ``__call__`` is staged:
                         linen's lifted transforms
        ``call``         ``f(fun, *args)`` stages ``fun`` on those arguments now (eval_shape, jvp, vjp …)
        ``stage``        stages the operands on the arguments that ``passes`` describes, else on unknown ones;
                         ``result`` is a result descriptor
        ``scan``         ``f(init, x) -> (carry, y)`` over the leading axis of ``xs``
        ``map``          ``f(x)`` for the leading axis of ``xs``
        ``fori_loop``    ``body_fun(i, val)``
        ``while_loop``   ``cond_fun(val)``, ``body_fun(val)``
        ``cond``         two functions on the same operands; ``switch``: a sequence of functions
        ``associative_scan``  ``fn(a, b)`` on slices of elems, run unstaged
        ``tree_map``     ``f(leaf, *leaves)`` on every leaf, run unstaged; the result is like the first tree
        ``tree_map_with_path``  the same with a static path as first argument
        ``tree_reduce``  ``function(accumulated, leaf)``, run unstaged
        ``custom``       an object with ``defvjp``/``defjvp``; calling it calls the operand unstaged
        ``custom_root`` / ``custom_linear_solve``  as in ``jax.lax``
        ``pallas_call``  the operand gets one ``Ref`` for each input and output, after what ``passes`` names; gives a
                         callable of arrays, or a decorator where there is no operand
        ``pallas_body``  gives a decorator, which stages the body at once, on what ``passes`` names (``pl.loop``)
    tracing: ``abstract``, ``concrete`` or ``none``.
    omnistaging: inside it ``jnp.zeros(3)`` is a tracer too (all abstract ones but vmap and linear_transpose;
        with tracing ``none``, checkify, the arguments keep their values while results are tracers).
    operands: parameters that hold the staged functions.
    params: as in FunctionFact.
    maps_axes: ``in_axes``-like parameter: arguments with None there stay as they are (vmap, pmap).
    axis_names: parameters whose value binds mapped axis names inside.
    differentiates: the ``argnums``-like parameter: only these arguments become tracers, the others stay.
    rebuilds: the others arrive as new objects: nnx takes all arguments apart and puts them together again (Flax 0.12.8).
    forward: it differentiates in forward mode, in which ``where`` drops the tangents of the branch that it does not take.
    result: for ``wrap``: how the wrapped call's result differs from the operand's: ``same``, ``gradient``
        (pytree like the differentiated argument), ``value_and_gradient``, ``jacobian``, ``first`` (the operand
        gives a pair, the wrapped call its first element). For ``call``: ``same``,
        ``shape`` (the structure with ShapeDtypeStruct leaves), ``jvp`` (output, tangents), ``vjp`` and
        ``linearize`` (output, function), ``jaxpr``, ``unknown``.
    statics / donates: the parameters that name static or donated arguments.
    filters: leaves of the arguments that are no arrays stay what they are instead of becoming tracers
        (equinox ``filter_*``; nnx, where attributes of a module that hold no array are static).
    has_aux: the parameter that says that the operand returns ``(value, auxiliary)``.
    passes: for ``stage``: result descriptors of the arguments on which the operands are staged, in order
        (``["float", "tree", "unknown"]``); a last ``"..."`` repeats the one before.
    switch: for ``stage``: the parameter that says whether the operands are staged, True by default.
    keeps: keywords of the wrapped call that the transform takes for itself: the operand does not get them.
    waits: calling what it gives waits for the device, as Equinox's ``filter_jit`` does to raise runtime errors.
    converts: the operand gets arrays in place of lists, tuples and numbers, unless the parameter ``excluded`` is given.
    """

    model: str
    tracing: Tracing
    params: list[str]
    operands: list[str]
    omnistaging: bool = False
    maps_axes: str | None = None
    axis_names: list[str] = []
    differentiates: str | None = None
    rebuilds: bool = False
    forward: bool = False
    result: str = "same"
    statics: list[str] = []
    donates: list[str] = []
    filters: bool = False
    has_aux: str | None = None
    passes: list[str] = []
    switch: str | None = None
    waits: bool = False
    keeps: list[str] = []
    converts: bool = False


class ClassFact(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A library class (or class decorator) and what being a subclass of it means.

    pytree: instances are registered pytrees; their fields are leaves but for those declared static.
    dataclass: the class body's annotations become ``__init__`` parameters in order (``replace`` works too).
    static_attributes: the class is a linen-like module: its attributes are static configuration. With
        ``pytree`` as well (nnx): the arrays among its attributes are leaves, the other attributes static.
    decorator: this name is used as a decorator (``flax.struct.dataclass``), not as a base.
    staged_methods: methods of a user's subclass that the library runs staged and ambient, with unknown
        arguments (``update_fn`` …). Write a name only if users nearly always run it staged.
    methods: facts for methods of its instances, by name (``{"init": {...}}``), as FunctionFact.
    fields: result descriptors of its attributes, by name.
    order: field names in constructor order, for NamedTuples and dataclasses of the library.
    base: qualified names of its bases, for inheritance among library classes.
    namedtuple: instances are tuples of their fields in ``order``: they unpack and index.
    module_methods: methods of a user's subclass that calls through the library reach: linen's ``init`` and
        ``apply`` call ``__call__`` (or ``method=``) with the remaining arguments.
    key_effect: ``make`` if its objects hold keys made of the seeds that the constructor gets.
    """

    pytree: bool = False
    dataclass: bool = False
    static_attributes: bool = False
    decorator: bool = False
    staged_methods: list[str] = []
    methods: dict[str, FunctionFact] = {}
    fields: dict[str, str] = {}
    order: list[str] = []
    base: list[str] = []
    namedtuple: bool = False
    module_methods: list[str] = []
    key_effect: str | None = None


class NamespaceFact(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What holds for every callable of a module that has no fact of its own.

    returns: result descriptor (``array`` for jax.numpy). host, pure: as in FunctionFact.
    """

    returns: str = "unknown"
    host: str = ""
    pure: bool = False
    impure: str | None = None


Fact = Union[FunctionFact, TransformFact, ClassFact, NamespaceFact, str]
"""What a look-up may find; a string is the result descriptor of a constant."""


class Table(msgspec.Struct, forbid_unknown_fields=True):
    """The knowledge about one library, or about a part of it, once every fact is spelled out."""

    functions: dict[str, FunctionFact] = {}
    transforms: dict[str, TransformFact] = {}
    classes: dict[str, ClassFact] = {}
    namespaces: dict[str, NamespaceFact] = {}
    aliases: dict[str, str] = {}
    constants: dict[str, str] = {}
    """Result descriptors of plain attributes: ``"jax.numpy.pi" = "static"``, ``"jax.numpy.float32" = "dtype"``."""
