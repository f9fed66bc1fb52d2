"""File names and messages made to break formats: every reader gets them back, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import jsonschema
import msgspec
import pytest

from flake8_jax.cli.output import fixes_shown, statistics, summary, troubles, withdrawn_shown
from flake8_jax.core.findings import Edit, Finding, Fix, Positions, Step, Verdict
from flake8_jax.core.report import FixCount, RunReport, line_starts, place
from flake8_jax.reporters import View, formats, render

ROOT = "/work"
NAMES = {
    "workflow commands": "a\n::error file=x::y%0A%25,b:c.py",
    "azure commands": "##vso[task.setvariable variable=x;]y].py",
    "markup": "<a href='x'>&amp;]]>\"`|*_[x](y)`.py",
    "control characters": "\x1b[31mred\x07\x00\x85\u2028.py",
    "blanks and unicode": " ä 日本 🚀\u202e.py",
    "backslashes": "a\\b\\n.py",
    "no text": "a\udcff.py",
    "commands behind blanks": " \u3000::error::x.py",
    "commands inside": "a ##[error]##teamcity[b] ##vso[task.complete result=Failed;].py",
    "marks that nobody sees": "a\u200b\ufeff\u2066\U000e0041\x9b31m.py",
}
MESSAGE = '`x` %0A ::error::\n]]> <b> " \\ 🚀 | \x1b[31m'
RDJSON = json.loads((Path(__file__).parent / "data" / "rdjson.schema.json").read_text())
SARIF = json.loads((Path(__file__).parent / "data" / "sarif-schema-2.1.0.json").read_text())
TEXT = "f(x)  # ``` ]]> 🚀\n"


def hostile(name: str) -> RunReport:
    path = f"{ROOT}/{name}"
    fix = Fix("write `y`\n::error::", "safe", (Edit(2, 3, "y\n```"),))
    evidence = (Step(path, 0, 1, "root", "f", MESSAGE),)
    finding = Finding("JAX101", "traced-branch", "error", path, 2, 3, MESSAGE, evidence, fix)
    item = place(finding, Positions(line_starts(TEXT)), 1)
    return RunReport(diagnostics=(item,), texts={path: TEXT}, root=ROOT)


def written(name: str, report: RunReport) -> str:
    text = render(name, report, View(ROOT))
    text.encode("utf-8")  # it can be printed
    return text


def known(name: str) -> str:
    """The name as text: bytes that are no text become a mark."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def spelled(text: str) -> str:
    """What acts on a terminal spelled out, but for line ends."""
    acting = "[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2066-\u2069\ufeff\U000e0041]"
    return re.sub(acting, lambda found: found[0].encode("unicode_escape").decode(), text)


def undone(text: str, *more: tuple[str, str], percent: str = "%25") -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), *more, (percent, "%")):
        text = text.replace(code, character)
    return text


each_name = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())


@each_name
@pytest.mark.parametrize("form", formats())
def test_every_format_can_be_printed(form: str, name: str) -> None:
    assert "JAX101" in written(form, hostile(name))


@each_name
def test_json(name: str) -> None:
    (item,) = json.loads(written("json", hostile(name)))
    assert (item["filename"], item["message"]) == (f"{ROOT}/{known(name)}", MESSAGE)
    (line,) = written("json-lines", hostile(name)).removesuffix("\n").split("\n")
    assert json.loads(line) == item


@each_name
def test_reviewdog(name: str) -> None:
    document = json.loads(written("rdjson", hostile(name)))
    jsonschema.Draft7Validator(RDJSON).validate(document)
    (item,) = document["diagnostics"]
    assert item["location"]["path"] == known(name)
    assert MESSAGE in item["message"]
    assert item["suggestions"][0]["text"] == "y\n```"
    assert item["related_locations"] == [
        {"message": MESSAGE, "location": {"path": known(name), "range": {"start": {"line": 1}}}}
    ]
    (line,) = written("rdjsonl", hostile(name)).removesuffix("\n").split("\n")
    assert json.loads(line) == {**item, "source": document["source"]}
    jsonschema.Draft7Validator({**RDJSON, "$ref": "#/definitions/diagnostic"}).validate(json.loads(line))


