import { env } from "cloudflare:workers"
import { beforeEach, expect, it } from "vitest"
import { z } from "zod"
import { newId } from "../../../src/platform/ids.ts"
import { makeCaller, uploadTestFile } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { endCopy, makeCopyBody } from "../../support/chains.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { makeRenderResult } from "../../support/media/rendered.ts"
import {
  claimAndEndTask,
  findTaskByKind,
  PROBE_TASK_END,
  readInputReadiness,
  readJob,
} from "../../support/runner/stand-in-runner.ts"

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`same renditions ${newId()}`)
  accountId = await findCallerAccountId(caller)
})

const created = z.union([
  z.object({ command_id: z.string() }).transform(({ command_id }) => command_id),
  z.looseObject({ id: z.string() }).transform(({ id }) => id),
])

async function create(path: string, body: object): Promise<string> {
  const answer = await caller.post(path, body)
  if (answer.status !== 202) throw new Error(await answer.text())
  return created.parse(await answer.json())
}

/** Creates a transcode of two renditions, which turn out to be the same. */
async function createTranscode(): Promise<string> {
  const { id: source } = await uploadTestFile(caller, "a.mp4", "x")
  const probe = await findTaskByKind(accountId, source, "probe")
  await claimAndEndTask(probe, PROBE_TASK_END)
  const outputs = [
    { codec: "h264", resolution: "480p" },
    { codec: "h264", resolution: "720p" },
  ]
  return await create("/transcode", { source: `svc_id://${source}`, outputs })
}

async function endTranscode(jobId: string): Promise<void> {
  const result = { ...makeRenderResult("out_1"), same: [{ key: "out_2", same_as: "out_1" }] }
  await claimAndEndTask(await findTaskByKind(accountId, jobId, "render"), { result })
}

it("a job reads the rendition that was encoded, although its input names one that is the same", async () => {
  const transcode = await createTranscode()
  const id = await create("/commands", makeCopyBody([`svc_id://${transcode}/out_2`]))
  const task = await findTaskByKind(accountId, id, "command")
  expect(await readInputReadiness(accountId, task.id)).toBe("pending")
  await endTranscode(transcode)
  expect(await readInputReadiness(accountId, task.id)).toBe("ready")
  const { files } = await readJob(accountId, transcode)
  const encoded = files.find(({ outputKey }) => outputKey === "out_1")
  const inputs = env.DB.prepare("select file_id from task_inputs where task_id = ?").bind(task.id)
  expect(await inputs.first("file_id")).toBe(encoded?.id)
  await endCopy(accountId, id)
  expect((await readJob(accountId, id)).job).toMatchObject({ state: "succeeded", waitingFor: [] })
})

it("a later job names the same rendition by either output", async () => {
  const transcode = await createTranscode()
  await endTranscode(transcode)
  for (const output of ["out_1", "out_2"]) {
    const id = await create("/commands", makeCopyBody([`svc_id://${transcode}/${output}`]))
    const { tasks } = await readJob(accountId, id)
    expect(await readInputReadiness(accountId, tasks[0]?.id ?? "")).toBe("ready")
  }
})
