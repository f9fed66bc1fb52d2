"""Patterns of gitignore files, matched the way git matches them, without backtracking.

Vocabulary
----------
line      a pattern as it is written, with ``!`` and slashes.
segment   what stands between two slashes of a pattern or of a path.
block     a part of a segment between two ``*``: it matches a fixed number of bytes.
gap       ``**`` as a whole segment: any number of segments.

The rules are those of git's ``dir.c`` and ``wildmatch.c``, oddities included: patterns match bytes, not characters, and
the last pattern that matches decides. Libraries that translate patterns to regular expressions differ from git in such
details, and their expressions backtrack.

Blocks are searched from the left and never tried again: if a match exists at all, one exists with the leftmost blocks.
The same holds for the segments between two gaps, which are followed side by side, as bits. Large sets are indexed by
literal text, because 200,000 patterns must not be tried one by one.

Limitations: matching is always case-sensitive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_SPECIAL = re.compile(rb"[*?\[\\]")
_RUN_END = re.compile(rb"[*?/]+")
_ESCAPE = re.compile(rb"[\[\\]")
_SLASH, _BACKSLASH, _STAR = b"/\\*"
_INDEXED_FROM = 32
"""The number of patterns with wildcards from which an index pays."""
_KEY_SIZES = (0, 1, 2, 3, 4, 4, 6, 6, 8, 8, 8, 8, 12, 12, 12, 12, 16)
"""How much of a literal text of such a length is looked up. Few different sizes mean few look-ups."""
_MOST_KEYS = 4
_MOST_MASKS = 10_000


class PatternError(ValueError):
    """A pattern that can match nothing because of its form. ``reason`` says why."""

    def __init__(self, line: str, reason: str) -> None:
        super().__init__(f"`{line}` matches nothing: {reason}")
        self.line = line
        self.reason = reason


class _Malformed(Exception):
    """git accepts such a pattern, but it never matches."""


def as_bytes(text: str) -> bytes:
    """The bytes of a file name, or of a pattern. Text that no file name can hold still gets some bytes."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


# --- one pattern ---------------------------------------------------------------------------------


class Pattern(NamedTuple):
    """One line, taken apart. body: without ``!`` and the last slash.

    directory_only: the line ends with a slash. name_only: no slash is left, so the pattern is compared with the name
    of a file and not with its path.
    """

    body: bytes
    negated: bool
    directory_only: bool
    name_only: bool


def parse(line: bytes) -> Pattern | None:
    """Take a line of an ignore file apart (without its newline); None for comments and blank lines."""
    if line.startswith(b"#"):
        return None
    line = _trimmed(line.removesuffix(b"\r").partition(b"\0")[0])
    negated = line.startswith(b"!")
    body = line[1:] if negated else line
    directory_only = body.endswith(b"/")
    if directory_only:
        body = body[:-1]
    return Pattern(body, negated, directory_only, b"/" not in body) if body else None


def _trimmed(line: bytes) -> bytes:
    """The line without the spaces at its end, of which a backslash keeps one."""
    if not line.endswith(b" "):
        return line
    kept = line.rstrip(b" ")
    backslashes = len(kept) - len(kept.rstrip(b"\\"))
    return kept + b" " if backslashes % 2 else kept


def complaint(line: str) -> str | None:
    """Why a pattern of the configuration can match nothing; None if it can. Blank lines and comments are no patterns."""
    data = as_bytes(line)
    if not data.strip() or data.startswith(b"#"):
        return None
    pattern = parse(data)
    if pattern is None or not pattern.body.strip(b"/"):
        return "no name is left of it"
    if _ESCAPE.search(data) is None:
        return None
    try:
        matcher(pattern)
    except _Malformed as error:
        return str(error)
    return None


# --- matching ------------------------------------------------------------------------------------

_Byte = frozenset[int]
_Block = tuple[_Byte, ...] | bytes
"""What a block allows at each of its bytes; plain bytes if it allows one byte at each."""
_ANY_BYTE = frozenset(range(256)) - {_SLASH}


@dataclass(frozen=True)
class _Segment:
    """blocks: at least one. Between two of them, any bytes may stand."""

    blocks: tuple[_Block, ...]

    def matches(self, text: bytes) -> bool:
        first, last = self.blocks[0], self.blocks[-1]
        if len(self.blocks) == 1:
            return len(text) == len(first) and _at(first, text, 0)
        end = len(text) - len(last)
        if end < len(first) or not _at(first, text, 0) or not _at(last, text, end):
            return False
        position = len(first)
        for block in self.blocks[1:-1]:
            found = _find(block, text, position, end)
            if found < 0:
                return False
            position = found + len(block)
        return True


def _at(block: _Block, text: bytes, position: int) -> bool:
    if isinstance(block, bytes):
        return text.startswith(block, position)
    return all(text[position + index] in allowed for index, allowed in enumerate(block))


