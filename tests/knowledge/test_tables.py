"""Every table is well formed: it parses, names what exists, and stands under canonical names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from flake8_jax.knowledge import load
from flake8_jax.knowledge.model import FunctionFact
from flake8_jax.knowledge.notation import NotationError

TABLES = Path(__file__).resolve().parents[2] / "flake8_jax" / "knowledge"
LIBRARIES = sorted({path.name.partition(".")[0] for path in TABLES.glob("*.toml")})
PLAIN = frozenset(
    [
        "array",
        "float",
        "reflection",
        "int",
        "bool",
        "complex",
        "context",
        "static",
        "dtype",
        "dtype_test",
        "key",
        "keys",
        "tree",
        "host",
        "none",
        "function",
        "unknown",
    ]
)
OF_A_PARAMETER = frozenset(["like", "same", "tree_like", "arrays_like", "collective", "leaves", "tree_of"])
OF_DESCRIPTORS = frozenset(["list", "tuple", "one_or_list"])
MODELS = frozenset(
    [
        "wrap",
        "lift",
        "call",
        "stage",
        "scan",
        "map",
        "fori_loop",
        "while_loop",
        "cond",
        "switch",
        "associative_scan",
        "tree_map",
        "tree_map_with_path",
        "tree_reduce",
        "custom",
        "custom_root",
        "custom_linear_solve",
        "pallas_call",
        "pallas_body",
    ]
)
WRAPPED_RESULTS = frozenset(
    [
        "same",
        "gradient",
        "value_and_gradient",
        "jacobian",
        "first",
        "shape",
        "jvp",
        "vjp",
        "linearize",
        "jaxpr",
        "unknown",
        "none",
        "function",
    ]
)


def split_arguments(descriptor: str) -> tuple[str, list[str]]:
    """The head of a result descriptor and its arguments: ``tuple(array, list(key))`` → ``tuple``, two of them.

    Raises NotationError where the parentheses do not match.
    """
    head, paren, rest = descriptor.partition("(")
    if not paren:
        return descriptor, []
    if not rest.endswith(")"):
        raise NotationError(f"unbalanced parentheses in {descriptor!r}")
    arguments, depth, start, inner = [], 0, 0, rest[:-1]
    for position, character in enumerate(inner):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            raise NotationError(f"unbalanced parentheses in {descriptor!r}")
        if character == "," and not depth:
            arguments.append(inner[start:position].strip())
            start = position + 1
    if depth:
        raise NotationError(f"unbalanced parentheses in {descriptor!r}")
    arguments.append(inner[start:].strip())
    return head.strip(), arguments


def problems_of(descriptor: str, parameters: set[str]) -> Iterator[str]:
    if descriptor == "...":
        return
    head, arguments = split_arguments(descriptor)
    if head in PLAIN:
        if arguments:
            yield f"{descriptor}: {head} takes no arguments"
    elif head in OF_A_PARAMETER:
        if len(arguments) != 1 or arguments[0] not in parameters | {"self"}:
            yield f"{descriptor}: no such parameter"
    elif head == "replaced":
        unknown = [name for name in arguments if name not in parameters | {"self"}]
        yield from (f"{descriptor}: no parameter {name}" for name in unknown)
    elif head == "instance":
        if load().class_(arguments[0]) is None:
            yield f"{descriptor}: no such class"
    elif head == "unless":
        yield from (f"{descriptor}: no parameter {name}" for name in arguments[:-1] if name not in parameters)
        yield from problems_of(arguments[-1], parameters)
    elif head in OF_DESCRIPTORS:
        for argument in arguments:
            yield from problems_of(argument, parameters)
    else:
        yield f"{descriptor}: unknown descriptor"


def names_of(params: list[str]) -> set[str]:
    return {name.lstrip("*") for name in params}


def functions_of(library: str) -> Iterator[tuple[str, FunctionFact]]:
    table = load().table(library)
    yield from table.functions.items()
    for name, fact in table.classes.items():
        for method, function in fact.methods.items():
            yield f"{name}.{method}", function


@pytest.mark.parametrize("library", LIBRARIES)
def test_results_of_functions_are_descriptors(library: str) -> None:
    problems = [
        f"{name}: {problem}"
        for name, fact in functions_of(library)
        for problem in problems_of(fact.returns, names_of(fact.params))
    ]
    assert problems == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_fields_constants_and_namespaces_are_descriptors(library: str) -> None:
    table = load().table(library)
    described = [
        (f"{name}.{field}", kind) for name, fact in table.classes.items() for field, kind in fact.fields.items()
    ]
    described += list(table.constants.items())
    described += [(name, fact.returns) for name, fact in table.namespaces.items()]
    assert [f"{name}: {problem}" for name, kind in described for problem in problems_of(kind, set())] == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_roles_name_parameters(library: str) -> None:
    wrong = []
    for name, fact in functions_of(library):
        roles = [*fact.shape_params, *fact.axis_params, *fact.callback, *fact.calls, *fact.stages, *fact.schedules]
        roles += [role for role in (fact.key, fact.size_param, fact.axis_name, fact.data_dependent_on) if role]
        wrong += [f"{name}: {role}" for role in roles if role not in names_of(fact.params)]
    assert wrong == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_transforms_name_parameters_and_known_models(library: str) -> None:
    wrong = []
    for name, fact in load().table(library).transforms.items():
        parameters = names_of(fact.params)
        open_ended = any(parameter.startswith("**") for parameter in fact.params)
        roles = [*fact.operands, *fact.axis_names, *fact.statics, *fact.donates]
        roles += [role for role in (fact.maps_axes, fact.differentiates, fact.has_aux) if role]
        if not open_ended:
            wrong += [f"{name}: {role}" for role in roles if role not in parameters]
        if fact.model not in MODELS:
            wrong.append(f"{name}: model {fact.model}")
        if fact.model == "stage" or fact.result not in WRAPPED_RESULTS:
            wrong += [f"{name}: {problem}" for problem in problems_of(fact.result, parameters)]
        wrong += [f"{name}: {problem}" for passed in fact.passes for problem in problems_of(passed, parameters)]
        if fact.omnistaging and fact.tracing == "concrete":
            wrong.append(f"{name}: omnistaging with concrete tracing")
    assert wrong == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_facts_stand_under_canonical_names(library: str) -> None:
    table = load().table(library)
    names = [*table.functions, *table.transforms, *table.classes, *table.constants, *table.namespaces]
    assert [(name, load().canonical(name)) for name in names if load().canonical(name) != name] == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_names_stand_in_the_table_of_their_library(library: str) -> None:
    if library == "python":
        pytest.skip("the standard library has many roots")
    table = load().table(library)
    names = [*table.functions, *table.transforms, *table.classes, *table.constants, *table.namespaces, *table.aliases]
    assert [name for name in names if name.partition(".")[0] != library] == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_aliases_end(library: str) -> None:
    for alias in load().table(library).aliases:
        load().canonical(alias)


@pytest.mark.parametrize("library", LIBRARIES)
def test_bases_and_equivalents_exist(library: str) -> None:
    table = load().table(library)
    bases = {base for fact in table.classes.values() for base in fact.base if not base.startswith("functools.")}
    assert sorted(base for base in bases if load().class_(base) is None) == []
    names = {fact.equivalent for fact in table.functions.values() if fact.equivalent}
    assert sorted(name for name in names if load().function(name) is None and load().transform(name) is None) == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_named_tuples_have_an_order_for_their_fields(library: str) -> None:
    for name, fact in load().table(library).classes.items():
        if fact.order and fact.fields and fact.namedtuple:
            assert set(fact.fields) <= set(fact.order), name


@pytest.mark.parametrize("library", LIBRARIES)
def test_key_effects_come_with_a_key(library: str) -> None:
    for name, fact in functions_of(library):
        assert (fact.key is None) == (fact.key_effect in (None, "make")), name
