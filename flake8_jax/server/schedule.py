"""When what is analyzed, and what is reported of it: debounce, versions, and which answer may still be shown.

Vocabulary
----------
settled    a buffer whose present version has been answered, by a focused or a whole analysis.
quiet      the user has not typed for a while: time for a whole answer.
patience   seconds that a question may run on after a newer one has come. Then it is interrupted. Patience grows with every
           interrupt, so that one of several slow analyses is answered in the end.

An answer is reported only if the buffer still has the version that was analyzed; that is asked on the event loop, where the
editor's messages are applied as well, so nothing can come in between.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from flake8_jax.core.report import Diagnostic
from flake8_jax.server.background import Background
from flake8_jax.server.checker import (
    Focused,
    FocusedChecker,
    Setup,
    Snapshot,
    Then,
    Whole,
    carried,
    identity,
    reaching_files,
)
from flake8_jax.server.documents import Buffer, Documents
from flake8_jax.server.merging import replaced
from flake8_jax.server.worker import Interrupted, Running, Worker, WorkerFailed
from flake8_jax.settings.tables import ConfigError

QUIET = 0.4
"""Seconds without a keystroke before the whole project is checked again."""
EARLY = 1.0
"""Seconds after which the first whole answer is no longer waited for before something is shown."""
_FOCUSED_PATIENCE = (1.0, 8.0)
"""The least and the most."""
_WHOLE_PATIENCE = 3.0
"""The least. Twice as long as the last answer took, if that is more: an answer for an earlier text is still of use."""
_FIRST_PATIENCE = 20.0
"""For the first whole answer, which fills the cache."""
_NO_PATIENCE = 0.3
"""For a question about a long text that has been replaced by another one since."""
Answer = TypeVar("Answer")


class Interruptible(Protocol):
    """What runs questions that can be given up."""

    @property
    def running(self) -> Running | None: ...

    def interrupt(self, running: Running) -> bool: ...


@dataclass
class State:
    """What is known of one buffer."""

    settled: asyncio.Event = field(default_factory=asyncio.Event)
    diagnostics: tuple[Diagnostic, ...] = ()
    then: Then | None = None
    last: tuple[str, Focused] | None = None
    timer: asyncio.TimerHandle | None = None


@dataclass(frozen=True)
class Listeners:
    """Whom to tell. shown: a buffer has new diagnostics. finished: a whole answer is there. trouble: a sentence, and
    whether it is the user's to fix. busy: a whole analysis runs. learned: the records of functions are new."""

    shown: Callable[[Buffer, tuple[Diagnostic, ...]], None]
    finished: Callable[[bool], None]
    trouble: Callable[[str, bool], None]
    busy: Callable[[Awaitable[object]], Coroutine[Any, Any, None]]
    learned: Callable[[], None]


def _is_broken(said: tuple[Diagnostic, ...]) -> bool:
    """The text could not be parsed."""
    return any(item.code == "JAX001" for item in said)


