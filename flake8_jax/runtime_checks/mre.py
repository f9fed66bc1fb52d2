"""The smallest script that still shows a finding: modules put into one, a call of what leads there, and less and less of it.

Vocabulary
----------
driver    lines at the end of the script that call what leads to the finding, with inputs written out.
shown     a run of the script confirms the finding. sign: how it did: the exception and the way the run ended. Every smaller
          script has to give the same sign, so that another error does not take the place of the one to be shown.
looker    lints a text and says where the rule finds something in it; given by the caller, for this half knows no linter.

Candidates are run in processes forked from one that has imported JAX (``child.forks``), where processes can be forked; the
script that comes out is run once more in a fresh one, and only what that confirms counts.
"""

from __future__ import annotations

import ast
import functools
import json
import os
import re
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path

import msgspec

from flake8_jax.core.findings import Verdict
from flake8_jax.runtime_checks.flattening import Place, Project, Script
from flake8_jax.runtime_checks.judges import NOT_REACHED
from flake8_jax.runtime_checks.names import bindings, unbound
from flake8_jax.runtime_checks.observations import Spot
from flake8_jax.runtime_checks.oracles import all_oracles
from flake8_jax.runtime_checks.reduction import Reducer, tidied, without_row
from flake8_jax.runtime_checks.sandbox import Ears, Limits, Message, Outcome, run_child
from flake8_jax.runtime_checks.verify import (
    Asked,
    Run,
    Verification,
    Workload,
    judged,
    observation_request,
    observe,
    run_of,
    verify,
)

CONFIRMED = "confirmed"
REPEATS = 3
MOST_DRIVERS = 8
MOST_CLEARED = 4
_LEAST_SECONDS = 10.0
_DRIVERS_SHARE = 3
"""Finding inputs gets one part of so many of the time."""
_FINAL_SECONDS = 60.0


class Hit(msgspec.Struct, frozen=True):
    """A finding of the rule in a text. Rows are 1-based; segment: what is underlined."""

    row: int
    end_row: int
    segment: str


Look = Callable[[str], Sequence[Hit]]


class Subject(msgspec.Struct, frozen=True):
    """The finding. chain: the places of its evidence, outermost first; staged: whether something there traces it. cases:
    texts of inputs; call: lines that the user wants to be run."""

    rule: str
    code: str
    message: str
    segment: str
    place: Place
    chain: tuple[Place, ...] = ()
    staged: bool = False
    cases: tuple[str, ...] = ()
    call: str = ""


class Outcomes(msgspec.Struct, frozen=True):
    """What came of it. script: without its head; ran: the file that it was run as. lines_before: of the files that it was
    made from; lines_after: its own. runs: candidates that were run; jitted: the driver itself applies ``jax.jit``; late: the
    time was up before the end."""

    script: str
    ran: str
    verdict: Verdict
    versions: dict[str, str]
    lines_before: int
    lines_after: int
    runs: int = 0
    jitted: bool = False
    late: bool = False


class _Sign(msgspec.Struct, frozen=True):
    exception: str
    message: str
    ended: str


class Search(msgspec.Struct, frozen=True):
    """One search for a script. folder: scratch, where scripts are run; deadline: of ``time.monotonic``; say: tells the user
    how far it is."""

    folder: str
    deadline: float
    say: Callable[[str], None]


