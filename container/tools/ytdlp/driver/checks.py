"""Checks that refuse videos and files which cannot be fetched."""

import mimetypes
import os
from urllib.parse import urlsplit

from refusal import Refusal
from yt_dlp.utils import MEDIA_EXTENSIONS

# Media types of files without video and audio, besides images and texts.
OTHER_TYPES = {
    "application/epub+zip",
    "application/gzip",
    "application/javascript",
    "application/json",
    "application/msword",
    "application/pdf",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/wasm",
    "application/x-tar",
    "application/xml",
    "application/zip",
}


def check_video(info: dict, job: dict) -> None:
    """Raises a Refusal if a video is live, protected, too large or shorter than the requested
    start. Runs before the download."""
    if info.get("is_live") or info.get("live_status") in ("is_live", "is_upcoming"):
        raise Refusal("live_stream")
    formats = info.get("requested_formats") or [info]
    if any(each.get("has_drm") is True for each in formats):
        raise Refusal("drm_protected")
    duration = info.get("duration")
    start = job.get("start")
    if start and duration and start >= duration:
        raise Refusal("invalid_input", start=start, duration=duration)
    if start or job.get("end"):
        return
    sizes = [each.get("filesize") or each.get("filesize_approx") or 0 for each in formats]
    if sum(sizes) > job["bytesMax"]:
        raise Refusal("too_large", bytes=int(sum(sizes)))


def check_link(info: dict) -> None:
    """Raises a Refusal for the URL of a single file if its extension shows that it is neither video
    nor audio."""
    if not info.get("direct") or info.get("extractor") != "generic":
        return
    path = urlsplit(info.get("url") or "").path
    extension = os.path.splitext(path)[1].removeprefix(".").lower()
    if extension in (*MEDIA_EXTENSIONS.video, *MEDIA_EXTENSIONS.audio):
        return
    media_type = mimetypes.guess_type(path)[0] or ""
    # Accepts unknown extensions, since a script such as download.php may return any type of file.
    if media_type.startswith(("image/", "text/")) or media_type in OTHER_TYPES:
        raise Refusal("unsupported_site")


def check_download(name: str, bytes_max: int) -> None:
    """Raises a Refusal if a downloaded file is too large or empty."""
    size = os.path.getsize(name)
    if size > bytes_max:
        raise Refusal("too_large", bytes=size)
    if size == 0:
        raise Refusal("incomplete")
