import type { IncomingMessage } from "node:http"
import { importTaskDefinition } from "../../../../src/contract/tasks/import.ts"
import type { ImportResult } from "../../../../src/contract/tasks/import.ts"
import type { Report } from "../../../../src/contract/report.ts"
import type { TaskOrder } from "../../../../src/contract/task.ts"
import type { StoredOutput } from "../../../support/runner/io-resumable.ts"
import { makeResumableOutputKey } from "../../../support/runner/io-resumable.ts"
import { startHarness } from "../../harness.ts"
import type { Harness } from "../../harness.ts"
import { startSource } from "./source-server.ts"
import type { Answer } from "./source-server.ts"

type MoreWork = { bytes_max?: number; run_seconds_max?: number; has_headers?: true }

/** Bytes of a part of an import. */
export const PART_BYTES = 8 * 1024 * 1024

/** End of an import, and the stored file. */
export type Imported = { report: Report; result: ImportResult | null; stored: StoredOutput | null }

export async function startImportHarness(): Promise<Harness> {
  return await startHarness({ egress: { allowedHosts: ["127.0.0.1"], proxy: null, sites: [] } })
}

/** Imports from a server of its own with the given responses. */
export async function importFrom(
  harness: Harness,
  answer: Answer,
  path = "/film.mp4",
  more: MoreWork = {},
): Promise<Imported & { requests: IncomingMessage[] }> {
  await using source = await startSource(answer)
  const imported = await importUrl(harness, source.origin + path, more)
  return { ...imported, requests: source.requests }
}

/** Runs an import to its end; `more` overrides fields of its work. */
export async function importUrl(
  harness: Harness,
  url: string,
  more: MoreWork = {},
  order: Partial<Pick<TaskOrder, "task_id" | "fence" | "secrets">> = {},
): Promise<Imported> {
  harness.io.reports.length = 0
  const work = {
    kind: "import",
    url,
    bytes_max: 1024 ** 3,
    run_seconds_max: 60,
    outputs: [{ key: "file", name: "file" }],
    ...more,
  }
  const report = await harness.finish(harness.order([], { work, inputs: [], ...order }))
  const result =
    report.kind === "finished" ? importTaskDefinition.result.parse(report.result) : null
  const place = result?.is_resumable ? makeResumableOutputKey("file") : "file"
  return { report, result, stored: harness.io.outputs.get(place) ?? null }
}

/** Returns the code and message of a failed import. */
export function failureOf({ report }: Imported): { code: string; message: string } {
  if (report.kind !== "failed") throw new Error(`the import ended as ${report.kind}`)
  return { code: report.failure.code, message: report.failure.message }
}