class Maker:
    """Makes the script of one finding."""

    def __init__(self, subject: Subject, project: Project, look: Look, workload: Workload, search: Search) -> None:
        self.subject = subject
        self.mode = all_oracles()[subject.rule].mode if subject.rule in all_oracles() else "plain"
        self._project = project
        self._look = functools.lru_cache(maxsize=8)(look)
        self._file = os.path.join(os.path.realpath(search.folder), "mre.py")
        self._workload = msgspec.structs.replace(
            workload, command=("python", self._file), roots=(self._file,), cwd=os.path.dirname(self._file)
        )
        self._deadline = search.deadline
        self._say = search.say
        self._segment = subject.segment
        self._nth = 0
        self._row = 1
        self._callers: tuple[Place, ...] = ()
        self._flatten = project.flatten
        self._strict = True
        self._clearing = False
        self._error: int | None = None
        self._renamed: dict[str, str] = {}
        self._sign: _Sign | None = None
        self._reducer: Reducer | None = None
        self._last: Verdict | None = None
        self._runs = 0

    def make(self) -> Outcomes:
        """Search for the smallest script that still shows the finding, until the time is up.

        Raises FlatteningError, RefusedCommand and OSError.
        """
        places = (self.subject.place, *self.subject.chain)
        self._callers = tuple(c for c in self._project.callers(self.subject.place) if c not in places)
        late = self.subject.rule == "late-configuration"  # that it comes after an import is the defect
        self._flatten = functools.partial(self._project.flatten, imports=late)
        script = self._flatten((*places, *self._callers))
        self._row = script.row_of(self.subject.place) or 1
        self._renamed = {name: entity[1] for entity, name in script.names.items() if name != entity[1]}
        candidates = self._candidates(script)
        before = self._project.lines()
        self._say(
            f"{before} lines of {self._project.count()} files became {script.text.count(chr(10))}; making them less"
        )
        if self.subject.rule in all_oracles():
            self._work(self._search(candidates))
        if self._reducer is None:
            text = tidied(candidates[0])
            verdict = self._last or Verdict("inconclusive", "jaxlint has no check of this rule in a run; read the code")
            if verdict.verdict == CONFIRMED:  # of the modules that the script was made from, not of the script
                why = "; the time was up (`--timeout`)" * (time.monotonic() > self._deadline)
                verdict = Verdict("inconclusive", f"no script of one file was seen to show it{why}")
            return Outcomes(text, self._file, verdict, {}, before, text.count("\n"), self._runs)
        text = self._reducer.text
        found = self.check(text)
        if found.verdicts[0].verdict != CONFIRMED:  # a forked process and a fresh one differ: not what is asked for
            self._say("the smallest script is not confirmed in a fresh process; taking the one that it was made from")
            text = next((c for c in map(tidied, candidates) if self._spot(c) is not None), candidates[0])
            found = self.check(text)
        jitted = self.subject.staged and re.search(r"^\s*jax\.jit\(\w+\)\(", text, re.MULTILINE) is not None
        return Outcomes(
            text, self._file, found.verdicts[0], found.versions, before, text.count("\n"), self._runs, jitted,
            time.monotonic() > self._deadline,
        )  # fmt: skip

    def check(self, text: str) -> Verification:
        """Run a script in a fresh process and return the verdict on it."""
        asked = self._asked(text, self._spot(text) or Hit(1, 1, ""))
        limits = msgspec.structs.replace(
            self._workload.limits, seconds=max(_FINAL_SECONDS, self._deadline - time.monotonic())
        )
        found = verify([asked], msgspec.structs.replace(self._workload, limits=limits))
        if found.interrupted:
            raise KeyboardInterrupt
        return found

    # --- drivers --------------------------------------------------------------------------------------------------

    def _candidates(self, script: Script) -> list[str]:
        """Scripts that may show it, the likeliest first."""
        if self.subject.call:
            return [_with_driver(script.text, self.subject.call)]
        found = [_with_driver(script.text, driver) for driver in self._drivers(script)]
        mains = dict.fromkeys([*(place.path for place in self.subject.chain[:1]), self.subject.place.path])
        found += [self._flatten((self.subject.place, *self.subject.chain), main=path).text for path in mains]
        return list(dict.fromkeys([*found, script.text]))

    def _drivers(self, script: Script) -> list[str]:
        """Calls that reach the finding, those first that raised what the verdict mentions."""
        row = script.row_of(self.subject.place)
        rows = [script.row_of(place) for place in self.subject.chain]
        if row is None or self.subject.rule not in all_oracles():
            return []
        targets = [(f"{self._file}:{first}", False) for first in rows if first is not None]
        targets += [(f"{self._file}:{row}", self.subject.staged), (f"{self._file}:{row}", False)]
        others = [script.row_of(place) for place in self._callers]
        targets += [(f"{self._file}:{other}", False) for other in others if other is not None]
        spot = Spot(self._file, row, row)
        asked = Asked(self.subject.rule, spot, tuple(dict.fromkeys(targets)), self.subject.cases, every=True)
        limits = self._limits()
        limits = msgspec.structs.replace(limits, seconds=(limits.seconds or _FINAL_SECONDS) / _DRIVERS_SHARE)
        workload = msgspec.structs.replace(self._workload, command=(), limits=limits)
        _write(self._file, script.text)
        self._say("looking for inputs that lead there")
        run = self._observed(asked, workload)
        self._last = judged(0, asked, {self.mode: run}, workload, run.versions)
        tries = run.called[0]["tries"] if 0 in run.called else []
        kind = self._last.details.get("exception", {}).get("type", "")

        def rank(one: Message) -> tuple[bool, bool]:
            return not (one["outcome"].startswith(kind) if kind else not one["outcome"]), not one["reached"]

        best = sorted(tries, key=rank)[:MOST_DRIVERS]
        drivers = [one["code"][0] for one in best] + [code for one in best[:2] for code in one["code"][1:]]
        if self.mode != "keys":  # the driver would use a key again that it was given
            drivers += [f"for _ in range({REPEATS}):\n    {one['code'][0]}" for one in best[:3]]
        return list(dict.fromkeys(drivers))

    # --- the search -------------------------------------------------------------------------------------------------

    def _search(self, candidates: Sequence[str]) -> Generator[str, bool, None]:
        """First a script that shows it, then smaller ones. One that ends with another error is the second choice."""
        for self._strict in (True, False):
            for text in map(tidied, candidates):
                yield from self._from(text)
                if self._reducer is not None:
                    yield from self._reducer.search()
                    yield from self._reducer.attempt(_respelled(self._reducer.text, self._renamed))
                    return

    def _from(self, text: str) -> Generator[str, bool, None]:
        """Try a script; where another error comes first, without the statement that raises it."""
        self._clearing = False
        for _ in range(MOST_CLEARED):
            if not _parses(text):
                return
            runs, self._last = self._runs, self._last or Verdict("inconclusive", NOT_REACHED.reason)
            hits = self._look(text)
            mine = [hit for hit in hits if _same(hit.segment, self.subject.segment)] or list(hits)
            for hit in sorted(mine, key=lambda hit: abs(hit.row - self._row))[:4]:
                self._segment = hit.segment
                self._nth = [one for one in hits if _same(one.segment, hit.segment)].index(hit)
                if (yield text):
                    lacking = frozenset(unbound(text, ast.parse(text)))
                    self._reducer = Reducer(text, functools.partial(self._accepts, lacking))
                    return
            row = self._error if self._runs > runs else None
            shorter = tidied(without_row(text, row) or "") if row is not None else text
            lacks = _parses(shorter) and unbound(shorter, ast.parse(shorter)) - unbound(text, ast.parse(text))
            if shorter == text or lacks or not self._look(shorter):
                return
            text, self._clearing = shorter, True

    def _accepts(self, lacking: frozenset[str], text: str) -> bool:
        return _parses(text) and unbound(text, ast.parse(text)) <= lacking and self._spot(text) is not None

    def _spot(self, text: str) -> Hit | None:
        """Where the finding is in a text."""
        found = [hit for hit in self._look(text) if _same(hit.segment, self._segment)] if _parses(text) else []
        return found[min(self._nth, len(found) - 1)] if found else None

    def _asked(self, text: str, hit: Hit) -> Asked:
        _write(self._file, text)
        return Asked(self.subject.rule, Spot(self._file, hit.row, hit.end_row))

    def _shows(self, asked: Asked, run: Run) -> bool:
        """Whether a run confirms the finding, with the sign of the first that did."""
        self._runs += 1
        verdict = judged(0, asked, {self.mode: run}, self._workload, run.versions)
        if self._sign is None and not self._clearing and (self._last is None or verdict.reason != NOT_REACHED.reason):
            self._last = verdict
        self._error = _first_error(run, verdict, asked)
        if verdict.verdict != CONFIRMED:
            return False
        exception = verdict.details.get("exception", {})
        ended = run.trouble.removeprefix("the command ended with ").partition(":")[0]
        sign = _Sign(exception.get("type", ""), _general(exception.get("message", "")), ended)
        if self._sign is None:
            if self._strict and ended and ended != sign.exception:
                self._last = Verdict("inconclusive", f"the script ends with another error: {run.trouble}")
                return False
            self._sign = sign
            self._say(f"confirmed: {verdict.reason.partition(chr(10))[0][:120]}")
            return True
        if (sign.exception, sign.message) != (self._sign.exception, self._sign.message):
            return False
        if sign.ended == sign.exception:  # no code catches it, or nothing else is raised: as expected
            self._sign = sign
        return sign.ended == self._sign.ended

    # --- running ------------------------------------------------------------------------------------------------------

    def _work(self, search: Generator[str, bool, None]) -> None:
        """Answer a search until it ends or the time is up."""
        if hasattr(os, "fork"):
            self._work_in_forks(search)
            return
        try:
            text = next(search)
            while time.monotonic() < self._deadline:
                asked = self._asked(text, self._spot(text) or Hit(1, 1, ""))
                run = self._observed(asked, msgspec.structs.replace(self._workload, limits=self._limits()))
                text = search.send(self._shows(asked, run))
        except StopIteration:
            return

    def _observed(self, asked: Asked, workload: Workload) -> Run:
        run = observe([asked], workload, self.mode)
        if run.interrupted:
            raise KeyboardInterrupt
        return run

    def _work_in_forks(self, search: Generator[str, bool, None]) -> None:
        inbox = Path(os.path.dirname(self._file), "inbox")
        inbox.write_text("", encoding="utf-8")
        asked: list[Asked] = []
        reported = time.monotonic()

        def say(data: object) -> None:
            with open(inbox, "a", encoding="utf-8") as file:
                file.write(json.dumps(data) + "\n")

        def listen(message: Message) -> None:
            nonlocal reported
            try:
                if message["kind"] == "ready":
                    text = next(search)
                elif message["kind"] == "forked":
                    outcome = Outcome(message["state"], message["code"], message["wall"], tuple(message["messages"]))
                    text = search.send(self._shows(asked[-1], run_of(outcome, self._workload)))
                else:
                    return
            except StopIteration:
                say("stop")
                return
            if time.monotonic() > self._deadline:
                say("stop")
                return
            if self._reducer is not None and time.monotonic() - reported > 5:
                reported = time.monotonic()
                self._say(f"{self._reducer.text.count(chr(10))} lines left, {self._runs} runs")
            asked.append(self._asked(text, self._spot(text) or Hit(1, 1, "")))
            say({**observation_request(asked[-1:], self._workload, self.mode), "keep": True})

        left = max(_LEAST_SECONDS, self._deadline - time.monotonic())
        request = {"inbox": str(inbox), "seconds": max(_LEAST_SECONDS, left / 4), "preload": self._may_preload()}
        launch = msgspec.structs.replace(self._workload.launch(self.mode), limits=self._limits())
        run_child("forks", request, launch, ears=Ears(listen))

    def _may_preload(self) -> bool:
        """Whether the scripts may find JAX imported: not where they set what JAX reads while it is imported."""
        text = Path(self._file).read_text(encoding="utf-8") if os.path.exists(self._file) else ""
        return (
            self.subject.rule != "late-configuration" and "environ" not in text and "environ" not in self.subject.call
        )

    def _limits(self) -> Limits:
        left = max(_LEAST_SECONDS, self._deadline - time.monotonic())
        return msgspec.structs.replace(self._workload.limits, seconds=left)


