"""Asks a page for its one video, by yt-dlp: `python -I -S -B main.py`, a job as JSON on stdin.

What happens is told as JSON lines on file descriptor 3: `info`, `progress`, and last `done` or
`error`. Nothing of the job is ever written to a file but the media and its subtitles.
"""

import json
import os
import sys

# Modules beside this one, which an isolated Python does not find by itself.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from line import to_line


def main() -> int:
    job = json.load(sys.stdin)
    sys.path[1:1] = job["packages"]
    os.environ["YTDLP_NO_PLUGINS"] = "1"
    # Programs that yt-dlp starts, such as ffmpeg, find the way out by these.
    os.environ.update(http_proxy=job["proxy"], https_proxy=job["proxy"])
    # Halves of characters, which a site may say, have no form in UTF-8.
    with os.fdopen(3, "w", encoding="utf-8", errors="replace") as lines:

        def tell(kind: str, **fields) -> None:
            lines.write(to_line({"kind": kind, **fields}) + "\n")
            lines.flush()

        return run(job, tell)


def run(job: dict, tell) -> int:
    # These need the packages of the job.
    from failure import describe_failure
    from log import Log
    from page import fetch

    log = Log()
    try:
        tell("done", **fetch(job, log, tell))
        return 0
    # yt-dlp's extractors may raise anything over a page that they did not expect.
    except Exception as error:
        tell("error", **describe_failure(error), lines=log.lines())
        return 1


if __name__ == "__main__":
    sys.exit(main())
