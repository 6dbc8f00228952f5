"""Progress of a download that may have several files."""

import time

from refusal import Refusal

SECONDS_BETWEEN = 0.25


class DownloadProgress:
    """Reports the fraction of a download that is done, from 0 to 1. Raises a Refusal if the
    download becomes too large."""

    def __init__(self, info: dict, bytes_max: int, report) -> None:
        self._formats = info.get("requested_formats") or [info]
        self._bytes_max = bytes_max
        self._report = report
        self._reported_at = 0.0
        self._is_over = False
        # Downloaded bytes and downloaded fraction of each file, by file name.
        self._bytes: dict[str, int] = {}
        self._fractions: dict[str, float] = {}

    def end(self) -> None:
        """Ends the progress reports. Later downloads, such as subtitles, are not reported."""
        self._is_over = True

    def hook(self, status: dict) -> None:
        """Callback that yt-dlp calls with the status of a download."""
        if self._is_over:
            return
        name = status.get("filename") or ""
        done = status.get("downloaded_bytes") or 0
        total = status.get("total_bytes")
        self._bytes[name] = max(done, total or 0)
        if sum(self._bytes.values()) > self._bytes_max:
            raise Refusal("too_large", bytes=None if total is None else sum(self._bytes.values()))
        self._fractions[name] = _fraction(status)
        now = time.monotonic()
        if now - self._reported_at < SECONDS_BETWEEN and status.get("status") != "finished":
            return
        self._reported_at = now
        parts = max(len(self._formats), len(self._fractions))
        eta = status.get("eta") if parts == 1 else None
        self._report("progress", fraction=sum(self._fractions.values()) / parts, eta=eta)


def _fraction(status: dict) -> float:
    if status.get("status") == "finished":
        return 1.0
    count = status.get("fragment_count")
    if count:
        return min(1.0, (status.get("fragment_index") or 0) / count)
    total = status.get("total_bytes") or status.get("total_bytes_estimate")
    return min(1.0, (status.get("downloaded_bytes") or 0) / total) if total else 0.0
