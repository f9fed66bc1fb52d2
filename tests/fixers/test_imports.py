"""Spelling library functions, and where a missing import goes."""

from __future__ import annotations

import pytest

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.core.style import CodeStyle
from flake8_jax.fixers._imports import Imports, in_order
from flake8_jax.fixers._source import FixSource, Refused, walk
from flake8_jax.fixers.unneeded_imports import unneeded_imports
from flake8_jax.syntax.edits import apply_edits
from flake8_jax.syntax.lower import lower


def spelled(text: str, qualified: str) -> tuple[str, str]:
    """How the name is written at ``HERE``, and the text with the imports that it takes."""
    source = FixSource("example.py", text, lower(text))
    here = next(n for n in walk(source.module) if isinstance(n, ir.Name) and n.id == "HERE")
    imports = Imports(source, here)
    return imports.spell(qualified), apply_edits(text, imports.edits)


@pytest.mark.parametrize(
    ("imports", "spelling"),
    [
        ("import jax.numpy as jnp", "jnp.sin"),
        ("import jax.numpy as np", "np.sin"),
        ("from jax import numpy", "numpy.sin"),
        ("from jax import numpy as xp", "xp.sin"),
        ("from jax.numpy import sin", "sin"),
        ("from jax.numpy import sin as sine", "sine"),
    ],
)
def test_the_files_own_names_are_used(imports: str, spelling: str) -> None:
    text = f"{imports}\nHERE\n"
    assert spelled(text, "jax.numpy.sin") == (spelling, text)


@pytest.mark.parametrize(
    ("imports", "spelling", "after"),
    [
        ("from jax.lax import scan", "cond", "from jax.lax import scan\nfrom jax.lax import cond"),
        ("from jax.lax import scan  # why", "cond", "from jax.lax import scan  # why\nfrom jax.lax import cond"),
        ("from jax.lax import scan\ncond = 1", "jax.lax.cond", "import jax\nfrom jax.lax import scan\ncond = 1"),
        ("from jax import vmap", "jax.lax.cond", "import jax\nfrom jax import vmap"),
    ],
)
def test_a_name_joins_those_of_its_module(imports: str, spelling: str, after: str) -> None:
    assert spelled(f"{imports}\nHERE\n", "jax.lax.cond") == (spelling, f"{after}\nHERE\n")


def test_a_name_that_python_has_joins_nothing() -> None:
    text = "import jax\nfrom jax.numpy import sin\nHERE\n"
    assert spelled(text, "jax.numpy.max")[0] == "jnp.max"


@pytest.mark.parametrize("use", ["HERE", "@HERE\ndef f(): pass", "def f():\n    HERE"])
def test_what_is_imported_below_spells_nothing(use: str) -> None:
    """A cell of a notebook may run before the cell with that import."""
    text = f"import jax\n{use}\nfrom jax.sharding import Mesh\n"
    assert spelled(text, "jax.sharding.Mesh") == ("jax.sharding.Mesh", text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("HERE\n", "import jax.numpy as jnp\n\nHERE\n"),
        ("# licence\n\nHERE\n", "# licence\n\nimport jax.numpy as jnp\n\nHERE\n"),
        ('"""Doc."""\nHERE\n', '"""Doc."""\n\nimport jax.numpy as jnp\nHERE\n'),
        (
            "from __future__ import annotations\nHERE\n",
            "from __future__ import annotations\n\nimport jax.numpy as jnp\nHERE\n",
        ),
        ("import jax\nHERE\n", "import jax\nimport jax.numpy as jnp\nHERE\n"),
        (
            "import numpy\nimport jax.scipy\nfrom jax import jit\nimport flax\nHERE\n",
            "import numpy\nimport jax.numpy as jnp\nimport jax.scipy\nfrom jax import jit\nimport flax\nHERE\n",
        ),
        ("import os\nimport numpy as np\nHERE\n", "import os\nimport jax.numpy as jnp\nimport numpy as np\nHERE\n"),
        ("import os  # a\n\nHERE\n", "import os  # a\n\nimport jax.numpy as jnp\n\nHERE\n"),
        ("import os\r\nimport sys\r\nHERE\r\n", "import os\r\nimport sys\r\n\r\nimport jax.numpy as jnp\r\nHERE\r\n"),
        (
            "try:\n    import a\nexcept ImportError:\n    a = 1\nimport jax\n\nHERE\n",
            "try:\n    import a\nexcept ImportError:\n    a = 1\nimport jax\nimport jax.numpy as jnp\n\nHERE\n",
        ),
        ("print(1)\nHERE\nimport jax\n", "import jax.numpy as jnp\n\nprint(1)\nHERE\nimport jax\n"),
        (
            "import jax\n# about numpy\nimport numpy\nHERE\n",
            "import jax\nimport jax.numpy as jnp\n# about numpy\nimport numpy\nHERE\n",
        ),
        (
            "import os\n\n# third parties\nimport numpy\nHERE\n",
            "import os\n\n# third parties\nimport jax.numpy as jnp\nimport numpy\nHERE\n",
        ),
        (
            "import jax\nimport optax\nimport flax\nHERE\n",
            "import jax\nimport jax.numpy as jnp\nimport optax\nimport flax\nHERE\n",
        ),
        ("# %%\nx = 1\n# %%\nimport jax\nHERE\n", "# %%\nx = 1\n# %%\nimport jax\nimport jax.numpy as jnp\nHERE\n"),
        ("# %%\nx = 1\n# %%\nimport numpy\nHERE\n", "# %%\nx = 1\n# %%\nimport jax.numpy as jnp\nimport numpy\nHERE\n"),
        (
            "import jax\nfrom jax import vmap\nfrom jax.nn import relu\nfrom jax.experimental import stax\nHERE\n",
            "import jax\nimport jax.numpy as jnp\nfrom jax import vmap\nfrom jax.nn import relu\n"
            "from jax.experimental import stax\nHERE\n",
        ),
        (
            "import flax\nimport dm_pix\nfrom jax import vmap\nfrom jax import nn\nHERE\n",
            "import flax\nimport dm_pix\nimport jax.numpy as jnp\nfrom jax import vmap\nfrom jax import nn\nHERE\n",
        ),
        ("from . import x\nHERE\n", "import jax.numpy as jnp\n\nfrom . import x\nHERE\n"),
        ("@HERE\ndef f(): pass\n", "import jax.numpy as jnp\n\n\n@HERE\ndef f(): pass\n"),
    ],
)
def test_a_missing_import_goes_where_it_belongs(before: str, after: str) -> None:
    assert spelled(before, "jax.numpy.sin") == ("jnp.sin", after)


