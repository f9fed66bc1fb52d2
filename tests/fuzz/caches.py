"""Caches: entries that were damaged, cut, swapped, or that are something else than a file. Answers stay the same."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from fuzz import running, seeds
from fuzz.case import Broken, Case, Kind, Outcome
from fuzz.judging import command

_CHECK = ("check", "--select", "ALL", "--preview", "--unsafe-fixes", "--jobs", "1", "--output-format", "json", ".")


def _flip(rng: random.Random, path: Path, others: list[Path]) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 1, 8))):
        if data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def _cut(rng: random.Random, path: Path, others: list[Path]) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: rng.randrange(len(data) + 1)])


def _swap(rng: random.Random, path: Path, others: list[Path]) -> None:
    other = rng.choice([one for one in others if one.parent.parent == path.parent.parent] or others)
    if other.is_file():
        first, second = path.read_bytes(), other.read_bytes()
        path.write_bytes(second)
        other.write_bytes(first)


def _rubbish(rng: random.Random, path: Path, others: list[Path]) -> None:
    noise = bytes(rng.randrange(256) for _ in range(300))
    path.write_bytes(rng.choice((b"", b"\x00" * 64, b"\x90" * 100_000, b"\xc1" * 40, noise)))


def _fifo(rng: random.Random, path: Path, others: list[Path]) -> None:
    path.unlink()
    os.mkfifo(path)


def _link(rng: random.Random, path: Path, others: list[Path]) -> None:
    path.unlink()
    path.symlink_to(rng.choice((path, Path("/dev/zero"), Path("/nowhere"), *others)))


def _folder(rng: random.Random, path: Path, others: list[Path]) -> None:
    path.unlink()
    path.mkdir()


def _no_folder(rng: random.Random, path: Path, others: list[Path]) -> None:
    above = path.parent
    shutil.rmtree(above)
    above.write_bytes(b"")


SPOILERS: tuple[Callable[[random.Random, Path, list[Path]], None], ...] = (
    _flip, _flip, _cut, _swap, _swap, _rubbish, _fifo, _link, _folder, _no_folder,
)  # fmt: skip


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def generate(rng: random.Random, number: int) -> Case:
    project = rng.choice([one for one in seeds.projects() if "import jax" in "".join(one.values())])
    other = rng.choice(seeds.texts())
    files = {f"p/{name}": text.encode("utf-8") for name, text in project.items()}
    return Case({**files, "p/other_one.py": other.encode("utf-8"), "seed": str(number).encode()})


def judge(case: Case) -> Outcome:
    rng = random.Random(case.files.get("seed", b"0").decode("utf-8", "replace"))
    with tempfile.TemporaryDirectory() as made:
        case.write(Path(made))
        folder = Path(made) / "p"
        folder.mkdir(exist_ok=True)
        (folder / ".git").mkdir(exist_ok=True)
        for path in folder.rglob("*.py"):
            os.utime(path, (1_000_000_000, 1_000_000_000))  # or what was seen of it would not count the next time
        bare = command(folder, *_CHECK, "--no-cache")
        if command(folder, *_CHECK) != bare or command(folder, *_CHECK) != bare:
            raise Broken("a cache changes the answer")
        spoiled = []
        for _ in range(rng.choice((1, 2, 5))):
            entries = [path for path in sorted((folder / ".jaxlint_cache").rglob("*")) if _is_plain(path)]
            if entries:
                path, spoiler = rng.choice(entries), rng.choice(SPOILERS)
                spoiler(rng, path, entries)
                spoiled.append(f"{spoiler.__name__} {path.relative_to(folder)}")
        for _ in range(2):
            status, out, err = command(folder, *_CHECK)
            if (status, out) != bare[:2]:
                raise Broken("a spoiled cache changes the answer", f"{spoiled}\n{err}\n{out}\n####\n{bare[1]}")
        texts = {path: path.read_bytes() for path in folder.rglob("*.py") if ".jaxlint_cache" not in path.parts}
        command(folder, *_CHECK, "--fix")
        fixed = {path: path.read_bytes() for path in texts}
        for path, data in texts.items():
            path.write_bytes(data)
        command(folder, *_CHECK, "--fix", "--no-cache")
        if {path: path.read_bytes() for path in texts} != fixed:
            raise Broken("a spoiled cache changes what is fixed", str(spoiled))
        command(folder, "clean")
        return Counter({("clean", "findings", "wrong")[status]: 1})


KIND = Kind("caches", generate, judge, wall=60)


def run(seed: int, count: int) -> dict[str, int]:
    return running.run("caches", seed, count)
