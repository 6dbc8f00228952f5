"""Lines of JSON, none longer than the runner reads."""

import json

BYTES_MAX = 60_000
# What texts and lists are cut to, one after another, until a line is short enough.
TEXT_LENGTHS = (10_000, 3000, 1000, 200)
ITEMS = (200, 100, 50, 10)


def to_line(values: dict) -> str:
    """The values as JSON; where that is too long, with shorter texts and the ends of its lists."""
    line = _write(values)
    for length, items in zip(TEXT_LENGTHS, ITEMS):
        if _size(line) <= BYTES_MAX:
            break
        line = _write(_cut(values, length, items))
    return line


def _write(values: dict) -> str:
    # As it is: an escape takes up to three times as many bytes as its character.
    return json.dumps(values, ensure_ascii=False)


def _size(line: str) -> int:
    return len(line.encode("utf-8", "replace"))


def _cut(value, length: int, items: int):
    """A value with texts of at most so many characters, and lists of so many items."""
    if isinstance(value, str):
        return value[:length]
    if isinstance(value, dict):
        return {name: _cut(each, length, items) for name, each in value.items()}
    if isinstance(value, list):
        return [_cut(each, length, items) for each in value[-items:]]
    return value