def test_a_shadowed_name_is_not_used() -> None:
    text = "import jax.numpy as jnp\ndef f(jnp):\n    return HERE\n"
    with pytest.raises(Refused):
        spelled(text, "jax.numpy.sin")


def test_another_name_serves_where_one_is_shadowed() -> None:
    text = "import jax\nimport jax.numpy as jnp\ndef f(jnp):\n    return HERE\n"
    assert spelled(text, "jax.numpy.sin") == ("jax.numpy.sin", text)


def test_a_rebound_module_name_is_not_trusted() -> None:
    text = "import jax\nimport jax.numpy as jnp\njnp = None\nHERE\n"
    assert spelled(text, "jax.numpy.sin") == ("jax.numpy.sin", text)


def test_an_import_in_the_function_counts_behind_it() -> None:
    text = "import jax\ndef f(x):\n    from jax import lax\n    return HERE\n"
    assert spelled(text, "jax.lax.cond") == ("lax.cond", text)


def test_standard_library_modules_come_first() -> None:
    text = "import jax\nHERE\n"
    assert spelled(text, "math.prod") == ("math.prod", "import math\n\nimport jax\nHERE\n")


def blocks_in_order(before: str, after: str) -> str:
    """The text ``after`` a fix of the imports of ``before``, put in order."""
    source = FixSource("example.py", before, lower(before))
    edits = in_order(source, (Edit(0, len(before), after),))
    return apply_edits(before, edits)


@pytest.mark.parametrize(
    ("before", "after", "ordered"),
    [
        (
            "import jax\nfrom jax import tree_map, vmap\n",
            "import jax\nfrom jax.tree import map as tree_map\nfrom jax import vmap\n",
            "import jax\nfrom jax import vmap\nfrom jax.tree import map as tree_map\n",
        ),
        (
            "from jax import config\nfrom jax.b import c\n",
            "from jax import config\nfrom jax import B, a\n",
            "from jax import B, a, config\n",
        ),
        (
            "from b import c\nfrom a import d\n",
            "from b import d\nfrom a import d\n",
            "from b import d\nfrom a import d\n",
        ),
    ],
    ids=["moved", "merged", "never in order"],
)
def test_imports_that_a_fix_renames_stay_in_order(before: str, after: str, ordered: str) -> None:
    assert blocks_in_order(before, after) == ordered


@pytest.mark.parametrize(
    ("rest", "goes"),
    [
        ('print("benefit from pmap: none")', True),
        ('print(f"{n} devices for pmap")', True),
        ('"""About pmap."""', True),
        ('def f(g: "pmap"): ...', False),
        ('globals()["pmap"](g)', False),
        ('run("  pmap(g)(x)")', False),
        ('eval(f"pmap({g}) + {h}")', False),
    ],
)
def test_an_unneeded_import_goes_unless_code_in_a_string_may_read_it(rest: str, goes: bool) -> None:
    imports, after = "import jax\nfrom jax import pmap\n", f"jax.jit(g)\n{rest}\n"
    edits = unneeded_imports("example.py", f"{imports}pmap(g)\n{rest}\n", imports + after, (), CodeStyle())
    assert apply_edits(imports + after, edits) == ("import jax\n" + after if goes else imports + after)


@pytest.mark.parametrize(
    ("imports", "other", "left"),
    [
        ("from jax import core, dtypes\n", "", "from jax import dtypes\n"),
        ("from jax import core, dtypes\n", "from lib import core\n", "from jax import core, dtypes\n"),
        ("from jax import core, dtypes\n", "from . import core\n", "from jax import core, dtypes\n"),
        ("import math as core\n", "", "import math as core\n"),
    ],
)
def test_a_package_keeps_what_others_may_take_from_it(imports: str, other: str, left: str) -> None:
    rest = "f(dtypes)\n"
    edits = unneeded_imports("lib/__init__.py", f"{imports}core.g()\n{rest}", imports + rest, [other], CodeStyle())
    assert apply_edits(imports + rest, edits) == left + rest
