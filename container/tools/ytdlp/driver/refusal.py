"""What this driver refuses itself, where yt-dlp would go on."""

from yt_dlp.utils import DownloadCancelled


class Refusal(DownloadCancelled):
    """`code` is one of those of the runner's failures; `facts` go into its sentence."""

    def __init__(self, code: str, **facts) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts
