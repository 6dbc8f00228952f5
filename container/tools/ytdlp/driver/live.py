"""Whether a video is a live stream."""

from yt_dlp import YoutubeDL
from yt_dlp.networking import Request
from yt_dlp.utils import YoutubeDLError

PLAYLIST_BYTES_MAX = 1024**2
SECONDS_MAX = 5


def may_grow(playlist: str) -> bool:
    """Whether a media playlist of HLS may get more segments, as that of a live stream."""
    return "#EXT-X-ENDLIST" not in playlist


def is_live(ydl: YoutubeDL, info: dict) -> bool:
    """What the site says, or, where yt-dlp reads a page that it does not know, the playlist."""
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
    """The playlist of a format; nothing where it cannot be read, which a fetch would say."""
    headers = each.get("http_headers") or {}
    request = Request(each["url"], headers=headers, extensions={"timeout": SECONDS_MAX})
    try:
        return ydl.urlopen(request).read(PLAYLIST_BYTES_MAX).decode("utf-8", "replace")
    except (YoutubeDLError, OSError, ValueError):
        return ""