def _find(block: _Block, text: bytes, start: int, end: int) -> int:
    """Where a block first stands in ``text[start:end]``; -1 if nowhere."""
    if isinstance(block, bytes):
        return text.find(block, start, end)
    return next((place for place in range(start, end - len(block) + 1) if _at(block, text, place)), -1)


@dataclass(frozen=True)
class NameMatcher:
    """Matches the name of a file."""

    segment: _Segment

    def matches(self, path: bytes, name: bytes) -> bool:
        return self.segment.matches(name)


class _Chunk:
    """Segments that stand next to each other. ``_masks``: which of them match a segment of a path, as the bits of a number."""

    def __init__(self, segments: Sequence[_Segment]) -> None:
        self.segments = tuple(segments)
        self._masks: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self.segments)

    def stands(self, path: Sequence[bytes], position: int) -> bool:
        """Whether the chunk matches the segments of a path from a position on."""
        if position + len(self.segments) > len(path):
            return False
        return all(segment.matches(path[position + index]) for index, segment in enumerate(self.segments))

    def end(self, path: Sequence[bytes], start: int) -> int:
        """The position behind the first place from ``start`` on where the chunk matches; -1 if there is none."""
        if not self.segments:
            return start
        complete = 1 << len(self.segments) - 1
        state = 0  # the bit of a segment is set while it and all before it match
        for position in range(start, len(path)):
            state = (state << 1 | 1) & self._mask(path[position])
            if state & complete:
                return position + 1
        return -1

    def _mask(self, text: bytes) -> int:
        found = self._masks.get(text)
        if found is None:
            if len(self._masks) >= _MOST_MASKS:
                self._masks.clear()
            found = sum(1 << index for index, segment in enumerate(self.segments) if segment.matches(text))
            self._masks[text] = found
        return found


@dataclass(frozen=True)
class PathMatcher:
    """Matches a path.

    prefix: the text before the first wildcard. chunks: the segments between two gaps. gaps: how many segments each gap
    takes at least. tail: the same for a gap at the end, 0 if there is none.
    """

    prefix: bytes
    chunks: tuple[_Chunk, ...]
    gaps: tuple[int, ...]
    tail: int

    def matches(self, path: bytes, name: bytes) -> bool:
        if not path.startswith(self.prefix):
            return False
        segments = path[len(self.prefix) :].split(b"/")
        first, *others = self.chunks
        if not first.stands(segments, 0):
            return False
        position = len(first)
        for index, (chunk, gap) in enumerate(zip(others, self.gaps)):
            position += gap
            if index == len(others) - 1 and not self.tail:
                last = len(segments) - len(chunk)
                return last >= position and chunk.stands(segments, last)
            position = chunk.end(segments, position)
            if position < 0:
                return False
        left = len(segments) - position
        return left >= self.tail if self.tail else left == 0


Matcher = NameMatcher | PathMatcher


def matcher(pattern: Pattern) -> Matcher:
    """Make the matcher of a pattern. Raises _Malformed."""
    body = pattern.body
    if pattern.name_only:
        return NameMatcher(_segment(_tokens(body)))
    wild = _SPECIAL.search(body)
    length = wild.start() if wild is not None else len(body)
    anchored = int(body.startswith(b"/"))
    prefix, rest = body[anchored:length], body[length:]
    chunks: list[list[_Segment]] = [[]]
    gaps: list[int] = []
    tail = 0
    for part in _split(list(_tokens(rest))):
        if part.gap and part.last:
            tail = 1
        elif part.gap and gaps and not chunks[-1]:
            gaps[-1] += part.least
        elif part.gap:
            chunks.append([])
            gaps.append(part.least)
        else:
            chunks[-1].append(_segment(part.tokens))
    if tail and gaps and not chunks[-1]:  # `**/**`
        chunks.pop()
        tail += gaps.pop()
    return PathMatcher(prefix, tuple(map(_Chunk, chunks)), tuple(gaps), tail)


class _Token(NamedTuple):
    """A piece of a pattern: a set of bytes, a slash, or as many ``*`` as stand together. escaped: by a backslash."""

    allowed: _Byte | None = None
    stars: int = 0
    escaped: bool = False


class _Part(NamedTuple):
    """The tokens between two slashes. least: how many segments a gap takes at least; last: nothing follows."""

    tokens: Sequence[_Token]
    gap: bool = False
    least: int = 0
    last: bool = False


_ONLY_SLASH = frozenset({_SLASH})


def _split(tokens: Sequence[_Token]) -> Iterator[_Part]:
    """The parts between slashes."""
    part: list[_Token] = []
    for token in tokens:
        if token.allowed != _ONLY_SLASH:
            part.append(token)
            continue
        gap = len(part) == 1 and part[0].stars > 1
        yield _Part(part, gap, int(token.escaped))
        part = []
    gap = len(part) == 1 and part[0].stars > 1
    yield _Part(part, gap, last=True)


