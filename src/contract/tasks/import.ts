import { z } from "zod"
import { sha256HexSchema } from "../sha256.ts"
import { hasHeadersFieldSchema, taskOutputSchema, taskWarningsSchema } from "../task.ts"
import type { TaskDefinition } from "./definition.ts"

/** Key of the only output of an import. */
export const IMPORT_OUTPUT_KEY = "file"

/**
 * Minimum time limit of an import, in seconds. This time is enough for 50 GiB at 30 Mbit/s. An
 * import from a stalled source fails earlier.
 */
const RUN_SECONDS_MIN = 4 * 3600

/**
 * Task that imports a URL into storage: a file unchanged, the media of a web page by yt-dlp, or an
 * S3 object. The runner reads an S3 object (`s3://bucket/key`) through the Worker.
 */
export const importTaskDefinition = {
  name: "import",
  pool: () => "fetch",
  downloadsMedia: true,
  tools: ["yt-dlp", "ffmpeg", "ffprobe"],
  runSecondsMin: RUN_SECONDS_MIN,
  work: z.object({
    kind: z.literal("import"),
    url: z.url(),
    has_headers: hasHeadersFieldSchema,
    /** Maximum size of the file, in bytes. */
    bytes_max: z.int().positive(),
    run_seconds_max: z.int().positive(),
    outputs: z.array(taskOutputSchema).length(1),
  }),
  result: z.object({
    kind: z.literal("import"),
    /**
     * Name of the imported file, taken from Content-Disposition, the URL or the title of the web
     * page.
     */
    name: z.string().min(1).max(255),
    size_bytes: z.int().nonnegative(),
    content_type: z.string().max(200),
    /** SHA-256 of the file; present only if a single run downloaded all bytes. */
    sha256: sha256HexSchema.optional(),
    /**
     * Whether the file was stored by a resumable upload. Such an upload has the same object key in
     * every run of the task, so that a later run can continue it.
     */
    is_resumable: z.boolean(),
    warnings: taskWarningsSchema,
  }),
} as const satisfies TaskDefinition

export type ImportWork = z.infer<typeof importTaskDefinition.work>
export type ImportResult = z.infer<typeof importTaskDefinition.result>
