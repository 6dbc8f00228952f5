"""What of a video that was found is not to be downloaded."""

import os

from refusal import Refusal


def judge(info: dict, job: dict) -> None:
    """Raises a Refusal before a byte of the media is downloaded."""
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


def judge_made(name: str, bytes_max: int) -> None:
    """Refuses a file that came out too large, or empty."""
    size = os.path.getsize(name)
    if size > bytes_max:
        raise Refusal("too_large", bytes=size)
    if size == 0:
        raise Refusal("incomplete")
