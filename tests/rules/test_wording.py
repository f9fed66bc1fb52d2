"""Text that users read is plain: no private words; each message names what stands on its line (``conftest.lint_texts``)."""

from __future__ import annotations

import contextlib
import re

import pytest
from support.wording import private_words, problems_of_message

from flake8_jax.cli import COMMANDS, main
from flake8_jax.fixers._announced import all_announced
from scripts.consoles import DOCUMENTS, ROOT

GOOD = "`x > 0` is traced, so `if` cannot test its value; use jnp.where"


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        (GOOD, []),
        ("np.tanh() converts `y` to a NumPy array", ["names nothing that stands on the line"]),
        ("range() needs a Python int, but `x` is traced", []),
        (f"{GOOD}.", ["a final period, or several lines"]),
        ("this prints `x`", ["begins with a small letter"]),
        ("`x` compiles anew", ["private word 'anew'"]),
        (GOOD + "!" * 200, [f"{len(GOOD) + 200} characters"]),
    ],
)
def test_what_is_wrong_with_a_message(message: str, wrong: list[str]) -> None:
    assert problems_of_message(message, "    if x > 0:") == wrong


def test_private_words_in_code_do_not_count() -> None:
    assert private_words("Nobody stages `twin`, which is None") == ["Nobody", "stages"]


@pytest.mark.parametrize("sentence", sorted(all_announced()))
def test_fixes_announce_changes_in_plain_words(sentence: str) -> None:
    assert private_words(sentence) == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_have_no_private_words(document: str) -> None:
    text = re.sub(r"^```.*?^```", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert private_words(re.sub(r"\]\([^)]*\)", "]", text)) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_no_private_words(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.suppress(SystemExit):
        main([command, "--help"])
    assert private_words(capsys.readouterr().out.replace("--vs eager", "")) == []


def test_the_newest_changes_have_no_private_words() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert private_words(text[: text.index("\n## 0.2.0")]) == []


_GLOSSARY = re.compile(
    r"(?<![A-Za-z])(anew|anybody|arms?|births?|born|kin|lanes?|moot|nobody|note_\w+|repair(s|ed)?|sheltered|somebody|transplant|twins?"
    r"|whoever)(?![A-Za-z])",
    re.IGNORECASE,
)
"""Words that the glossary of the code has replaced: branch, allocation trace, mapped axis, again, equivalent, track, fix …"""


def test_the_code_has_no_word_that_its_glossary_has_replaced() -> None:
    """Names, comments and docstrings; the examples of rules may have names of their own."""
    package = ROOT / "flake8_jax"
    texts = {
        path: path.read_text(encoding="utf-8") for path in package.rglob("*.py") if path.parent != package / "rules"
    }
    assert {str(path): found[0] for path, text in texts.items() if (found := _GLOSSARY.search(text))} == {}