def _segment(tokens: Iterable[_Token]) -> _Segment:
    blocks: list[list[_Byte]] = [[]]
    for token in tokens:
        if token.stars:
            blocks.append([])
        elif token.allowed is not None:
            blocks[-1].append(token.allowed)
    return _Segment(tuple(map(_block, blocks)))


def _block(allowed: Sequence[_Byte]) -> _Block:
    if all(len(one) == 1 for one in allowed):
        return bytes(next(iter(one)) for one in allowed)
    return tuple(allowed)


def _tokens(body: bytes) -> Iterator[_Token]:
    """The pieces of a pattern. Raises _Malformed."""
    position = 0
    while position < len(body):
        byte = body[position]
        position += 1
        if byte == _STAR:
            stars = 1
            while body[position : position + 1] == b"*":
                stars, position = stars + 1, position + 1
            yield _Token(stars=stars)
        elif byte == ord("?"):
            yield _Token(_ANY_BYTE)
        elif byte == ord("["):
            allowed, position = _Bracket(body, position).read()
            yield _Token(allowed)
        elif byte == _BACKSLASH:
            if position == len(body):
                raise _Malformed("it ends with a backslash; write two for a name with one")
            yield _Token(_SINGLE[body[position]], escaped=True)
            position += 1
        else:
            yield _Token(_SINGLE[byte])


_SINGLE = [frozenset({byte}) for byte in range(256)]


def _bytes_of(characters: bytes) -> _Byte:
    return frozenset(characters)


_UPPER = _bytes_of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LOWER = _bytes_of(b"abcdefghijklmnopqrstuvwxyz")
_DIGITS = _bytes_of(b"0123456789")
_SPACES = _bytes_of(b" \t\n\r")
_PRINTABLE = frozenset(range(0x20, 0x7F))
_CLASSES = {
    b"alnum": _UPPER | _LOWER | _DIGITS,
    b"alpha": _UPPER | _LOWER,
    b"blank": _bytes_of(b" \t"),
    b"cntrl": frozenset(range(0x20)) | {0x7F},
    b"digit": _DIGITS,
    b"graph": _PRINTABLE - _SPACES,
    b"lower": _LOWER,
    b"print": _PRINTABLE,
    b"punct": _PRINTABLE - _UPPER - _LOWER - _DIGITS - _SPACES,
    b"space": _SPACES,
    b"upper": _UPPER,
    b"xdigit": _DIGITS | _bytes_of(b"abcdefABCDEF"),
}
_UNCLOSED = "a `[` in it is not closed; write `\\[` for a name with one"


class _Bracket:
    """What a ``[…]`` allows, read from behind its ``[`` on.

    found: the bytes so far. before: the byte that a range may start with, or -1. closing: where the last ``]`` was that
    a search came to.
    """

    def __init__(self, body: bytes, position: int) -> None:
        self.body = body
        self.position = position
        self.found: set[int] = set()
        self.before = -1
        self.closing = -1

    def read(self) -> tuple[_Byte, int]:
        """The bytes that it allows, and where it ends. Raises _Malformed."""
        negated = self._following() in (b"!", b"^")
        self.position += negated
        byte = self._take()  # a `]` that comes first stands for itself
        while True:
            if byte == _BACKSLASH:
                self._add(self._take())
            elif byte == ord("-") and self.before >= 0 and self._following() not in (b"", b"]"):
                self._add_range()
            elif byte != ord("[") or self._following() != b":" or not self._add_class():
                self._add(byte)
            byte = self._take()
            if byte == ord("]"):
                return (_ANY_BYTE - self.found if negated else frozenset(self.found - {_SLASH})), self.position

    def _take(self) -> int:
        if self.position >= len(self.body):
            raise _Malformed(_UNCLOSED)
        self.position += 1
        return self.body[self.position - 1]

    def _following(self) -> bytes:
        return self.body[self.position : self.position + 1]

    def _add(self, byte: int) -> None:
        self.found.add(byte)
        self.before = byte

    def _add_range(self) -> None:
        """``a-z``, from the ``z`` on."""
        last = self._take()
        self.found.update(range(self.before, (self._take() if last == _BACKSLASH else last) + 1))
        self.before = -1

    def _add_class(self) -> bool:
        """``[:alpha:]``, from the first ``:`` on. False where it is none: then the ``[`` stands for itself."""
        start = self.position + 1
        if self.closing < start:
            self.closing = self.body.find(b"]", start)
        if self.closing < 0:
            raise _Malformed(_UNCLOSED)
        if self.closing == start or self.body[self.closing - 1] != ord(":"):
            return False
        name = self.body[start : self.closing - 1]
        if name not in _CLASSES:
            raise _Malformed(f"there is no class `[:{name.decode('utf-8', 'replace')[:20]}:]` of characters")
        self.found |= _CLASSES[name]
        self.position, self.before = self.closing + 1, -1
        return True