class Schedule:
    """Runs analyses for the open buffers, in two processes: ``background`` for whole ones, ``worker`` for focused ones.

    Lives on the event loop.
    """

    def __init__(
        self,
        documents: Documents,
        setup: Setup,
        listeners: Listeners,
        background: Background,
        worker: Worker[FocusedChecker] | None = None,
    ) -> None:
        self.documents = documents
        self.setup = setup
        self.debounce = 0.1
        self.listeners = listeners
        self.whole = Whole()
        self.functions: Whole | None = None
        self.wants_functions = False
        self.folders: tuple[str, ...] = ()
        """What is checked even if nothing in it is open: the folders of the workspace, once a client asks for all of it."""
        self.background = background
        self.worker = worker if worker is not None else Worker(FocusedChecker, "jaxlint-focused")
        self._states: dict[str, State] = {}
        self._focused_patience = _FOCUSED_PATIENCE[0]
        self._whole_patience = _FIRST_PATIENCE
        self._asked: tuple[str, Snapshot] | None = None
        self._looked_at: Buffer | None = None
        self._active: str | None = None
        self._unsaved: set[str] = set()
        self._whole_timer: asyncio.TimerHandle | None = None
        self._whole_wanted = False
        self._whole_task: asyncio.Task[None] | None = None
        self._answered = ""
        self._disk = 0
        self._functions_of = ""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stopped = False
        self._reported: set[str] = set()

    # --- what happens in the editor --------------------------------------------------------------------

    def opened(self, buffer: Buffer) -> None:
        self._drop_state(buffer.uri)
        state = self._states[buffer.uri] = State()
        self._active = buffer.uri
        loop = asyncio.get_running_loop()
        loop.call_later(EARLY / 2, self.worker.start)
        state.timer = loop.call_later(EARLY, lambda: self._spawn(self._look(buffer.uri)))
        self.want_whole(0)

    def changed(self, buffer: Buffer) -> None:
        state = self._states.setdefault(buffer.uri, State())
        state.settled.clear()
        self._active = buffer.uri
        self._unsaved.add(buffer.uri)
        if state.timer is not None:
            state.timer.cancel()
        self._hurry_focused(buffer)
        loop = asyncio.get_running_loop()
        state.timer = loop.call_later(self.debounce, lambda: self._spawn(self._look(buffer.uri)))
        self.want_whole(self.debounce + QUIET)

    def saved(self, uri: str) -> None:
        self._unsaved.discard(uri)
        self.want_whole(0)

    def files_changed(self) -> None:
        """Files that are not open may be others than before."""
        self._disk += 1
        self.want_whole(self.debounce)

    def closed(self, buffer: Buffer) -> None:
        self._drop_state(buffer.uri)
        if buffer.uri in self._unsaved or not buffer.disk:
            self._forget_unsaved(buffer)
        self._unsaved.discard(buffer.uri)
        self._spawn(self.on_worker(partial(FocusedChecker.close, path=buffer.path), buffer.path, optional=True))
        if self._states:
            self.want_whole(QUIET)

    def _drop_state(self, uri: str) -> None:
        """Requests for this buffer end, or wait for another one that was opened under its name."""
        state = self._states.pop(uri, None)
        if state is not None:
            state.settled.set()
            if state.timer is not None:
                state.timer.cancel()

    def _forget_unsaved(self, buffer: Buffer) -> None:
        """What was said of a text that is gone. The next whole answer, if there is one, is for the file."""
        left = {path: said for path, said in self.whole.diagnostics.items() if path != buffer.path}
        self.whole = replace(self.whole, diagnostics=left)

    def reconfigured(self, setup: Setup, debounce: float) -> None:
        """Nothing that was answered before holds."""
        self.setup = replace(setup, generation=self.setup.generation + 1)
        self.debounce = debounce
        self._reported.clear()
        for state in self._states.values():
            state.settled.clear()
            state.then = state.last = None
        self.want_whole(0)

    def stop(self) -> None:
        for timer in (self._whole_timer, *(state.timer for state in self._states.values())):
            if timer is not None:
                timer.cancel()
        self._stopped = True
        self.background.stop()
        self.worker.stop()

    # --- what is known ---------------------------------------------------------------------------------

    async def settled(self, uri: str) -> tuple[Diagnostic, ...]:
        """The diagnostics of the present version of a buffer, once there are some."""
        while (state := self._states.get(uri)) is not None:
            await state.settled.wait()
            if state.settled.is_set() and self._states.get(uri) is state:
                return state.diagnostics
        return ()

    async def idle(self) -> Whole:
        """The whole answer to the texts as they are now."""
        self.want_whole(0)
        while self._whole_task is not None and not self._whole_task.done():
            await asyncio.shield(self._whole_task)
        return self.whole

    async def known_functions(self) -> Whole:
        """The records of functions: of an earlier text where the present one's are not there yet."""
        self.wants_functions = True
        if self.functions is None:
            await self.idle()
        return self.functions or Whole()

    def snapshot(self) -> Snapshot:
        unsaved = any(not buffer.disk for buffer in self.documents) or bool(self._unsaved)
        return Snapshot({buffer.path: buffer.text for buffer in self.documents}, unsaved, self.folders)

    def reaching(self, path: str) -> frozenset[str]:
        found = reaching_files(self.whole, path)
        return found | reaching_files(self.functions, path) if self.functions is not None else found

    async def on_worker(
        self,
        work: Callable[[FocusedChecker], Answer],
        path: str,
        *,
        wanted: Callable[[], bool] = lambda: True,
        optional: bool = False,
    ) -> Answer:
        """Do something with the focused checker of the child, for the buffer with this path. ``work`` can be pickled.

        optional: no request waits for it. Raises Interrupted, WorkerFailed and ConfigError.
        """
        running = self.worker.running
        if not optional and running is not None and running.optional:
            self._hurry_focused()
        began = self._focused_patience
        answer = self.worker.ask(self.setup, work, path, wanted=wanted, optional=optional)
        result = await asyncio.wrap_future(answer)
        if self._focused_patience == began:
            self._focused_patience = _FOCUSED_PATIENCE[0]
        return result

    # --- interrupts ------------------------------------------------------------------------------------

    def _hurry_focused(self, changed: Buffer | None = None) -> None:
        """Something is to be looked at now: what runs may not go on for long."""
        running, seen = self.worker.running, self._looked_at
        if running is None:
            return
        useless = changed is not None and seen is not None and seen.uri == changed.uri
        if useless and seen is not None and changed is not None and replaced(seen.text, changed.text):
            self._end_after(self.worker, running, _NO_PATIENCE, lambda: None)
        else:
            self._end_after(self.worker, running, self._focused_patience, self._lost_patience_focused)

    def _lost_patience_focused(self) -> None:
        self._focused_patience = min(2 * self._focused_patience, _FOCUSED_PATIENCE[1])

    def _hurry_whole(self) -> None:
        """The texts may be others than those that the whole analysis under way was asked about."""
        running = self.background.running if self._asked is not None else None
        if running is None or self._asked is None:
            return
        name, snapshot = self._asked
        if name == self._name_of(self.snapshot()):
            return
        present = {buffer.path: buffer.text for buffer in self.documents}
        useless = any(path in present and replaced(text, present[path]) for path, text in snapshot.texts.items())
        if useless:
            self._end_after(self.background, running, _NO_PATIENCE, lambda: None)
        elif not name.startswith(f"{self.setup.generation} "):  # nothing of the answer will hold
            self._end_after(self.background, running, _FOCUSED_PATIENCE[0], lambda: None)
        else:
            self._end_after(self.background, running, self._whole_patience, self._lost_patience_whole)

    def _lost_patience_whole(self) -> None:
        self._whole_patience *= 2

    def _end_after(
        self, worker: Interruptible, running: Running, patience: float, interrupted: Callable[[], None]
    ) -> None:
        """Interrupt a question as soon as it has run for so long."""
        if worker.running is not running or self._stopped:
            return
        loop, since = asyncio.get_running_loop(), running.since
        left = patience - (time.monotonic() - since) if since is not None else patience
        if left > 0:
            loop.call_later(left, self._end_after, worker, running, patience, interrupted)
            return
        if worker.interrupt(running):
            interrupted()

    # --- focused answers -------------------------------------------------------------------------------

    def _spawn(self, work: Coroutine[Any, Any, Answer]) -> asyncio.Task[Answer]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        """A task that no request waits for must not fail silently, nor anything wait for its answer."""
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, (ConfigError, WorkerFailed)):
            self._report(str(error), isinstance(error, ConfigError))
        elif error is not None and not isinstance(error, Interrupted):
            task.get_loop().call_exception_handler({"message": "an analysis failed", "exception": error})

    async def _look(self, uri: str) -> None:
        """Answer for one buffer as it is now."""
        buffer, state = self.documents.get(uri), self._states.get(uri)
        if buffer is None or state is None:
            return
        if state.then is None:
            await self._look_early(buffer, state)
            return
        if state.settled.is_set():
            return  # by a whole answer, in the meantime
        then, snapshot, reaching, setup = state.then, self.snapshot(), self.reaching(buffer.path), self.setup
        base = None if replaced(then.text, buffer.text) else then
        look = partial(FocusedChecker.answer, path=buffer.path, snapshot=snapshot, reaching=reaching, then=base)
        self._looked_at = buffer
        answer = await self.on_worker(look, buffer.path, wanted=lambda: self.documents.get(uri) is buffer)
        if setup != self.setup:
            return
        self._complain(None, answer.crashes)
        if state.then is then and answer.then is not None:
            state.then = replace(then, focused=answer.then)
        state.last = (buffer.text, answer)
        self._show(buffer, state, answer.diagnostics)
        if answer.unready is not None:
            part = partial(
                FocusedChecker.prepare,
                path=buffer.path,
                snapshot=snapshot,
                reaching=reaching,
                then=then,
                part=answer.unready,
            )
            self._spawn(self.on_worker(part, buffer.path, optional=True))

    async def _look_early(self, buffer: Buffer, state: State) -> None:
        """Show what there is before the first whole answer, if that takes its time. That there is nothing is not shown:
        other files may say otherwise, and who asks for diagnostics waits for those."""
        snapshot, setup = self.snapshot(), self.setup
        look = partial(FocusedChecker.answer, path=buffer.path, snapshot=snapshot, reaching=(), then=None)
        self._looked_at = buffer
        answer = await self.on_worker(
            look, buffer.path, wanted=lambda: self.documents.get(buffer.uri) is buffer and state.then is None
        )
        self._complain(None, answer.crashes)
        wanted = state.then is None and setup == self.setup and self.documents.get(buffer.uri) is buffer
        if wanted and answer.diagnostics:
            self.listeners.shown(buffer, answer.diagnostics)

    def _show(self, buffer: Buffer, state: State, diagnostics: tuple[Diagnostic, ...]) -> bool:
        """Tell the diagnostics of a version, if it is still the present one; whether they are others than before."""
        if self.documents.get(buffer.uri) is not buffer or self._states.get(buffer.uri) is not state:
            return False
        differ = not state.settled.is_set() or diagnostics != state.diagnostics
        changed = diagnostics != state.diagnostics
        state.diagnostics = diagnostics
        state.settled.set()
        if differ:
            self.listeners.shown(buffer, diagnostics)
        return changed

    def _complain(self, error: str | None, crashes: tuple[tuple[str, str, str], ...]) -> None:
        for text, for_user in [(error, True)] if error else []:
            self._report(text, for_user)
        for rule, path, trace in crashes:
            self._report(f"{rule} failed on {path} (please report it)\n{trace}", False)

    def _report(self, text: str, for_user: bool) -> None:
        if text not in self._reported:
            self._reported.add(text)
            self.listeners.trouble(text, for_user)

    # --- whole answers ---------------------------------------------------------------------------------

    def want_whole(self, delay: float) -> None:
        """Check the whole project after a while without another request."""
        if self._whole_timer is not None:
            self._whole_timer.cancel()
            self._whole_timer = None
        if delay > 0:
            self._whole_timer = asyncio.get_running_loop().call_later(delay, lambda: self.want_whole(0))
            return
        self._whole_wanted = True
        if self._whole_task is None or self._whole_task.done():
            self._whole_task = self._spawn(self._check_whole())
        else:
            self._hurry_whole()

    def _name_of(self, snapshot: Snapshot) -> str:
        return f"{self.setup.generation} {self._disk} {identity(snapshot)}"

    async def _check_whole(self) -> None:
        """Ask until the answer is for what is open now."""
        while self._whole_wanted:
            self._whole_wanted = False
            buffers, snapshot, setup = list(self.documents), self.snapshot(), self.setup
            if not buffers and not self.folders:
                return
            name = self._name_of(snapshot)
            began = time.monotonic()
            try:
                answer = await self._ask_whole(setup, snapshot, name, functions=False)
            except Interrupted:
                continue
            except WorkerFailed as error:
                self._report(str(error), False)
                self._give_up(buffers)
                continue
            if setup != self.setup:
                continue
            self._whole_patience = max(_WHOLE_PATIENCE, 2 * (time.monotonic() - began))
            for text in answer.settings:
                self._report(text, True)
            self._complain(answer.error, answer.crashes)
            for message in answer.messages:
                self._report(message, False)
            self._accept(answer, buffers)
            again = name == self._answered
            self._answered = name
            if not again:
                self._warm_up()
            self._spawn(self.on_worker(FocusedChecker.tidy, self._active_path(), optional=True))
            if self.wants_functions and not self._whole_wanted and self._functions_of != name:
                await self._learn(setup, snapshot, name)

    async def _ask_whole(self, setup: Setup, snapshot: Snapshot, name: str, *, functions: bool) -> Whole:
        """Raises Interrupted and WorkerFailed."""
        self._asked = (name, snapshot)
        try:
            question = self.background.ask(setup, snapshot, functions=functions, about=self._active_path())
            asked = asyncio.wrap_future(question)
            if not functions:
                self._spawn(self.listeners.busy(asked))
            return await asked
        finally:
            self._asked = None

    def _active_path(self) -> str:
        """The file that the user is in, for messages."""
        buffer = self.documents.get(self._active or "")
        return buffer.path if buffer is not None else self.documents.root

    async def _learn(self, setup: Setup, snapshot: Snapshot, name: str) -> None:
        try:
            answer = await self._ask_whole(setup, snapshot, name, functions=True)
        except Interrupted:
            return
        except WorkerFailed as error:
            self._report(str(error), False)
            return
        self.functions, self._functions_of = answer, name
        self.listeners.learned()

    def _give_up(self, buffers: list[Buffer]) -> None:
        """Requests for these get what is known, or what each file shows by itself."""
        for buffer in buffers:
            state = self._states.get(buffer.uri)
            if state is not None and state.then is None and not state.settled.is_set():
                self._spawn(self._look_alone(buffer, state))
            elif state is not None:
                self._show(buffer, state, state.diagnostics)

    async def _look_alone(self, buffer: Buffer, state: State) -> None:
        """Settle a buffer without the whole project, which cannot be checked."""
        look = partial(FocusedChecker.answer, path=buffer.path, snapshot=self.snapshot(), reaching=(), then=None)
        self._looked_at = buffer
        found = state.diagnostics
        try:
            found = (await self.on_worker(look, buffer.path)).diagnostics
        finally:
            self._show(buffer, state, found)

    def _accept(self, answer: Whole, buffers: list[Buffer]) -> None:
        before = self.whole
        self.whole = answer
        others = False
        for buffer in buffers:
            state, present = self._states.get(buffer.uri), self.documents.get(buffer.uri)
            if state is None or present is None:
                self._forget_unsaved(buffer)
            elif present is not buffer:
                self._accept_earlier(answer, buffer, state)
            else:
                said = self._accepted(answer, buffer, state)
                # Who asks for the active one waits for this answer, unless a focused one was given before.
                waits = buffer.uri == self._active and not state.settled.is_set()
                others = (self._show(buffer, state, said) and not waits) or others
        self.listeners.finished(others or answer.diagnostics.keys() != before.diagnostics.keys())

    def _accept_earlier(self, answer: Whole, buffer: Buffer, state: State) -> None:
        """Take an answer to an earlier text: it is better than none to lay the next one over."""
        said = answer.diagnostics.get(buffer.path, ())
        if state.then is None and not _is_broken(said):
            state.then = Then(buffer.text, answer.findings.get(buffer.path, ()), said)
            self._spawn(self._look(buffer.uri))

    def _accepted(self, answer: Whole, buffer: Buffer, state: State) -> tuple[Diagnostic, ...]:
        """Take an answer to the text of today. What it says, with what was known of the text before it broke."""
        said = answer.diagnostics.get(buffer.path, ())
        focused = state.last[1] if state.last is not None and state.last[0] == buffer.text else None
        if not _is_broken(said):
            known = focused.findings if focused is not None else None
            state.then = Then(buffer.text, answer.findings.get(buffer.path, ()), said, known)
            return said
        if focused is not None:
            return focused.diagnostics
        return (*said, *carried(state.then, buffer.text)) if state.then is not None else said

    def _warm_up(self) -> None:
        """Have the focused analysis see the text that the user is likely to change next."""
        state = self._states.get(self._active or "")
        if state is not None and state.then is not None and state.then.focused is None:
            self._spawn(self._prepare(self._active or ""))

    async def _prepare(self, uri: str) -> None:
        buffer, state = self.documents.get(uri), self._states.get(uri)
        if buffer is None or state is None or (then := state.then) is None or then.focused is not None:
            return
        snapshot, reaching = self.snapshot(), self.reaching(buffer.path)
        texts = Snapshot({**snapshot.texts, buffer.path: then.text}, snapshot.unsaved)
        look = partial(FocusedChecker.answer, path=buffer.path, snapshot=texts, reaching=reaching, then=None)
        answer = await self.on_worker(look, buffer.path, wanted=lambda: state.then is then, optional=True)
        await self.on_worker(FocusedChecker.tidy, buffer.path, optional=True)
        if state.then is then:
            state.then = replace(then, focused=answer.findings)
