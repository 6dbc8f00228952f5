import { IMPORT_KEY } from "../../../src/contract/tasks/import.ts"
import type { ImportResult, ImportWork } from "../../../src/contract/tasks/import.ts"
import { downloadMedia, storeDownloaded } from "../page-media.ts"
import type { RunContext, TaskOutcome } from "../run-context.ts"

const DOWNLOAD_PERCENT = 90

/** Brings the media of a page into storage, by yt-dlp, in as many milliseconds as are left. */
export async function importPage(
  context: RunContext,
  work: ImportWork,
  timeLimitMs: number,
): Promise<TaskOutcome<ImportResult>> {
  const wanted = { url: work.url, bytesMax: work.bytes_max, timeLimitMs }
  const page = await downloadMedia(context, wanted, DOWNLOAD_PERCENT)
  if ("failure" in page) return page
  const stored = await storeDownloaded(context, IMPORT_KEY, page.media)
  return { result: { kind: "import", ...stored, is_resumable: false } }
}
