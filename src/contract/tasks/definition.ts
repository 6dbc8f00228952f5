import type { z } from "zod"

/** Programs that tasks run; a runner's health says which of them it has. */
export const TOOL_NAMES = ["ffmpeg", "ffprobe", "yt-dlp", "whisper"] as const

export type ToolName = (typeof TOOL_NAMES)[number]

/**
 * A kind of task: what both sides of the wire must agree on. The Worker plans `work` and parses
 * `result`; the runner parses `work` and makes `result`.
 */
export type TaskDefinition<
  Work extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
> = {
  /** The value of `kind` in its work and its result. */
  name: string
  /** The pool of runners that does it, by its name in src/runner/pools.ts. */
  pool(work: z.output<Work>): string
  /** Programs that its runner needs. */
  tools: readonly ToolName[]
  /** Whether its work says how long it may run, where the account's plan would allow more. */
  limitsItself?: boolean
  /** Whether it brings in media from a URL, of which an account may have so many a day. */
  bringsIn?: true
  /** A run may take so long whatever the plan allows, since the network decides how long it takes. */
  runSecondsMin?: number
  work: Work
  result: Result
}
