import { z } from "zod"
import { privateHeaders } from "./urls/private-headers.ts"
import { warning, WARNINGS_MAX } from "./warning.ts"

/** Key of an input or an output of a task. */
export const fileKey = z.string().regex(/^[A-Za-z0-9_]{1,64}$/)

const taskInput = z.object({
  key: fileKey,
  /** Name of the input in the workspace: the key with the extension of the file's name. */
  name: z.string(),
  /** Id of the input's file. Inputs with the same id are downloaded once. */
  file_id: z.uuid().optional(),
  size_bytes: z.int().nonnegative(),
  content_type: z.string().optional(),
  /** Duration of the media; absent if the probe of the file has none. */
  duration_seconds: z.number().optional(),
})

export const taskOutput = z.object({
  key: fileKey,
  /** Name of the output's File. */
  name: z.string(),
  /** Name of the output in the workspace, if not `name`: any tool can read and write this name. */
  workspace_name: z.string().optional(),
  /** Whether `name` is a pattern of times, as ffmpeg's `-strftime 1` reads it. */
  has_times: z.literal(true).optional(),
})

/**
 * Whether the caller sent secret headers with the URL of the task. A URL with headers is downloaded
 * as a file, never by yt-dlp.
 */
export const hasHeadersSchema = z.literal(true).optional()

/** Schema of the fields that the work of every task has, without those of the task's kind. */
export const taskWork = z.looseObject({
  kind: z.string(),
  /**
   * Time limit of all tools of the task together. At its dispatch, the limit of the account's
   * current plan replaces this limit.
   */
  run_seconds_max: z.int().positive().optional(),
  /**
   * Maximum number of bytes that the task downloads. At its dispatch, the limit of the account's
   * current plan replaces this limit.
   */
  bytes_max: z.int().positive().optional(),
  has_headers: hasHeadersSchema,
  outputs: z.array(taskOutput).optional(),
})

/** Schema of the warnings about the result of a task of any kind. */
export const taskWarnings = z.array(warning).max(WARNINGS_MAX).optional()

/** Schema of the fields that the result of every task has; the others depend on the task's kind. */
export const taskResult = z.looseObject({ kind: z.string(), warnings: taskWarnings })

/** Secrets of a task, which only its order to the runner carries; no record shows them. */
export const taskSecrets = z.object({
  /** Caller's cookies, in Netscape's format. */
  cookies: z.string().optional(),
  /** Caller's headers for the URL of the task, sent only to the origin of the URL. */
  headers: privateHeaders.optional(),
})

/** Body of `POST /tasks`: one dispatch of a task, with the only routes that the run may call. */
export const taskOrder = z.object({
  task_id: z.uuid(),
  job_id: z.uuid(),
  /** Account of the task; the runner never shares warm state between accounts. */
  account_id: z.string().optional(),
  /** Id of the request that created the job; all parts of the service log the id. */
  request_id: z.string().optional(),
  fence: z.int().positive(),
  slot: z.string(),
  /** Number of the slot's allocation; a slot refuses lower numbers. */
  allocation: z.int().nonnegative(),
  /** Base URL of the task's inputs, outputs and reports: `{origin}/inputs/{key}` and so on. */
  io: z.object({ origin: z.url(), token: z.string() }),
  inputs: z.array(taskInput),
  work: taskWork,
  /** Name of the plan that limits the run, for the message of a timeout. */
  plan: z.string().optional(),
  secrets: taskSecrets.optional(),
})

export type TaskSecrets = z.infer<typeof taskSecrets>
export type TaskOrder = z.infer<typeof taskOrder>
export type TaskWork = z.infer<typeof taskWork>
export type TaskResult = z.infer<typeof taskResult>
export type TaskInput = z.infer<typeof taskInput>
export type TaskOutput = z.infer<typeof taskOutput>

/** Response of `POST /tasks` (202): the process that accepted the task. */
export const taskAcceptedResponse = z.object({ boot: z.string() })

/** Groups inputs by file; an input without a file id forms a group alone. */
export function groupInputsByFile(inputs: readonly TaskInput[]): TaskInput[][] {
  return [...Map.groupBy(inputs, ({ key, file_id }) => file_id ?? `key ${key}`).values()]
}

/** Returns the total size of the inputs in bytes; each file counts once. */
export function sumInputBytes(inputs: readonly TaskInput[]): number {
  return groupInputsByFile(inputs).reduce((sum, [first]) => sum + (first?.size_bytes ?? 0), 0)
}

/** Returns the names of outputs in the workspace, by output key. */
export function getWorkspaceOutputNames(outputs: readonly TaskOutput[]): Map<string, string> {
  return new Map(outputs.map(({ key, name, workspace_name }) => [key, workspace_name ?? name]))
}

/** Returns the name of an input in the workspace: its key with the extension of its file. */
export function makeWorkspaceInputName(key: string, fileName: string): string {
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(fileName)?.[0] ?? ""
  return key + extension
}
