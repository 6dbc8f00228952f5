"""Solves a JavaScript challenge by yt-dlp, as in YouTube's player. The job is that of main.py."""

import json
import os
import sys

# The solver looks for a function that sets "alr" to "yes", as in real players.
PLAYER = """(function () {
  function Page(sig) { this.map = { s: sig } }
  Page.prototype.set = function (key, value) { this.map[key] = value }
  Page.prototype.get = function (key) { return this.map[key] }
  Page.prototype.turn = function () { this.map.n = this.map.n.split("").reverse().join("") }
  var open = function (url, name, sig) {
    var page = new Page(sig)
    page.set("alr", "yes")
    return page
  }
}).call(this)"""


def main() -> None:
    job = json.load(sys.stdin)
    sys.path[:0] = [job["driver"], *job["packages"]]
    os.environ["YTDLP_NO_PLUGINS"] = "1"
    from log import YtdlpLog
    from options import make_options
    from yt_dlp import YoutubeDL
    from yt_dlp.extractor.youtube.jsc._builtin.node import NodeJCP
    from yt_dlp.extractor.youtube.jsc.provider import (
        JsChallengeRequest,
        JsChallengeType,
        NChallengeInput,
    )
    from yt_dlp.extractor.youtube.pot._provider import IEContentProviderLogger

    class QuietLogger(IEContentProviderLogger):
        def _ignore(self, *words, **more):
            pass

        trace = debug = info = warning = error = _ignore

    ydl = YoutubeDL(make_options(job, YtdlpLog()))
    youtube = ydl.get_info_extractor("Youtube")
    youtube._load_player = lambda **_: PLAYER
    provider = NodeJCP(youtube, QuietLogger(), {})
    asked = NChallengeInput("https://www.youtube.com/s/player/12345678/base.js", ["abc", "xyz"])
    answers = provider.bulk_solve([JsChallengeRequest(JsChallengeType.N, asked)])
    told = [str(each.error) if each.error else each.response.output.results for each in answers]
    remote = sorted(ydl.params["remote_components"])
    print(json.dumps({"answers": told, "remote": remote, "script": str(provider._core_script.source)}))


main()
