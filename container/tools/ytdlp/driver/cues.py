"""The cues of WebVTT that lie in a part of a video, timed from where the part begins."""

import re

TIME = r"(?:(\d+):)?(\d{2}):(\d{2})\.(\d{3})"
TIMING = re.compile(rf"^{TIME}([ \t]+-->[ \t]+){TIME}(.*)$", re.MULTILINE)
# Times inside a cue, as of karaoke.
INNER_TIME = re.compile(rf"<{TIME}>")


def cut_cues(text: str, start: float, end: float | None) -> str:
    """WebVTT of the part alone; a cue that only begins or ends outside of it is shortened."""
    blocks = re.split(r"\n{2,}", text.removeprefix("\ufeff").replace("\r\n", "\n").strip("\n"))
    kept = [cut for block in blocks if (cut := _cut_block(block, start, end)) is not None]
    return "\n\n".join(kept) + "\n"


def _cut_block(block: str, start: float, end: float | None) -> str | None:
    """The block of a cue, or None where it lies outside; other blocks as they are."""
    timing = TIMING.search(block)
    if timing is None:
        return block
    groups = timing.groups()
    begins = _seconds(groups[0:4])
    ends = _seconds(groups[5:9])
    if ends <= start or (end is not None and begins >= end):
        return None
    length = float("inf") if end is None else end - start
    times = (_write(begins - start), groups[4], _write(min(ends - start, length)), groups[9])
    words = INNER_TIME.sub(
        lambda found: f"<{_write(_seconds(found.groups()) - start)}>", block[timing.end() :]
    )
    return block[: timing.start()] + "".join(times) + words


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, thousandths = (int(part or 0) for part in parts)
    return hours * 3600 + minutes * 60 + seconds + thousandths / 1000


def _write(seconds: float) -> str:
    thousandths = round(max(seconds, 0) * 1000)
    minutes, rest = divmod(thousandths, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}.{rest % 1000:03}"
