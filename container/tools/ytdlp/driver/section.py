"""Download of a section of a video."""

import os
import re

from refusal import Refusal
from yt_dlp import YoutubeDL
from yt_dlp.postprocessor import FFmpegPostProcessor
from yt_dlp.postprocessor.common import PostProcessor
from yt_dlp.utils import DownloadError

FFMPEG_FAILED = re.compile(r"ffmpeg exited|Postprocessing: ")


class VideoSection:
    """Section of a video between two times in seconds. `end` is None for the end of the video."""

    def __init__(self, start: float, end: float | None, has_picture: bool) -> None:
        self.start = start
        self.end = end
        self.has_picture = has_picture

    @staticmethod
    def of(job: dict, info: dict) -> "VideoSection":
        has_picture = job["quality"] != "audio" and info.get("vcodec") != "none"
        return VideoSection(job.get("start") or 0, job.get("end"), has_picture)

    @property
    def is_whole(self) -> bool:
        return not self.start and self.end is None

    def download(self, ydl: YoutubeDL, info: dict) -> str:
        """Downloads only the section. If this is not possible, downloads the whole video and cuts
        out the section. Returns the name of the file."""
        if self.is_whole:
            return _download(ydl, info)
        if not _needs_secrets(ydl, info):
            name = self._download_section(ydl, info)
            if name is not None and not self._lacks_picture(ydl, name):
                return name
            # Downloads the whole video if the site names no codec, since only the whole video shows
            # whether it has a picture.
            if name is not None and info.get("vcodec"):
                raise self._start_past_end()
            _remove_partial_files()
        name = _download(ydl, info)
        duration = _duration_of(ydl, name)
        if duration is not None and self.start >= duration:
            raise self._start_past_end(duration)
        had_picture = _has_picture(ydl, name)
        made = self._cut_file(ydl, name)
        if had_picture and self._lacks_picture(ydl, made):
            raise self._start_past_end()
        return made

    def _lacks_picture(self, ydl: YoutubeDL, name: str) -> bool:
        """Reports whether a file lacks the picture that the video has, for example because only the
        audio lasts until the section."""
        return self.has_picture and not _has_picture(ydl, name)

    def _start_past_end(self, duration: float | None = None) -> Refusal:
        return Refusal("invalid_input", start=self.start, duration=duration)

    def _download_section(self, ydl: YoutubeDL, info: dict) -> str | None:
        """Downloads only the section, by ffmpeg. Returns None if that is not possible, for example
        if the server does not support byte ranges."""
        end = float("inf") if self.end is None else self.end
        ydl.params["download_ranges"] = lambda *_: [{"start_time": self.start, "end_time": end}]
        if self.has_picture:
            # The section is encoded again, since it may start between keyframes; the encoder for
            # MP4 is the fastest.
            ydl.params["force_keyframes_at_cuts"] = True
            ydl.add_post_processor(SectionAsMp4(ydl), when="video")
        try:
            # Passes a copy, since yt-dlp changes its argument.
            name = _download(ydl, {**info})
            return name if _duration_of(ydl, name) else None
        except DownloadError as error:
            if FFMPEG_FAILED.search(str(error)):
                return None
            raise
        finally:
            ydl.params.pop("download_ranges")

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


class SectionAsMp4(PostProcessor):
    """Makes yt-dlp write a section as MP4, whatever the format of the video."""

    def run(self, info: dict):
        if "section_start" not in info:
            return [], info
        return [], {**info, "ext": "mp4"}


def _download(ydl: YoutubeDL, info: dict) -> str:
    """Downloads a video. Returns the name of its only file."""
    made = ydl.process_ie_result(info, download=True)
    downloads = (made or {}).get("requested_downloads") or []
    paths = [each["filepath"] for each in downloads if each.get("filepath")]
    if len(paths) != 1 or not os.path.isfile(paths[0]):
        raise Refusal("incomplete")
    return os.path.basename(paths[0])


def _duration_of(ydl: YoutubeDL, name: str) -> float | None:
    return FFmpegPostProcessor(ydl)._get_real_video_duration(name, fatal=False)


def _has_picture(ydl: YoutubeDL, name: str) -> bool:
    """Reports whether a file has a video stream that is no cover picture."""
    streams = FFmpegPostProcessor(ydl).get_metadata_object(name).get("streams") or []
    return any(
        each.get("codec_type") == "video"
        and not (each.get("disposition") or {}).get("attached_pic")
        for each in streams
    )


def _remove_partial_files() -> None:
    """Removes incomplete files of ffmpeg, which yt-dlp would try to resume."""
    for name in os.listdir():
        if name.startswith("media."):
            os.remove(name)


def _needs_secrets(ydl: YoutubeDL, info: dict) -> bool:
    """Reports whether ffmpeg would need cookies or credentials for the download. Such secrets could
    only be passed as arguments, which other processes may see."""
    for each in info.get("requested_formats") or [info]:
        headers = {name.lower() for name in each.get("http_headers") or {}}
        if "authorization" in headers:
            return True
        if ydl.params.get("cookiefile") and ydl.cookiejar.get_cookies_for_url(each["url"]):
            return True
    return False