def _first_error(run: Run, verdict: Verdict, asked: Asked) -> int | None:
    """The row of an error that kept the finding from being reached, or from being seen; None if it is the finding's own."""
    if run.seen is None:
        return None
    found = (
        re.search(r"\bline (\d+)\b", verdict.reason) if verdict.verdict in ("confirmed-elsewhere", "blocked") else None
    )
    ended = run.trouble.startswith("the command ended with ")
    raised = [seen["stack"][0] for seen in run.seen["raised"] if seen["stack"]] if ended else []
    row = int(found[1]) if found else int(raised[-1][1]) if raised else None
    return None if row is None or asked.spot.first <= row <= asked.spot.last else row


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _respelled(text: str, names: Mapping[str, str]) -> str:
    """The names as they were in their modules, where what they collided with is gone."""
    for name, original in names.items():
        if not re.search(rf"\b{original}\b", text):
            text = re.sub(rf"\b{name}\b", original, text)
    return text


def _same(one: str, other: str) -> bool:
    """The same code, but for comments and white space."""
    return _bare(one) == _bare(other)


def _bare(segment: str) -> str:
    return re.sub(r"\s+", "", re.sub(r"#[^\n]*", "", segment))


def _general(message: str) -> str:
    """The first line of a message without its numbers and paths."""
    return re.sub(r"/\S+|\d+", "#", message.strip().partition("\n")[0])


