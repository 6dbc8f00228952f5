import { z } from "zod"

/** A key by which a command names an input or an output. */
export const fileKey = z.string().regex(/^[A-Za-z0-9_]{1,64}$/)

const input = z.object({
  key: fileKey,
  /** Name in the workspace: the key and the extension of the file's own name. */
  name: z.string(),
  size_bytes: z.int().nonnegative(),
  /** Length of the media, where its probe knew it. */
  duration_seconds: z.number().optional(),
})

const output = z.object({ key: fileKey, name: z.string() })

/** What a task is to do, by kind. Words of a command are as the caller wrote them, split. */
export const taskWork = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("probe") }),
  z.object({
    kind: z.literal("command"),
    commands: z.array(z.array(z.string()).min(1)).min(1),
    outputs: z.array(output).min(1),
    run_seconds_max: z.int().positive(),
  }),
])

export type TaskWork = z.infer<typeof taskWork>

/** The body of `POST /tasks`: one task at one fence, with the only door it may use. */
export const taskOrder = z.object({
  task_id: z.uuid(),
  job_id: z.uuid(),
  fence: z.int().positive(),
  slot: z.string(),
  grant: z.int().nonnegative(),
  /** Where inputs, outputs and reports of this task go: `{origin}/inputs/{key}` and so on. */
  io: z.object({ origin: z.url(), token: z.string() }),
  inputs: z.array(input),
  work: taskWork,
})

export type TaskOrder = z.infer<typeof taskOrder>
export type TaskInput = z.infer<typeof input>
export type TaskOutput = z.infer<typeof output>

/** The answer to `POST /tasks`, 202: the process that took it. */
export const taskAccepted = z.object({ boot: z.string() })

/** Name that an input has in the workspace, from its key and the name of its file. */
export function inputName(key: string, fileName: string): string {
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(fileName)?.[0] ?? ""
  return key + extension
}
