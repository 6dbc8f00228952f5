import { describe, expect, test } from "vitest"
import { EgressError } from "../../../../container/egress/dial.ts"
import { cleanYtdlpLines, parseCookieValues } from "../../../../container/tools/ytdlp/query-page.ts"
import type { YtdlpDriverErrorLine } from "../../../../container/tools/ytdlp/driver-lines.ts"
import { explainPageFailure } from "../../../../container/tools/ytdlp/explain-page-failure.ts"

const workspace = "/work/a.1"

function explain(
  error: Partial<YtdlpDriverErrorLine>,
  refusals: EgressError[] = [],
  isTooLarge = false,
) {
  const whole = { kind: "error" as const, facts: {}, types: [], isRefused: false, lines: [] }
  return explainPageFailure(
    { ...whole, isRedirectLoop: false, message: "", ...error },
    {
      bytesMax: 1024 ** 2,
      refusals,
      isTooLarge,
      clean: (lines) => cleanYtdlpLines(lines, { workspace, secrets: [] }),
    },
  )
}

/** Original messages of yt-dlp, with the expected failure code and the HTTP status. */
const MESSAGES = [
  [
    "Sign in to confirm you’re not a bot. Use --cookies-from-browser or --cookies",
    "rate_limited_by_site",
  ],
  ["[youtube] abc: Sign in to confirm your age. This video may be inappropriate", "login_required"],
  [
    "[youtube] abc: Private video. Sign in if you've been granted access to this video",
    "login_required",
  ],
  ["[youtube] abc: Video unavailable. This video has been removed by the uploader", "not_found"],
  ["[youtube] abc: This live event will begin in 3 hours.", "live_stream"],
  ["[youtube] abc: Premieres in 2 days", "live_stream"],
  ["[vimeo] 1: This video is only available for registered users. Use --cookies", "login_required"],
  ["[brightcove] 1: This video is DRM protected", "drm_protected"],
  ["[bbc] p: This video is not available from your location due to geo restriction", "geo_blocked"],
  ["[x] 1: The uploader has not made this video available in your country", "geo_blocked"],
  [
    "[instagram] 1: You have exceeded the rate-limit for accessing posts anonymously",
    "rate_limited_by_site",
  ],
  ["Got HTTP Error 403 caused by Cloudflare anti-bot challenge; try again", "rate_limited_by_site"],
  [
    "[x] 1: Unable to extract title; please report this issue on  https://github.com/",
    "site_changed",
  ],
  ["[x] 1: nsig extraction failed: Some formats may be missing", "site_changed"],
  ["[x] 1: No video formats found!; please report this issue on", "site_changed"],
  ["[generic] Unsupported URL: https://example.com/", "unsupported_site"],
  ["[twitter] 1: No video could be found in this tweet", "unsupported_site"],
  ["Unable to download webpage: The read operation timed out", "too_slow"],
  ["unable to download video data: 1000 bytes read, 900 more expected", "incomplete"],
  ["[x] 1: Unable to download JSON metadata: HTTP Error 500: oops", "server_error", 500],
  ["[x] 1: Unable to download webpage: HTTP Error 403: Forbidden", "login_required", 403],
  ["[x] 1: Unable to download webpage: HTTP Error 410: Gone", "not_found", 410],
  [
    "[x] 1: Unable to download webpage: HTTP Error 429: Too Many Requests",
    "rate_limited_by_site",
    429,
  ],
  ["[x] 1: Unable to download webpage: HTTP Error 451: Unavailable", "geo_blocked", 451],
] as const

describe("an explanation of yt-dlp's message", () => {
  test.for(MESSAGES)("%s", ([message, code, status]) => {
    const { failure } = explain({ message: `ERROR: ${message}`, status: status ?? null })
    expect(failure).toMatchObject({ blame: "caller", failure: { code } })
    expect(failure.failure.message).toMatch(/[^.]\.$/)
  })

  test("quotes an unknown message", () => {
    const error = { types: ["DownloadError", "ExtractorError"], message: "ERROR: [x] 1: Oh dear." }
    const { failure } = explain(error)
    expect(failure.failure).toMatchObject({
      code: "server_error",
      message: "The site did not provide the video: [x] 1: Oh dear.",
    })
  })

  test("describes a redirect without a target in its own words", () => {
    const message = "[generic] x: Unable to download webpage: HTTP Error 302: Found"
    const { failure } = explain({ types: ["DownloadError"], status: 302, message }).failure
    expect(failure).toMatchObject({
      code: "server_error",
      message: "The site answered with status 302, a redirect without a target: check the URL.",
    })
  })

  test("blames an extractor's exception on a change of the site", () => {
    const { failure } = explain({ types: ["TypeError"], message: "'NoneType' object" })
    expect(failure.failure.code).toBe("site_changed")
  })

  test("names the proxy's refusal, unless the site itself responded", () => {
    const refusals = [new EgressError("url_not_allowed", "the host is private")]
    const refused = {
      types: ["HTTPError"],
      status: 403,
      isRefused: true,
      message: "HTTP Error 403",
    }
    expect(explain(refused, refusals).failure.failure).toMatchObject({
      code: "url_not_allowed",
      message: "The host is private.",
    })
    const silent = [new EgressError("too_slow", "the host is silent")]
    expect(explain(refused, silent).failure.failure.message).toBe(
      "The host is silent: try again later.",
    )
    const answer = { types: ["HTTPError"], status: 404, message: "HTTP Error 404" }
    expect(explain(answer, refusals).failure.failure.code).toBe("not_found")
  })

  test("marks failures that a retry may resolve", () => {
    expect(explain({ status: 502, message: "HTTP Error 502" }).isRetryable).toBe(true)
    expect(explain({ types: ["TransportError"], message: "oops" }).isRetryable).toBe(true)
    expect(explain({ status: 404, message: "HTTP Error 404" }).isRetryable).toBe(false)
    expect(explain({ status: 429, message: "HTTP Error 429" }).isRetryable).toBe(false)
  })
})

describe("lines for callers", () => {
  test("have no paths, command-line advice, colours or secrets", () => {
    const cookies = "x.test\tFALSE\t/\tFALSE\t0\tsid\tsecret-value"
    const lines = [
      "ERROR: [x] 1: Unable to extract title; please report this issue on  https://github.com/yt-dlp",
      `${workspace}/media.mp4: cannot open /opt/fetch/lib/python3.13/site-packages/yt_dlp/x.py`,
      "\u001b[0;31mcookie\u001b[0m sid=secret-value at https://example.com/a/b",
    ]
    const secrets = parseCookieValues(cookies)
    expect(secrets).toEqual(["secret-value"])
    expect(cleanYtdlpLines(lines, { workspace, secrets })).toEqual([
      "[x] 1: Unable to extract title",
      "media.mp4: cannot open ...",
      "cookie sid=*** at https://example.com/a/b",
    ])
  })
})