_PRELUDE = {"jax": "import jax", "jnp": "import jax.numpy as jnp", "np": "import numpy as np"}


def _with_driver(text: str, driver: str) -> str:
    """A script with lines at its end, and the imports that they need. A name that means something else there is written
    out: ``jax.numpy.ones`` where ``jnp`` is taken."""
    tree = ast.parse(text)
    known = _imports(tree)
    bound = bindings(tree.body)
    head: list[str] = []
    for name, line in _PRELUDE.items():
        if not re.search(rf"\b{name}\.", driver) or known.get(name) == line:
            continue
        if name not in bound:
            head.append(line)
            continue
        module = line.split()[1]
        other = next((n for n, found in known.items() if found.startswith(f"import {module} as ")), None)
        if other is None:
            other = f"_{name}"
            head.append(f"import {module} as {other}")
        driver = re.sub(rf"\b{name}\.", f"{other}.", driver)
    futures = [line for line in text.split("\n") if line.startswith("from __future__")]
    rest = "\n".join(line for line in text.split("\n") if not line.startswith("from __future__"))
    return "".join(f"{line}\n" for line in [*futures, *head]) + rest.rstrip("\n") + f"\n\n\n{driver}\n"


def _imports(tree: ast.Module) -> dict[str, str]:
    """The names that imports of libraries bind, as the plainest line that does it."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                found[name] = f"import {alias.name} as {name}" if alias.asname else f"import {name}"
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = alias.asname or alias.name
                found[name] = f"import {node.module}.{alias.name} as {name}"
    return found
