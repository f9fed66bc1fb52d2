"""From the bytes of files to their lowered form: reading, decoding, lowering, on several processes where it pays.

Vocabulary
----------
problem   why a file has no lowered form: it cannot be decoded or does not parse. Row and column are 1-based.
lowered   the lowered form of one text, or the problem, or the traceback where lowering itself failed.

Texts are distinguished by their digest; where a file stands plays no part. No other module of the pipeline
starts processes.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.cells import SUFFIX
from flake8_jax.core.children import end_with_parent, starting
from flake8_jax.core.reading import NO_LIMITS, SizeLimits, TooLarge, read_regular
from flake8_jax.core.stack import StackError, on_stack
from flake8_jax.pipeline.cache import Cache, decoded, encoded_module

_WORTH_A_POOL = 300_000
"""Characters to lower from which starting processes costs less than it saves (about half a second of parsing)."""

_STACK = 128 << 20
"""Bytes of stack for lowering one file after the other; a file that might need more gets a stack of its own."""
_BATCH = 4
"""Files that a process lowers for one message."""

Result = TypeVar("Result")
Progress = Callable[[int, int], None]


class Problem(msgspec.Struct, frozen=True, array_like=True):
    """What is wrong with a file, in a sentence, and where (1-based, columns in code points)."""

    message: str
    row: int = 1
    column: int = 1


class Lowered(msgspec.Struct, frozen=True):
    """Exactly one of the first three is set; ``crash`` is a traceback. stored: whether it comes from the cache."""

    module: ir.Module | None = None
    problem: Problem | None = None
    crash: str | None = None
    stored: bool = False


class _Sent(msgspec.Struct, array_like=True):
    """What a worker sends back. All None: the module is too deep to be sent, lower it here."""

    payload: bytes | None = None
    problem: Problem | None = None
    crash: str | None = None


def read_text(path: str, limits: SizeLimits = NO_LIMITS) -> tuple[str, Problem | None]:
    """The decoded text of a regular file (without byte-order mark), or "" and the problem.

    Raises OSError, which for a file beyond the limits is TooLarge.
    """
    from flake8_jax.pipeline.notebooks import CellsTooLarge

    data = read_regular(path, limits.notebook if path.endswith(SUFFIX) else limits.source)
    try:
        return decode_text(data, path, limits.source)
    except CellsTooLarge as error:
        raise TooLarge(path, limits.source, "bytes of code") from error


def decode_text(data: bytes, path: str = "", limit: int | None = None) -> tuple[str, Problem | None]:
    """The text of these bytes of source, or of the notebook that the path says they are; else "" and the problem.

    Raises CellsTooLarge for a notebook with more than ``limit`` bytes of code.
    """
    from flake8_jax.pipeline.notebooks import NotebookError, text_of, text_of_script
    from flake8_jax.syntax.errors import SourceError
    from flake8_jax.syntax.source import decode

    try:
        text = decode(data).text
        return (text_of(text, limit) if path.endswith(SUFFIX) else text_of_script(text)), None
    except NotebookError as error:
        return "", Problem(str(error))
    except SourceError as error:
        return "", Problem(
            f"{error.message}; {error.remedy[0].lower()}{error.remedy[1:].removesuffix('.')}"
            if error.remedy
            else error.message,
            error.row,
        )


def lower_text(text: str) -> Lowered:
    """Lower one text in this process."""
    from flake8_jax.syntax.errors import SyntaxProblem
    from flake8_jax.syntax.lower import lower

    try:
        return Lowered(module=lower(text))
    except SyntaxProblem as error:
        return Lowered(problem=Problem(error.message, error.row, error.column))
    except Exception:  # the outermost boundary: a defect of ours in one file must not hide the others
        return Lowered(crash=traceback.format_exc())


def copied(module: ir.Module, text: str) -> ir.Module:
    """The same file once more, in nodes of its own. ``text``: what it was lowered from."""
    payload = encoded_module(module)
    made = decoded(payload, msgspec.msgpack.Decoder(ir.Module)) if payload is not None else lower_text(text).module
    return made if made is not None else module


def _lower_batch_remotely(texts: Sequence[str]) -> list[_Sent]:
    return _on_one_stack(lambda: [_lower_remotely(text) for text in texts])


def _lower_remotely(text: str) -> _Sent:
    result = lower_text(text)
    if result.module is None:
        return _Sent(None, result.problem, result.crash)
    return _Sent(encoded_module(result.module))


def lower_all(
    texts: Mapping[str, str],
    cache: Cache,
    jobs: int,
    progress: Progress | None = None,
    *,
    refresh: Collection[str] = frozenset(),
) -> dict[str, Lowered]:
    """The lowered form of each text, by digest; out of the cache where it is, into it where it was not.

    ``refresh``: digests of texts that are lowered whatever the cache says.
    """
    report = progress if progress is not None else _silent
    found: dict[str, Lowered] = {}
    missing: dict[str, str] = {}
    for key, text in texts.items():
        module = cache.load_module(key) if key not in refresh else None
        if module is not None:
            found[key] = Lowered(module=module, stored=True)
        else:
            missing[key] = text
    usable = usable_processes(jobs)
    # A single large file goes to a process as well: the parser handles no signal, and the process that waits for it does.
    if usable > 1 and sum(map(len, missing.values())) >= _WORTH_A_POOL:
        found.update(_lower_in_pool(missing, cache, min(usable, len(missing)), report))
    else:
        _on_one_stack(lambda: _lower_here(missing, cache, found, report))
    if missing:
        report(len(missing), len(missing))
    return found


def _on_one_stack(work: Callable[[], Result]) -> Result:
    """Where the system refuses such a stack, each file gets one of the size that it needs."""
    try:
        return on_stack(_STACK, work)
    except StackError:
        return work()


def _lower_here(texts: Mapping[str, str], cache: Cache, found: dict[str, Lowered], report: Progress) -> None:
    for done, (key, text) in enumerate(texts.items()):
        report(done, len(texts))
        found[key] = result = lower_text(text)
        if result.module is not None and cache.home is not None and not cache.read_only:
            _keep(cache, key, encoded_module(result.module))


def _silent(done: int, total: int) -> None:
    pass


def usable_processes(jobs: int) -> int:
    """``jobs``, or every processor for 0; a daemonic process may not have children of its own."""
    if multiprocessing.current_process().daemon:
        return 1
    return jobs or os.cpu_count() or 1


def _keep(cache: Cache, key: str, payload: bytes | None) -> None:
    if payload is not None:
        cache.write("ir", key, payload)


def _lower_in_pool(texts: Mapping[str, str], cache: Cache, workers: int, report: Progress) -> dict[str, Lowered]:
    decoder = msgspec.msgpack.Decoder(ir.Module)
    found: dict[str, Lowered] = {}
    # The largest first: the last file to finish decides how long all of it takes.
    keys = sorted(texts, key=lambda key: -len(texts[key]))
    batches = [keys[first : first + _BATCH] for first in range(0, len(keys), _BATCH)]
    with _pool(workers) as pool:
        try:
            # Not `map`: it cancels what is left if we are interrupted, and the pool's thread complains of that when it ends.
            with starting():
                results = [pool.submit(_lower_batch_remotely, [texts[key] for key in batch]) for batch in batches]
            results.reverse()
            for batch in batches:
                lowered = results.pop().result()  # what was received is let go
                report(len(found), len(keys))
                for key, sent in zip(batch, lowered):
                    found[key] = _received(sent, texts[key], decoder)
                    _keep(cache, key, sent.payload)
        except BrokenProcessPool:
            pass  # the files that are left are lowered one by one below, and the one that did it is named
    for key in keys:
        if key not in found:
            found[key] = _lower_alone(texts[key], decoder)
    return found


@contextlib.contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with the block: with their work if it ends well, at once if an exception or a signal ends it."""
    others = multiprocessing.active_children()
    with starting():
        made = ProcessPoolExecutor(workers, initializer=_begin_worker)
    with made as pool:
        try:
            yield pool
        except BaseException:
            for child in multiprocessing.active_children():
                if child not in others:
                    child.kill()
            raise


def _begin_worker() -> None:
    gc.disable()
    end_with_parent()


def _received(sent: _Sent, text: str, decoder: msgspec.msgpack.Decoder[ir.Module]) -> Lowered:
    if sent.problem is not None or sent.crash is not None:
        return Lowered(problem=sent.problem, crash=sent.crash)
    module = decoded(sent.payload, decoder) if sent.payload is not None else None
    return Lowered(module=module) if module is not None else lower_text(text)


def _lower_alone(text: str, decoder: msgspec.msgpack.Decoder[ir.Module]) -> Lowered:
    """Lower in a process of its own, which may die of it."""
    with _pool(1) as pool:
        try:
            with starting():
                result = pool.submit(_lower_remotely, text)
            return _received(result.result(), text, decoder)
        except BrokenProcessPool as error:
            return Lowered(crash=f"the parser's process died: {error}")
