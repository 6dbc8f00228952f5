"""Download of subtitles in the requested languages, as WebVTT."""

import os
import re

from section import VideoSection
from yt_dlp import YoutubeDL
from yt_dlp.postprocessor import FFmpegSubtitlesConvertorPP
from yt_dlp.utils import YoutubeDLError

# Subtitle formats in the order of preference. All formats can be converted to WebVTT.
FORMATS = ["vtt", "srt", "ass", "ttml", "dfxp"]

TIME = r"(?:(\d+):)?(\d{2}):(\d{2})\.(\d{3})"
TIMING = re.compile(rf"^{TIME}([ \t]+-->[ \t]+){TIME}(.*)$", re.MULTILINE)
# Matches times within the text of a cue, as for karaoke.
INNER_TIME = re.compile(rf"<{TIME}>")


def fetch_subtitles(
    ydl: YoutubeDL, info: dict, languages: list[str], section: VideoSection
) -> list[dict]:
    """Downloads subtitles, and cuts them to the section. Returns the names and languages of the
    files. Omits languages that are missing or fail."""
    made = []
    for index, requested in enumerate(languages):
        found = find_track(info, requested)
        if found is None:
            continue
        language, track = found
        name = _fetch_track(ydl, info, track, f"subtitles_{index + 1}")
        if name is not None:
            if not section.is_whole:
                _cut_file(name, section)
            made.append({"index": index, "language": language, "name": name})
    return made


def find_track(info: dict, requested: str) -> tuple[str, dict] | None:
    """Returns the subtitle track of a language, preferably not an automatic one. If there is no
    track for `en`, `en` matches `en-US`."""
    for kind in ("subtitles", "automatic_captions"):
        tracks = info.get(kind) or {}
        language = _match(requested, [each for each in tracks if tracks[each]])
        if language is None:
            continue
        track = _choose(tracks[language])
        if track is not None:
            return language, track
    return None


def _match(requested: str, languages: list[str]) -> str | None:
    wanted = _normal(requested)
    exact = [each for each in languages if _normal(each) == wanted]
    wider = [each for each in languages if _normal(each).startswith(f"{wanted}-")]
    return next(iter([*exact, *wider]), None)


def _normal(language: str) -> str:
    return language.lower().replace("_", "-")


def _choose(forms: list[dict]) -> dict | None:
    for extension in FORMATS:
        fitting = [form for form in forms if form.get("ext") == extension]
        if fitting:
            return fitting[-1]
    return None


def _fetch_track(ydl: YoutubeDL, info: dict, track: dict, stem: str) -> str | None:
    name = f"{stem}.{track['ext']}"
    track = {"http_headers": info.get("http_headers"), **track}
    try:
        if track.get("data") is not None:
            with open(name, "w", encoding="utf-8", newline="") as file:
                file.write(track["data"])
        else:
            ydl.dl(name, track, subtitle=True)
        if track["ext"] != "vtt":
            requested = {"track": {**track, "filepath": name}}
            FFmpegSubtitlesConvertorPP(ydl, format="vtt").run(
                {"requested_subtitles": requested, "__files_to_move": {name: name}}
            )
    # Logs only a warning for failed subtitles, because the media is already downloaded.
    except (YoutubeDLError, OSError, ValueError) as error:
        ydl.report_warning(f"Subtitles could not be fetched: {error}")
        return None
    made = f"{stem}.vtt"
    return made if os.path.isfile(made) and os.path.getsize(made) > 0 else None


def _cut_file(name: str, section: VideoSection) -> None:
    with open(name, encoding="utf-8", errors="replace") as file:
        text = file.read()
    with open(name, "w", encoding="utf-8", newline="") as file:
        file.write(cut_cues(text, section.start, section.end))


def cut_cues(text: str, start: float, end: float | None) -> str:
    """Returns a WebVTT text with only the cues between two times. Shortens cues that extend beyond
    these times."""
    blocks = re.split(r"\n{2,}", text.removeprefix("\ufeff").replace("\r\n", "\n").strip("\n"))
    kept = [cut for block in blocks if (cut := _cut_block(block, start, end)) is not None]
    return "\n\n".join(kept) + "\n"


def _cut_block(block: str, start: float, end: float | None) -> str | None:
    """Returns the block of a cue with its times shifted to the section; None if the cue lies
    outside. Returns other blocks unchanged."""
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
