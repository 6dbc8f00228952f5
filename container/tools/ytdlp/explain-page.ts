import { failureCode } from "../../../src/contract/failure.ts"
import type { FailureCode } from "../../../src/contract/failure.ts"
import { OTHER_PLAN } from "../../../src/contract/other-plan.ts"
import { adviseOn } from "../../egress/advise.ts"
import type { EgressError } from "../../egress/dial.ts"
import { callerFailure } from "../../failures.ts"
import type { TaskFailure } from "../../failures.ts"
import { formatBytes } from "../format-bytes.ts"
import type { DriverError } from "./driver-lines.ts"
import { PAGE_RULES, explainStatus } from "./page-rules.ts"

const QUOTED_LENGTH_MAX = 200

/** Faults that another try may not have. */
const PASSING: readonly FailureCode[] = ["connection_failed", "incomplete", "too_slow"]
const SERVER_FAULT_MIN = 500

/** What came of a run beside what the driver said. */
export type PageCircumstances = {
  bytesMax: number
  /** What the proxy refused, in order. */
  refusals: readonly EgressError[]
  /** Whether more came in than may. */
  isTooLarge: boolean
  /** Lines as a caller may see them. */
  clean: (lines: readonly string[]) => string[]
}

/** A failure, and whether the same may go well at another try. */
export type PageFailure = { failure: TaskFailure; mayPass: boolean }

/** Says in one sentence why nothing came of a page, and what to do about it. */
export function explainPage(error: DriverError, found: PageCircumstances): PageFailure {
  const { code, sentence } = judge(error, found)
  const lines = found.clean([...error.lines, ...error.message.split("\n")])
  const isServerFault = code === "server_error" && (error.status ?? 0) >= SERVER_FAULT_MIN
  return {
    failure: callerFailure(code, sentence, lines),
    mayPass: PASSING.includes(code) || isServerFault,
  }
}

type Judgement = { code: FailureCode; sentence: string }

function judge(error: DriverError, found: PageCircumstances): Judgement {
  if (error.refusal !== undefined) return explainRefusal(error.refusal, error.facts, found)
  if (found.isTooLarge) return tooLarge(null, found.bytesMax)
  const refused = findRefusal(error, found.refusals)
  if (refused) return { code: refused.code, sentence: adviseOn(refused) }
  if (error.isRedirectLoop) return byRule("too_many_redirects")
  const ruled = findRule(error)
  // A site says more in its words than by the status, but not where they only repeat it.
  if (ruled && !/HTTP Error \d/.test(error.message)) return ruled
  const byStatus = error.status ? explainStatus(error.status) : null
  return byStatus ?? ruled ?? byWords(error, found)
}

/** What the proxy refused, where that is why it failed. */
function findRefusal(error: DriverError, refusals: readonly EgressError[]): EgressError | null {
  const last = refusals.at(-1)
  if (!last) return null
  const isAnswerOfSite = error.status !== null && error.status !== undefined && !error.isRefused
  return isAnswerOfSite ? null : last
}

function findRule(error: DriverError): Judgement | null {
  const rule = PAGE_RULES.find(
    ({ types = [], words }) =>
      types.some((type) => error.types.includes(type)) || words?.test(error.message) === true,
  )
  return rule ? { code: rule.code, sentence: rule.sentence } : null
}

/** What the site itself said, where nothing is known of it. */
function byWords(error: DriverError, found: PageCircumstances): Judgement {
  const [said = ""] = found.clean([error.message])
  const isSaid = error.types.includes("ExtractorError") || error.types.includes("DownloadError")
  if (!isSaid || said === "") return byRule("site_changed")
  const quoted = said.slice(0, QUOTED_LENGTH_MAX).replace(/\.$/, "")
  return { code: "server_error", sentence: `The site did not give the video: ${quoted}.` }
}

function explainRefusal(
  refusal: string,
  facts: Record<string, unknown>,
  { bytesMax }: PageCircumstances,
): Judgement {
  const code = failureCode.safeParse(refusal).data ?? "site_changed"
  if (code === "too_large") return tooLarge(numberOf(facts["bytes"]), bytesMax)
  if (code === "playlist_not_supported") return { code, sentence: severalVideos(facts) }
  if (code === "invalid_input") return { code, sentence: lateStart(facts) }
  return byRule(code)
}

function byRule(code: FailureCode): Judgement {
  const rule = PAGE_RULES.find((each) => each.code === code)
  return rule ? { code, sentence: rule.sentence } : { code, sentence: `It failed (${code}).` }
}

function tooLarge(bytes: number | null, bytesMax: number): Judgement {
  const has = bytes === null ? "more" : formatBytes(bytes)
  const sentence = `The video has ${has}, and a file may have at most ${formatBytes(bytesMax)}: ask for a lower quality, for a part of it, or ${OTHER_PLAN}.`
  return { code: "too_large", sentence }
}

function severalVideos({ count }: Record<string, unknown>): string {
  const entries = numberOf(count)
  const what = entries === null ? "several videos" : `${entries} videos`
  return `This is a page of ${what}: give the URL of one of them.`
}

function lateStart({ start, duration }: Record<string, unknown>): string {
  const seconds = numberOf(duration)
  const length = seconds === null ? "" : `, which has ${seconds} seconds`
  return `start: ${numberOf(start) ?? 0} is behind the end of the video${length}.`
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null
}
