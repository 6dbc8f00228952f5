"""Describes or downloads the video of a web page."""

from downloaders import use_native_downloaders, use_programs
from checks import check_download, check_link, check_video
from live import is_live
from metadata import describe_metadata
from options import make_options
from progress import DownloadProgress
from refusal import Refusal
from section import VideoSection
from subtitles import fetch_subtitles
from yt_dlp import YoutubeDL
from yt_dlp.postprocessor import FFmpegExtractAudioPP, FFmpegPostProcessor

NESTING_MAX = 4


def run_job(job: dict, log, report) -> dict:
    """Runs a job of the runner. Returns the fields of the `done` event."""
    use_programs(job)
    use_native_downloaders()
    ydl = YoutubeDL(make_options(job, log))
    info = find_video(ydl, job["url"])
    if job["mode"] == "metadata":
        check_link(info)
        metadata = describe_metadata(info, title_of(info))
        return {"metadata": {**metadata, "is_live": is_live(ydl, info)}}
    title = title_of(info)
    check_video(info, job)
    report("info", title=title, duration=info.get("duration"))
    media = download(ydl, info, job, report)
    check_download(media, job["bytesMax"])
    return {
        "title": title,
        "duration": info.get("duration"),
        "media": media,
        "subtitles": fetch_subtitles(ydl, info, job["subtitles"], VideoSection.of(job, info)),
    }


def find_video(ydl: YoutubeDL, url: str) -> dict:
    """Returns yt-dlp's description of the video on a page, with the selected formats. Raises a
    Refusal for a page with no or several videos."""
    found = ydl.extract_info(url, download=False)
    for _ in range(NESTING_MAX):
        if not found:
            raise Refusal("unsupported_site")
        if found.get("_type", "video") == "video":
            return found
        entries = [entry for entry in found.get("entries") or [] if entry]
        count = found.get("playlist_count") or len(entries)
        if len(entries) != 1 or count > 1:
            code = "playlist_not_supported" if entries else "unsupported_site"
            raise Refusal(code, count=count if count > 2 else None, title=found.get("title"))
        entry = entries[0]
        is_reference = entry.get("_type") in ("url", "url_transparent")
        found = ydl.process_ie_result(entry, download=False) if is_reference else entry
    raise Refusal("unsupported_site")


def title_of(info: dict) -> str | None:
    """Returns the title of a video, without the number that yt-dlp appends for each `<video>`
    element of a page."""
    title = info.get("fulltitle") or info.get("title")
    is_numbered = info.get("extractor") == "html5" and isinstance(title, str)
    return title.removesuffix(" (1)") if is_numbered else title


def download(ydl: YoutubeDL, info: dict, job: dict, report) -> str:
    """Downloads the requested video or audio. Returns the name of the file."""
    if job["quality"] == "audio" and (job.get("audioFormat") or _has_picture(info)):
        codec = job.get("audioFormat") or "best"
        ydl.add_post_processor(FFmpegExtractAudioPP(ydl, preferredcodec=codec))
    progress = DownloadProgress(info, job["bytesMax"], report)
    ydl.add_progress_hook(progress.hook)
    name = VideoSection.of(job, info).download(ydl, info)
    progress.end()
    return name


def _has_picture(info: dict) -> bool:
    return info.get("vcodec") != "none"
