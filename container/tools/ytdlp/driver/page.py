"""The one video of a page: what it is, and its download."""

from downloaders import use_native_downloaders, use_programs
from judge import judge, judge_link, judge_made
from live import is_live
from metadata import describe_metadata
from options import make_options
from progress import Progress
from refusal import Refusal
from section import Section
from subtitles import fetch_subtitles
from yt_dlp import YoutubeDL
from yt_dlp.postprocessor import FFmpegExtractAudioPP, FFmpegPostProcessor

NESTING_MAX = 4


def fetch(job: dict, log, tell) -> dict:
    """Does what the job says, and returns what is to be told of it."""
    use_programs(job)
    use_native_downloaders()
    ydl = YoutubeDL(make_options(job, log))
    info = find_video(ydl, job["url"])
    if job["mode"] == "metadata":
        judge_link(info)
        metadata = describe_metadata(info, title_of(info))
        return {"metadata": {**metadata, "is_live": is_live(ydl, info)}}
    title = title_of(info)
    judge(info, job)
    tell("info", title=title, duration=info.get("duration"))
    media = download(ydl, info, job, tell)
    judge_made(media, job["bytesMax"])
    return {
        "title": title,
        "duration": info.get("duration"),
        "media": media,
        "subtitles": fetch_subtitles(ydl, info, job["subtitles"], Section.of(job, info)),
    }


def find_video(ydl: YoutubeDL, url: str) -> dict:
    """What yt-dlp says of the page's video, with the formats chosen; refuses several videos."""
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
    """The title, without the number that yt-dlp gives each `<video>` of a page."""
    title = info.get("fulltitle") or info.get("title")
    is_numbered = info.get("extractor") == "html5" and isinstance(title, str)
    return title.removesuffix(" (1)") if is_numbered else title


def download(ydl: YoutubeDL, info: dict, job: dict, tell) -> str:
    """Downloads the video that was found, and returns the name of its file."""
    if job["quality"] == "audio" and (job.get("audioFormat") or _has_picture(info)):
        codec = job.get("audioFormat") or "best"
        ydl.add_post_processor(FFmpegExtractAudioPP(ydl, preferredcodec=codec))
    progress = Progress(info, job["bytesMax"], tell)
    ydl.add_progress_hook(progress.hook)
    name = Section.of(job, info).download(ydl, info)
    progress.end()
    return name


def _has_picture(info: dict) -> bool:
    return info.get("vcodec") != "none"
