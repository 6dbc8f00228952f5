import { metadataTask } from "../../src/contract/tasks/metadata.ts"
import type { MetadataResult, MetadataWork } from "../../src/contract/tasks/metadata.ts"
import { RunnerError } from "../failures.ts"
import { askPage } from "../tools/ytdlp/ask-page.ts"
import { readMetadata } from "../tools/ytdlp/read-metadata.ts"
import { markProcessStarted } from "./run-context.ts"
import type { RunContext, TaskOutcome } from "./run-context.ts"

export const metadata = { definition: metadataTask, run: runMetadataTask }

/** Pages alone are read. */
const BYTES_MAX = 1024 ** 2

/** Asks a page what its video is. */
async function runMetadataTask(
  context: RunContext,
  work: MetadataWork,
): Promise<TaskOutcome<MetadataResult>> {
  context.status.phase = "working"
  const answer = await askPage(context, {
    job: { url: work.url, mode: "metadata", quality: "best", subtitles: [], bytesMax: BYTES_MAX },
    timeLimitMs: work.run_seconds_max * 1000,
    onSpawn: () => markProcessStarted(context, "yt-dlp"),
  })
  if ("failure" in answer) return answer
  const found = readMetadata(work.url, answer.metadata)
  if (!found)
    throw new RunnerError("internal", "yt-dlp described the video in a form that is unknown.")
  return { result: { kind: "metadata", metadata: found } }
}
