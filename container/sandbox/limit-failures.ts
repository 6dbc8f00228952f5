import type { FailureCode } from "../../src/contract/failure.ts"
import type { EndCause } from "../process.ts"
import type { Limits } from "./limits.ts"

type LimitCause = Extract<EndCause, "cpu_limit" | "disk_limit" | "file_limit" | "output_limit">

const SENTENCES: Record<LimitCause, (limits: Limits) => string> = {
  cpu_limit: () => "It was stopped: it used all the processor time that it may have.",
  disk_limit: ({ workspaceBytes, workspaceFiles }) =>
    `It was stopped: a job may write ${formatBytes(workspaceBytes)} in ${workspaceFiles} files.`,
  file_limit: ({ fileBytes }) =>
    `It was stopped: a file may have at most ${formatBytes(fileBytes)}.`,
  output_limit: ({ logBytes }) =>
    `It was stopped: it said more than ${formatBytes(logBytes)} about itself.`,
}

/** The limit that ended a process, as a code and a sentence; null where it was none of these. */
export function explainLimit(
  cause: EndCause | null,
  limits: Limits,
): { code: FailureCode; sentence: string } | null {
  if (!isLimit(cause)) return null
  return { code: cause, sentence: SENTENCES[cause](limits) }
}

function isLimit(cause: EndCause | null): cause is LimitCause {
  return cause !== null && Object.hasOwn(SENTENCES, cause)
}

function formatBytes(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
  const power = Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`
}
