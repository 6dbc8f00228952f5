"""Log of yt-dlp for the description of a failure."""

LINES_MAX = 20
LINE_LENGTH_MAX = 2000


class YtdlpLog:
    """Logger for yt-dlp. Keeps the latest warnings and errors, and drops other messages."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def debug(self, message: str) -> None:
        pass

    def warning(self, message: str) -> None:
        self._add(message)

    def error(self, message: str) -> None:
        self._add(message)

    def lines(self) -> list[str]:
        """Returns the latest lines, without duplicates."""
        return list(dict.fromkeys(self._lines))[-LINES_MAX:]

    def _add(self, message: str) -> None:
        lines = str(message).splitlines()
        self._lines += [line.strip()[:LINE_LENGTH_MAX] for line in lines if line.strip()]
        del self._lines[: -2 * LINES_MAX]
