"""Queries a web page for its video by yt-dlp: `python -I -S -B main.py`, with a job as JSON on
stdin. Events are JSON lines on file descriptor 3: `info`, `progress`, and finally `done` or
`error`. The program writes no files except the media and its subtitles."""

import json
import os
import sys

# In isolated mode, Python does not search this folder for modules.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from json_lines import to_json_line


def main() -> int:
    job = json.load(sys.stdin)
    sys.path[1:1] = job["packages"]
    os.environ["YTDLP_NO_PLUGINS"] = "1"
    # Sets the proxy for programs that yt-dlp starts, such as ffmpeg.
    os.environ.update(http_proxy=job["proxy"], https_proxy=job["proxy"])
    # Replaces lone surrogates, which a site may send and UTF-8 cannot encode.
    with os.fdopen(3, "w", encoding="utf-8", errors="replace") as lines:

        def report(kind: str, **fields) -> None:
            lines.write(to_json_line({"kind": kind, **fields}) + "\n")
            lines.flush()

        return run(job, report)


def run(job: dict, report) -> int:
    # Imports these modules late, because they need the package folders.
    from failure import describe_failure
    from log import YtdlpLog
    from page import run_job

    log = YtdlpLog()
    try:
        report("done", **run_job(job, log, report))
        return 0
    # Catches all exceptions, since extractors of yt-dlp may raise any for an unexpected page.
    except Exception as error:
        report("error", **describe_failure(error), lines=log.lines())
        return 1


if __name__ == "__main__":
    sys.exit(main())