@each_name
def test_sarif(name: str) -> None:
    document = json.loads(written("sarif", hostile(name)))
    jsonschema.Draft4Validator(SARIF).validate(document)
    (result,) = document["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"[A-Za-z0-9._~!$&'()*+,;=@/%-]+", uri), "a relative URI, without a colon in its first segment"
    assert unquote(uri) == known(name)
    assert MESSAGE in result["message"]["text"]


@each_name
def test_gitlab(name: str) -> None:
    (item,) = json.loads(written("gitlab", hostile(name)))
    assert item["location"]["path"] == known(name)
    assert MESSAGE in item["description"]


@each_name
def test_junit(name: str) -> None:
    suites = ElementTree.fromstring(written("junit", hostile(name)))
    shown = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "�", known(name))
    suite = suites.find("testsuite")
    assert suite is not None
    assert suite.get("name") == shown
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert '::error::\n]]> <b> "' in (failure.get("message") or "")


@each_name
def test_github(name: str) -> None:
    text = written("github", hostile(name))
    assert text.count("\n") == 1
    assert text.count("\r") == 0
    command, properties, message = re.fullmatch(r"::(\w+) ([^:]*)::(.*)\n", text, re.DOTALL).groups()  # type: ignore[union-attr]
    fields = dict(item.split("=", 1) for item in properties.split(","))
    assert (command, fields.keys()) == ("error", {"title", "file", "line", "col", "endLine", "endColumn"})
    assert undone(fields["file"], ("%3A", ":"), ("%2C", ",")) == spelled(known(name))
    assert undone(message) == spelled(f"{known(name)}:1:3: JAX101 {MESSAGE}")


@each_name
def test_azure(name: str) -> None:
    text = written("azure", hostile(name))
    assert text.count("\n") == 1
    properties, message = re.fullmatch(r"##vso\[task\.logissue ([^\]]*)\](.*)\n", text).groups()  # type: ignore[union-attr]
    fields = dict(item.split("=", 1) for item in properties.split(";") if item)
    assert fields.keys() == {"type", "sourcepath", "linenumber", "columnnumber", "code"}
    assert undone(fields["sourcepath"], ("%3B", ";"), ("%5D", "]"), percent="%AZP25") == spelled(known(name))
    assert undone(message, ("%3B", ";"), ("%5D", "]"), percent="%AZP25") == spelled(MESSAGE)


@each_name
@pytest.mark.parametrize("form", ["concise", "full", "grouped", "pylint"])
def test_a_terminal_is_left_alone(form: str, name: str) -> None:
    """No control characters, and no lines that look like other findings."""
    text = written(form, hostile(name))
    assert "\t" not in text
    assert_harmless(text)


ACTING = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2066-\u2069\ufeff\U000e0041\ud800-\udfff]"


def assert_harmless(text: str) -> None:
    """Neither a terminal nor a CI service does anything but show it."""
    assert not re.search(ACTING, text)
    assert not re.search(r"##\w*\[", text)
    assert not any(line.strip().startswith("::") for line in text.splitlines())


@each_name
@pytest.mark.parametrize("form", [form for form in formats() if form not in ("github", "azure")])
def test_every_format_is_left_alone(form: str, name: str) -> None:
    report = everywhere(f"{name[:-3]}\n::error::\x1b[31m##vso[x]\u202e\x9b.py")
    assert_harmless(written(form, report))
    assert_harmless(written(form, msgspec.structs.replace(report, diagnostics=())))


@each_name
@pytest.mark.parametrize(("form", "own"), [("github", "::error "), ("azure", "##vso[task.logissue ")])
def test_commands_are_our_own(form: str, own: str, name: str) -> None:
    (line, rest) = written(form, everywhere(f"{name[:-3]}\n::error::\x1b[31m##vso[x]\u202e\x9b.py")).split("\n")
    assert (line.startswith(own), rest) == (True, "")
    assert not re.search(ACTING, line)


def everywhere(text: str) -> RunReport:
    """A report with the text in every place that has one."""
    path = f"{ROOT}/{text}"
    source = f"f(x)  # {text}\n"
    fix = Fix(text, "safe", (Edit(2, 3, text),))
    finding = Finding(
        "JAX101", "traced-branch", "error", path, 2, 3, text, (Step(path, 0, 1, "root", text, text),), fix,
        verdict=Verdict("confirmed", text, text, details={text: text}), fix_verdict=Verdict("preserved", text, text),
    )  # fmt: skip
    item = place(finding, Positions(line_starts(source)), 1)
    return RunReport(
        diagnostics=(item,), texts={path: source}, root=ROOT, messages=(text,), notes=(text,), missing=(path,),
        crashes=((text, path, f"Traceback\n  File\nValueError: {text}"),),
        fixed=(FixCount(path, "JAX101", "traced-branch", 1),),
        withdrawn=(FixCount(path, "JAX101", "traced-branch", 1, text),),
    )  # fmt: skip


@each_name
def test_what_stands_around_the_findings(name: str) -> None:
    report = everywhere(name)
    view = View(ROOT)
    lines = [*troubles(report, view, True), *withdrawn_shown(report, view), fixes_shown(report, view)]
    text = "\n".join((*lines, summary(report, view), statistics(report, "json", view)))
    assert_harmless(text.encode("utf-8", "backslashreplace").decode())


UNCHECKED = {
    "unreadable": RunReport(messages=("a.py: cannot be read",)),
    "missing": RunReport(missing=("/work/a.py",)),
    "failed": RunReport(crashes=(("x", "/work/a.py", "no"),)),
}


@pytest.mark.parametrize("form", ["junit", "markdown"])
@pytest.mark.parametrize("report", UNCHECKED.values(), ids=UNCHECKED.keys())
def test_no_clean_report_beside_what_was_not_checked(form: str, report: RunReport) -> None:
    text = written(form, report)
    assert "a.py" in text
    assert "o findings.\n" not in text and "No findings" not in text


@pytest.mark.parametrize("report", UNCHECKED.values(), ids=UNCHECKED.keys())
def test_not_all_checks_passed(report: RunReport) -> None:
    assert summary(report, View(ROOT)) == "Found no problems, but some files or rules were not checked.\n"
    assert summary(RunReport(), View(ROOT)) == "Found no files to check.\n"
    assert summary(RunReport(checked=1), View(ROOT)) == "All checks passed!\n"


@each_name
def test_markdown(name: str) -> None:
    """What is quoted stays quoted: every fence is closed, and no heading or link is made of a name."""
    text = written("markdown", hostile(name))
    assert not any(line.startswith(("::error", "##vso")) for line in text.splitlines())
    assert text.count("\n### ") == 1
    assert "](y)" not in re.sub(r"(`+)(?:(?!\1).)*\1", "", text)
