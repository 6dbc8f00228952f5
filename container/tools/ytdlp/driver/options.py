"""Options of yt-dlp: fixed options, and options that depend on the job."""

import io

SOCKET_SECONDS = 20
RETRIES = 3
RETRY_SECONDS_MAX = 4
FRAGMENTS_AT_ONCE = 4

AUDIO_FORMATS = "ba/ba*"
VIDEO_FORMATS = "bv*+ba/b"
# Order of preference among formats for audio: the best sound first, and among equal sound the
# smallest picture first.
AUDIO_SORT = ["lang", "quality", "acodec", "abr", "+res"]


def make_options(job: dict, log) -> dict:
    """Returns the options of YoutubeDL for a job."""
    cookies = job.get("cookies")
    return {
        **FIXED_OPTIONS,
        "logger": log,
        "proxy": job["proxy"],
        "cookiefile": None if cookies is None else io.StringIO(cookies),
        "js_runtimes": {"node": {"path": job["node"]}} if job.get("node") else {},
        **_selection(job),
    }


def _wait_before(n: int) -> float:
    return min(0.5 * 2**n, RETRY_SECONDS_MAX)


FIXED_OPTIONS = {
    "quiet": True,
    "noprogress": True,
    "color": "never",
    # Uses no caches, credentials or local files, and writes the media into the working folder.
    "cachedir": False,
    "usenetrc": False,
    "enable_file_urls": False,
    "remote_components": [],
    "outtmpl": {"default": "media.%(ext)s"},
    "restrictfilenames": True,
    "updatetime": False,
    "overwrites": True,
    "default_search": "error",
    "noplaylist": True,
    # Reads only two entries of a playlist, which shows whether there are several videos.
    "playlist_items": "1:2",
    "extract_flat": "in_playlist",
    "live_from_start": False,
    "allow_unplayable_formats": False,
    "socket_timeout": SOCKET_SECONDS,
    "retries": RETRIES,
    "fragment_retries": RETRIES,
    "file_access_retries": 0,
    "extractor_retries": 1,
    "retry_sleep_functions": {"http": _wait_before, "fragment": _wait_before, "extractor": _wait_before},
    "concurrent_fragment_downloads": FRAGMENTS_AT_ONCE,
    # Fails if a fragment is missing, instead of leaving a gap.
    "skip_unavailable_fragments": False,
}


def _selection(job: dict) -> dict:
    quality = job["quality"]
    if job["mode"] == "metadata":
        return {"ignore_no_formats_error": True}
    if quality == "audio":
        return {"format": AUDIO_FORMATS, "format_sort": AUDIO_SORT}
    sort = {} if quality == "best" else {"format_sort": [f"res:{quality.removesuffix('p')}"]}
    return {"format": VIDEO_FORMATS, **sort}
