import { IMPORT_OUTPUT_KEY, importTaskDefinition } from "../../../src/contract/tasks/import.ts"
import type { ImportResult, ImportWork } from "../../../src/contract/tasks/import.ts"
import { SOURCE_LIMITS } from "../../transfer/web/request-source.ts"
import type { SourceLimits } from "../../transfer/web/request-source.ts"
import { downloadPageMedia, storeDownloadedFile } from "../page-media.ts"
import type { RunContext, TaskOutcome } from "../run-context.ts"
import { downloadSource } from "./download-source.ts"
import { storeSource } from "./store-file.ts"

export const importTaskHandler = { definition: importTaskDefinition, run: runImportTask }

type ImportOutcome = TaskOutcome<ImportResult>

/**
 * Runs an import task: downloads a URL. If the response is a web page or a streaming manifest,
 * yt-dlp downloads its media; otherwise the body of the response is stored as a file.
 */
export async function runImportTask(
  context: RunContext,
  work: ImportWork,
  limits: SourceLimits = SOURCE_LIMITS,
): Promise<ImportOutcome> {
  return await downloadSource<ImportOutcome>(context, work, {
    limits,
    async useFile(source, signal) {
      const stored = await storeSource({ io: context.io, signal }, source)
      const { sizeBytes: size_bytes, isResumable: is_resumable, sha256 } = stored
      const { name, contentType: content_type } = source
      const result = { name, size_bytes, content_type, is_resumable }
      return { result: { kind: "import", ...result, ...(sha256 !== undefined && { sha256 }) } }
    },
    usePage: (timeLimitMs) => importPage(context, work, timeLimitMs),
  })
}

const DOWNLOAD_PERCENT = 90

/**
 * Downloads the media of a web page by yt-dlp within `timeLimitMs` milliseconds, and stores the
 * media.
 */
async function importPage(
  context: RunContext,
  work: ImportWork,
  timeLimitMs: number,
): Promise<ImportOutcome> {
  const download = { url: work.url, bytesMax: work.bytes_max, timeLimitMs }
  const page = await downloadPageMedia(context, download, DOWNLOAD_PERCENT)
  if ("failure" in page) return page
  const stored = await storeDownloadedFile(context, IMPORT_OUTPUT_KEY, page.media)
  return { result: { kind: "import", ...stored, is_resumable: false } }
}
