"""Formats JSON lines that are short enough for the runner."""

import json

BYTES_MAX = 60_000
# Maximum lengths of texts and lists, tried in order until the line is short enough.
TEXT_LENGTHS = (10_000, 3000, 1000, 200)
LIST_LENGTHS = (200, 100, 50, 10)


def to_json_line(values: dict) -> str:
    """Returns values as a line of JSON. If the line is too long, cuts texts, and keeps only the
    last items of lists."""
    line = _write(values)
    for length, items in zip(TEXT_LENGTHS, LIST_LENGTHS):
        if _size(line) <= BYTES_MAX:
            break
        line = _write(_cut(values, length, items))
    return line


def _write(values: dict) -> str:
    # Does not escape non-ASCII characters, since escapes take up to three times as many bytes.
    return json.dumps(values, ensure_ascii=False)


def _size(line: str) -> int:
    return len(line.encode("utf-8", "replace"))


def _cut(value, length: int, items: int):
    """Cuts texts to their first `length` characters, and lists to their last `items` items."""
    if isinstance(value, str):
        return value[:length]
    if isinstance(value, dict):
        return {name: _cut(each, length, items) for name, each in value.items()}
    if isinstance(value, list):
        return [_cut(each, length, items) for each in value[-items:]]
    return value
