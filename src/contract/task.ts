import { z } from "zod"
import { warning, WARNINGS_MAX } from "./warning.ts"

/** A key by which a task names an input or an output. */
export const fileKey = z.string().regex(/^[A-Za-z0-9_]{1,64}$/)

const taskInput = z.object({
  key: fileKey,
  /** Name in the workspace: the key and the extension of the file's own name. */
  name: z.string(),
  /** The file that it is; inputs that are one file are brought to the runner once. */
  file_id: z.uuid().optional(),
  size_bytes: z.int().nonnegative(),
  /** Length of the media, where its probe knew it. */
  duration_seconds: z.number().optional(),
})

export const taskOutput = z.object({ key: fileKey, name: z.string() })

/**
 * The work of every task, whatever its kind: the kind, and the outputs that it may store. The rest
 * is the kind's own, and is parsed by the schema of its definition.
 */
export const taskWork = z.looseObject({
  kind: z.string(),
  /** Longest run of its tools together; an order carries what the account's plan allows by then. */
  run_seconds_max: z.int().positive().optional(),
  /** The most bytes of what it brings in; an order carries what the account's plan allows by then. */
  bytes_max: z.int().positive().optional(),
  outputs: z.array(taskOutput).optional(),
})

/** What is odd about what a task made; every kind's result may have it. */
export const taskWarnings = z.array(warning).max(WARNINGS_MAX).optional()

/** What every task reports at its end, whatever its kind; the rest is the kind's own. */
export const taskResult = z.looseObject({ kind: z.string(), warnings: taskWarnings })

/** What a task is told beside its work, and nobody is ever shown. */
export const taskSecrets = z.object({
  /** Cookies of the caller, in Netscape's format. */
  cookies: z.string().optional(),
})

/** The body of `POST /tasks`: one task at one fence, with the only door it may use. */
export const taskOrder = z.object({
  task_id: z.uuid(),
  job_id: z.uuid(),
  /** Whose task it is, so that what stays warm between tasks is shared by no two accounts. */
  account_id: z.string().optional(),
  /** The request that made the job, by which logs of all parts name it. */
  request_id: z.string().optional(),
  fence: z.int().positive(),
  slot: z.string(),
  /** Number of the slot's allocation; a slot refuses lower ones. */
  allocation: z.int().nonnegative(),
  /** Where inputs, outputs and reports of this task go: `{origin}/inputs/{key}` and so on. */
  io: z.object({ origin: z.url(), token: z.string() }),
  inputs: z.array(taskInput),
  work: taskWork,
  /** The plan that limits the run, for the sentence of a run that took too long. */
  plan: z.string().optional(),
  secrets: taskSecrets.optional(),
})

export type TaskSecrets = z.infer<typeof taskSecrets>
export type TaskOrder = z.infer<typeof taskOrder>
export type TaskWork = z.infer<typeof taskWork>
export type TaskResult = z.infer<typeof taskResult>
export type TaskInput = z.infer<typeof taskInput>
export type TaskOutput = z.infer<typeof taskOutput>

/** The answer to `POST /tasks`, 202: the process that took it. */
export const taskAccepted = z.object({ boot: z.string() })

/** Inputs by the file that they are; one that does not say so is a file of its own. */
export function groupInputs(inputs: readonly TaskInput[]): TaskInput[][] {
  return [...Map.groupBy(inputs, ({ key, file_id }) => file_id ?? `key ${key}`).values()]
}

/** Bytes of inputs, each file counted once. */
export function inputBytesOf(inputs: readonly TaskInput[]): number {
  return groupInputs(inputs).reduce((sum, [first]) => sum + (first?.size_bytes ?? 0), 0)
}

/** Name that an input has in the workspace, from its key and the name of its file. */
export function inputName(key: string, fileName: string): string {
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(fileName)?.[0] ?? ""
  return key + extension
}
