"""Bytes: real programs in other encodings, with other line ends, marks, cookies, and bytes that are no text at all.

Whatever the bytes are, fixing keeps the encoding, the byte-order mark and the line ends, and standard input gets the same
treatment as a file.
"""

from __future__ import annotations

import codecs
import io
import random
import re
import tempfile
import tokenize
import warnings
from collections import Counter
from pathlib import Path

from fuzz import running, seeds
from fuzz.case import Broken, Case, Kind, Outcome
from fuzz.judging import command

_CODECS = (
    "utf-8", "utf-8-sig", "latin-1", "cp1252", "cp437", "koi8-r", "gbk", "gb18030", "big5", "shift_jis", "euc-jp",
    "iso2022_jp", "iso2022_kr", "utf-7", "utf-16", "utf-16-le", "utf-32", "rot13", "hex", "zlib", "punycode", "idna",
    "unicode_escape", "raw_unicode_escape", "mbcs", "undefined", "johab", "tis-620", "cp037", "utf8", "UTF_8",
    "latin-1-unix", "ascii", "nothing", "charmap", "uu", "palmos", "hz", "mac-roman", "utf-8-unix", "../../utf-8",
    "os", "encodings", "x" * 300,
)  # fmt: skip
_COOKIES = (
    "# -*- coding: {} -*-", "# coding={}", "# vim: set fileencoding={} :", "#coding:{}", "   # coding: {}",
    "\t#coding: {}\t", "# \x00coding: {}", "#!/usr/bin/python\n# coding: {}", "\n# coding: {}", "\n\n# coding: {}",
    "'''\n# coding: {}\n'''", "# coding: {}\n# coding: ascii", "\f# coding: {}", "# coding: {} # coding: latin-1",
    "\\\n# coding: {}", "x = 1 # coding: {}",
)  # fmt: skip
_STRANGE = (
    b"\x00", b"\x0c", b"\x0b", b"\x1a", b"\x1b[2J", b"\x07", b"\x7f", b"\x80", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf",
    b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc3", b"\xe2\x82", b"\xc2\x85", b"\xe2\x80\xa8", b"\x0c\n",
    b"\r", b"\n\r", b"\\\r\n", b"\x1c", b"\x85", "ä".encode(), "λ".encode(), "𝐱".encode(), "数".encode(), b"\\", b"\t",
    b" \x0c ",
)  # fmt: skip
_NAMES = (
    "m.py", "m.py", "m.py", "m.pyi", "with space.py", "-m.py", " ::error::x.py", "é.py", "a\nb.py", "a\rb.py",
    "\x1b[31m.py", "a\tb.py", "\udcff.py", "%s.py", "{}.py", "`x`.py", "a|b.py", "<b>.py", "]]>.py", "'\".py", "..py",
    ".py", "con.py", "\u202e.py", "a" * 240 + ".py",
)  # fmt: skip


_OPTIONS = (
    "--isolated", "--no-cache", "--select", "ALL", "--preview", "--unsafe-fixes", "--jobs", "1", "--output-format",
)  # fmt: skip


def _line_ends(rng: random.Random, data: bytes) -> bytes:
    end = rng.choice((b"\r\n", b"\r", b"mixed", b"\n\r", b"\r\r\n"))
    if end != b"mixed":
        return data.replace(b"\n", end)
    return b"".join(line.replace(b"\n", rng.choice((b"\n", b"\r\n", b"\r"))) for line in data.splitlines(keepends=True))


def _encoded(rng: random.Random, text: str) -> bytes:
    """A text behind a cookie, in that encoding or not."""
    codec = rng.choice(_CODECS)
    text = f"{rng.choice(_COOKIES).format(codec)}\n{text}"
    if rng.random() < 0.5:
        text = re.sub("#", rng.choice(("# ä", "# 数学", "# λ€", "# \u2028")), text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = text.encode(codec if rng.random() < 0.8 else "utf-8", "replace")
    except (LookupError, ValueError, TypeError):
        data = text.encode("utf-8")
    return codecs.BOM_UTF8 + data if rng.random() < 0.1 else data


def _strange(rng: random.Random, data: bytes) -> bytes:
    for _ in range(rng.choice((1, 1, 2, 5))):
        place = rng.choice((0, len(data), rng.randrange(len(data) + 1)))
        data = data[:place] + rng.choice(_STRANGE) + data[place:]
    return data


def generate(rng: random.Random, number: int) -> Case:
    text = rng.choice(seeds.texts())
    data = _encoded(rng, text) if rng.random() < 0.5 else text.encode("utf-8")
    if rng.random() < 0.5:
        data = _line_ends(rng, data)
    if rng.random() < 0.4:
        data = _strange(rng, data)
    if rng.random() < 0.1:
        data = data[: rng.randrange(len(data) + 1)]
    if rng.random() < 0.1:
        data = bytes(rng.randrange(256) for _ in range(rng.choice((1, 20, 400))))
    return Case({rng.choice(_NAMES): data})


def judge(case: Case) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        return _judge(case, Path(folder))


def _judge(case: Case, folder: Path) -> Outcome:
    case.write(folder)
    (name, before), *_ = case.files.items()
    status, _, _ = command(folder, "check", *_OPTIONS, "concise", f"./{name}")
    for form in ("full", "github", "json", "sarif", "junit"):
        command(folder, "check", *_OPTIONS, form, ".")
    if (folder / name).read_bytes() != before:
        raise Broken("linting changed the file")
    _, given, _ = command_bytes(folder, before, *_OPTIONS, "concise", "--fix", "-", "--stdin-filename", f"./{name}")
    command(folder, "check", *_OPTIONS, "concise", "--fix", f"./{name}")
    after = (folder / name).read_bytes()
    if given != after:
        raise Broken("standard input is fixed in another way than a file", f"{given!r}\n{after!r}")
    command(folder, "check", *_OPTIONS, "concise", "--fix", f"./{name}")
    if (folder / name).read_bytes() != after:
        raise Broken("a second --fix changes more", repr(after))
    if {path.name for path in folder.iterdir()} != {name}:
        raise Broken("files are left behind")
    if after == before:
        return Counter({("clean", "findings", "wrong")[status]: 1})
    _same_form(before, after)
    return Counter(fixed=1)


def command_bytes(folder: Path, data: bytes, *arguments: str) -> tuple[int, bytes, str]:
    status, out, err = command(folder, "check", *arguments, given=data, raw=True)
    return status, out.encode("utf-8", "surrogateescape"), err


def _same_form(before: bytes, after: bytes) -> None:
    """Raises Broken where a fix changed how the text is written, by what Python itself makes of both."""
    if before.startswith(codecs.BOM_UTF8) != after.startswith(codecs.BOM_UTF8):
        raise Broken("the byte-order mark came or went", repr(after))
    encodings = []
    for data in (before, after):
        try:
            encodings.append(tokenize.detect_encoding(io.BytesIO(data).readline)[0])
        except SyntaxError as error:
            encodings.append(str(error))
    if encodings[0] != encodings[1]:
        raise Broken(f"the encoding changed: {encodings}", repr(after))
    ends = [set(re.findall(rb"\r\n|\r|\n", data)) for data in (before, after)]
    if len(ends[0]) == 1 and ends[1] != ends[0]:
        raise Broken(f"the line ends changed: {ends}", repr(after))
    if _compiles(before) and not _compiles(after):
        raise Broken("the fixed file is no Python", repr(after))


def _compiles(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "<bytes>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
        return False
    return True


KIND = Kind("texts", generate, judge)


def run(seed: int, count: int) -> dict[str, int]:
    return running.run("texts", seed, count)
