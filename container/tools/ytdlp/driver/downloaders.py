"""Configures how yt-dlp downloads."""

from live import may_grow
from refusal import Refusal
from yt_dlp.downloader import PROTOCOL_MAP
from yt_dlp.downloader.external import FFmpegFD
from yt_dlp.downloader.hls import HlsFD
from yt_dlp.postprocessor import FFmpegPostProcessor


class FinishedHlsFD(HlsFD):
    """Downloads HLS without ffmpeg. Refuses a playlist that may still grow, because its download
    would never end."""

    @classmethod
    def can_download(cls, manifest, info_dict, allow_unplayable_formats=False):
        if may_grow(manifest) and not info_dict.get("live_status"):
            raise Refusal("live_stream")
        return super().can_download(manifest, info_dict, allow_unplayable_formats)


def use_native_downloaders() -> None:
    """Makes yt-dlp download HLS by its own code instead of ffmpeg. Sections still need ffmpeg."""
    PROTOCOL_MAP["m3u8"] = PROTOCOL_MAP["m3u8_native"] = FinishedHlsFD


def use_programs(job: dict) -> None:
    """Makes yt-dlp use the ffmpeg and ffprobe that the job names, and a separate ffmpeg with
    network access for downloads."""

    def paths_for(processor: FFmpegPostProcessor) -> dict:
        downloads = isinstance(processor._downloader, FFmpegFD)
        name = "downloader" if downloads else "ffmpeg"
        return {"ffmpeg": job[name], "ffprobe": job["ffprobe"]}

    FFmpegPostProcessor._determine_executables = paths_for
