import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { newId } from "../../../src/platform/ids.ts"
import { commandKind } from "../../../src/kinds/command/kind.ts"
import type { ResolvedInput } from "../../../src/kinds/kind.ts"
import { draftSourceTasks } from "../../../src/kinds/sources.ts"
import type { InputSource } from "../../../src/kinds/kind.ts"
import { makeLostInputsFailure } from "../../../src/jobs/settle/input-failures.ts"
import { endOpenJob, settleTask, transitionJob } from "../../../src/jobs/settle/settle.ts"
import { computeRequeueTransition } from "../../../src/jobs/settle/transitions.ts"
import type { TerminalReport } from "../../../src/jobs/settle/transitions.ts"
import { openAccountDatabases } from "../../../src/db/database.ts"
import { removeFile } from "../../../src/db/files/files.ts"
import { createJob } from "../../support/db/create-job.ts"
import { isFinalState } from "../../../src/domain/states.ts"
import type { Task } from "../../../src/db/schema/tasks.ts"
import { listUnreadableInputs, listOpenTasks } from "../../../src/db/jobs/open-tasks.ts"
import { claimTask } from "../../../src/db/jobs/tasks.ts"
import { readJobSnapshot } from "../../../src/db/jobs/apply-transition.ts"
import type { JobSnapshot } from "../../../src/domain/snapshot.ts"
import { makeJobProperties } from "../../support/job-facts.ts"
import { makeRandom } from "../../support/random.ts"

// Life of a job whose command waits for files that come with it, by import or upload. A dispatcher
// and its runners act in random order, lose runs, and repeat and delay reports, while the caller
// cancels and deletes. D1 and all deciding code are real.

const ROUNDS = 16
const STEPS = 14
const SEED = 20_261_122

const accountId = newId()
const database = openAccountDatabases(env, accountId)
const failure = { code: "server_error" as const, message: "It failed.", lines: [] }

const { draw: random, pick } = makeRandom(SEED)

async function makeJob(): Promise<string> {
  const facts = {
    ...makeJobProperties("https://receiver.example/"),
    runSecondsMax: 1,
    fileBytesMax: 10,
  }
  const count = 1 + Math.floor(random() * 3)
  const inputs: ResolvedInput[] = Array.from({ length: count }, (_, index) => {
    const fileId = newId()
    const isUpload = index === 0 && random() < 0.4
    const source = isUpload ? uploadOf(fileId) : importOf(`https://media.example/${index}.mp4`)
    return { key: `in_${index}`, field: "", fileId, file: null, source }
  })
  const request = {
    input_files: {},
    output_files: { out_1: "out.mp4" },
    ffmpeg_command: "ffmpeg -i x out_1",
    priority: 50,
  }
  const speechModels = { default: "base", names: ["base"] }
  const plan = commandKind.plan(request, { ...facts, inputs, speechModels })
  const draft = draftSourceTasks(plan, facts, inputs)
  await createJob(database, draft)
  return draft.job.id
}

function importOf(url: string): InputSource {
  return { url, sourceUrl: url, name: "film.mp4" }
}

function uploadOf(id: string): InputSource {
  const upload = { id, objectKey: `${accountId}/files/${id}/file` }
  return { upload, name: "film.mp4", contentType: "video/mp4", sizeBytes: 7, sha256: "" }
}

async function read(jobId: string): Promise<JobSnapshot> {
  const snapshot = await readJobSnapshot(database, jobId)
  if (!snapshot) throw new Error("the job is gone")
  return snapshot
}

/** Acts as a dispatcher on a job's tasks: starts ready ones, ends those that can never start. */
async function dispatch(jobId: string): Promise<void> {
  const { tasks } = await read(jobId)
  const open = await listOpenTasks(
    database,
    tasks.map(({ id }) => id),
  )
  const waiting = open.filter(({ state }) => state === "waiting")
  const lost = waiting.find(({ inputs }) => inputs === "failed" || inputs === "gone")
  const failure = lost ? makeLostInputsFailure(await listUnreadableInputs(database, lost.id)) : null
  if (failure) {
    await endOpenJob(env, { accountId, jobId }, { state: "failed", failure })
    return
  }
  const ready = waiting.filter(({ inputs }) => inputs === "ready")
  const task = pick(ready)
  if (!task) return
  const claim = { taskId: task.id, jobId, slot: "x-0", allocation: random(), now: Date.now() }
  const claimed = await claimTask(database, claim)
  if (claimed?.task.work.kind !== "command") return
  // A File may be deleted since; an existing one is final and stored.
  const { files } = await read(jobId)
  const brought = files.filter(isOfCaller)
  expect(brought.filter(({ state, objectKey }) => !isFinalState(state) || !objectKey)).toEqual([])
}

function resultOf({ work }: Task) {
  if (work.kind === "import") {
    const facts = { name: "film.mp4", size_bytes: 7, content_type: "video/mp4" }
    return { kind: "import", ...facts, is_resumable: random() < 0.5 }
  }
  if (work.kind === "command") {
    return {
      kind: "command",
      outputs: [{ key: "out_1", size_bytes: 3, content_type: "video/mp4" }],
    }
  }
  const probe = { duration: 1, format_name: "mov", streams: [], format: {} }
  return random() < 0.5 ? { kind: "probe", probe } : { kind: "probe", probe_error: "No media." }
}

