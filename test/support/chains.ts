import { env } from "cloudflare:workers"
import { z } from "zod"
import type { Env } from "../../src/bindings/env.ts"
import type { TestCaller } from "./caller.ts"
import { claimAndEndTask, findTaskByKind } from "./runner/stand-in-runner.ts"

/** Failure that ends a stand-in command. */
export const COMMAND_FAILURE = { code: "command_failed" as const, message: "It failed." }

/** Returns the body of a command that copies the first input, which may be an output of a job. */
export function makeCopyBody(inputs: readonly string[], changes: Record<string, unknown> = {}) {
  const named = inputs.map((_, at) => `-i {{in_${at + 1}}}`).join(" ")
  const source = inputs.length === 0 ? "-f lavfi -i testsrc2 -t 1" : named
  return {
    ffmpeg_command: `ffmpeg ${source} {{out_1}}`,
    input_files: Object.fromEntries(inputs.map((url, at) => [`in_${at + 1}`, url])),
    output_files: { out_1: "out.mp4" },
    ...changes,
  }
}

/** Creates a command that copies outputs of other jobs, given by the ids of the jobs. */
export async function createCopy(
  caller: TestCaller,
  neededJobIds: readonly string[] = [],
  changes: Record<string, unknown> = {},
): Promise<string> {
  const inputs = neededJobIds.map((id) => `svc_id://${id}/out_1`)
  const answer = await caller.post("/commands", makeCopyBody(inputs, changes))
  if (answer.status !== 202) throw new Error(await answer.text())
  return (await answer.json<{ command_id: string }>()).command_id
}

const createdBatch = z.object({
  id: z.string(),
  jobs: z.record(z.string(), z.object({ id: z.string() })),
})

/** Creates a batch of commands that copy outputs of the commands that each name lists. */
export async function createBatchOfCopies(
  caller: TestCaller,
  needs: Record<string, readonly string[]>,
  changes: Record<string, unknown> = {},
): Promise<{ id: string; jobs: Record<string, string> }> {
  const creates = Object.entries(needs).map(([name, needed]) => {
    return [name, { commands: makeCopyBody(needed.map((job) => `svc_id://${job}/out_1`)) }]
  })
  const answer = await caller.post("/batches", { jobs: Object.fromEntries(creates), ...changes })
  if (answer.status !== 202) throw new Error(await answer.text())
  const { id, jobs } = createdBatch.parse(await answer.json())
  const ids = Object.entries(jobs).map(([name, job]) => [name, job.id])
  return { id, jobs: Object.fromEntries(ids) }
}

/**
 * Ends a command as its runner does, whose output is then stored. The service handles the report
 * with the bindings of `settleEnv`.
 */
export async function endCopy(
  accountId: string,
  jobId: string,
  settleEnv: Env = env,
): Promise<void> {
  const task = await findTaskByKind(accountId, jobId, "command")
  const outputs = [{ key: "out_1", size_bytes: 1, content_type: "video/mp4" }]
  await claimAndEndTask(task, { result: { kind: "command", outputs } }, settleEnv)
  const file = env.DB.prepare("select object_key from files where job_id = ?").bind(jobId)
  const key = await file.first<string>("object_key")
  if (key !== null) await env.MEDIA.put(key, "x")
}

/** Ends a command as its runner does when ffmpeg fails. */
export async function failCopy(accountId: string, jobId: string): Promise<void> {
  const task = await findTaskByKind(accountId, jobId, "command")
  await claimAndEndTask(task, { failure: COMMAND_FAILURE })
}
