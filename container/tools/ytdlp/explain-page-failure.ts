import { failureCodeSchema } from "../../../src/contract/failure.ts"
import type { FailureCode } from "../../../src/contract/failure.ts"
import { PLAN_LIMIT_REMEDY } from "../../../src/contract/plan-limit-remedy.ts"
import { formatEgressErrorMessage } from "../../egress/message-with-advice.ts"
import type { EgressError } from "../../egress/dial.ts"
import { createCallerFailure } from "../../task-failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import { formatBytes } from "../format-bytes.ts"
import type { YtdlpDriverErrorLine } from "./driver-lines.ts"
import { PAGE_FAILURE_RULES, explainHttpStatus } from "./page-rules.ts"

const QUOTED_LENGTH_MAX = 200

/** Failure codes after which a retry may succeed. */
const RETRYABLE_CODES: readonly FailureCode[] = ["connection_failed", "incomplete", "too_slow"]
const SERVER_ERROR_STATUS_MIN = 500

/** Details of a run of yt-dlp in addition to the lines that its Python driver has printed. */
export type YtdlpRunDetails = {
  bytesMax: number
  /**
   * Errors of connections through the run's proxy that the proxy refused or that failed, the oldest
   * error first.
   */
  refusals: readonly EgressError[]
  /** Whether the download exceeded its maximum number of bytes. */
  isTooLarge: boolean
  /** Function that removes secrets and paths from lines, so that API clients may read the lines. */
  clean: (lines: readonly string[]) => string[]
}

/**
 * Failure to read the metadata of a web page's video or to download the video, and whether a retry
 * may succeed.
 */
export type PageQueryFailure = { failure: TaskFailure; isRetryable: boolean }

/** Explains in a sentence with advice why a query of a web page failed. */
export function explainPageFailure(
  error: YtdlpDriverErrorLine,
  found: YtdlpRunDetails,
): PageQueryFailure {
  const { code, sentence } = explainError(error, found)
  const lines = found.clean([...error.lines, ...error.message.split("\n")])
  const isServerError = code === "server_error" && (error.status ?? 0) >= SERVER_ERROR_STATUS_MIN
  return {
    failure: createCallerFailure(code, sentence, lines),
    isRetryable: RETRYABLE_CODES.includes(code) || isServerError,
  }
}

type Explanation = { code: FailureCode; sentence: string }

function explainError(error: YtdlpDriverErrorLine, found: YtdlpRunDetails): Explanation {
  if (error.refusal !== undefined) return explainRefusal(error.refusal, error.facts, found)
  if (found.isTooLarge) return tooLarge(null, found.bytesMax)
  const refused = findRefusal(error, found.refusals)
  if (refused) return { code: refused.code, sentence: formatEgressErrorMessage(refused) }
  if (error.isRedirectLoop) return explainByCode("too_many_redirects")
  const ruled = findRule(error)
  // Prefers a rule for the message of the error to a rule for its HTTP status, unless the message
  // only repeats the status.
  if (ruled && !/HTTP Error \d/.test(error.message)) return ruled
  const byStatus = error.status ? explainHttpStatus(error.status) : null
  return byStatus ?? ruled ?? quoteSiteMessage(error, found)
}

/**
 * Returns the error of the latest refused or failed connection through the proxy, if that
 * connection is the cause of the failure; else null.
 */
function findRefusal(
  error: YtdlpDriverErrorLine,
  refusals: readonly EgressError[],
): EgressError | null {
  const last = refusals.at(-1)
  if (!last) return null
  const isAnswerOfSite = error.status !== null && error.status !== undefined && !error.isRefused
  return isAnswerOfSite ? null : last
}

function findRule(error: YtdlpDriverErrorLine): Explanation | null {
  const rule = PAGE_FAILURE_RULES.find(
    ({ types = [], words }) =>
      types.some((type) => error.types.includes(type)) || words?.test(error.message) === true,
  )
  return rule ? { code: rule.code, sentence: rule.sentence } : null
}

/** Explains a failure to which no rule applies by quoting the message of the site. */
function quoteSiteMessage(error: YtdlpDriverErrorLine, found: YtdlpRunDetails): Explanation {
  const [siteMessage = ""] = found.clean([error.message])
  const isSiteMessage =
    error.types.includes("ExtractorError") || error.types.includes("DownloadError")
  if (!isSiteMessage || siteMessage === "") return explainByCode("site_changed")
  const quoted = siteMessage.slice(0, QUOTED_LENGTH_MAX).replace(/\.$/, "")
  return { code: "server_error", sentence: `The site did not provide the video: ${quoted}.` }
}

function explainRefusal(
  refusal: string,
  facts: Record<string, unknown>,
  { bytesMax }: YtdlpRunDetails,
): Explanation {
  const code = failureCodeSchema.safeParse(refusal).data ?? "site_changed"
  if (code === "too_large") return tooLarge(numberOf(facts["bytes"]), bytesMax)
  if (code === "playlist_not_supported") return { code, sentence: severalVideos(facts) }
  if (code === "invalid_input") return { code, sentence: lateStart(facts) }
  return explainByCode(code)
}

function explainByCode(code: FailureCode): Explanation {
  const rule = PAGE_FAILURE_RULES.find((each) => each.code === code)
  return rule ? { code, sentence: rule.sentence } : { code, sentence: `It failed (${code}).` }
}

function tooLarge(bytes: number | null, bytesMax: number): Explanation {
  const has = bytes === null ? "more" : formatBytes(bytes)
  const sentence = `The video has ${has}, and a file may have at most ${formatBytes(bytesMax)}: request a lower quality or a section, or ${PLAN_LIMIT_REMEDY}.`
  return { code: "too_large", sentence }
}

function severalVideos({ count }: Record<string, unknown>): string {
  const entries = numberOf(count)
  const what = entries === null ? "several videos" : `${entries} videos`
  return `The URL is a page of ${what}: use the URL of one of them.`
}

function lateStart({ start, duration }: Record<string, unknown>): string {
  const seconds = numberOf(duration)
  const length = seconds === null ? "" : `, which has ${seconds} seconds`
  return `start: ${numberOf(start) ?? 0} is past the end of the video${length}.`
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null
}