const moment = { boot: "boot", at: new Date().toISOString(), processing_seconds: 1 }

function reportOf(task: Task): TerminalReport {
  const draw = random()
  if (draw < 0.7) return { ...moment, kind: "finished", result: resultOf(task) }
  if (draw < 0.85) return { ...moment, kind: "interrupted" }
  return { ...moment, kind: "failed", blame: draw < 0.95 ? "ours" : "caller", failure }
}

/** Reports the end of a task's run, sometimes twice, and of earlier runs too. */
async function report(jobId: string): Promise<void> {
  const task = pick((await read(jobId)).tasks.filter(({ fence }) => fence > 0))
  if (!task) return
  const isLate = task.fence > 1 && random() < 0.3
  const run = { accountId, jobId, taskId: task.id, fence: isLate ? task.fence - 1 : task.fence }
  const sent = reportOf(task)
  const outcomes = [(await settleTask(env, run, sent)).outcome]
  if (random() < 0.3) outcomes.push((await settleTask(env, run, sent)).outcome)
  expect(isLate && outcomes.some((outcome) => outcome !== "stale")).toBe(false)
}

async function loseRun(jobId: string): Promise<void> {
  const task = pick((await read(jobId)).tasks.filter(({ state }) => state === "running"))
  if (!task) return
  const cause = random() < 0.5 ? ("no capacity" as const) : ("hand-over" as const)
  const lost = { taskId: task.id, fence: task.fence, cause, now: Date.now() }
  await transitionJob(env, { accountId, jobId }, (each) => computeRequeueTransition(each, lost))
}

async function deleteFile(jobId: string): Promise<void> {
  const file = pick((await read(jobId)).files.filter(isOfCaller))
  if (file) await removeFile(database, file, Date.now())
}

async function cancel(jobId: string): Promise<void> {
  const canceled = { code: "canceled" as const, message: "Canceled.", lines: [] }
  await endOpenJob(env, { accountId, jobId }, { state: "canceled", failure: canceled })
}

async function act(jobId: string): Promise<void> {
  const draw = random()
  if (draw < 0.45) await dispatch(jobId)
  else if (draw < 0.88) await report(jobId)
  else if (draw < 0.97) await loseRun(jobId)
  else if (draw < 0.985) await deleteFile(jobId)
  else await cancel(jobId)
}

/** Lets a dispatcher and runners work until the job ends. */
async function bringToEnd(jobId: string): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) {
    const { job, tasks } = await read(jobId)
    if (isFinalState(job.state)) return
    const running = tasks.find(({ state }) => state === "running")
    if (running) {
      const run = { accountId, jobId, taskId: running.id, fence: running.fence }
      await settleTask(env, run, { ...moment, kind: "finished", result: resultOf(running) })
    } else await dispatch(jobId)
  }
  throw new Error("the job has no end")
}

async function check(jobId: string): Promise<string> {
  const { job, tasks, files } = await read(jobId)
  expect(tasks.filter(({ state }) => !isFinalState(state))).toEqual([])
  expect(files.filter(({ state }) => !isFinalState(state))).toEqual([])
  const types = env.DB.prepare("select type from deliveries where job_id = ?").bind(jobId)
  expect((await types.all()).results).toEqual([{ type: `command.${job.state}` }])
  const brought = files.filter(isOfCaller)
  const isStored = brought.map(({ objectKey }) => objectKey !== null)
  const ended = brought.map(({ id, source }) =>
    source === "upload" ? "succeeded" : tasks.find((task) => task.id === id)?.state,
  )
  expect(isStored).toEqual(ended.map((state) => state === "succeeded"))
  expect(brought.filter(({ objectKey, errorCode }) => !objectKey && !errorCode)).toEqual([])
  const left = env.DB.prepare("select prefix from garbage where prefix like ?")
  const { results } = await left.bind(`${accountId}/tasks/%`).all<{ prefix: string }>()
  expect(results.filter(({ prefix }) => brought.some(liesBelow(prefix)))).toEqual([])
  const isDone = job.state === "succeeded"
  expect(isDone && tasks.some(({ state }) => state !== "succeeded")).toBe(false)
  expect(files.some(({ source, objectKey }) => source === "output" && objectKey)).toBe(isDone)
  return job.state
}

function isOfCaller({ source }: { source: string }): boolean {
  return source === "import" || source === "upload"
}

function liesBelow(prefix: string) {
  return ({ objectKey }: { objectKey: string | null }) => objectKey?.startsWith(prefix) ?? false
}

it("ends once, for any order of events of its tasks and files", async () => {
  const ends = new Map<string, number>()
  for (let round = 0; round < ROUNDS; round += 1) {
    const jobId = await makeJob()
    for (let step = 0; step < STEPS; step += 1) {
      // Sometimes continues after the end of the job, with late events.
      if (isFinalState((await read(jobId)).job.state) && random() < 0.5) break
      await Promise.all(Array.from({ length: 1 + Math.floor(random() * 2) }, () => act(jobId)))
    }
    await bringToEnd(jobId)
    const state = await check(jobId)
    ends.set(state, (ends.get(state) ?? 0) + 1)
  }
  // Each outcome occurs, so that the model covers all of them.
  expect([...ends.keys()].toSorted()).toEqual(["canceled", "failed", "succeeded"])
})