# --- many patterns -------------------------------------------------------------------------------


@dataclass
class _Wild:
    """Patterns with wildcards, by a literal text that each must find in what it is compared with."""

    numbers: list[int] = field(default_factory=list)
    by_key: dict[bytes, list[int]] = field(default_factory=dict)
    sizes: set[int] = field(default_factory=set)
    keyless: list[int] = field(default_factory=list)

    def add(self, number: int, body: bytes) -> None:
        self.numbers.append(number)
        keys = _keys(body)
        if keys:
            key = min(keys, key=self._use) if len(keys) > 1 else keys[0]
            self.by_key.setdefault(key, []).append(number)
            self.sizes.add(len(key))
        else:
            self.keyless.append(number)

    def _use(self, key: bytes) -> tuple[int, int]:
        """How often a key is in use; of two that are used equally, the longer one is better."""
        return len(self.by_key.get(key, ())), -len(key)

    def candidates(self, text: bytes) -> Iterable[int]:
        """The patterns that may match, the last one first."""
        if len(self.numbers) < _INDEXED_FROM:
            return reversed(self.numbers)
        found = set(self.keyless)
        for size in self.sizes:
            for start in range(len(text) - size + 1):
                numbers = self.by_key.get(text[start : start + size])
                if numbers is not None:
                    found.update(numbers)
        return sorted(found, reverse=True)


def _keys(body: bytes) -> list[bytes]:
    """Pieces of text that everything holds that the pattern matches."""
    if b"[" in body or b"\\" in body:
        body = _plain_parts(body)
    runs = [run for run in _RUN_END.split(body) if run]
    if len(runs) > _MOST_KEYS:
        runs = sorted(runs, key=len, reverse=True)[:_MOST_KEYS]
    keys = []
    for run in runs:
        size = _KEY_SIZES[min(len(run), 16)]
        keys.append(run[:size])
        if size < len(run):
            keys.append(run[-size:])
    return keys


def _plain_parts(body: bytes) -> bytes:
    """What stands before the first bracket or backslash, and what stands behind the last bracket."""
    before = _ESCAPE.split(body, maxsplit=1)[0]
    behind = body.rpartition(b"]")[2] if b"]" in body else b""
    return before if _ESCAPE.search(behind) else before + b"*" + behind


class PatternSet:
    """The patterns of one file, or of one setting. Later ones go before earlier ones."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._patterns: list[Pattern] = []
        self._literal: dict[tuple[bytes, bool], int] = {}
        self._literal_directories: dict[tuple[bytes, bool], int] = {}
        self._names, self._paths = _Wild(), _Wild()
        self._matchers: dict[int, Matcher | None] = {}
        # Of equal lines only the last one counts.
        for line in reversed(dict.fromkeys(reversed(list(lines)))):
            pattern = parse(line)
            if pattern is not None:
                self._add(pattern)

    def _add(self, pattern: Pattern) -> None:
        number = len(self._patterns)
        self._patterns.append(pattern)
        if _SPECIAL.search(pattern.body) is None:
            body = pattern.body if pattern.name_only else pattern.body.removeprefix(b"/")
            literal = self._literal_directories if pattern.directory_only else self._literal
            literal[body, pattern.name_only] = number
        elif pattern.name_only:
            self._names.add(number, pattern.body)
        else:
            self._paths.add(number, pattern.body)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def verdict(self, path: bytes, *, is_directory: bool) -> bool | None:
        """Whether the last pattern that matches a relative path ignores it; None if no pattern matches."""
        name = path.rpartition(b"/")[2]
        found = -1
        for literal in (self._literal, self._literal_directories) if is_directory else (self._literal,):
            found = max(found, literal.get((name, True), -1), literal.get((path, False), -1))
        for wild, text in ((self._names, name), (self._paths, path)):
            found = self._last(wild.candidates(text), found, path, name, is_directory)
        return None if found < 0 else not self._patterns[found].negated

    def _last(self, numbers: Iterable[int], found: int, path: bytes, name: bytes, is_directory: bool) -> int:
        """The last of these patterns that matches, if it is later than the one that was found."""
        for number in numbers:
            if number < found:
                break
            if is_directory or not self._patterns[number].directory_only:
                made = self._matcher(number)
                if made is not None and made.matches(path, name):
                    return number
        return found

    def _matcher(self, number: int) -> Matcher | None:
        """The matcher of a pattern with wildcards, made when it is first needed; None if it can match nothing."""
        if number not in self._matchers:
            try:
                self._matchers[number] = matcher(self._patterns[number])
            except _Malformed:
                self._matchers[number] = None
        return self._matchers[number]
