import { metadataTaskDefinition } from "../../src/contract/tasks/metadata.ts"
import type { MetadataResult, MetadataWork } from "../../src/contract/tasks/metadata.ts"
import { RunnerError } from "../task-failure.ts"
import { queryPage } from "../tools/ytdlp/query-page.ts"
import { toVideoMetadata } from "../tools/ytdlp/read-metadata.ts"
import { markProcessStarted } from "./run-context.ts"
import type { RunContext, TaskOutcome } from "./run-context.ts"

export const metadataTaskHandler = { definition: metadataTaskDefinition, run: runMetadataTask }

/**
 * Maximum number of bytes that yt-dlp may download for the metadata of a video. Only web pages are
 * needed for metadata, and no media.
 */
const BYTES_MAX = 1024 ** 2

/** Runs a metadata task: reads the metadata of the video on a web page by yt-dlp. */
async function runMetadataTask(
  context: RunContext,
  work: MetadataWork,
): Promise<TaskOutcome<MetadataResult>> {
  context.status.phase = "working"
  const answer = await queryPage(context, {
    job: { url: work.url, mode: "metadata", quality: "best", subtitles: [], bytesMax: BYTES_MAX },
    timeLimitMs: work.run_seconds_max * 1000,
    onSpawn: () => markProcessStarted(context, "yt-dlp"),
  })
  if ("failure" in answer) return answer
  const found = toVideoMetadata(work.url, answer.metadata)
  if (!found) throw new RunnerError("internal", "yt-dlp returned metadata in an unknown format.")
  return { result: { kind: "metadata", metadata: found } }
}
