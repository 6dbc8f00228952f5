"""Subtitles in the languages that were asked for, as WebVTT."""

import os

from cues import cut_cues
from section import Section
from yt_dlp import YoutubeDL
from yt_dlp.postprocessor import FFmpegSubtitlesConvertorPP
from yt_dlp.utils import YoutubeDLError

# The first that a site has; all of them can be made into WebVTT.
FORMATS = ["vtt", "srt", "ass", "ttml", "dfxp"]


def fetch_subtitles(
    ydl: YoutubeDL, info: dict, languages: list[str], section: Section
) -> list[dict]:
    """Names and languages of the files, of the section alone; what a site has not, or does not give,
    is not among them."""
    made = []
    for index, asked in enumerate(languages):
        found = find_track(info, asked)
        if found is None:
            continue
        language, track = found
        name = _fetch_track(ydl, info, track, f"subtitles_{index + 1}")
        if name is not None:
            if not section.is_whole:
                _cut_file(name, section)
            made.append({"index": index, "language": language, "name": name})
    return made


def find_track(info: dict, asked: str) -> tuple[str, dict] | None:
    """The track of a language, written ones first; `en` takes `en-US` where there is no `en`."""
    for kind in ("subtitles", "automatic_captions"):
        tracks = info.get(kind) or {}
        language = _match(asked, [each for each in tracks if tracks[each]])
        if language is None:
            continue
        track = _choose(tracks[language])
        if track is not None:
            return language, track
    return None


def _match(asked: str, languages: list[str]) -> str | None:
    wanted = _normal(asked)
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
            requested = {"asked": {**track, "filepath": name}}
            FFmpegSubtitlesConvertorPP(ydl, format="vtt").run(
                {"requested_subtitles": requested, "__files_to_move": {name: name}}
            )
    # The media is there by now, and is worth more than its subtitles.
    except (YoutubeDLError, OSError, ValueError) as error:
        ydl.report_warning(f"Subtitles could not be fetched: {error}")
        return None
    made = f"{stem}.vtt"
    return made if os.path.isfile(made) and os.path.getsize(made) > 0 else None


def _cut_file(name: str, section: Section) -> None:
    with open(name, encoding="utf-8", errors="replace") as file:
        text = file.read()
    with open(name, "w", encoding="utf-8", newline="") as file:
        file.write(cut_cues(text, section.start, section.end))
