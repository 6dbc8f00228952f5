import { z } from "zod"
import { parseJson } from "../../parse-json.ts"

/**
 * Schema of a number that a web site has supplied. The result is null if the number is missing,
 * invalid or not finite.
 */
const siteNumber = z.number().nullish().catch(null)

const info = z.object({
  kind: z.literal("info"),
  title: z.string().nullish(),
  duration: siteNumber,
})

const progress = z.object({
  kind: z.literal("progress"),
  fraction: z.number().min(0).max(1).catch(0),
  eta: siteNumber,
})

const done = z.object({
  kind: z.literal("done"),
  title: z.string().nullish(),
  duration: siteNumber,
  /** Name of the downloaded file in the workspace. */
  media: z.string().optional(),
  subtitles: z
    .array(z.object({ index: z.int().nonnegative(), language: z.string(), name: z.string() }))
    .default([]),
  metadata: z.record(z.string(), z.unknown()).optional(),
})

const error = z.object({
  kind: z.literal("error"),
  /** Failure code with which the Python driver has refused the video; absent for other errors. */
  refusal: z.string().optional(),
  facts: z.record(z.string(), z.unknown()).default({}),
  /** Class names of the Python exception and its causes, the outermost first. */
  types: z.array(z.string()).default([]),
  /**
   * HTTP status of the site's response. If `isRefused` is true, the status is that of the proxy
   * through which yt-dlp connects, and the proxy refused the connection.
   */
  status: z.int().nullish(),
  isRefused: z.boolean().default(false),
  isRedirectLoop: z.boolean().default(false),
  message: z.string(),
  lines: z.array(z.string()).default([]),
})

const line = z.discriminatedUnion("kind", [info, progress, done, error])

export type YtdlpDriverLine = z.infer<typeof line>
export type YtdlpDriverResultLine = z.infer<typeof done>
export type YtdlpDriverErrorLine = z.infer<typeof error>

/** Parses a JSON line that the Python driver has written. Returns null for an invalid line. */
export function parseYtdlpDriverLine(text: string): YtdlpDriverLine | null {
  return line.safeParse(parseJson(text)).data ?? null
}
