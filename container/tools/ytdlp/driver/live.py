"""Detects live streams."""

from yt_dlp import YoutubeDL
from yt_dlp.networking import Request
from yt_dlp.utils import YoutubeDLError

PLAYLIST_BYTES_MAX = 1024**2
SECONDS_MAX = 5


def may_grow(playlist: str) -> bool:
    """Reports whether an HLS media playlist may still get more segments, like that of a live
    stream."""
    return "#EXT-X-ENDLIST" not in playlist


def is_live(ydl: YoutubeDL, info: dict) -> bool:
    """Reports whether a video is live. The site's own statement counts or, for sites that yt-dlp
    does not know, the HLS playlist."""
    said = info.get("is_live")
    formats = info.get("formats") or []
    if said is not None or info.get("extractor") not in ("generic", "html5"):
        return said is True
    for each in formats:
        if (each.get("protocol") or "").startswith("m3u8"):
            playlist = _read(ydl, each)
            return "#EXTINF" in playlist and may_grow(playlist)
    return False


def _read(ydl: YoutubeDL, each: dict) -> str:
    """Returns the HLS playlist of a format; an empty text if the playlist cannot be read. The
    failure is reported when the video is fetched."""
    headers = each.get("http_headers") or {}
    request = Request(each["url"], headers=headers, extensions={"timeout": SECONDS_MAX})
    try:
        return ydl.urlopen(request).read(PLAYLIST_BYTES_MAX).decode("utf-8", "replace")
    except (YoutubeDLError, OSError, ValueError):
        return ""
