"""The part of a video between two times."""

import os

from refusal import Refusal
from yt_dlp import YoutubeDL
from yt_dlp.postprocessor import FFmpegPostProcessor
from yt_dlp.postprocessor.common import PostProcessor

SECONDS_MIN = 0.05


class Section:
    """Times in seconds; `end` is None for the end of the video."""

    def __init__(self, start: float, end: float | None, has_picture: bool) -> None:
        self.start = start
        self.end = end
        self.has_picture = has_picture
        self._is_local = False

    @staticmethod
    def of(job: dict, info: dict) -> "Section":
        return Section(job.get("start") or 0, job.get("end"), info.get("vcodec") != "none")

    @property
    def is_whole(self) -> bool:
        return not self.start and self.end is None

    def prepare(self, ydl: YoutubeDL, info: dict) -> None:
        """Has ffmpeg download the section alone, where it needs nothing that is secret for that."""
        if self.is_whole:
            return
        self._is_local = _needs_secrets(ydl, info)
        if self._is_local:
            return
        end = float("inf") if self.end is None else self.end
        ydl.params["download_ranges"] = lambda *_: [{"start_time": self.start, "end_time": end}]
        if self.has_picture:
            # A cut at other places than key frames takes new frames, which MP4 takes quickest.
            ydl.params["force_keyframes_at_cuts"] = True
            ydl.add_post_processor(IntoMp4(ydl), when="video")

    def cut(self, ydl: YoutubeDL, name: str) -> str:
        """Cuts a file that was downloaded whole; returns the name of the section's file."""
        if self._is_local:
            name = self._cut_file(ydl, name)
        if not self.is_whole and os.path.getsize(name) == 0:
            raise Refusal("invalid_input", start=self.start, duration=None)
        return name

    def _cut_file(self, ydl: YoutubeDL, name: str) -> str:
        stem, extension = os.path.splitext(name)
        made = f"{stem}.cut{'.mp4' if self.has_picture else extension}"
        length = [] if self.end is None else ["-t", str(self.end - self.start)]
        coding = [] if self.has_picture else ["-c", "copy"]
        FFmpegPostProcessor(ydl).real_run_ffmpeg(
            [(name, ["-ss", str(self.start), *length])], [(made, coding)]
        )
        os.remove(name)
        return made


class IntoMp4(PostProcessor):
    """Has a section written as MP4, whatever the video is."""

    def run(self, info: dict):
        return [], {**info, "ext": "mp4"}


def _needs_secrets(ydl: YoutubeDL, info: dict) -> bool:
    """Whether ffmpeg would need cookies or credentials, which it takes as arguments only."""
    for each in info.get("requested_formats") or [info]:
        headers = {name.lower() for name in each.get("http_headers") or {}}
        if "authorization" in headers:
            return True
        if ydl.params.get("cookiefile") and ydl.cookiejar.get_cookies_for_url(each["url"]):
            return True
    return False
