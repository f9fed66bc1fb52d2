"""Notebooks: real programs in cells, in JSON whose structure was changed. Fixing touches the sources of code cells alone."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from fuzz import running, seeds
from fuzz.case import Broken, Case, Kind, Outcome
from fuzz.judging import command
from fuzz.programs import mutated

_OTHERS: tuple[Any, ...] = (
    None, True, 0, -1, 10**30, 1e308, float("nan"), "", "x", "import jax\n", [], [None], [[]], {}, {"": {}},
    {"cells": []}, ["a\n", 1], "\ud800", "\x00", "# %% [jaxlint]", [["a"]], "code", "python", "\x1b[2J", "a" * 10_000,
)  # fmt: skip
_MAGICS = (
    "%matplotlib inline\n", "%%bash\nls\n", "!ls\n", "x = !ls\n", "x = %time 1\n", "?x\n", "x?\n", "%%time\n", "%%\n",
    "%", "!", "get_ipython()\n", "    %indented\n", "%cd /\n", "%%writefile m.py\nimport os\n", "%run m.py\n",
    "\\\n%a\n", "(\n%a\n)\n", "'''\n%a\n'''\n", "\r%a\n", "await x\n", "return\n",
)  # fmt: skip


_BYTES = (b"\xff", b"\x00", b"\r", b"{", b"]", b'"', b"\xef\xbb\xbf")
_WHOLE = (
    b"[" * 50_000, b'{"cells":' * 3000, b'{"cells": ' + b"9" * 5000 + b"}", b"", b"null", b"[]", b'{"cells": [], "cells": 1}',
)  # fmt: skip
_OPTIONS = (
    "--isolated", "--no-cache", "--select", "ALL", "--preview", "--unsafe-fixes", "--jobs", "1", "--output-format",
)  # fmt: skip


def _cell(rng: random.Random, source: str, number: int) -> dict[str, Any]:
    lines: Any = source.splitlines(keepends=True) if rng.random() < 0.7 else source
    cell: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": lines,
    }
    if rng.random() < 0.2:
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["1.0\n", "<é\ud83d\ude00>"[:2]]}]
    if rng.random() < 0.5:
        cell["id"] = f"c{number}"
    return cell


def _notebook(rng: random.Random) -> dict[str, Any]:
    text = rng.choice(seeds.texts())
    if rng.random() < 0.3:
        text, _ = mutated(rng, text, False)
    lines = text.splitlines(keepends=True)
    cells: list[dict[str, Any]] = []
    while lines:
        size = rng.choice((1, 4, 12, 30))
        source = "".join(lines[:size])
        lines = lines[size:]
        if rng.random() < 0.2:
            source = rng.choice(_MAGICS) + source if rng.random() < 0.5 else source + rng.choice(_MAGICS)
        cells.append(_cell(rng, source, len(cells)))
        if rng.random() < 0.2:
            cells.append(
                {"cell_type": rng.choice(("markdown", "raw", "heading")), "metadata": {}, "source": ["# Text\n"]}
            )
    return {
        "cells": cells,
        "metadata": {"kernelspec": {"name": "python3", "language": "python"}, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _changed(rng: random.Random, notebook: Any) -> Any:
    """One value somewhere becomes another one, is lost, or is doubled."""
    places: list[tuple[Any, Any]] = []
    pending = [notebook]
    while pending:
        node = pending.pop()
        if isinstance(node, (dict, list)):
            for key in node if isinstance(node, dict) else range(len(node)):
                places.append((node, key))
                pending.append(node[key])
    if not places:
        return notebook
    container, key = rng.choice(places)
    roll = rng.random()
    if roll < 0.6:
        container[key] = rng.choice(_OTHERS)
    elif roll < 0.8:
        del container[key]
    elif isinstance(container, list):
        container.insert(key, container[key])
    else:
        container[rng.choice(("cells", "source", "cell_type", "metadata", "x"))] = container[key]
    return notebook


def generate(rng: random.Random, number: int) -> Case:
    notebook: Any = _notebook(rng)
    if rng.random() < 0.6:
        notebook = json.loads(json.dumps(notebook))
        for _ in range(rng.choice((1, 1, 2, 5))):
            notebook = _changed(rng, notebook)
    text = json.dumps(
        notebook, indent=rng.choice((1, 1, 1, 2, None, "\t")), ensure_ascii=rng.random() < 0.5,
        separators=rng.choice((None, (",", ":"))), sort_keys=False,
    )  # fmt: skip
    data = text.encode("utf-8", "surrogatepass") + rng.choice((b"\n", b"", b"\n\n"))
    return Case({"n.ipynb": _spoiled(rng, data)})


def _spoiled(rng: random.Random, data: bytes) -> bytes:
    roll = rng.random()
    if roll < 0.05:
        return data[: rng.randrange(len(data) + 1)]
    if roll < 0.1:
        place = rng.randrange(len(data) + 1)
        return data[:place] + rng.choice(_BYTES) + data[place:]
    if roll < 0.14:
        wide = data.decode("utf-8", "replace").encode("utf-16")
        return rng.choice((data.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + data, wide))
    return rng.choice(_WHOLE) if roll < 0.16 else data


def judge(case: Case) -> Outcome:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        case.write(folder)
        (name, before), *_ = case.files.items()
        status, _, _ = command(folder, "check", *_OPTIONS, "concise", name)
        for form in ("full", "json", "sarif", "rdjson"):
            command(folder, "check", *_OPTIONS, form, ".")
        if (folder / name).read_bytes() != before:
            raise Broken("linting changed the file")
        command(folder, "check", *_OPTIONS, "concise", name, "--fix")
        after = (folder / name).read_bytes()
        command(folder, "check", *_OPTIONS, "concise", name, "--fix")
        if (folder / name).read_bytes() != after:
            raise Broken("a second --fix changes more", repr(after))
        if after != before:
            _same_but_sources(before, after)
            return Counter(fixed=1)
        return Counter({("clean", "findings", "wrong")[status]: 1})


def _same_but_sources(before: bytes, after: bytes) -> None:
    """Raises Broken where more than sources of code cells differ, or lines other than some of those."""
    old, new = json.loads(before.decode("utf-8-sig")), json.loads(after.decode("utf-8-sig"))
    for notebook in (old, new):
        for cell in notebook["cells"]:
            if isinstance(cell, dict) and cell.get("cell_type") == "code":
                kept = cell["source"]
                cell["source"] = type(kept).__name__
    if json.dumps(old) != json.dumps(new):
        raise Broken("fixing changed more than sources", repr(after))
    lines = [Counter(data.split(b"\n")) for data in (before, after)]
    if sum((lines[0] - lines[1]).values()) > sum(lines[0].values()) / 2 + 40:
        raise Broken("fixing wrote the notebook in another layout", repr(after[:2000]))


KIND = Kind("notebooks", generate, judge)


def run(seed: int, count: int) -> dict[str, int]:
    return running.run("notebooks", seed, count)
