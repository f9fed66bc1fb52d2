"""Which answer is reported when: with whole answers that come when the test says so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from e2e.projects import write_project

pytest.importorskip("pygls", reason="the extra `server` is not installed")

from lsprotocol import types

from flake8_jax.core.report import Diagnostic
from flake8_jax.server import schedule
from flake8_jax.server.checker import Focused, FocusedChecker, Setup, Snapshot, Whole, WholeChecker
from flake8_jax.server.documents import Buffer, Documents
from flake8_jax.server.schedule import Listeners, Schedule
from flake8_jax.server.worker import Interrupted, Running, WorkerFailed

from .conftest import BRANCH

CLEAN = "import jax\n\n\n@jax.jit\ndef step(x):\n    return x\n"


class _Later:
    """Whole answers that are given when somebody says so. It is asked as the process in the background is."""

    def __init__(self) -> None:
        self.questions: list[tuple[Setup, Snapshot, Future[Whole]]] = []
        self.running: Running | None = None
        self.interrupted = 0

    def ask(self, setup: Setup, snapshot: Snapshot, **rest: Any) -> Future[Whole]:
        self.questions.append((setup, snapshot, Future()))
        self.running = Running(self.questions[-1][2], since=time.monotonic())
        return self.questions[-1][2]

    def interrupt(self, running: Running) -> bool:
        self.interrupted += 1
        self.running = None
        running.answer.set_exception(Interrupted())
        self.questions.pop(0)
        return True

    def fail(self, error: Exception) -> None:
        self.questions.pop(0)[2].set_exception(error)

    def answer(self, change: Callable[[Whole], Whole] = lambda whole: whole) -> None:
        setup, snapshot, future = self.questions.pop(0)
        future.set_result(change(WholeChecker(setup).answer(snapshot, False)))

    def stop(self) -> None:
        for _, _, future in self.questions:
            future.cancel()


class _Here:
    """Focused answers from a thread of this process. It is asked as a worker is."""

    def __init__(self) -> None:
        self.running: Running | None = None
        self.interrupted: list[Running] = []
        self._thread = ThreadPoolExecutor(1)
        self._checker: tuple[Setup, FocusedChecker] | None = None

    def start(self) -> None:
        pass

    def ask(self, setup: Setup, work: Callable[[FocusedChecker], Any], about: str, **rest: Any) -> Future[Any]:
        return self._thread.submit(self._answer, setup, work, rest.get("wanted", lambda: True))

    def _answer(self, setup: Setup, work: Callable[[FocusedChecker], Any], wanted: Callable[[], bool]) -> Any:
        if not wanted():
            raise Interrupted()
        if self._checker is None or self._checker[0] != setup:
            self._checker = (setup, FocusedChecker(setup))
        return work(self._checker[1])

    def interrupt(self, running: Running) -> bool:
        self.interrupted.append(running)
        self.running = None
        return True

    def stop(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


class _Published:
    def __init__(self) -> None:
        self.shown: list[tuple[int, list[str]]] = []
        self.finished: list[bool] = []
        self.trouble: list[str] = []

    def show(self, buffer: Buffer, said: tuple[Diagnostic, ...]) -> None:
        self.shown.append((buffer.version, [item.code for item in said]))

    async def busy(self, work: Any) -> None:
        await work

    def listeners(self) -> Listeners:
        return Listeners(
            self.show, self.finished.append, lambda text, for_user: self.trouble.append(text), self.busy, lambda: None
        )


def _session(directory: Path, text: str, work: Callable[[Schedule, _Later, _Published, str], Any]) -> _Published:
    root = write_project(directory, {"a.py": text})

    async def run() -> _Published:
        documents, later, published = Documents(str(root), "utf-16"), _Later(), _Published()
        setup = Setup(str(root), b'{"cache": false}')
        plan = Schedule(documents, setup, published.listeners(), later, _Here())  # type: ignore[arg-type]
        plan.debounce = 0.01
        try:
            uri = (root / "a.py").as_uri()
            plan.opened(documents.open(types.TextDocumentItem(uri, "python", 1, text)))
            await asyncio.wait_for(work(plan, later, published, uri), 40)
        finally:
            plan.stop()
        return published

    return asyncio.run(run())


async def _until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.01)


def _typed(plan: Schedule, uri: str, version: int, text: str) -> None:
    change = types.TextDocumentContentChangeWholeDocument(text)
    identifier = types.VersionedTextDocumentIdentifier(version, uri)
    buffer = plan.documents.change(types.DidChangeTextDocumentParams(identifier, [change]))
    assert buffer is not None
    plan.changed(buffer)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "EARLY", 0.01)


def test_findings_are_shown_before_the_first_whole_answer(tmp_path: Path) -> None:
    async def work(plan: Schedule, later: _Later, published: _Published, uri: str) -> None:
        await _until(lambda: bool(published.shown))
        waiting = asyncio.ensure_future(plan.settled(uri))
        await asyncio.sleep(0.05)
        assert not waiting.done(), "who asks waits for the whole answer"
        later.answer()
        assert [item.code for item in await waiting] == ["JAX101"]

    assert _session(tmp_path, BRANCH, work).shown == [(1, ["JAX101"]), (1, ["JAX101"])]


def test_that_nothing_was_found_is_reported_by_the_whole_answer_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[Focused] = []
    look = FocusedChecker.answer

    def watched(checker: FocusedChecker, **arguments: Any) -> Focused:
        answers.append(look(checker, **arguments))
        return answers[-1]

    monkeypatch.setattr(FocusedChecker, "answer", watched)

    async def work(plan: Schedule, later: _Later, published: _Published, uri: str) -> None:
        await _until(lambda: bool(answers))
        await asyncio.sleep(0)
        assert published.shown == []
        later.answer()
        await plan.settled(uri)

    assert _session(tmp_path, CLEAN, work).shown == [(1, [])]


def test_what_is_typed_before_the_first_whole_answer_is_looked_at(tmp_path: Path) -> None:
    async def work(plan: Schedule, later: _Later, published: _Published, uri: str) -> None:
        _typed(plan, uri, 2, BRANCH)
        await _until(lambda: (2, ["JAX101"]) in published.shown)

    assert _session(tmp_path, CLEAN, work).shown == [(2, ["JAX101"])]


def test_an_answer_to_an_earlier_text_is_not_shown(tmp_path: Path) -> None:
    async def work(plan: Schedule, later: _Later, published: _Published, uri: str) -> None:
        await _until(lambda: bool(later.questions))
        _typed(plan, uri, 2, BRANCH)
        later.answer()
        await _until(lambda: bool(published.shown))

    assert all(version == 2 for version, _ in _session(tmp_path, CLEAN, work).shown)


def test_a_text_that_was_closed_and_opened_again_gets_no_answer_of_before(tmp_path: Path) -> None:
    async def work(plan: Schedule, later: _Later, published: _Published, uri: str) -> None:
        await _until(lambda: bool(later.questions))
        old = plan.documents.close(uri)
        assert old is not None
        plan.closed(old)
        plan.opened(plan.documents.open(types.TextDocumentItem(uri, "python", old.version, CLEAN)))
        published.shown.clear()
        later.answer()
        assert await plan.settled(uri) == ()

    assert ["JAX101"] not in [codes for _, codes in _session(tmp_path, BRANCH, work).shown]


def test_whoever_asked_for_a_focused_answer_learns_that_the_whole_one_says_more(tmp_path: Path) -> None:
    async def work(plan: Schedule, later: _Later, published: _Published, uri: str) -> None:
        await _until(lambda: bool(later.questions))
        later.answer()
        await plan.settled(uri)
        _typed(plan, uri, 2, f"{BRANCH}\n\nprint(step)\n")
        assert [item.code for item in await plan.settled(uri)] == ["JAX101"]
        said = plan.whole.diagnostics
        await _until(lambda: bool(later.questions))
        published.finished.clear()
        later.answer(lambda whole: replace(whole, diagnostics={path: found * 2 for path, found in said.items()}))
        await _until(lambda: bool(published.finished))
        assert published.finished == [True]

    _session(tmp_path, BRANCH, work)


@pytest.mark.parametrize("answered", [True, False])
def test_what_was_typed_and_thrown_away_is_nothing_to_anyone(answered: bool, tmp_path: Path) -> None:
    async def work(plan: Schedule, later: _Later, published: _Published, uri: str) -> None:
        _typed(plan, uri, 2, BRANCH)
        await _until(lambda: bool(later.questions))
        later.answer()
        await _until(lambda: bool(later.questions))
        if answered:
            later.answer()
            await _until(lambda: bool(plan.whole.diagnostics))
        buffer = plan.documents.close(uri)
        assert buffer is not None
        plan.closed(buffer)
        if not answered:
            later.answer()
        assert (await asyncio.wait_for(plan.idle(), 5)).diagnostics == {}

    _session(tmp_path, CLEAN, work)


def test_nothing_is_looked_at_after_the_end(tmp_path: Path) -> None:
    async def work(plan: Schedule, later: _Later, published: _Published, uri: str) -> None:
        failures: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: failures.append(context))
        _typed(plan, uri, 2, BRANCH)
        plan.stop()
        await asyncio.sleep(0.6)
        assert not failures

    _session(tmp_path, CLEAN, work)


def test_an_editor_that_never_agrees_to_show_progress_gets_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(published: _Published, work: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(_Published, "busy", busy)

    async def work(plan: Schedule, later: _Later, published: _Published, uri: str) -> None:
        await _until(lambda: bool(later.questions))
        later.answer()
        await plan.settled(uri)

    assert _session(tmp_path, CLEAN, work).shown == [(1, [])]


LONG = CLEAN + "".join(f"x{number} = {number}\n" for number in range(3000))


def test_a_whole_analysis_of_a_long_text_that_was_replaced_is_given_up(tmp_path: Path) -> None:
    async def work(plan: Schedule, later: _Later, published: _Published, uri: str) -> None:
        await _until(lambda: bool(later.questions))
        _typed(plan, uri, 2, BRANCH)
        await _until(lambda: later.interrupted == 1)
        await _until(lambda: bool(later.questions))
        assert list(later.questions[0][1].texts.values()) == [BRANCH]
        later.answer()
        assert [item.code for item in await plan.settled(uri)] == ["JAX101"]

    assert (2, ["JAX101"]) in _session(tmp_path, LONG, work).shown


@pytest.mark.parametrize("patience", [0.5, 60.0])
def test_a_whole_analysis_of_almost_the_same_text_may_go_on_for_a_while(
    patience: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "_FIRST_PATIENCE", patience)

    async def work(plan: Schedule, later: _Later, published: _Published, uri: str) -> None:
        await _until(lambda: bool(later.questions))
        _typed(plan, uri, 2, LONG + "y = 1\n")
        await asyncio.sleep(0.8)
        assert later.interrupted == int(patience < 1)
        plan.want_whole(0)
        await asyncio.sleep(0.6)
        assert later.interrupted == int(patience < 1), "patience grows, so the second one is answered"
        later.answer()

    _session(tmp_path, LONG, work)


def test_asking_again_for_the_same_texts_interrupts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "_FIRST_PATIENCE", 0.0)

    async def work(plan: Schedule, later: _Later, published: _Published, uri: str) -> None:
        await _until(lambda: bool(later.questions))
        plan.want_whole(0)
        await asyncio.sleep(0.1)
        assert later.interrupted == 0
        later.answer()

    _session(tmp_path, CLEAN, work)


def test_what_runs_for_too_long_is_given_up_for_an_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "_NO_PATIENCE", 0.1)

    async def work(plan: Schedule, later: _Later, published: _Published, uri: str) -> None:
        await _until(lambda: plan._looked_at is not None)
        here: Any = plan.worker
        slow = here.running = Running(since=time.monotonic())
        _typed(plan, uri, 2, LONG + "y = 1\n")
        await asyncio.sleep(0.2)
        assert here.interrupted == []
        _typed(plan, uri, 3, BRANCH)
        await asyncio.sleep(0.2)
        assert here.interrupted == [slow], "nothing of that text is left"

    _session(tmp_path, LONG, work)


def test_a_whole_analysis_that_fails_is_reported_and_each_text_answered_by_itself(tmp_path: Path) -> None:
    async def work(plan: Schedule, later: _Later, published: _Published, uri: str) -> None:
        await _until(lambda: bool(later.questions))
        later.fail(WorkerFailed("checking the project of a.py failed"))
        assert [item.code for item in await plan.settled(uri)] == ["JAX101"]
        plan.want_whole(0)
        await _until(lambda: bool(later.questions))
        later.fail(WorkerFailed("checking the project of a.py failed"))
        await asyncio.sleep(0.1)

    assert _session(tmp_path, BRANCH, work).trouble == ["checking the project of a.py failed"]


def test_who_waits_for_a_text_that_is_opened_a_second_time_waits_for_that(tmp_path: Path) -> None:
    async def work(plan: Schedule, later: _Later, published: _Published, uri: str) -> None:
        waiting = asyncio.ensure_future(plan.settled(uri))
        await asyncio.sleep(0)
        plan.opened(plan.documents.open(types.TextDocumentItem(uri, "python", 1, BRANCH)))
        await _until(lambda: bool(later.questions))
        later.answer()
        await _until(lambda: bool(later.questions))
        later.answer()
        assert [item.code for item in await asyncio.wait_for(waiting, 20)] == ["JAX101"]

    _session(tmp_path, CLEAN, work)
