"""The downloaders that yt-dlp is to use."""

from live import may_grow
from refusal import Refusal
from yt_dlp.downloader import PROTOCOL_MAP
from yt_dlp.downloader.external import FFmpegFD
from yt_dlp.downloader.hls import HlsFD
from yt_dlp.postprocessor import FFmpegPostProcessor


class FinishedHlsFD(HlsFD):
    """HLS without ffmpeg; refuses a playlist that may grow, which never ends."""

    @classmethod
    def can_download(cls, manifest, info_dict, allow_unplayable_formats=False):
        if may_grow(manifest) and not info_dict.get("live_status"):
            raise Refusal("live_stream")
        return super().can_download(manifest, info_dict, allow_unplayable_formats)


def use_native_downloaders() -> None:
    """Has yt-dlp download by its own code; ffmpeg alone can download a section."""
    PROTOCOL_MAP["m3u8"] = PROTOCOL_MAP["m3u8_native"] = FinishedHlsFD


def use_programs(job: dict) -> None:
    """Has yt-dlp use the job's ffmpeg and ffprobe, and another ffmpeg for what that downloads."""

    def paths_for(processor: FFmpegPostProcessor) -> dict:
        downloads = isinstance(processor._downloader, FFmpegFD)
        name = "downloader" if downloads else "ffmpeg"
        return {"ffmpeg": job[name], "ffprobe": job["ffprobe"]}

    FFmpegPostProcessor._determine_executables = paths_for
