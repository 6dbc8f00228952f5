import { z } from "zod"
import { privateHeadersSchema } from "./urls/private-headers.ts"
import { warningSchema, TASK_WARNINGS_MAX } from "./warning.ts"

/** Key of an input or an output of a task. */
export const fileKeySchema = z.string().regex(/^[A-Za-z0-9_]{1,64}$/)

const taskInput = z.object({
  key: fileKeySchema,
  /**
   * File name of the input in the workspace, the folder of the run. The name is the input's key
   * with the extension of the stored file's name.
   */
  name: z.string(),
  /** Id of the stored file. The runner downloads inputs with the same file id only once. */
  file_id: z.uuid().optional(),
  size_bytes: z.int().nonnegative(),
  content_type: z.string().optional(),
  /**
   * Duration of the input in seconds; absent if the probe of the stored file contains no duration.
   */
  duration_seconds: z.number().optional(),
})

export const taskOutputSchema = z.object({
  key: fileKeySchema,
  /** Name of the stored file that the output becomes. */
  name: z.string(),
  /**
   * File name of the output in the workspace, present if some tool could misread `name`. Every tool
   * can read and write a file with this name.
   */
  workspace_name: z.string().optional(),
  /**
   * Whether `name` is a pattern with strftime fields for times, as ffmpeg's option `-strftime 1`
   * interprets it.
   */
  has_times: z.literal(true).optional(),
})

/**
 * Whether the caller sent secret headers with the URL of the task. The runner downloads such a URL
 * as a file, never by yt-dlp.
 */
export const hasHeadersFieldSchema = z.literal(true).optional()

/** Schema of the fields that `work` has for tasks of all kinds. */
export const taskWorkSchema = z.looseObject({
  kind: z.string(),
  /**
   * Time limit of all tools of the task together, in seconds. When the task is dispatched, the
   * limit of the account's current plan replaces this limit.
   */
  run_seconds_max: z.int().positive().optional(),
  /**
   * Maximum number of bytes that the task downloads. When the task is dispatched, the limit of the
   * account's current plan replaces this limit.
   */
  bytes_max: z.int().positive().optional(),
  has_headers: hasHeadersFieldSchema,
  outputs: z.array(taskOutputSchema).optional(),
})

/** Schema of the warnings about the result of a task of any kind. */
export const taskWarningsSchema = z.array(warningSchema).max(TASK_WARNINGS_MAX).optional()

/** Schema of the fields that `result` has for tasks of all kinds. */
export const taskResultSchema = z.looseObject({ kind: z.string(), warnings: taskWarningsSchema })

/**
 * Secrets of a task. Only the order that the Worker sends to the runner contains the secrets; no
 * record shows them.
 */
export const taskSecretsSchema = z.object({
  /** Caller's cookies, in Netscape's format. */
  cookies: z.string().optional(),
  /** Caller's headers for the URL of the task, sent only to the origin of the URL. */
  headers: privateHeadersSchema.optional(),
})

/**
 * Order to run a task, the body of `POST /tasks` to a runner. An order stands for one dispatch of
 * the task, and contains the only routes that the run may call.
 */
export const taskOrderSchema = z.object({
  task_id: z.uuid(),
  job_id: z.uuid(),
  /**
   * Account of the task. The runner never reuses state of one account, such as a loaded speech
   * model, for another account.
   */
  account_id: z.string().optional(),
  /** Id of the request that created the job; all parts of the service log the id. */
  request_id: z.string().optional(),
  fence: z.int().positive(),
  slot: z.string(),
  /** Number of the allocation, which gave the slot to this task. A slot refuses lower numbers. */
  allocation: z.int().nonnegative(),
  /** Base URL of the task's inputs, outputs and reports: `{origin}/inputs/{key}` and so on. */
  io: z.object({ origin: z.url(), token: z.string() }),
  inputs: z.array(taskInput),
  work: taskWorkSchema,
  /** Name of the account's plan, for the error message if the run exceeds the plan's time limit. */
  plan: z.string().optional(),
  secrets: taskSecretsSchema.optional(),
})

export type TaskSecrets = z.infer<typeof taskSecretsSchema>
export type TaskOrder = z.infer<typeof taskOrderSchema>
export type TaskWork = z.infer<typeof taskWorkSchema>
export type TaskResult = z.infer<typeof taskResultSchema>
export type TaskInput = z.infer<typeof taskInput>
export type TaskOutput = z.infer<typeof taskOutputSchema>

/**
 * Response to `POST /tasks` with status 202. `boot` is the id of the runner process that accepted
 * the task.
 */
export const taskAcceptedResponseSchema = z.object({ boot: z.string() })

/**
 * Groups the inputs of a task by their stored file. An input without a file id forms a group of its
 * own.
 */
export function groupInputsByFile(inputs: readonly TaskInput[]): TaskInput[][] {
  return [...Map.groupBy(inputs, ({ key, file_id }) => file_id ?? `key ${key}`).values()]
}

/**
 * Returns the total size of the inputs in bytes. A file that is the source of several inputs counts
 * once.
 */
export function sumInputBytes(inputs: readonly TaskInput[]): number {
  return groupInputsByFile(inputs).reduce((sum, [first]) => sum + (first?.size_bytes ?? 0), 0)
}

/** Returns a map from output keys to the file names of the outputs in the workspace. */
export function getWorkspaceOutputNames(outputs: readonly TaskOutput[]): Map<string, string> {
  return new Map(outputs.map(({ key, name, workspace_name }) => [key, workspace_name ?? name]))
}

/**
 * Returns the file name of an input in the workspace: the input's key with the extension of its
 * stored file.
 */
export function makeWorkspaceInputName(key: string, fileName: string): string {
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(fileName)?.[0] ?? ""
  return key + extension
}
