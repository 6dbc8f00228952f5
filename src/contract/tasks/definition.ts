import type { z } from "zod"

/**
 * Names of the programs that tasks run. The health of a runner lists the programs that the runner
 * can use.
 */
export const TOOL_NAMES = ["ffmpeg", "ffprobe", "yt-dlp", "whisper"] as const

export type ToolName = (typeof TOOL_NAMES)[number]

/**
 * Definition of a kind of task, shared by Worker and runner. The Worker plans `work` and parses
 * `result`; the runner parses `work` and produces `result`.
 */
export type TaskDefinition<
  Work extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
> = {
  /** Name of the kind of task, which is `kind` in the task's `work` and `result`. */
  name: string
  /**
   * Returns the name of the runner pool for a task with this `work`, such as `media`. The pools are
   * listed in src/bindings/pools.ts.
   */
  pool(work: z.output<Work>): string
  /** Programs that the runner needs for the task. */
  tools: readonly ToolName[]
  /**
   * Whether `work` contains a time limit of its own, which may be lower than the limit of the
   * account's plan.
   */
  hasOwnTimeLimit?: boolean
  /**
   * Whether the task downloads media from a URL. Such a task counts toward the account's daily
   * limit of downloads.
   */
  downloadsMedia?: true
  /**
   * Minimum time limit of a run, in seconds. The minimum applies even if the plan's limit is lower,
   * because the network determines the speed.
   */
  runSecondsMin?: number
  work: Work
  result: Result
}
