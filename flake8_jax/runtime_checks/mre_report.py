"""What is said around the smallest script: the comment at its head, and an issue report."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from flake8_jax.core.findings import Verdict

_WIDTH = 100
_OBSERVED = "confirmed"


def head(code: str, rule: str, verdict: Verdict, versions: Mapping[str, str], file: str) -> str:
    """Return the comment at the top of the script: the rule, what jaxlint saw, and how to run the script."""
    where = _where(versions)
    exception = verdict.details.get("exception")
    if verdict.verdict != _OBSERVED:
        seen = f"NOT confirmed{where} ({verdict.verdict}): {_sentence(verdict.reason)}"
    elif exception:
        seen = f"It raises{where}: {exception['type']}: {_sentence(exception['message'])}"
    else:
        seen = f"jaxlint saw{where}: {_sentence(verdict.reason)}"
    lines = [f"{code} {rule}. Run it with `python {file}`.", seen]
    if verdict.verdict == _OBSERVED and not exception:
        lines.append(f"To see it again: jaxlint verify {file} --select {code} -- python {file}")
    return "".join(f"{line}\n" for text in lines for line in _comment(text))


def relocated(verdict: Verdict, ran: str, file: str, shift: int) -> Verdict:
    """Return the verdict with places in the script that ran (``ran``) as places in the written file, whose head shifts
    its rows.
    """
    pattern = re.compile(re.escape(ran) + r"(?::(\d+))?")

    def moved(value: Any) -> Any:
        if isinstance(value, str):
            return pattern.sub(lambda match: f"{file}:{int(match[1]) + shift}" if match[1] else file, value)
        if isinstance(value, dict):
            return {key: moved(item) for key, item in value.items()}
        return [moved(item) for item in value] if isinstance(value, (list, tuple)) else value

    details = moved(verdict.details)
    if "row" in details:
        details["row"] += shift
    reason = moved(verdict.reason)
    if (
        "exception" not in details
    ):  # the words are ours, and the lines those of the script; JAX's words may mention others
        reason = re.sub(r"\bline (\d+)\b", lambda match: f"line {int(match[1]) + shift}", reason)
    return msgspec.structs.replace(verdict, reason=reason, details=details)


def _comment(text: str) -> Sequence[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_long_words=False, break_on_hyphens=False
    )


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    """What an issue report is filled in with. place: path and row; chain: the calls that lead there; versions: of JAX and what
    it ran on; packages: of others around it; file: the name of the script."""

    code: str
    rule: str
    message: str
    place: str
    chain: Sequence[str]
    verdict: Verdict
    versions: Mapping[str, str]
    packages: Mapping[str, str]
    script: str
    file: str
    note: str = ""

    def markdown(self) -> str:
        """Return the issue report as Markdown."""
        exception = self.verdict.details.get("exception")
        what = exception["type"] if exception else self.rule
        parts = [f"# {what}: {self.message}", *self._happens(), *self._reproduces()]
        parts += ["## What was expected", "<!-- say what the code is meant to do instead -->", *self._versions()]
        return "\n\n".join(parts) + "\n"

    def _happens(self) -> list[str]:
        """What is wrong, how the code gets there, and what was seen."""
        message = f"{self.message[:1].upper()}{self.message[1:]} (`{self.place}`, {self.code} {self.rule})."
        parts = ["## What happens", message + (f" {self.note}" if self.note else "")]
        if self.chain:
            parts.append("How the code gets there:\n\n" + "\n".join(f"- {step}" for step in self.chain))
        exception, why = self.verdict.details.get("exception"), self.verdict.details.get("why")
        if exception:
            parts.append(f"It raises `{exception['type']}`:\n\n" + _fenced(exception["message"].strip(), "text"))
        else:
            parts.append(f"Seen when it was run: {self.verdict.reason.strip()}")
        if why:
            parts.append("JAX's own words on it:\n\n" + _fenced(str(why).strip(), "text"))
        if self.verdict.verdict != _OBSERVED:
            parts.append(f"**Not confirmed by the script below** ({self.verdict.verdict}).")
        return parts

    def _reproduces(self) -> list[str]:
        """The script, and how to run it."""
        commands = f"python {self.file}\njaxlint verify {self.file} --select {self.code} -- python {self.file}"
        return [
            "## Script",
            _fenced(self.script.rstrip("\n"), "python"),
            "## How to run it",
            f"Save it as `{self.file}`:\n\n" + _fenced(commands, "shell"),
        ]

    def _versions(self) -> list[str]:
        rows = {**dict(_facts(self.versions)), **self.packages}
        return [
            "## Versions",
            "| | |\n|---|---|\n" + "\n".join(f"| {name} | {value} |" for name, value in rows.items()),
        ]


def _facts(versions: Mapping[str, str]) -> list[tuple[str, str]]:
    titles = {"python": "Python", "platform": "platform", "jax": "jax", "backend": "backend", "device": "device"}
    return [(title, versions[name]) for name, title in titles.items() if name in versions]


def _fenced(text: str, language: str) -> str:
    fence = "````" if "```" in text else "```"
    return f"{fence}{language}\n{text}\n{fence}"


def _where(versions: Mapping[str, str]) -> str:
    known = [f"jax {versions['jax']}"] if "jax" in versions else []
    known += [versions["backend"]] if "backend" in versions else []
    return f" ({', '.join(known)})" if known else ""


def _sentence(text: str) -> str:
    """The first one."""
    return text.strip().partition("\n")[0].partition(". ")[0].rstrip(".")
