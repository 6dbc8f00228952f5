import { z } from "zod"
import { sha256Text } from "../sha256.ts"
import { taskOutput, taskWarnings } from "../task.ts"
import type { TaskDefinition } from "./definition.ts"

/** The one output of an import. */
export const IMPORT_KEY = "file"

/** Enough for 50 GiB at 30 Mbit/s; a source that is too slow for its own good ends before. */
const RUN_SECONDS_MIN = 4 * 3600

/**
 * Brings what a URL names into storage: a direct file as it is, a page by yt-dlp, and an object of a
 * store (`s3://bucket/key`), which the runner gets through the Worker.
 */
export const importTask = {
  name: "import",
  pool: () => "fetch",
  bringsIn: true,
  tools: ["yt-dlp", "ffmpeg", "ffprobe"],
  runSecondsMin: RUN_SECONDS_MIN,
  work: z.object({
    kind: z.literal("import"),
    url: z.url(),
    /** The most bytes that the file may have. */
    bytes_max: z.int().positive(),
    run_seconds_max: z.int().positive(),
    outputs: z.array(taskOutput).length(1),
  }),
  result: z.object({
    kind: z.literal("import"),
    /** From Content-Disposition, the URL or the title of the page. */
    name: z.string().min(1).max(255),
    size_bytes: z.int().nonnegative(),
    content_type: z.string().max(200),
    /** Where one run had all of the bytes. */
    sha256: sha256Text.optional(),
    /** Whether it is stored where every run of the task stores it, since runs went on from others. */
    is_resumable: z.boolean(),
    warnings: taskWarnings,
  }),
} as const satisfies TaskDefinition

export type ImportWork = z.infer<typeof importTask.work>
export type ImportResult = z.infer<typeof importTask.result>
