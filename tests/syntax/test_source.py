"""Bytes become text as in Python, and go back unchanged."""

from __future__ import annotations

import pytest

from flake8_jax.syntax.source import SourceError, decode

BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"", "utf-8", ""),
        ("é = 1\r\n\x0cb\r".encode(), "utf-8", "é = 1\r\n\x0cb\r"),
        (BOM + b"a\n", "utf-8", "a\n"),
        (BOM + b"# coding: utf-8\n", "utf-8", "# coding: utf-8\n"),
        (b"# -*- coding: latin-1 -*-\n'\xe9'\n", "iso8859-1", "# -*- coding: latin-1 -*-\n'é'\n"),
        (b"#!x\n# vim: set fileencoding=cp1252 :\n\x80\n", "cp1252", "#!x\n# vim: set fileencoding=cp1252 :\n€\n"),
        (b"\n# coding: latin-1\n\xe9\n", "iso8859-1", "\n# coding: latin-1\né\n"),
        (b"#a\r# coding: latin-1\r'\xe9'\r", "iso8859-1", "#a\r# coding: latin-1\r'é'\r"),
        (b"a = 1\n# coding: latin-1\n", "utf-8", "a = 1\n# coding: latin-1\n"),
        (b"\n\n# coding: latin-1\n", "utf-8", "\n\n# coding: latin-1\n"),
        (b"'coding: latin-1'\n", "utf-8", "'coding: latin-1'\n"),
        (b"# coding: utf-8-sig\n", "utf-8", "# coding: utf-8-sig\n"),
    ],
)  # fmt: skip
def test_decoding_and_back(data: bytes, encoding: str, text: str) -> None:
    source = decode(data)
    assert (source.encoding, source.text, source.exact) == (encoding, text, True)
    assert source.bom is data.startswith(BOM)
    assert source.encode(source.text) == data


@pytest.mark.parametrize(
    ("data", "row", "words"),
    [
        (b"a\n\xff\n", 2, "0xff"),
        (b"# coding: latin-17\n", 1, "latin-17"),
        (b"#!x\n# coding: hex\n", 2, "not a text encoding"),
        (b"# coding: undefined\na = 1\n", 1, "undefined"),
        (BOM + b"# coding: latin-1\n", 1, "byte-order mark"),
        (b"# coding: ascii\n\n'\xe9'\n", 3, "0xe9"),
        ("a = 1\n".encode("utf-16"), 1, "UTF-16"),
    ],
)
def test_what_cannot_be_decoded_says_where_and_what_to_do(data: bytes, row: int, words: str) -> None:
    with pytest.raises(SourceError) as caught:
        decode(data)
    assert caught.value.row == row
    assert words in caught.value.message
    assert caught.value.remedy


def test_an_edit_that_the_encoding_cannot_hold_is_refused() -> None:
    source = decode(b"# coding: latin-1\na\n")
    with pytest.raises(SourceError) as caught:
        source.encode("# coding: latin-1\n\u4e00\n")
    assert caught.value.row == 2


def test_an_encoding_that_loses_bytes_is_not_exact() -> None:
    assert decode(b"# coding: utf-7\n+AGE-\n").exact is False


@pytest.mark.parametrize(
    ("data", "newline"), [(b"a", "\n"), (b"a\r\nb\n", "\r\n"), (b"a\rb", "\r"), (b"a\nb\r\n", "\n")]
)
def test_newline(data: bytes, newline: str) -> None:
    assert decode(data).newline == newline


def test_an_edit_in_a_codec_that_refuses_whole_texts_is_refused() -> None:
    source = decode(b"# coding: idna\n")
    with pytest.raises(SourceError, match="idna"):
        source.encode("# coding: idna\n" + "a" * 80 + "..\n")
