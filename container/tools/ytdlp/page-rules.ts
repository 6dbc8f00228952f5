import type { FailureCode } from "../../../src/contract/failure.ts"

/** Rule that explains a failure of yt-dlp by the class or the message of its exception. */
export type PageFailureRule = {
  code: FailureCode
  /**
   * Class names of Python exceptions. The rule matches if the exception or one of its causes has
   * such a class name.
   */
  types?: readonly string[]
  /** Pattern for the message of the exception. The rule also matches if this pattern matches. */
  words?: RegExp
  /** Error sentence with advice. */
  sentence: string
}

const LIVE = "The URL is a current or future live stream: fetch its recording after its end."

/**
 * Rules in the order in which they are tried; the first match applies. The patterns match messages
 * of yt-dlp and its extractors.
 */
export const PAGE_FAILURE_RULES: readonly PageFailureRule[] = [
  {
    code: "url_not_allowed",
    types: ["NoSupportingHandlers"],
    words:
      /file:\/\/ URLs are disabled|Unsupported url scheme|No connection adapters were found|RTMP download detected/,
    sentence:
      "The page leads to a URL of another scheme: media is fetched from http and https URLs only.",
  },
  {
    code: "invalid_input",
    types: ["CookieLoadError"],
    sentence:
      "The cookies cannot be read: send them in Netscape's format, one cookie in each line.",
  },
  {
    code: "geo_blocked",
    types: ["GeoRestrictedError"],
    words:
      /geo.?(?:restrict|block)|available (?:in|from) your (?:country|location|region)|blocked.{0,40} in your country|due to geo|outside of (?:the|your) (?:country|region)/i,
    sentence: "The site does not show this video in the country of this service.",
  },
  {
    code: "drm_protected",
    words: /\bDRM\b|SAMPLE-AES|Widevine/,
    sentence: "The video is protected by DRM and cannot be fetched.",
  },
  {
    code: "rate_limited_by_site",
    words:
      /not a bot|anti-bot challenge|captcha|rate.?limit|too many requests|API limit|IP address is (?:blocked|unable)|temporarily blocked/i,
    sentence:
      "The site blocks this service as a bot or for too many requests: try again later, or give POST /fetch the cookies of an account.",
  },
  {
    code: "live_stream",
    types: ["UserNotLive"],
    words:
      /(?:live ?event|livestream|stream|premiere).{0,30}(?:will begin|has not (?:yet )?started|not yet started|is upcoming)|premieres in|(?:channel|user|stream) is (?:not currently live|offline)|only livestreams/i,
    sentence: LIVE,
  },
  {
    code: "login_required",
    words:
      /log(?:ged)?[- ]?in\b|\blogin|sign(?:ed)?[- ]in\b|registered users|(?:subscribers?|members?|VIP|premium)[ -](?:members )?only|only (?:available )?(?:for|to) (?:subscribers|members)|private (?:video|playlist|subreddit)|(?:video|account|profile|playlist) is (?:likely either )?private|password|requires? .{0,40}(?:account|subscription|authentication|payment|purchase)|account (?:needed|credentials)|(?:your|an) account (?:does not|has|that)|do not have access|confirm your age|age.?(?:restricted|verification)|--cookies/i,
    sentence:
      "The site requires a login for this video: give POST /fetch the cookies of an account with access.",
  },
  {
    code: "site_changed",
    types: [
      "RegexNotFoundError",
      "JSONDecodeError",
      "KeyError",
      "TypeError",
      "AttributeError",
      "IndexError",
    ],
    words:
      /Unable to extract|report this issue|nsig|JS challenge|Failed to parse|No video formats found/i,
    sentence:
      "The site has changed, and this service's yt-dlp does not support the change yet: try again later, or ask the operator to update yt-dlp.",
  },
  {
    code: "not_found",
    words:
      /has been (?:removed|deleted|terminated|taken down)|was (?:removed|deleted)|no longer (?:available|exists)|does(?: not|n't) exist|not found|is(?: currently)? (?:not available|unavailable)|video unavailable|has (?:most likely )?expired|available anymore|has been closed/i,
    sentence: "The site has no such video, or removed it: check the URL.",
  },
  {
    code: "stream_not_found",
    words: /unable to obtain file audio codec/i,
    sentence: "The video has no audio: request another quality than audio.",
  },
  {
    code: "unsupported_site",
    types: ["UnsupportedError"],
    words:
      /Unsupported (?:URL|page|playlist|embed|media|content)|not (?:a )?(?:valid URL|video|a media file)|no (?:video|media|audio|playable)[^.]{0,40}(?:found|available|on|in)|does not have (?:a|any) video|Requested format is not available|extracted extension|URL could be|not supported/i,
    sentence: "The page has no video that can be fetched: use the URL of a page with a video.",
  },
  {
    code: "too_many_redirects",
    words: /redirect(?:ion)? loop|too many redirects|Exceeded \d+ redirects/i,
    sentence: "The site redirects endlessly: open the page in a browser, and use the final URL.",
  },
  {
    code: "too_slow",
    words: /timed? ?out|timeout/i,
    sentence: "The site did not respond in time: try again later.",
  },
  {
    code: "incomplete",
    types: ["IncompleteRead", "ContentTooShortError"],
    words:
      /bytes read|more expected|content too short|fragment.{0,40}not found|Did not get any data blocks|unable to continue|connection (?:was )?(?:closed|aborted|reset)/i,
    sentence: "The site closed the connection before the end of the video: try again.",
  },
  {
    code: "connection_failed",
    types: ["CertificateVerifyError", "SSLError"],
    sentence: "The TLS connection to the site failed: its certificate or its TLS is invalid.",
  },
  {
    code: "connection_failed",
    types: ["TransportError", "ProxyError", "RequestError"],
    sentence: "The connection to the site failed: check the URL, and try again later.",
  },
]

/**
 * Returns the failure code and the error sentence for an HTTP status of a web site; null for a
 * status that does not mean a failure.
 */
export function explainHttpStatus(status: number): { code: FailureCode; sentence: string } | null {
  if (status < 300) return null
  const answered = `The site answered with status ${status}`
  if (status < 400) {
    return {
      code: "server_error",
      sentence: `${answered}, a redirect without a target: check the URL.`,
    }
  }
  if (status === 401 || status === 403 || status === 407) {
    const sentence = `${answered}, which refuses access: if it needs an account, give POST /fetch the cookies of one.`
    return { code: "login_required", sentence }
  }
  if (status === 404 || status === 410) {
    return {
      code: "not_found",
      sentence: `${answered}: it has no such page or video. Check the URL.`,
    }
  }
  if (status === 429) {
    return {
      code: "rate_limited_by_site",
      sentence: `${answered}, too many requests: try again later.`,
    }
  }
  if (status === 451) {
    const sentence = `${answered}: it may not show the video in the country of this service.`
    return { code: "geo_blocked", sentence }
  }
  return { code: "server_error", sentence: `${answered}: try again later, or check the URL.` }
}
