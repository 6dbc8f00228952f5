"""Refusals of videos that yt-dlp itself would accept."""

from yt_dlp.utils import DownloadCancelled


class Refusal(DownloadCancelled):
    """Refusal of a video. `code` is a failure code of the runner, and `facts` are values for its
    error sentence."""

    def __init__(self, code: str, **facts) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts
